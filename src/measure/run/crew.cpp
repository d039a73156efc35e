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
    by_place_[point.place] = {comm, comm != MPI_COMM_NULL ? std::make_unique<Team>(comm) : nullptr};
  }
}

Crew::~Crew() {
  for (auto& [place, group] : by_place_)
    if (group.comm != MPI_COMM_NULL) MPI_Comm_free(&group.comm);
  MPI_Comm_free(&control_);
}

VisitResult Crew::lead(int point, int64_t bytes, double seconds, Start start, const Found& before) {
  const int parts = points_[size_t(point)].measurement->parts;
  const double least = before.samples.least() * before.batch * parts;
  Order order{point, bytes, {seconds, start, before.batch, least, before.window, clock_cost_}};
  must(MPI_Bcast(&order, sizeof order, MPI_BYTE, 0, control_));
  VisitResult mine = take_part(order);
  VisitResult whole = bring_home(points_[size_t(point)], std::move(mine));
  gather_quietly(control_);
  return whole;
}

void Crew::dismiss() {
  Order order{.point = -1, .bytes = 0, .visit = {}};
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
  const Group& group = by_place_.at(point.place);
  if (!group.team) return {};
  Case at(group.comm, *group.team, order.bytes, file_);
  return visit(point, at, order.visit, *group.team);
}

// The result from the first of those that took part to rank 0.
VisitResult Crew::bring_home(const Point& point, VisitResult mine) {
  const int first = point.ranks.empty() ? 0 : point.ranks.front();
  if (first == 0 || (rank_ != 0 && rank_ != first)) return mine;
  struct {
    VisitFacts facts;
    int samples, problem;
  } head{mine, int(mine.samples.size()), int(mine.problem.size())};
  if (rank_ == first) {
    must(MPI_Send(&head, sizeof head, MPI_BYTE, 0, kHome, control_));
    must(MPI_Send(mine.samples.data(), head.samples, MPI_DOUBLE, 0, kHome, control_));
    must(MPI_Send(mine.problem.data(), head.problem, MPI_CHAR, 0, kHome, control_));
    return mine;
  }
  MPI_Request request;
  must(MPI_Irecv(&head, sizeof head, MPI_BYTE, first, kHome, control_, &request));
  wait_quietly(request);
  VisitResult whole{head.facts, {}, {}};
  whole.samples.resize(size_t(head.samples));
  whole.problem.resize(size_t(head.problem));
  must(MPI_Recv(whole.samples.data(), head.samples, MPI_DOUBLE, first, kHome, control_,
                MPI_STATUS_IGNORE));
  must(MPI_Recv(whole.problem.data(), head.problem, MPI_CHAR, first, kHome, control_,
                MPI_STATUS_IGNORE));
  return whole;
}

}  // namespace haichi::measure
