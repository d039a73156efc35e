#include "measure/run/visit.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/clock.h"
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

class Sampler {
 public:
  Sampler(const Measurement& measurement, const Body& body, const Case& at)
      : measurement_(measurement), body_(body), at_(at) {}

  // Times `count` samples of `batch` calls each; seconds of a sample, on the first rank.
  const std::vector<double>& burst(int count, int batch) {
    times_.resize(size_t(count));
    keep_watch(measurement_.name);
    MPI_Barrier(at_.comm);
    for (int i = 0; i < count; ++i) {
      if (body_.before) body_.before();
      if (measurement_.start == Start::barrier) MPI_Barrier(at_.comm);
      const int64_t begin = now_ns();
      for (int j = 0; j < batch; ++j) body_.call();
      times_[size_t(i)] = double(now_ns() - begin) * kNano;
      if (body_.after) body_.after();
    }
    end_watch();
    if (measurement_.over == Over::slowest && at_.ranks > 1)
      MPI_Reduce(at_.rank == 0 ? MPI_IN_PLACE : times_.data(), times_.data(), count, MPI_DOUBLE,
                 MPI_MAX, 0, at_.comm);
    return times_;
  }

  bool may_batch() const { return !body_.before && !body_.after; }

  // What the first rank has decided, on all.
  std::array<int, 2> decide(std::array<int, 2> choice) const {
    MPI_Bcast(choice.data(), 2, MPI_INT, 0, at_.comm);
    return choice;
  }

 private:
  const Measurement& measurement_;
  const Body& body_;
  const Case& at_;
  std::vector<double> times_;
};

double least_of(const std::vector<double>& times) {
  return *std::min_element(times.begin(), times.end());
}

// So many calls that a sample is long against reading the clock. By the fastest sample, which says
// what the calls take where nothing gets in between.
int find_batch(Sampler& sampler, double clock_cost) {
  const double wanted = kClockCosts * clock_cost;
  int batch = 1;
  for (bool longer = sampler.may_batch(); longer;) {
    const double least = std::max(least_of(sampler.burst(kFewestSamples, batch)), clock_cost);
    const bool enough = least >= kNearlyWanted * wanted || batch == kMostInABatch;
    const int larger = int(std::min(std::ceil(batch * wanted / least), double(kMostInABatch)));
    const auto [more, next] = sampler.decide({!enough, enough ? batch : larger});
    longer = more != 0;
    batch = next;
  }
  return batch;
}

// In bursts, each as long as ranks are likely to run undisturbed at the same time: on a machine
// that has other work they are in step within a burst, and lose it between two.
void take_samples(Sampler& sampler, VisitResult& result, int parts, int64_t end_ns) {
  int burst = kFewestSamples;
  double least = 0;
  for (bool more = true; more;) {
    const auto& times = sampler.burst(burst, result.batch);
    for (const double time : times) result.samples.push_back(time / (result.batch * parts));
    least = least == 0 ? least_of(times) : std::min(least, least_of(times));
    const double fitting = kBurstSeconds / std::max(least, kNano);
    const auto [again, next] = sampler.decide(
        {now_ns() < end_ns, int(std::clamp(fitting, double(kFewestSamples), kMostInABurst))});
    more = again != 0;
    burst = next;
  }
}

void sample(const Measurement& measurement, const Body& body, const Case& at, int64_t end_ns,
            double clock_cost, int batch, VisitResult& result) {
  Sampler sampler(measurement, body, at);
  // The first call stands for all whether this can be done here at all.
  std::string problem;
  try {
    result.first = sampler.burst(1, 1)[0] / measurement.parts;
  } catch (const CallFailed& error) {
    problem = error.what();
    end_watch();
  }
  if (any(!problem.empty(), at.comm)) {
    result.problem = problem.empty() ? "it failed on another rank" : problem;
    return;
  }
  result.batch = batch > 0 ? batch : find_batch(sampler, clock_cost);
  take_samples(sampler, result, measurement.parts, end_ns);
}

}  // namespace

VisitResult visit(const Point& point, Case& at, double seconds, int batch, double clock_cost) {
  const int64_t end_ns = now_ns() + int64_t(seconds / kNano);
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
  if (any(!problem.empty(), at.comm)) {
    result.problem = problem.empty() ? "it failed on another rank" : problem;
    return result;
  }
  sample(measurement, body, at, end_ns, clock_cost, batch, result);
  keep_watch(measurement.name);
  if (body.end) body.end();
  end_watch();
  return result;
}

}  // namespace haichi::measure
