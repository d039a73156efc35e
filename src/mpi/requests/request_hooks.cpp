// Hooks of the functions that wait for requests, look at them or complete them. Where no operation
// of haichi's is open, or none that the call is about, they are the MPI library's.
#include "generated/hooks.h"
#include "generated/real.h"
#include "mpi/job/abort_job.h"
#include "mpi/job/backoff.h"
#include "mpi/requests/operations.h"

namespace haichi::mpi {
namespace {

constexpr Told kNothing{.how = Told::How::nothing};
constexpr Told kCode{.how = Told::How::code};

Told in_all(MPI_Status* statuses) { return {.how = Told::How::statuses, .statuses = statuses}; }

Told in_some(MPI_Status* statuses, const int* number, const int* indices) {
  return {.how = Told::How::statuses, .statuses = statuses, .number = number, .indices = indices};
}

/// A call that waits. `over(result)` makes the call's form that does not wait, with its result, and
/// says whether that leaves nothing to wait for; `real_call` is the call itself.
///
/// The program's other requests must get on too, by that form: not all that MPI libraries do behind
/// a request gets on otherwise (ROMIO's nonblocking collectives do not).
template <class Over, class RealCall>
int wait(const MPI_Request* requests, int count, const Told& told, Over over, RealCall real_call) {
  if (!operations_open() || requests == nullptr) return real_call();
  return unless_out_of_memory("a call that waits for requests", [&] {
    OperationsAmong ours(requests, count);
    Backoff backoff;
    for (;;) {
      const Progress made = ours.advance();
      if (made == Progress::complete) return ours.tell(real_call(), told);
      int result = MPI_SUCCESS;
      if (over(result) || result != MPI_SUCCESS) return ours.tell(result, told);
      made == Progress::some ? backoff.reset() : backoff.idle();
    }
  });
}

/// A call that does not wait.
template <class RealCall>
int look(const MPI_Request* requests, int count, const Told& told, RealCall real_call) {
  if (!operations_open() || requests == nullptr) return real_call();
  return unless_out_of_memory("a call that tests requests", [&] {
    OperationsAmong ours(requests, count);
    ours.advance();
    return ours.tell(real_call(), told);
  });
}

}  // namespace

int on_Wait(MPI_Request* request, MPI_Status* status) {
  return wait(
      request, 1, kCode, [](int&) { return false; }, [&] { return real().Wait(request, status); });
}

int on_Waitall(int count, MPI_Request array_of_requests[], MPI_Status array_of_statuses[]) {
  return wait(
      array_of_requests, count, in_all(array_of_statuses),
      [&](int& result) {
        int done = 0;
        result = real().Testall(count, array_of_requests, &done, array_of_statuses);
        return done != 0;
      },
      [&] { return real().Waitall(count, array_of_requests, array_of_statuses); });
}

int on_Waitany(int count, MPI_Request array_of_requests[], int* index, MPI_Status* status) {
  return wait(
      array_of_requests, count, kCode,
      [&](int& result) {
        int done = 0;
        result = real().Testany(count, array_of_requests, index, &done, status);
        return done != 0;
      },
      [&] { return real().Waitany(count, array_of_requests, index, status); });
}

int on_Waitsome(int incount, MPI_Request array_of_requests[], int* outcount, int array_of_indices[],
                MPI_Status array_of_statuses[]) {
  return wait(
      array_of_requests, incount, in_some(array_of_statuses, outcount, array_of_indices),
      [&](int& result) {
        result = real().Testsome(incount, array_of_requests, outcount, array_of_indices,
                                 array_of_statuses);
        return *outcount != 0;
      },
      [&] {
        return real().Waitsome(incount, array_of_requests, outcount, array_of_indices,
                               array_of_statuses);
      });
}

int on_Test(MPI_Request* request, int* flag, MPI_Status* status) {
  return look(request, 1, kCode, [&] { return real().Test(request, flag, status); });
}

int on_Testall(int count, MPI_Request array_of_requests[], int* flag,
               MPI_Status array_of_statuses[]) {
  return look(array_of_requests, count, in_all(array_of_statuses),
              [&] { return real().Testall(count, array_of_requests, flag, array_of_statuses); });
}

int on_Testany(int count, MPI_Request array_of_requests[], int* index, int* flag,
               MPI_Status* status) {
  return look(array_of_requests, count, kCode,
              [&] { return real().Testany(count, array_of_requests, index, flag, status); });
}

int on_Testsome(int incount, MPI_Request array_of_requests[], int* outcount, int array_of_indices[],
                MPI_Status array_of_statuses[]) {
  return look(array_of_requests, incount, in_some(array_of_statuses, outcount, array_of_indices),
              [&] {
                return real().Testsome(incount, array_of_requests, outcount, array_of_indices,
                                       array_of_statuses);
              });
}

int on_Request_get_status(MPI_Request request, int* flag, MPI_Status* status) {
  return look(&request, 1, kNothing,
              [&] { return real().Request_get_status(request, flag, status); });
}

int on_Request_get_status_all(int count, const MPI_Request array_of_requests[], int* flag,
                              MPI_Status array_of_statuses[]) {
  return look(array_of_requests, count, kNothing, [&] {
    return real().Request_get_status_all(count, array_of_requests, flag, array_of_statuses);
  });
}

int on_Request_get_status_any(int count, const MPI_Request array_of_requests[], int* index,
                              int* flag, MPI_Status* status) {
  return look(array_of_requests, count, kNothing, [&] {
    return real().Request_get_status_any(count, array_of_requests, index, flag, status);
  });
}

int on_Request_get_status_some(int incount, const MPI_Request array_of_requests[], int* outcount,
                               int array_of_indices[], MPI_Status array_of_statuses[]) {
  return look(array_of_requests, incount, kNothing, [&] {
    return real().Request_get_status_some(incount, array_of_requests, outcount, array_of_indices,
                                          array_of_statuses);
  });
}

}  // namespace haichi::mpi
