// What a measurement is made with at one point: the ranks that take part, the size, memory that
// lives as long as the point is measured.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace haichi::measure {

/// An MPI call failed, or what it gave makes the measurement impossible. Within a measurement an
/// exception, since its calls stand in lambdas; visit() makes a line of text of it.
struct CallFailed : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// While one lives, an MPI call that fails is noted and not thrown, so that those behind it are
/// made all the same: other ranks may wait in theirs.
class NotedFailures {
 public:
  /// The first one's text goes into `problem`, if that is empty.
  explicit NotedFailures(std::string& problem) { noted_in = &problem; }
  ~NotedFailures() { noted_in = nullptr; }
  NotedFailures(const NotedFailures&) = delete;
  NotedFailures& operator=(const NotedFailures&) = delete;

 private:
  friend void call_failed(int code);
  static inline std::string* noted_in = nullptr;
};

/// Throws CallFailed, or notes it.
void call_failed(int code);

/// Around every call of MPI in a measurement; costs a comparison.
inline void must(int code) {
  if (code != MPI_SUCCESS) call_failed(code);
}

struct Case {
  MPI_Comm comm = MPI_COMM_NULL;
  int rank = 0, ranks = 0;  ///< of comm
  int64_t bytes = 0;
  std::string file;  ///< path of a file of this job's own, the same on all ranks

  /// The bytes as MPI's counts have them.
  int count() const { return int(bytes); }
  int peer() const { return rank == 0 ? 1 : 0; }

  /// Memory that begins at a page, written once, until the case ends. Never null.
  char* memory(int64_t size);
  /// Takes all that memory() gave out of this core's caches.
  void cool() const;
  /// Objects of any type, `Value()` each, until the case ends.
  template <class Value>
  Value* values(int64_t count, Value value = Value()) {
    auto made = std::make_shared<std::vector<Value>>(size_t(count), value);
    kept_.push_back(made);
    return made->data();
  }
  MPI_Request* requests(int count) { return values<MPI_Request>(count, MPI_REQUEST_NULL); }

 private:
  std::vector<std::shared_ptr<void>> kept_;
  std::vector<std::pair<const char*, size_t>> memory_;
};

}  // namespace haichi::measure
