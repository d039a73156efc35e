#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <list>
#include <map>
#include <mutex>
#include <random>
#include <vector>

#include "fake_mpi/calls.h"
#include "fake_mpi/fake_mpi.h"
#include "fake_mpi/world.h"
#include "mpi/compat/handles.h"

namespace haichi::test {
namespace {

using mpi::handles;

struct Request {
  int64_t number;
  bool sends;
  Envelope envelope;
  Mail* mail = nullptr;  // of a send that is complete once it is taken, or what was received
  void* data = nullptr;
  int64_t size = 0;
  int looks = 0;  // until it may be complete
  int error = MPI_SUCCESS;
};

struct Requests {
  std::mutex mutex;
  std::list<Request> open;  // in the order of their issue
  int64_t next = 1;
  std::mt19937_64 random{self().world->options.seed * 64 + uint64_t(self().rank)};
};

Requests& requests() {
  static Requests* const instance = new Requests;
  return *instance;
}

// Messages between two ranks match in the order of their issue.
void match_receives(Requests& all) {
  for (Request& each : all.open) {
    if (each.sends || each.mail) continue;
    const bool earlier = std::any_of(all.open.begin(), all.open.end(), [&](const Request& other) {
      return !other.sends && !other.mail && other.number < each.number &&
             other.envelope == each.envelope;
    });
    if (earlier) continue;
    each.mail = self().world->take(self().rank, each.envelope);
    if (!each.mail) continue;
    if (int64_t(each.mail->size) > each.size) each.error = MPI_ERR_TRUNCATE;
    std::copy_n(each.mail->bytes(), std::min(size_t(each.size), each.mail->size),
                static_cast<std::byte*>(each.data));
  }
}

bool complete(Request& request) {
  if (request.sends ? request.mail && !request.mail->taken : !request.mail) return false;
  return request.looks-- <= 0;
}

int open_request(bool sends, const Envelope& envelope, void* data, int64_t size, Mail* mail,
                 MPI_Request* request) {
  Requests& all = requests();
  const std::lock_guard guard(all.mutex);
  const int64_t number = all.next++;
  all.open.push_back({.number = number,
                      .sends = sends,
                      .envelope = envelope,
                      .mail = mail,
                      .data = data,
                      .size = size,
                      .looks = int(all.random() % 4)});
  made(Handle::request, 1);
  *request = handle_of<MPI_Request>(number);
  return MPI_SUCCESS;
}

int send(const void* data, int64_t size, int to, int tag, MPI_Comm comm, bool waits,
         MPI_Request* request) {
  Mail* mail = nullptr;
  const Envelope envelope{context_of(comm, false), self().rank, tag};
  self().world->send(to, envelope, data, size_t(size), &mail);
  return open_request(true, envelope, nullptr, size, waits ? mail : nullptr, request);
}

/// Looks at one request. True if it is complete, and then gone.
bool look(MPI_Request* request, int& error) {
  error = MPI_SUCCESS;
  if (*request == handles().request_null) return true;
  Requests& all = requests();
  const std::lock_guard guard(all.mutex);
  match_receives(all);
  const auto found = std::find_if(all.open.begin(), all.open.end(), [&](const Request& each) {
    return each.number == number_of(*request);
  });
  if (found == all.open.end()) {
    error = MPI_ERR_REQUEST;
    return true;
  }
  if (!complete(*found)) return false;
  error = found->error;
  all.open.erase(found);
  made(Handle::request, -1);
  *request = handles().request_null;
  return true;
}

/// Which of these are complete, in an order that is drawn.
int look_at_some(int count, MPI_Request* all, int* done, int* indices, MPI_Status* statuses) {
  std::vector<int> order;
  for (int i = 0; i < count; ++i)
    if (all[i] != handles().request_null) order.push_back(i);
  if (order.empty()) {
    *done = MPI_UNDEFINED;
    return MPI_SUCCESS;
  }
  std::shuffle(order.begin(), order.end(), requests().random);
  *done = 0;
  bool failed = false;
  for (const int i : order) {
    int error;
    if (!look(&all[i], error)) continue;
    indices[*done] = i;
    statuses[*done].MPI_ERROR = error;
    failed = failed || error != MPI_SUCCESS;
    ++*done;
  }
  return failed ? MPI_ERR_IN_STATUS : MPI_SUCCESS;
}

void drop(MPI_Request* request) {
  Requests& all = requests();
  const std::lock_guard guard(all.mutex);
  const auto gone = std::erase_if(
      all.open, [&](const Request& each) { return each.number == number_of(*request); });
  if (gone > 0) made(Handle::request, -1);
  *request = handles().request_null;
}

int isend(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
          MPI_Request* request) {
  const LibraryCall call("MPI_Isend");
  if (call.fails()) return MPI_ERR_OTHER;
  const bool waits = requests().random() % 2 == 0;
  return send(data, bytes_of(count, type), to, tag, comm, waits, request);
}

int irecv(void* data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
          MPI_Request* request) {
  const LibraryCall call("MPI_Irecv");
  if (call.fails()) return MPI_ERR_OTHER;
  return open_request(false, {context_of(comm, false), from, tag}, data, bytes_of(count, type),
                      nullptr, request);
}

int blocking_send(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  const LibraryCall call("MPI_Send");
  if (call.fails()) return MPI_ERR_OTHER;
  if (to == MPI_PROC_NULL) return MPI_SUCCESS;
  const Envelope envelope{context_of(comm, false), self().rank, tag};
  self().world->send(to, envelope, data, size_t(bytes_of(count, type)), nullptr);
  return MPI_SUCCESS;
}

int test(MPI_Request* request, int* done, MPI_Status*) {
  const LibraryCall call("MPI_Test", true);
  if (call.fails()) return MPI_ERR_OTHER;
  int error;
  *done = look(request, error);
  return error;
}

int wait(MPI_Request* request, MPI_Status*) {
  {
    const LibraryCall call("MPI_Wait");
    if (call.fails()) return MPI_ERR_OTHER;
  }
  int error;
  while (!look(request, error)) {
    if (self().world->aborted() >= 0) _exit(self().world->aborted());
    sched_yield();
  }
  return error;
}

int testsome(int count, MPI_Request* all, int* done, int* indices, MPI_Status* statuses) {
  const LibraryCall call("MPI_Testsome", true);
  if (call.fails()) return MPI_ERR_OTHER;
  return look_at_some(count, all, done, indices, statuses);
}

int iprobe(int, int, MPI_Comm, int* found, MPI_Status*) {
  const LibraryCall call("MPI_Iprobe", true);
  *found = 0;
  return call.fails() ? MPI_ERR_OTHER : MPI_SUCCESS;
}

int request_free(MPI_Request* request) {
  const LibraryCall call("MPI_Request_free");
  if (call.fails()) return MPI_ERR_OTHER;
  drop(request);
  return MPI_SUCCESS;
}

}  // namespace

void add_messages(mpi::Real& table) {
  table.Isend = isend;
  table.Irecv = irecv;
  table.Send = blocking_send;
  table.Test = test;
  table.Wait = wait;
  table.Testsome = testsome;
  table.Iprobe = iprobe;
  table.Request_free = request_free;
}

}  // namespace haichi::test
