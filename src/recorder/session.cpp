#include "recorder/session.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <utility>

#include "placement/nearness.h"
#include "preload/library.h"

namespace haichi::recorder {
namespace {

using record::Place;

constinit std::atomic<Session*> g_session = nullptr;

/// Who may run on all cores of the node is not bound to any.
bool is_bound(const placement::RankPlace& place) {
  static const long cores = sysconf(_SC_NPROCESSORS_ONLN);
  return place.cores > 0 && place.cores < cores;
}

/// The classes that the measuring suite has too (measure/classes.h).
Place place_between(const placement::Placement& world, int here, int there) {
  if (here == there) return Place::self;
  if (!world.same_node(here, there)) return Place::network;
  const auto places = world.places();
  if (places.empty() || !is_bound(places[size_t(here)]) || !is_bound(places[size_t(there)]))
    return Place::node;
  switch (placement::nearness(places[size_t(here)], places[size_t(there)])) {
    case placement::Nearness::core:
      return Place::core;
    case placement::Nearness::numa:
      return Place::numa;
    case placement::Nearness::node:
      break;
  }
  return Place::node;
}

}  // namespace

Session::Session(SessionParts p, const placement::Placement& world, const record::Start& start)
    : parts(std::move(p)),
      recording(parts.fd, preload::function_names, start),
      communicators(recording.definitions()) {
  for (int rank = 0; rank < world.ranks(); ++rank)
    places_.push_back(place_between(world, parts.rank, rank));
  if (parts.sequences) folder.emplace(recording.memory(), record::kSequenceAt);
  slots.reserve(64);
}

int Session::take_window_number() {
  const auto free = std::find(window_numbers_.begin(), window_numbers_.end(), false);
  const auto number = free - window_numbers_.begin();
  if (free == window_numbers_.end()) window_numbers_.push_back(false);
  window_numbers_[size_t(number)] = true;
  return int(number);
}

void Session::free_window_number(int number) {
  if (number >= 0) window_numbers_[size_t(number)] = false;
}

Session* session() { return g_session.load(std::memory_order_acquire); }

void set_session(Session* session) { g_session.store(session, std::memory_order_release); }

}  // namespace haichi::recorder
