// One-sided communication: accesses, what synchronises them, and windows.
#include "generated/by_new_window.h"
#include "generated/by_one_sided.h"
#include "generated/by_window_end.h"
#include "mpi/compat/handles.h"
#include "recorder/timed_call.h"

namespace haichi::mpi {
namespace {

using recorder::Description;

template <class Call>
constexpr bool kAccesses = requires(Call call) { call.target_rank; };

template <class Call>
void describe_access(Description& d, const Call& call) {
  const int target = d.world_rank(call.target_rank);
  d.event.peer = target;
  d.key().place = d.session.place_of(target);
  d.key().bytes = 0;
  if (call.target_rank != MPI_PROC_NULL) {
    if constexpr (requires { call.target_count; })
      d.key().bytes = d.bytes_of(int64_t(call.target_count), call.target_datatype);
    else
      d.key().bytes = d.bytes_of(1, call.datatype);
  }
  d.sent_to(target, d.key().bytes, record::Way::one_sided);
  d.buffer(call.origin_addr);
  if constexpr (requires { call.request; }) {
    record::Begun begun;
    begun.one_sided = true;
    begun.peer = target;
    d.began(*call.request, begun);
  }
}

template <class Call>
int one_sided(const Call& call) {
  recorder::Session* const session = recorder::session();
  if (session == nullptr) return call.real_call();
  return recorder::timed(*session, call, [&](Description& d) {
    const recorder::Window* const window = d.session.windows.of(call.win);
    if (window == nullptr) return;
    d.on(window->comm.get());
    d.event.window = window->number;
    if constexpr (kAccesses<Call>) {
      describe_access(d, call);
    } else if constexpr (requires { call.rank; }) {
      d.event.peer = d.world_rank(call.rank);
      d.key().place = d.session.place_of(d.event.peer);
    }
  });
}

template <class Call>
int new_window(const Call& call) {
  recorder::Session* const session = recorder::session();
  if (session == nullptr) return call.real_call();
  return recorder::timed(*session, call, [&](Description& d) {
    d.on(call.comm);
    recorder::Window window{d.session.communicators.shared(call.comm)};
    window.number = d.event.window = d.session.take_window_number();
    if constexpr (requires { call.size; }) d.key().bytes = int64_t(call.size);
    d.session.windows.add(*call.win, std::move(window));
  });
}

template <class Call>
int window_end(const Call& call) {
  recorder::Session* const session = recorder::session();
  if (session == nullptr || call.win == nullptr) return call.real_call();
  recorder::Window window;
  {
    // Before the call: behind it another thread may have made one with the same handle.
    const std::lock_guard guard(session->recording.lock());
    if (const recorder::Window* const known = session->windows.of(*call.win)) window = *known;
    session->windows.forget(*call.win);
    session->free_window_number(window.number);
  }
  return recorder::timed(*session, call, [&](Description& d) {
    if (window.comm) d.on(window.comm.get());
    d.event.window = window.number;
  });
}

}  // namespace
}  // namespace haichi::mpi
