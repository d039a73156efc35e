// Where communicators are made and freed.
#include "generated/by_communicator_end.h"
#include "generated/by_new_communicator.h"
#include "mpi/compat/handles.h"
#include "recorder/timed_call.h"

namespace haichi::mpi {
namespace {

using recorder::Description;

/// The one that the call is on.
template <class Call>
void on_old(Description& d, const Call& call) {
  if constexpr (requires { call.comm_old; })
    d.on(call.comm_old);
  else if constexpr (requires { call.local_comm; })
    d.on(call.local_comm);
  else if constexpr (requires { call.newintracomm; })
    d.on(call.intercomm);
  else if constexpr (requires { call.comm; })
    d.on(call.comm);
}

/// What the call makes.
template <class Call>
MPI_Comm new_of(const Call& call) {
  if constexpr (requires { call.newcomm; })
    return *call.newcomm;
  else if constexpr (requires { call.newintracomm; })
    return *call.newintracomm;
  else if constexpr (requires { call.newintercomm; })
    return *call.newintercomm;
  else if constexpr (requires { call.comm_cart; })
    return *call.comm_cart;
  else if constexpr (requires { call.comm_graph; })
    return *call.comm_graph;
  else if constexpr (requires { call.comm_dist_graph; })
    return *call.comm_dist_graph;
  else
    return *call.intercomm;
}

template <class Call>
int new_communicator(const Call& call) {
  recorder::Session* const session = recorder::session();
  if (session == nullptr) return call.real_call();
  return recorder::timed(*session, call, [&](Description& d) {
    on_old(d, call);
    if constexpr (requires { call.request; })
      d.began(*call.request, {});  // it is no communicator before that is over
    else
      d.session.communicators.made(new_of(call));
  });
}

template <class Call>
int communicator_end(const Call& call) {
  recorder::Session* const session = recorder::session();
  if (session == nullptr || call.comm == nullptr) return call.real_call();
  uint16_t number;
  {
    // Before the call: behind it another thread may have made one with the same handle.
    const std::lock_guard guard(session->recording.lock());
    number = session->communicators.forget(*call.comm);
  }
  return recorder::timed(*session, call, [&](Description& d) { d.key().comm = number; });
}

}  // namespace
}  // namespace haichi::mpi
