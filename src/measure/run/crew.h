// How the ranks of a job go from point to point together: rank 0 says which, those whose point it
// is measure, and the others wait without taking cores from them.
#pragma once

#include <mpi.h>

#include <map>
#include <string>
#include <vector>

#include "measure/run/visit.h"

namespace haichi::measure {

class Crew {
 public:
  /// Collective over MPI_COMM_WORLD; `points` are the same on all ranks.
  Crew(const std::vector<Point>& points, std::string file, double clock_cost);
  ~Crew();
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  /// On rank 0: has a point visited; the whole result. `batch` as visit() has it.
  VisitResult lead(int point, double seconds, int batch);
  /// On rank 0: lets follow() of the others return.
  void dismiss();
  /// On all others: takes part in visits until dismissed.
  void follow();

 private:
  struct Order {
    double seconds;
    int point;  ///< -1: dismissed
    int batch;
  };
  VisitResult take_part(const Order& order);
  VisitResult bring_home(const Point& point, VisitResult mine);
  MPI_Comm comm_of(const Point& point) const;

  const std::vector<Point>& points_;
  std::string file_;
  double clock_cost_;
  int rank_ = 0;
  MPI_Comm control_ = MPI_COMM_NULL;
  std::map<std::string, MPI_Comm> by_place_;  // MPI_COMM_NULL where this rank takes no part
};

}  // namespace haichi::measure
