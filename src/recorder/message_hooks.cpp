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

/// MPI_Precv_init calls the source dest.
template <class Call>
constexpr bool kSends =
    requires(Call call) { call.dest; } && std::string_view(Call::kPlainName) != "MPI_Precv_init";

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
  d.event.peer = peer;
  if constexpr (requires { call.sendtag; })
    d.event.tag = call.sendtag;
  else
    d.event.tag = call.tag;
}

int any_or(int tag) { return tag == MPI_ANY_TAG ? record::kAnyTag : tag; }

/// World rank of a source, which may be any.
int source_in_world(const Description& d, int source) {
  return source == MPI_ANY_SOURCE ? record::kAnyRank : d.world_rank(source);
}

/// What a call that sends, too, receives.
template <class Call>
void describe_exchange(Description& d, const Call& call) {
  d.event.from = source_in_world(d, call.source);
  d.event.from_tag = any_or(call.recvtag);
  if constexpr (requires { call.status; }) {
    d.event.from = d.world_rank(call.status->MPI_SOURCE);
    d.event.from_bytes = bytes_in(*call.status);
  } else if constexpr (requires { call.recvcount; }) {
    const record::Shape sent = d.key().type;
    d.event.from_bytes = d.bytes_of(int64_t(call.recvcount), call.recvtype);
    d.key().type = sent;
  } else {
    d.event.from_bytes = d.key().bytes;
  }
}

/// A call that only receives, or looks what could be received.
template <class Call>
void describe_receive(Description& d, const Call& call, const recorder::ProbedMessage& probed) {
  int source = probed.source, tag = probed.tag;
  if constexpr (requires { call.source; }) source = call.source;
  if constexpr (requires { call.tag; }) tag = call.tag;
  if constexpr (requires { call.dest; }) source = call.dest;  // MPI_Precv_init
  if (source != MPI_PROC_NULL) d.key().bytes = offered(d, call);
  if constexpr (requires { call.status; }) {  // it is over
    source = call.status->MPI_SOURCE;
    tag = call.status->MPI_TAG;
    d.key().bytes = bytes_in(*call.status);
  }
  if (source == MPI_PROC_NULL) d.key().bytes = 0;
  d.event.peer = source_in_world(d, source);
  d.event.tag = source == MPI_PROC_NULL ? 0 : any_or(tag);
  d.key().place = d.session.place_of(d.event.peer);
}

/// MPI_Mrecv and MPI_Imrecv: what they receive has a handle, and no communicator in the call.
template <class Call>
constexpr bool kReceivesProbed =
    requires(Call call) { call.message; } && !requires(Call call) { call.comm; };

/// What is known of the message that a call is to receive, which is known no longer then. Before
/// the call: behind it the handle is another thread's.
template <class Call>
recorder::ProbedMessage take_probed(recorder::Session& session, const Call& call) {
  recorder::ProbedMessage message;
  if constexpr (kReceivesProbed<Call>) {
    if (!recorder::may_be_read(call.message)) return message;
    const std::lock_guard guard(session.recording.lock());
    if (recorder::ProbedMessage* known = session.messages.of(*call.message)) message = *known;
    session.messages.forget(*call.message);
  }
  return message;
}

template <class Call>
void describe(Description& d, const Call& call, const recorder::ProbedMessage& probed) {
  if constexpr (requires { call.flag; })
    if (*call.flag == 0) {  // nothing is there
      d.on(call.comm);
      return;
    }
  if constexpr (requires { call.comm; }) d.on(call.comm);
  if constexpr (kReceivesProbed<Call>)
    d.on(probed.comm.get());
  else if constexpr (requires { call.message; })
    d.session.messages.add(*call.message, {d.session.communicators.shared(call.comm),
                                           call.status->MPI_SOURCE, call.status->MPI_TAG});
  if constexpr (kSends<Call>)
    describe_send(d, call);
  else
    describe_receive(d, call, probed);
  if constexpr (requires { call.recvtag; }) describe_exchange(d, call);
  d.buffer(buffer_of(call));
  if constexpr (requires { call.request; }) {
    record::Begun begun;
    begun.persistent = kIsPersistent<Call>;
    if constexpr (kSends<Call>) {
      begun.sends = true;
      begun.peer = d.world_rank(call.dest);
    }
    d.began(*call.request, begun);
  }
}

template <class Call>
constexpr bool kWaitsForSender = std::string_view(Call::kPlainName) == "MPI_Recv";
constexpr int kSureTag = 32767;  // every MPI has tags up to it

/// Whether a probe for the message takes arguments that are surely right, and so does the receive:
/// what is wrong must be told at once, and not when a message comes.
template <class Call>
bool can_be_probed(recorder::Session& session, const Call& call) {
  const bool tag = call.tag == MPI_ANY_TAG || (call.tag >= 0 && call.tag <= kSureTag);
  const bool room = call.count == 0 || (call.count > 0 && call.buf != nullptr);
  if (!tag || !room || call.datatype == handles().datatype_null) return false;
  const std::lock_guard guard(session.recording.lock());
  if (!session.communicators.all_know(call.comm)) return false;
  const int ranks = session.communicators.of(call.comm)->size();
  return call.source == MPI_ANY_SOURCE || (call.source >= 0 && call.source < ranks);
}

/// Waits until the message is there. It stays there, and the receive takes the one that it would
/// have taken, or, if another thread does, waits for the next one as it would have. A probe fails
/// where the receive would, as of a rank that is lost; the program's error handler has been called
/// then, and must not be once more.
template <class Call>
int wait_for_sender(recorder::Session& session, recorder::TimedCall& timed, const Call& call) {
  int result = MPI_SUCCESS;
  if (session.parts.syncs && can_be_probed(session, call))
    timed.wait([&] { result = real().Probe(call.source, call.tag, call.comm, call.status); });
  return result;
}

template <class Call>
int point_to_point(const Call& given) {
  recorder::Session* const session = recorder::session();
  if (session == nullptr) return given.real_call();
  Call call = given;
  [[maybe_unused]] MPI_Status own;  // how much came, and from whom
  if constexpr (requires { call.status; })
    if (call.status == MPI_STATUS_IGNORE) call.status = &own;
  const recorder::ProbedMessage probed = take_probed(*session, call);
  recorder::TimedCall timed(*session, Call::kNumber);
  int result = MPI_SUCCESS;
  if constexpr (kWaitsForSender<Call>) result = wait_for_sender(*session, timed, call);
  result = timed.make([&] { return result == MPI_SUCCESS ? call.real_call() : result; });
  timed.count(result, [&](Description& d) { describe(d, call, probed); });
  return result;
}

}  // namespace
}  // namespace haichi::mpi
