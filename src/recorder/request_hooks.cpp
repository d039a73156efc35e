// What begins requests again, waits for them or looks at them. A call that completes some is told
// apart by the functions that began them.
#include <algorithm>
#include <array>
#include <memory>
#include <new>
#include <span>
#include <string_view>
#include <type_traits>

#include "generated/by_completion.h"
#include "generated/by_request_care.h"
#include "generated/by_start.h"
#include "mpi/compat/handles.h"
#include "recorder/timed_call.h"

namespace haichi::mpi {
namespace {

using record::Begun;
using recorder::bits;
using recorder::Description;

/// The requests of a call as they are before it: MPI overwrites those that it completes. Handles
/// are copied from where the MPI library reads them too; not through a null pointer.
class Handles {
 public:
  Handles(const MPI_Request* requests, int count) {
    if (count <= 0 || !recorder::may_be_read(requests)) return;
    uint64_t* to = few_.data();
    if (size_t(count) > few_.size()) {
      many_.reset(new (std::nothrow) uint64_t[size_t(count)]);
      to = many_.get();
    }
    if (to == nullptr) return;  // the call is counted, without what it completes
    for (int i = 0; i < count; ++i) to[i] = bits(requests[i]);
    handles_ = {to, size_t(count)};
  }
  int count() const { return int(handles_.size()); }
  uint64_t operator[](int i) const { return handles_[size_t(i)]; }

 private:
  std::array<uint64_t, 64> few_;
  std::unique_ptr<uint64_t[]> many_;
  std::span<const uint64_t> handles_;
};

/// Several calls that began requests, as one key.
class Together {
 public:
  explicit Together(record::Key& key) : key_(key) {}

  void add(const Begun& begun) {
    if (count_++ == 0) {
      key_.began = begun.function;
      key_.bytes = begun.bytes;
      key_.type = begun.type;
      key_.comm = begun.comm;
      key_.place = begun.place;
      key_.file = begun.file;
      return;
    }
    if (key_.began != begun.function) key_.began = record::Key::kMixed;
    if (key_.comm != begun.comm) key_.comm = record::Key::kNone;
    if (key_.file != begun.file) key_.file = record::Key::kNone;
    if (key_.type != begun.type) key_.type = record::Shape::none;
    if (begun.bytes > 0) key_.bytes = std::max<int64_t>(key_.bytes, 0) + begun.bytes;
    key_.place = record::Place::none;  // there are several peers
  }

 private:
  record::Key& key_;
  int count_ = 0;
};

template <class Call>
std::span<MPI_Request> requests_of(const Call& call) {
  if constexpr (requires { call.request; })
    return {call.request, 1};
  else if constexpr (requires { call.incount; })
    return {call.array_of_requests, size_t(std::max(call.incount, 0))};
  else
    return {call.array_of_requests, size_t(std::max(call.count, 0))};
}

void complete(Description& d, Together& together, uint64_t handle) {
  Begun begun;
  if (!d.session.recording.requests().complete(handle, begun)) return;
  together.add(begun);
  if (d.session.folder) d.session.slots.push_back(begun.slot);
}

/// Calls `each` with the index of every request that a successful call has completed.
template <class Call, class Each>
void for_completed(const Call& call, int count, Each each) {
  if constexpr (requires { call.flag; })
    if (*call.flag == 0) return;
  if constexpr (requires { call.outcount; }) {  // the indices of some
    for (int i = 0; *call.outcount != MPI_UNDEFINED && i < *call.outcount; ++i)
      if (call.array_of_indices[i] < count) each(call.array_of_indices[i]);
  } else if constexpr (requires { call.index; }) {  // of one, or of none that is active
    if (*call.index != MPI_UNDEFINED && *call.index < count) each(*call.index);
  } else {
    for (int i = 0; i < count; ++i) each(i);
  }
}

template <class Call>
int completion(const Call& call) {
  recorder::Session* const session = recorder::session();
  if (session == nullptr) return call.real_call();
  const auto requests = requests_of(call);
  const Handles before(requests.data(), int(requests.size()));
  recorder::TimedCall timed(*session, Call::kNumber);
  const int result = timed.make([&] { return call.real_call(); });
  timed.count(result, [&](Description& d) {
    Together together(d.key());
    d.session.slots.clear();
    for_completed(call, before.count(), [&](int i) { complete(d, together, before[i]); });
    d.event.completes = d.session.slots;
  });
  if (result == MPI_SUCCESS || before.count() == 0) return result;
  // Some have failed; those that are over are null now.
  const std::lock_guard guard(session->recording.lock());
  for (int i = 0; i < before.count(); ++i)
    if (requests[size_t(i)] == handles().request_null)
      session->recording.requests().forget(before[i]);
  return result;
}

template <class Call>
int start(const Call& call) {
  recorder::Session* const session = recorder::session();
  if (session == nullptr) return call.real_call();
  return recorder::timed(*session, call, [&](Description& d) {
    Together together(d.key());
    d.session.slots.clear();
    for (const MPI_Request request : requests_of(call)) {
      const Begun* const begun = d.session.recording.requests().start(bits(request));
      if (begun == nullptr) continue;
      together.add(*begun);
      if (begun->sends) d.sent_to(begun->peer, begun->bytes);
      if (d.session.folder) d.session.slots.push_back(begun->slot);
    }
    d.event.completes = d.session.slots;
  });
}

/// The one request that a call is about; null if there are several or none.
template <class Call>
uint64_t handle_in(const Call& call) {
  MPI_Request request = handles().request_null;
  if constexpr (requires { call.request; }) {
    if constexpr (std::is_same_v<decltype(call.request), MPI_Request*>) {
      if (recorder::may_be_read(call.request)) request = *call.request;
    } else {
      request = call.request;
    }
  }
  return bits(request);
}

/// Neither begins nor completes any, but may free one.
template <class Call>
int request_care(const Call& call) {
  recorder::Session* const session = recorder::session();
  if (session == nullptr) return call.real_call();
  const uint64_t handle = handle_in(call);
  return recorder::timed(*session, call, [&](Description& d) {
    record::Requests& requests = d.session.recording.requests();
    if (const Begun* const begun = requests.find(handle)) {
      Together(d.key()).add(*begun);
      d.session.slots.assign(1, begun->slot);
      d.event.completes = d.session.slots;
    }
    if (Call::kPlainName == std::string_view("MPI_Request_free")) requests.forget(handle);
  });
}

}  // namespace
}  // namespace haichi::mpi
