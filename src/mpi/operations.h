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

/// Those of haichi's operations that some of a call's requests stand for.
class OperationsAmong {
 public:
  OperationsAmong(const MPI_Request* requests, int count);
  /// Tells the operations how long the call has looked after them.
  ~OperationsAmong();
  OperationsAmong(const OperationsAmong&) = delete;
  OperationsAmong& operator=(const OperationsAmong&) = delete;

  /// Lets all get on that are not complete. `complete` if there are no others, or none at all.
  Progress advance();

 private:
  int64_t begin_ns_;
  std::vector<std::shared_ptr<OpenOperation>> open_;
};

}  // namespace haichi::mpi
