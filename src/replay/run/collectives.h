// Collective calls, as the record has them.
#pragma once

#include "record/sequence.h"
#include "replay/function.h"
#include "replay/run/communicators.h"
#include "replay/run/room.h"
#include "replay/shares.h"

namespace haichi::replay {

struct CollectiveCall {
  const record::Event& event;
  const Function& function;
  const Comm& comm;
  const Sums* sums;  ///< of a call with varying sizes
};

/// Makes it; a nonblocking one is then pending in the room's request. Reductions are sums of
/// doubles where the bytes allow.
void carry_out(const CollectiveCall& call, const Amounts& amounts, Room& room);

}  // namespace haichi::replay
