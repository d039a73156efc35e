// Operations of haichi's that go on after the program's call, and the requests that stand for them.
//
// haichi has no thread that calls MPI: an operation gets on when the program looks after its
// request (request_hooks.cpp). So it may not need more than that to let other ranks get on; see
// docs/adr/0015-nonblocking-exchanges.md.
//
// Thread-safe. No lock is held while the MPI library may call back.
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace haichi::mpi {

enum class Progress : uint8_t { none, some, complete };

/// What goes on behind one request. Its functions are called by one thread at a time.
class Operation {
 public:
  virtual ~Operation() = default;
  /// Does what can be done without waiting. Not called again once it is complete.
  virtual Progress advance() = 0;
  /// The program was in a call that looks after the request for so long.
  virtual void looked_after(int64_t ns) { (void)ns; }
  /// True if it gets on without the program: then its request may be freed before it is complete.
  virtual bool needs_nobody() const { return false; }
  /// Once it is complete: whether it failed in a way that the program must not learn of by the MPI
  /// library, which asks the error handler of a communicator (ADR 11).
  virtual bool failed() const { return false; }
  /// Asks the error handler that is the right one, and returns the MPI error code that the
  /// program's call shall end with. Called if it failed, when the program's request has ended.
  virtual int tell_failure() { return MPI_SUCCESS; }
};

/// An operation between its begin and its end.
struct OpenOperation;

/// How many there are in this process.
extern constinit std::atomic<int> g_open_operations;

/// True if there are any. What a call of the program costs for requests that are not haichi's.
inline bool operations_open() { return g_open_operations.load(std::memory_order_relaxed) > 0; }

/// Lets `operation` get on whenever the program looks after `request`, and calls
/// `complete_request` when the operation is complete.
void open_operation(std::shared_ptr<Operation> operation, MPI_Request request,
                    std::function<void()> complete_request);

/// The program is about to free `request`: completes it if its operation needs nobody.
void let_go_of_operation(MPI_Request request);

/// `request` has ended. Only for those whose operations may fail: they are known until then.
void forget_operation(MPI_Request request);

/// Where a call tells which requests have ended, and what of them.
struct Told {
  enum class How : uint8_t {
    nothing,   ///< no request ends in this call
    code,      ///< one at most, and the call returns its error
    statuses,  ///< the errors stand in statuses
  };
  How how;
  MPI_Status* statuses = nullptr;
  const int* number = nullptr;   ///< of statuses; null: one for each request
  const int* indices = nullptr;  ///< of the requests that they are of; null: of all
};

/// Those of haichi's operations that some of a call's requests stand for.
class OperationsAmong {
 public:
  /// `requests` are the call's own: what ends is MPI_REQUEST_NULL there afterwards.
  OperationsAmong(const MPI_Request* requests, int count);
  /// Tells the operations how long the call has looked after them.
  ~OperationsAmong();
  OperationsAmong(const OperationsAmong&) = delete;
  OperationsAmong& operator=(const OperationsAmong&) = delete;

  /// Lets all get on that are not complete. `complete` if there are no others, or none at all.
  Progress advance();

  /// To be called when the library's call has returned `result`: adds the failures of operations
  /// whose requests it has ended, and returns what the program's call shall return.
  int tell(int result, const Told& told);

 private:
  struct Entry {
    int index;  ///< among the requests
    std::shared_ptr<OpenOperation> open;
  };

  const MPI_Request* requests_;
  int count_;
  int64_t begin_ns_;
  std::vector<Entry> open_, failed_;
};

}  // namespace haichi::mpi
