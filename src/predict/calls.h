// What each recorded call does to the clocks of ranks: which of them send, receive, wait, or meet.
//
// PURE.
#pragma once

#include <cstdint>
#include <string_view>

namespace haichi::predict {

/// What a call does.
enum class Act : uint8_t {
  send,
  receive,
  send_receive,
  make,         ///< a persistent request: `makes` says of what
  start,        ///< the persistent requests that it completes
  free,         ///< the requests that it completes: what comes in their slots is another one
  wait,         ///< for the requests that it completes
  put,          ///< bytes go to the peer, which does nothing for it
  get,          ///< and come from it
  flush,        ///< this rank's puts and gets are complete
  fence,        ///< and those of all ranks of the communicator
  collective,   ///< `collective` says which
  as_recorded,  ///< no model: it takes what it took
  nothing,
};

enum class Collective : uint8_t {
  barrier,
  bcast,
  reduce,
  allreduce,
  gather,
  scatter,
  allgather,
  alltoall,
  scan,
  reduce_scatter,
};

/// How a send is sent.
enum class Mode : uint8_t { standard, synchronous, buffered };

struct Call {
  Act act = Act::as_recorded;
  bool blocking = true;
  Mode mode = Mode::standard;
  Collective collective = Collective::barrier;
  bool per_peer = true;  ///< bytes are to or from each single rank; else to all of them together
  Act makes = Act::nothing;
};

/// By the call's name, with or without `_c`. Of a name that is not known: as_recorded.
Call call_of(std::string_view name);

/// Whether each rank needs something from every other one, so that none leaves before the last one
/// has come.
bool meets_all(Collective collective);

}  // namespace haichi::predict
