// Collective operations, blocking, nonblocking and persistent, also among neighbours.
//
// Which of their arguments count follows from their names, which are the standard's. Those that the
// standard lets be anything, on this rank or in this call, are never looked at.
#include <string_view>

#include "generated/by_collective.h"
#include "generated/real.h"
#include "mpi/compat/handles.h"
#include "recorder/timed_call.h"

namespace haichi::mpi {
namespace {

using recorder::Description;

/// Whether this rank is the root. Between two groups the root says so; those beside it say
/// MPI_PROC_NULL and take no part.
bool is_root(const Description& d, int root) {
  return d.comm->inter ? root == MPI_ROOT : root == d.comm->rank;
}

template <class Call>
constexpr bool kIsAmongNeighbours =
    std::string_view(Call::kPlainName).find("eighbor") != std::string_view::npos;
template <class Call>
constexpr bool kScatters =
    std::string_view(Call::kPlainName).find("catter") != std::string_view::npos &&
    requires(Call call) { call.root; };

/// Blocks that this rank sends, or receives where it does not say what it sends.
template <class Call>
int blocks(const Description& d, bool sends) {
  if (kIsAmongNeighbours<Call>) return sends ? d.comm->outgoing : d.comm->incoming;
  return d.comm->peers().size();
}

template <class Count>
int64_t sum(const Count* counts, int number) {
  int64_t all = 0;
  for (int i = 0; i < number; ++i) all += int64_t(counts[i]);
  return all;
}

template <class Count>
int64_t bytes_of_all(Description& d, const Count* counts, const MPI_Datatype* types, int number) {
  int64_t all = 0;
  for (int i = 0; i < number; ++i) all += d.bytes_of(int64_t(counts[i]), types[i]);
  return all;
}

/// What this rank sends of an all-to-all or all-gather; in place that is as much as it receives.
template <class Call>
int64_t bytes_among_all(Description& d, const Call& call) {
  const bool in_place = call.sendbuf == MPI_IN_PLACE;
  const int number = blocks<Call>(d, !in_place);
  if constexpr (requires { call.sendtypes; })
    return in_place ? bytes_of_all(d, call.recvcounts, call.recvtypes, number)
                    : bytes_of_all(d, call.sendcounts, call.sendtypes, number);
  else if constexpr (requires { call.sendcounts; })
    return in_place ? d.bytes_of(sum(call.recvcounts, number), call.recvtype)
                    : d.bytes_of(sum(call.sendcounts, number), call.sendtype);
  else if constexpr (requires { call.recvcounts; })
    return in_place ? d.bytes_of(call.recvcounts[d.comm->rank], call.recvtype)
                    : d.bytes_of(call.sendcount, call.sendtype);
  else
    return in_place ? d.bytes_of(call.recvcount, call.recvtype)
                    : d.bytes_of(call.sendcount, call.sendtype);
}

/// Of a gather: what this rank gives.
template <class Call>
int64_t bytes_gathered(Description& d, const Call& call) {
  const bool root = is_root(d, call.root);
  if (!root || (!d.comm->inter && call.sendbuf != MPI_IN_PLACE))
    return d.bytes_of(call.sendcount, call.sendtype);
  if constexpr (requires { call.recvcounts; })
    return d.comm->inter ? d.bytes_of(sum(call.recvcounts, d.comm->peers().size()), call.recvtype)
                         : d.bytes_of(call.recvcounts[d.comm->rank], call.recvtype);
  else
    return d.bytes_of(call.recvcount, call.recvtype);
}

/// Of a scatter: what this rank gets.
template <class Call>
int64_t bytes_scattered(Description& d, const Call& call) {
  const bool root = is_root(d, call.root);
  if (!root || (!d.comm->inter && call.recvbuf != MPI_IN_PLACE))
    return d.bytes_of(call.recvcount, call.recvtype);
  if constexpr (requires { call.sendcounts; })
    return d.comm->inter ? d.bytes_of(sum(call.sendcounts, d.comm->peers().size()), call.sendtype)
                         : d.bytes_of(call.sendcounts[d.comm->rank], call.sendtype);
  else
    return d.bytes_of(call.sendcount, call.sendtype);
}

template <class Call>
int64_t bytes_of(Description& d, const Call& call) {
  if constexpr (requires { call.root; })
    if (call.root == MPI_PROC_NULL) return 0;
  if constexpr (requires { call.count; })
    return d.bytes_of(call.count, call.datatype);  // a broadcast or a reduction
  else if constexpr (kScatters<Call>)
    return bytes_scattered(d, call);
  else if constexpr (requires {
                       call.recvtype;
                       call.root;
                     })
    return bytes_gathered(d, call);
  else if constexpr (requires { call.recvtype; } || requires { call.recvtypes; })
    return bytes_among_all(d, call);
  else if constexpr (requires { call.recvcounts; })  // a reduction that is scattered
    return d.bytes_of(sum(call.recvcounts, d.comm->size()), call.datatype);
  else if constexpr (requires { call.recvcount; })
    return d.bytes_of(call.recvcount, call.datatype);
  else
    return record::Key::kNoBytes;  // a barrier
}

template <class Call>
const void* buffer_of(const Call& call) {
  if constexpr (requires { call.buffer; })
    return call.buffer;
  else if constexpr (requires { call.sendbuf; })
    return call.sendbuf == MPI_IN_PLACE ? call.recvbuf : call.sendbuf;
  else
    return nullptr;
}

/// What this rank receives of a v- or w-form.
template <class Call>
int64_t bytes_received(Description& d, const Call& call) {
  if constexpr (requires { call.recvtypes; })
    return bytes_of_all(d, call.recvcounts, call.recvtypes, blocks<Call>(d, false));
  else if constexpr (
      requires {
        call.recvcounts;
        call.recvtype;
      } && !requires { call.root; })
    return d.bytes_of(sum(call.recvcounts, blocks<Call>(d, false)), call.recvtype);
  else
    return record::Key::kNoBytes;
}

/// World rank of the root; of two groups, if this rank knows it.
int root_in_world(const Description& d, int root) {
  if (root == MPI_ROOT) return d.comm->members.world_rank(d.comm->rank);
  return d.world_rank(root);
}

template <class Call>
void describe(Description& d, const Call& call) {
  d.on(call.comm);
  if (d.comm == nullptr) return;
  d.key().bytes = bytes_of(d, call);
  d.buffer(buffer_of(call));
  if (d.session.folder) {
    const record::Shape sent = d.key().type;
    d.event.received = bytes_received(d, call);
    d.key().type = sent;
    if constexpr (requires { call.root; }) d.event.root = root_in_world(d, call.root);
  }
  if constexpr (requires { call.request; }) {
    record::Begun begun;
    begun.persistent = std::string_view(Call::kPlainName).ends_with("_init");
    d.began(*call.request, begun);
  }
}

bool all_know(recorder::Session& session, MPI_Comm comm) {
  const std::lock_guard guard(session.recording.lock());
  return session.communicators.all_know(comm);
}

template <class Call>
int collective(const Call& call) {
  recorder::Session* const session = recorder::session();
  if (session == nullptr) return call.real_call();
  recorder::TimedCall timed(*session, Call::kNumber);
  if constexpr (!requires { call.request; })
    if (session->parts.syncs && all_know(*session, call.comm))
      timed.wait([&] { real().Barrier(call.comm); });
  const int result = timed.make([&] { return call.real_call(); });
  timed.count(result, [&](Description& d) { describe(d, call); });
  return result;
}

}  // namespace
}  // namespace haichi::mpi
