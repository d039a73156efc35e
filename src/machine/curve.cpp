#include "machine/curve.h"

#include <algorithm>
#include <span>

namespace haichi::machine {
namespace {

// What stands for each place, first what fits best.
constexpr Place kForCore[] = {Place::core, Place::numa, Place::node};
constexpr Place kForNuma[] = {Place::numa, Place::node, Place::core};
constexpr Place kForNode[] = {Place::node, Place::numa, Place::core};
constexpr Place kForNetwork[] = {Place::network};

std::span<const Place> stand_ins(Place place) {
  switch (place) {
    case Place::core:
      return kForCore;
    case Place::numa:
      return kForNuma;
    case Place::node:
      return kForNode;
    case Place::network:
      break;
  }
  return kForNetwork;
}

}  // namespace

Piece Curve::piece_for(double bytes) const {
  const auto at = std::find_if(pieces.begin(), pieces.end(),
                               [&](const Piece& piece) { return bytes <= piece.to; });
  if (at == pieces.end()) return pieces.back();
  if (at == pieces.begin() || bytes >= at->from) return *at;
  const Piece& before = at[-1];
  const double begin = before.seconds(before.to), end = at->seconds(at->from);
  const double per_byte = (end - begin) / (at->from - before.to);
  return {before.to, at->from, begin - per_byte * before.to, per_byte};
}

const Curve* curve_for(const std::vector<Curve>& curves, Place place) {
  for (const Place each : stand_ins(place)) {
    const auto found = std::find_if(curves.begin(), curves.end(),
                                    [&](const Curve& curve) { return curve.place == each; });
    if (found != curves.end()) return &*found;
  }
  return nullptr;
}

}  // namespace haichi::machine
