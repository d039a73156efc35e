#include "measure/run/visit.h"

#include <errno.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "base/clock.h"
#include "measure/run/sampler.h"
#include "measure/run/watch.h"

namespace haichi::measure {
namespace {

constexpr int kFewestSamples = 5;
constexpr double kMostInABurst = 1000;
constexpr double kBurstSeconds = 0.001;
constexpr int kMostInABatch = 4096;
constexpr double kClockCosts = 50;  // a sample takes so many times what reading the clock takes
constexpr double kNearlyWanted = 0.7;
constexpr double kNano = 1e-9;

// True on every rank if it is on one.
bool any(bool mine, MPI_Comm comm) {
  int all = mine;
  MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MAX, comm);
  return all != 0;
}

double least_of(const std::vector<double>& times) {
  return *std::min_element(times.begin(), times.end());
}

// So many calls that a sample is long against reading the clock. By the fastest sample, which says
// what the calls take where nothing gets in between; `least` becomes what one takes then.
int find_batch(Sampler& sampler, double clock_cost, double& least) {
  const double wanted = kClockCosts * clock_cost;
  int batch = 1;
  least = kBurstSeconds;  // of calls that can't be repeated: a long one is not made for this alone
  for (bool longer = sampler.may_batch(); longer;) {
    least = std::max(least_of(sampler.burst(kFewestSamples, batch)), clock_cost);
    const bool enough = least >= kNearlyWanted * wanted || batch == kMostInABatch;
    const int larger = int(std::min(std::ceil(batch * wanted / least), double(kMostInABatch)));
    const auto [more, next] = sampler.decide({!enough, enough ? batch : larger});
    longer = more != 0;
    batch = next;
  }
  return batch;
}

// How many samples make a burst, on the first rank.
int burst_of(const Sampler& sampler, double least) {
  const double each = std::max({least, sampler.window(), kNano});
  return int(std::clamp(kBurstSeconds / each, double(kFewestSamples), kMostInABurst));
}

// In bursts, each as long as ranks are likely to run undisturbed at the same time: on a machine
// that has other work they are in step within a burst, and lose it between two. The first one is as
// long as the others, as there may be time for one only.
void take_samples(Sampler& sampler, VisitResult& result, double least, int parts, int64_t end_ns) {
  int burst = sampler.decide({1, burst_of(sampler, least)})[1];
  for (bool more = true; more;) {
    const Start before = sampler.start();
    const auto& times = sampler.burst(burst, result.batch);
    for (const double time : times) result.samples.push_back(time / (result.batch * parts));
    // What was begun in another way is another quantity.
    if (sampler.start() != before) result.samples.clear();
    if (!times.empty()) least = std::min(least, least_of(times));
    const auto [again, next] =
        sampler.decide({now_ns() < end_ns || result.samples.empty(), burst_of(sampler, least)});
    more = again != 0;
    burst = next;
  }
}

// What all ranks saw, on the first.
Disturbance of_all(Disturbance mine, MPI_Comm comm) {
  int rank = 0, ranks = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  std::vector<Disturbance> all(rank == 0 ? size_t(ranks) : 0);
  must(MPI_Gather(&mine, sizeof mine, MPI_BYTE, all.data(), sizeof mine, MPI_BYTE, 0, comm));
  for (int i = 1; rank == 0 && i < ranks; ++i) all[0].join(all[size_t(i)]);
  return rank == 0 ? all[0] : mine;
}

// What is to be said of a problem that this rank has, or another one; empty if none has. The file
// of one that failed can't be closed, which all ranks would have to do at the same place; but what
// it takes is given back, now that none of them writes to it any more.
std::string problem_of_any(const std::string& mine, const Case& at) {
  if (!any(!mine.empty(), at.comm)) return "";
  if (at.rank == 0 && (truncate(at.file.c_str(), 0) != 0 || unlink(at.file.c_str()) != 0))
    errno = 0;  // there was none
  return mine.empty() ? "it failed on another rank" : mine;
}

void sample(const Point& point, Sampler& sampler, const Case& at, const VisitOrder& order,
            int64_t end_ns, VisitResult& result) {
  const int parts = point.measurement->parts;
  // The first call stands for all whether this can be done here at all.
  std::string problem;
  try {
    result.first = sampler.burst(1, 1)[0] / parts;
  } catch (const CallFailed& error) {
    problem = error.what();
    end_watch();
  }
  result.problem = problem_of_any(problem, at);
  if (!result.problem.empty()) return;
  double least = order.least;
  result.batch = order.batch > 0 ? order.batch : find_batch(sampler, order.clock_cost, least);
  sampler.take_window(order.window);
  sampler.go_by_the_clock(result.batch, least);
  const DisturbanceMeter meter;
  take_samples(sampler, result, least, parts, end_ns);
  result.disturbance = of_all(meter.seen(), at.comm);
  result.start = sampler.start();
  result.missed = sampler.missed();
  result.window = sampler.window();
}

}  // namespace

VisitResult visit(const Point& point, Case& at, const VisitOrder& order, CommonClock& clock) {
  const int64_t end_ns = now_ns() + int64_t(order.seconds / kNano);
  const Measurement& measurement = *point.measurement;
  VisitResult result;
  Body body;
  std::string problem;
  keep_watch(measurement.name);
  try {
    body = measurement.make(at);
  } catch (const CallFailed& error) {
    problem = error.what();
  }
  end_watch();
  result.problem = problem_of_any(problem, at);
  if (!result.problem.empty()) return result;
  if (order.start == Start::window) clock.look();
  // Where a rank alone does something before or behind its calls, the others wait for it each time.
  const bool may_batch = !any(body.before || body.after || point.buffers != Buffers::hot, at.comm);
  Sampler sampler(point, body, at, clock, order.start, may_batch);
  sample(point, sampler, at, order, end_ns, result);
  keep_watch(measurement.name);
  if (body.end) body.end();
  end_watch();
  return result;
}

}  // namespace haichi::measure
