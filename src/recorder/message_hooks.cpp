// Messages between two ranks, blocking, nonblocking and persistent, and probes.
#include <string_view>

#include "generated/by_point_to_point.h"
#include "generated/real.h"
#include "mpi/compat/handles.h"
#include "recorder/timed_call.h"

namespace haichi::mpi {
namespace {

using recorder::Description;

template <class Call>
constexpr bool kIsPersistent = std::string_view(Call::kPlainName).ends_with("_init");

/// Bytes that a status tells of.
int64_t bytes_in(const MPI_Status& status) {
  MPI_Count bytes = 0;
  return real().Get_elements_x(&status, handles().byte, &bytes) == MPI_SUCCESS && bytes >= 0
             ? int64_t(bytes)
             : record::Key::kNoBytes;
}

/// What the call offers for sending, or for receiving if it sends nothing.
template <class Call>
int64_t offered(Description& d, const Call& call) {
  if constexpr (requires { call.sendcount; })
    return d.bytes_of(call.sendcount, call.sendtype);
  else if constexpr (requires { call.partitions; })
    return d.bytes_of(int64_t(call.partitions) * int64_t(call.count), call.datatype);
  else if constexpr (requires { call.count; })
    return d.bytes_of(call.count, call.datatype);
  else
    return record::Key::kNoBytes;  // a probe
}

template <class Call>
const void* buffer_of(const Call& call) {
  if constexpr (requires { call.sendbuf; })
    return call.sendbuf;
  else if constexpr (requires { call.buf; })
    return call.buf;
  else
    return nullptr;
}

template <class Call>
void describe_send(Description& d, const Call& call) {
  const int peer = d.world_rank(call.dest);
  d.key().place = d.session.place_of(peer);
  d.key().bytes = call.dest == MPI_PROC_NULL ? 0 : offered(d, call);
  if constexpr (!kIsPersistent<Call>) d.sent_to(peer, d.key().bytes);
}

/// A call that only receives, or looks what could be received.
template <class Call>
void describe_receive(Description& d, const Call& call) {
  int source = MPI_ANY_SOURCE;
  if constexpr (requires { call.source; }) source = call.source;
  if (source != MPI_PROC_NULL) d.key().bytes = offered(d, call);
  if constexpr (requires { call.status; }) {  // it is over
    source = call.status->MPI_SOURCE;
    d.key().bytes = bytes_in(*call.status);
  }
  if (source == MPI_PROC_NULL) d.key().bytes = 0;
  d.key().place = d.session.place_of(d.world_rank(source));
}

template <class Call>
void describe(Description& d, const Call& call) {
  if constexpr (requires { call.flag; })
    if (*call.flag == 0) {  // nothing is there
      d.on(call.comm);
      return;
    }
  if constexpr (requires { call.comm; }) d.on(call.comm);
  if constexpr (requires { call.dest; })
    describe_send(d, call);
  else
    describe_receive(d, call);
  d.buffer(buffer_of(call));
  if constexpr (requires { call.request; }) {
    record::Begun begun;
    begun.persistent = kIsPersistent<Call>;
    if constexpr (requires { call.dest; }) {
      begun.sends = true;
      begun.peer = d.world_rank(call.dest);
    }
    d.began(*call.request, begun);
  }
}

template <class Call>
int point_to_point(const Call& given) {
  recorder::Session* const session = recorder::session();
  if (session == nullptr) return given.real_call();
  Call call = given;
  [[maybe_unused]] MPI_Status own;  // how much came, and from whom
  if constexpr (requires { call.status; })
    if (call.status == MPI_STATUS_IGNORE) call.status = &own;
  return recorder::timed(*session, call, [&](Description& d) { describe(d, call); });
}

}  // namespace
}  // namespace haichi::mpi
