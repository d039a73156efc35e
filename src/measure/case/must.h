// What becomes of an MPI call that fails in the measuring suite.
#pragma once

#include <mpi.h>

#include <stdexcept>
#include <string>

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

/// Makes all the calls, whichever of them fail; how the first one did goes into `problem`, if that
/// is empty.
template <class Calls>
void attempt(std::string& problem, const Calls& calls) {
  const NotedFailures noted(problem);
  try {
    calls();
  } catch (const CallFailed& error) {
    if (problem.empty()) problem = error.what();
  }
}

}  // namespace haichi::measure
