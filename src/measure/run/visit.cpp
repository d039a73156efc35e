#include "measure/run/visit.h"

#include <algorithm>
#include <cmath>

#include "base/clock.h"
#include "measure/case/watch.h"
#include "measure/run/sampler.h"
#include "measure/scratch.h"

namespace haichi::measure {
namespace {

constexpr int kFewestSamples = 5;
constexpr double kMostInABurst = 1000;
constexpr double kBurstSeconds = 0.001;
constexpr int kMostInABatch = 4096;
constexpr double kClockCosts = 50;  // a sample takes so many times what reading the clock takes
constexpr double kNearlyWanted = 0.7;
constexpr double kNano = 1e-9;

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
    if (sampler.failed()) break;
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
    if (sampler.failed()) return;
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
Disturbance of_all(Disturbance mine, const Team& team) {
  std::vector<Disturbance> all(team.leads() ? size_t(team.ranks()) : 0);
  must(MPI_Gather(&mine, sizeof mine, MPI_BYTE, all.data(), sizeof mine, MPI_BYTE, 0, team.comm()));
  for (size_t i = 1; i < all.size(); ++i) all[0].join(all[i]);
  return team.leads() ? all[0] : mine;
}

void sample(const Point& point, Sampler& sampler, const Team& team, const VisitOrder& order,
            int64_t end_ns, VisitResult& result) {
  const int parts = point.measurement->parts;
  // The first call stands for all whether this can be done here at all.
  result.first = sampler.burst(1, 1)[0] / parts;
  result.problem = team.problem_of_any(sampler.problem());
  if (!result.problem.empty()) return;
  double least = order.least;
  result.batch = order.batch > 0 ? order.batch : find_batch(sampler, order.clock_cost, least);
  sampler.take_window(order.window);
  sampler.go_by_the_clock(result.batch, least);
  const DisturbanceMeter meter;
  take_samples(sampler, result, least, parts, end_ns);
  result.disturbance = of_all(meter.seen(), team);
  result.start = sampler.start();
  result.missed = sampler.missed();
  result.window = sampler.window();
  result.problem = team.problem_of_any(sampler.problem());
}

// Makes what is measured; what went wrong, and empty if nothing did.
std::string set_up(const Measurement& measurement, Case& at, Body& body) {
  keep_watch(measurement.name);
  const std::string problem = at.set_up(measurement.make, body);
  end_watch();
  return problem;
}

// Gives back what was made, as far as can be; what went wrong, on any rank.
std::string given_back(const Measurement& measurement, Case& at, const Team& team) {
  keep_watch(measurement.name);
  const std::string problem = team.problem_of_any(at.give_back());
  end_watch();
  return problem;
}

}  // namespace

VisitResult visit(const Point& point, Case& at, const VisitOrder& order, Team& team) {
  const int64_t end_ns = now_ns() + int64_t(order.seconds / kNano);
  const Measurement& measurement = *point.measurement;
  VisitResult result;
  Body body;
  result.problem = set_up(measurement, at, body);
  if (result.problem.empty()) {
    if (order.start == Start::window) team.clock().look();
    // Where a rank alone has something to do before or behind its calls, the others wait each time.
    const bool may_batch = !team.any(body.before || body.after || point.buffers != Buffers::hot);
    Sampler sampler(point, body, at, team, order.start, may_batch);
    sample(point, sampler, team, order, end_ns, result);
  }
  const std::string problem = given_back(measurement, at, team);
  if (result.problem.empty()) result.problem = problem;
  // Now that none writes to them any more, what files take is given back.
  if (!result.problem.empty()) remove_scratch(at.file);
  return result;
}

}  // namespace haichi::measure
