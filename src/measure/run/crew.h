// How the ranks of a job go from point to point together: rank 0 says which, those whose point it
// is measure, and the others wait without taking cores from them.
#pragma once

#include <mpi.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "measure/records.h"
#include "measure/run/visit.h"

namespace haichi::measure {

class Crew {
 public:
  /// Collective over MPI_COMM_WORLD; `points` are the same on all ranks.
  Crew(const std::vector<Point>& points, std::string file, double clock_cost);
  ~Crew();
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  /// On rank 0: has a point visited, with `bytes` in place of its size; the whole result.
  /// `start` is how samples begin; `before` is what earlier visits found.
  VisitResult lead(int point, int64_t bytes, double seconds, Start start, const Found& before);
  /// On rank 0: lets follow() of the others return.
  void dismiss();
  /// On all others: takes part in visits until dismissed.
  void follow();

 private:
  struct Order {
    int point;  ///< -1: dismissed
    int64_t bytes;
    VisitOrder visit;
  };
  VisitResult take_part(const Order& order);
  VisitResult bring_home(const Point& point, VisitResult mine);
  struct Group {
    MPI_Comm comm;               ///< what is measured with; MPI_COMM_NULL without this rank
    std::unique_ptr<Team> team;  ///< the same ranks; none without this rank
  };

  const std::vector<Point>& points_;
  std::string file_;
  double clock_cost_;
  int rank_ = 0;
  MPI_Comm control_ = MPI_COMM_NULL;
  std::map<std::string, Group> by_place_;
};

}  // namespace haichi::measure
