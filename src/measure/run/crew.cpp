#include "measure/run/crew.h"

#include <algorithm>

#include "measure/run/quiet_wait.h"

namespace haichi::measure {
namespace {

constexpr int kHome = 77;  // tag of results on their way to rank 0

}  // namespace

Crew::Crew(const std::vector<Point>& points, std::string file, double clock_cost)
    : points_(points), file_(std::move(file)), clock_cost_(clock_cost) {
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  must(MPI_Comm_dup(MPI_COMM_WORLD, &control_));
  for (const Point& point : points) {
    if (by_place_.count(point.place)) continue;
    const auto& ranks = point.ranks;
    const auto place = std::find(ranks.begin(), ranks.end(), rank_);
    const bool takes_part = ranks.empty() || place != ranks.end();
    const int key = ranks.empty() ? rank_ : int(place - ranks.begin());
    MPI_Comm comm;
    must(MPI_Comm_split(MPI_COMM_WORLD, takes_part ? 0 : MPI_UNDEFINED, key, &comm));
    by_place_[point.place] = comm;
  }
}

Crew::~Crew() {
  for (auto& [place, comm] : by_place_)
    if (comm != MPI_COMM_NULL) MPI_Comm_free(&comm);
  MPI_Comm_free(&control_);
}

MPI_Comm Crew::comm_of(const Point& point) const { return by_place_.at(point.place); }

VisitResult Crew::lead(int point, double seconds, int batch) {
  Order order{seconds, point, batch};
  must(MPI_Bcast(&order, sizeof order, MPI_BYTE, 0, control_));
  VisitResult mine = take_part(order);
  VisitResult whole = bring_home(points_[size_t(point)], std::move(mine));
  gather_quietly(control_);
  return whole;
}

void Crew::dismiss() {
  Order order{0, -1, 0};
  must(MPI_Bcast(&order, sizeof order, MPI_BYTE, 0, control_));
}

void Crew::follow() {
  for (;;) {
    Order order;
    must(MPI_Bcast(&order, sizeof order, MPI_BYTE, 0, control_));
    if (order.point < 0) return;
    VisitResult mine = take_part(order);
    bring_home(points_[size_t(order.point)], std::move(mine));
    gather_quietly(control_);
  }
}

VisitResult Crew::take_part(const Order& order) {
  const Point& point = points_[size_t(order.point)];
  Case at;
  at.comm = comm_of(point);
  if (at.comm == MPI_COMM_NULL) return {};
  MPI_Comm_rank(at.comm, &at.rank);
  MPI_Comm_size(at.comm, &at.ranks);
  at.bytes = point.bytes;
  at.file = file_;
  return visit(point, at, order.seconds, order.batch, clock_cost_);
}

// The result from the first of those that took part to rank 0.
VisitResult Crew::bring_home(const Point& point, VisitResult mine) {
  const int first = point.ranks.empty() ? 0 : point.ranks.front();
  if (first == 0 || (rank_ != 0 && rank_ != first)) return mine;
  double numbers[3] = {double(mine.samples.size()), mine.first, double(mine.batch)};
  int length = int(mine.problem.size());
  if (rank_ == first) {
    must(MPI_Send(numbers, 3, MPI_DOUBLE, 0, kHome, control_));
    must(MPI_Send(mine.samples.data(), int(mine.samples.size()), MPI_DOUBLE, 0, kHome, control_));
    must(MPI_Send(&length, 1, MPI_INT, 0, kHome, control_));
    must(MPI_Send(mine.problem.data(), length, MPI_CHAR, 0, kHome, control_));
    return mine;
  }
  MPI_Request request;
  must(MPI_Irecv(numbers, 3, MPI_DOUBLE, first, kHome, control_, &request));
  wait_quietly(request);
  VisitResult whole;
  whole.samples.resize(size_t(numbers[0]));
  whole.first = numbers[1];
  whole.batch = int(numbers[2]);
  must(MPI_Recv(whole.samples.data(), int(whole.samples.size()), MPI_DOUBLE, first, kHome, control_,
                MPI_STATUS_IGNORE));
  must(MPI_Recv(&length, 1, MPI_INT, first, kHome, control_, MPI_STATUS_IGNORE));
  whole.problem.resize(size_t(length));
  must(MPI_Recv(whole.problem.data(), length, MPI_CHAR, first, kHome, control_, MPI_STATUS_IGNORE));
  return whole;
}

}  // namespace haichi::measure
