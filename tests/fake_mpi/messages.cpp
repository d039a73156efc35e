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

enum class Kind : uint8_t { once, persistent, generalized };

/// Of a generalized request: what its owner gave, and whether it has said that it is complete.
struct Owner {
  MPI_Grequest_query_function* query = nullptr;
  MPI_Grequest_free_function* free = nullptr;
  void* state = nullptr;
  bool complete = false;
};

struct Request {
  int64_t number;  // of its handle
  int64_t issued;  // in the order in which messages are
  Kind kind = Kind::once;
  bool sends;
  Envelope envelope;
  int to = 0;
  Mail* mail = nullptr;  // of a send that is complete once it is taken, or what was received
  void* data = nullptr;
  int64_t size = 0;
  bool waits = false;  // a send: for its receive
  bool active = true;
  int looks = 0;  // until it may be complete
  int error = MPI_SUCCESS;
  Owner owner = {};
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
  const auto waits = [](const Request& each) {
    return each.kind != Kind::generalized && each.active && !each.sends && !each.mail;
  };
  for (Request& each : all.open) {
    if (!waits(each)) continue;
    const bool earlier = std::any_of(all.open.begin(), all.open.end(), [&](const Request& other) {
      return waits(other) && other.issued < each.issued && other.envelope == each.envelope;
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
  if (!request.active) return true;
  if (request.kind == Kind::generalized) return request.owner.complete && request.looks-- <= 0;
  if (request.sends ? request.mail && !request.mail->taken : !request.mail) return false;
  return request.looks-- <= 0;
}

/// Gives the request a number and a handle.
Request& add(Requests& all, Request made_of, MPI_Request* handle) {
  made_of.number = made_of.issued = all.next++;
  made_of.looks = int(all.random() % 4);
  all.open.push_back(made_of);
  made(Handle::request, 1);
  *handle = handle_of<MPI_Request>(made_of.number);
  return all.open.back();
}

void issue(Requests& all, Request& request) {
  request.issued = all.next++;
  request.active = true;
  request.mail = nullptr;
  request.error = MPI_SUCCESS;
  request.looks = int(all.random() % 4);
  if (!request.sends) return;
  Mail* mail = nullptr;
  self().world->send(request.to, request.envelope, request.data, size_t(request.size), &mail);
  if (request.waits) request.mail = mail;
}

Request message_to(const void* data, int64_t size, int to, int tag, MPI_Comm comm) {
  return {.sends = true,
          .envelope = {context_of(comm, false), self().rank, tag},
          .to = to,
          .data = const_cast<void*>(data),
          .size = size,
          .waits = requests().random() % 2 == 0};
}

Request message_from(void* data, int64_t size, int from, int tag, MPI_Comm comm) {
  return {
      .sends = false, .envelope = {context_of(comm, false), from, tag}, .data = data, .size = size};
}

int begin_once(Request message, MPI_Request* request) {
  Requests& all = requests();
  const std::lock_guard guard(all.mutex);
  issue(all, add(all, message, request));
  return MPI_SUCCESS;
}

int make_persistent(Request message, MPI_Request* request) {
  message.kind = Kind::persistent;
  message.active = false;
  Requests& all = requests();
  const std::lock_guard guard(all.mutex);
  add(all, message, request);
  return MPI_SUCCESS;
}

std::list<Request>::iterator find(Requests& all, MPI_Request handle) {
  return std::find_if(all.open.begin(), all.open.end(),
                      [&](const Request& each) { return each.number == number_of(handle); });
}

/// Gives the error that its owner wants the program to have.
int end_generalized(const Owner& owner) {
  MPI_Status status;
  const int error = owner.query(owner.state, &status);
  owner.free(owner.state);
  return error;
}

/// Looks at one request. True if it is complete, and then gone.
bool look(MPI_Request* request, int& error) {
  error = MPI_SUCCESS;
  if (*request == handles().request_null) return true;
  Owner owner;
  {
    Requests& all = requests();
    const std::lock_guard guard(all.mutex);
    match_receives(all);
    const auto found = find(all, *request);
    if (found == all.open.end()) {
      error = MPI_ERR_REQUEST;
      return true;
    }
    if (!complete(*found)) return false;
    error = found->error;
    found->active = false;
    if (found->kind == Kind::persistent) return true;
    owner = found->owner;
    all.open.erase(found);
  }
  made(Handle::request, -1);
  *request = handles().request_null;
  if (owner.query) error = end_generalized(owner);
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
  Owner owner;
  {
    Requests& all = requests();
    const std::lock_guard guard(all.mutex);
    const auto found = find(all, *request);
    *request = handles().request_null;
    if (found == all.open.end()) return;
    owner = found->owner;
    all.open.erase(found);
  }
  made(Handle::request, -1);
  if (owner.query) owner.free(owner.state);
}

int isend(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
          MPI_Request* request) {
  const LibraryCall call("MPI_Isend");
  if (call.fails()) return MPI_ERR_OTHER;
  return begin_once(message_to(data, bytes_of(count, type), to, tag, comm), request);
}

int irecv(void* data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
          MPI_Request* request) {
  const LibraryCall call("MPI_Irecv");
  if (call.fails()) return MPI_ERR_OTHER;
  return begin_once(message_from(data, bytes_of(count, type), from, tag, comm), request);
}

int send_init(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request* request) {
  const LibraryCall call("MPI_Send_init");
  if (call.fails()) return MPI_ERR_OTHER;
  return make_persistent(message_to(data, bytes_of(count, type), to, tag, comm), request);
}

int recv_init(void* data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
              MPI_Request* request) {
  const LibraryCall call("MPI_Recv_init");
  if (call.fails()) return MPI_ERR_OTHER;
  return make_persistent(message_from(data, bytes_of(count, type), from, tag, comm), request);
}

int startall(int count, MPI_Request* handles) {
  const LibraryCall call("MPI_Startall");
  if (call.fails()) return MPI_ERR_OTHER;
  Requests& all = requests();
  const std::lock_guard guard(all.mutex);
  for (int i = 0; i < count; ++i) {
    const auto found = find(all, handles[i]);
    if (found == all.open.end() || found->active) return MPI_ERR_REQUEST;
    issue(all, *found);
  }
  return MPI_SUCCESS;
}

int start(MPI_Request* handle) { return startall(1, handle); }

int grequest_start(MPI_Grequest_query_function* query, MPI_Grequest_free_function* free,
                   MPI_Grequest_cancel_function*, void* state, MPI_Request* request) {
  const LibraryCall call("MPI_Grequest_start");
  if (call.fails()) return MPI_ERR_OTHER;
  Requests& all = requests();
  const std::lock_guard guard(all.mutex);
  add(all, {.kind = Kind::generalized, .sends = false, .owner = {query, free, state}}, request);
  return MPI_SUCCESS;
}

int grequest_complete(MPI_Request request) {
  const LibraryCall call("MPI_Grequest_complete");
  Requests& all = requests();
  const std::lock_guard guard(all.mutex);
  const auto found = find(all, request);
  if (found == all.open.end()) return MPI_ERR_REQUEST;
  found->owner.complete = true;
  return MPI_SUCCESS;
}

int set_elements(MPI_Status*, MPI_Datatype, MPI_Count) { return MPI_SUCCESS; }
int set_cancelled(MPI_Status*, int) { return MPI_SUCCESS; }

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

int waitsome(int count, MPI_Request* all, int* done, int* indices, MPI_Status* statuses) {
  {
    const LibraryCall call("MPI_Waitsome");
    if (call.fails()) return MPI_ERR_OTHER;
  }
  for (;;) {
    const int result = look_at_some(count, all, done, indices, statuses);
    if (*done != 0) return result;
    if (self().world->aborted() >= 0) _exit(self().world->aborted());
    sched_yield();
  }
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
  table.Send_init = send_init;
  table.Recv_init = recv_init;
  table.Start = start;
  table.Startall = startall;
  table.Grequest_start = grequest_start;
  table.Grequest_complete = grequest_complete;
  table.Status_set_elements_x = set_elements;
  table.Status_set_cancelled = set_cancelled;
  table.Test = test;
  table.Wait = wait;
  table.Testsome = testsome;
  table.Waitsome = waitsome;
  table.Iprobe = iprobe;
  table.Request_free = request_free;
}

}  // namespace haichi::test
