// Steps, spelled out.
//
// PURE.
#pragma once

#include "plan/schedule.h"

namespace haichi::plan {

inline Step send_step(int peer, Slice from) {
  return {.kind = Step::Kind::send, .peer = peer, .from = from};
}
inline Step receive_step(int peer, Slice to) {
  return {.kind = Step::Kind::receive, .peer = peer, .to = to};
}
/// Within rank `me`. Both slices have the same size.
inline Step copy_step(int me, Slice from, Slice to) {
  return {.kind = Step::Kind::copy, .peer = me, .from = from, .to = to};
}
/// For everything that was issued before.
inline Step wait_step() { return {.kind = Step::Kind::wait}; }

}  // namespace haichi::plan
