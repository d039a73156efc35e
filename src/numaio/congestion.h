// The least time in which loads can be carried, where each load is divided among columns and each
// column uses resources: minimise T such that the columns of load k carry amount[k] in all, and no
// resource r is used for longer than T.
//
// A linear programme of a few dozen rows, solved by the simplex method on a dense dictionary. It
// begins with all of each load in its first column, so there is always a solution, and ends when
// T is proved to be within a hundredth of the least, or after a bounded number of steps.
//
// PURE: no MPI, no clock, no environment, no file.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace haichi::numaio {

/// Used by one thread; its memory is reused from problem to problem.
class Congestion {
 public:
  /// A new problem: seconds for which each resource is used whatever the columns carry.
  void begin(std::span<const double> fixed_seconds);
  /// The next load, which at least one column must follow.
  void add_load(double amount);
  /// A way to carry the last load. Its first one is where all of it is at the beginning.
  void add_column();
  /// Seconds of a resource that a unit of the last column costs; each resource once at most.
  void add_use(size_t resource, double seconds);

  /// Solves it; the time T.
  double solve();
  /// What a column carries then; columns are counted from 0 over all loads.
  double carried(size_t column) const { return carried_[column]; }

 private:
  struct Use {
    size_t column, resource;
    double seconds;
  };

  void fill();
  bool step();
  void pivot(size_t row, size_t column);
  double* row(size_t r) { return &cells_[r * width_]; }

  std::vector<double> fixed_, amounts_;
  std::vector<size_t> load_of_, first_;  // load of each column, first column of each load
  std::vector<Use> uses_;
  // The dictionary: basic variable = constant + sum of cell * nonbasic variable. The last row is T.
  size_t width_ = 0, height_ = 0;
  std::vector<double> cells_;
  std::vector<size_t> basic_, nonbasic_;  // a column, or columns + resource for its slack
  std::vector<double> carried_, least_;
};

}  // namespace haichi::numaio
