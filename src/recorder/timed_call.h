// One call of the program while it is timed, and what is found out about it.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <exception>
#include <mutex>

#include "base/clock.h"
#include "preload/guard.h"
#include "record/call_clock.h"
#include "record/fold.h"
#include "recorder/handle.h"
#include "recorder/session.h"

namespace haichi::recorder {

/// Of this thread. Plain data: threads come and go without a word to the recorder.
extern constinit thread_local record::CallClock call_clock
    __attribute__((tls_model("initial-exec")));

/// A call that has succeeded, for a function that describes it.
struct Description {
  Session& session;
  record::Call& call;
  record::EventKey& event;  ///< what the order of calls has beside the key
  const Communicator* comm = nullptr;

  record::Key& key() { return call.key; }
  /// The communicator that the call was on.
  void on(MPI_Comm valid) { on(session.communicators.of(valid)); }
  void on(const Communicator* known) {
    comm = known;
    if (comm != nullptr) key().comm = comm->number;
  }
  /// World rank of one of comm's; -1 if there is none, as of MPI_PROC_NULL.
  int world_rank(int rank) const { return comm != nullptr ? comm->peers().world_rank(rank) : -1; }
  /// Bytes of `count` elements; the type is looked at only if there are some.
  int64_t bytes_of(int64_t count, MPI_Datatype type) {
    if (count <= 0) return 0;
    const TypeFacts facts = session.types.of(type);
    key().type = facts.shape;
    return count * facts.size;
  }
  void buffer(const void* begin) {
    key().first_use = session.buffers.first_use(begin, key().bytes);
  }
  void sent_to(int world_rank, int64_t bytes, record::Way way = record::Way::message) {
    if (world_rank >= 0) session.recording.sent(world_rank, way, bytes);
  }
  /// The call began a request.
  void began(MPI_Request request, record::Begun begun);
};

/// Times the MPI library's call and counts it.
class TimedCall {
 public:
  TimedCall(Session& session, int function) : session_(session) {
    call_.key.function = uint16_t(function);
    call_.key.site = uint64_t(preload::called_from());
    call_.begin_ns = now_ns();
    call_.compute_ns = call_clock.computed(call_.begin_ns);
  }

  /// What the call waits for others before it does anything; behind the constructor.
  template <class Wait>
  void wait(Wait wait_for_others) {
    wait_for_others();
    call_.wait_ns = now_ns() - call_.begin_ns;
  }

  template <class RealCall>
  int make(RealCall real_call) {
    const int result = real_call();
    call_.end_ns = now_ns();
    return result;
  }

  /// `describe(Description&)` is called if the MPI library has taken the arguments, and not else:
  /// of arguments that it refuses none is looked at.
  template <class Describe>
  void count(int result, Describe describe) {
    bool is_new;
    {
      const std::lock_guard guard(session_.recording.lock());
      if (result == MPI_SUCCESS) {
        Description description{session_, call_, event_};
        // Memory is gone: the call is counted with what is known of it.
        try {
          describe(description);
        } catch (const std::exception&) {
        }
      }
      is_new = session_.recording.add(call_);  // first: it writes down the function's name
      if (result == MPI_SUCCESS && session_.folder) fold();
    }
    // What the recorder took of it is not the program's computing.
    call_clock.over(call_.begin_ns, is_new ? now_ns() : call_.end_ns);
  }

 private:
  void fold();

  Session& session_;
  record::Call call_;
  record::EventKey event_;
};

/// A whole call that needs nothing before or after it.
template <class Call, class Describe>
int timed(Session& session, const Call& call, Describe describe) {
  TimedCall timed_call(session, Call::kNumber);
  const int result = timed_call.make([&] { return call.real_call(); });
  timed_call.count(result, describe);
  return result;
}

}  // namespace haichi::recorder
