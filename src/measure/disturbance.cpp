#include "measure/disturbance.h"

#include <sched.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <string>

#include "base/os.h"

namespace haichi::measure {
namespace {

// Of all cores: what /proc/stat has in the eighth place, in ticks.
double steal_seconds() {
  const std::string text = read_file("/proc/stat").value_or("");
  unsigned long long ticks = 0;
  if (sscanf(text.c_str(), "cpu %*u %*u %*u %*u %*u %*u %*u %llu", &ticks) != 1) return 0;
  return double(ticks) / double(sysconf(_SC_CLK_TCK));
}

// Of the core that this thread is on.
double megahertz() {
  const std::string path =
      "/sys/devices/system/cpu/cpu" + std::to_string(sched_getcpu()) + "/cpufreq/scaling_cur_freq";
  return strtod(read_file(path).value_or("").c_str(), nullptr) / 1000;  // of kHz
}

Disturbance until_now() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const double mhz = megahertz();
  return {double(usage.ru_nivcsw), double(usage.ru_minflt + usage.ru_majflt), steal_seconds(), mhz,
          mhz};
}

// Of two frequencies that may not be known.
template <class Choose>
double of_known(double a, double b, Choose choose) {
  return a == 0 || b == 0 ? std::max(a, b) : choose(a, b);
}

}  // namespace

void Disturbance::join(const Disturbance& other) {
  const double larger = std::max(steal, other.steal);
  follow(other);
  steal = larger;
}

void Disturbance::follow(const Disturbance& later) {
  switches += later.switches;
  faults += later.faults;
  steal += later.steal;
  least_mhz =
      of_known(least_mhz, later.least_mhz, [](double a, double b) { return std::min(a, b); });
  most_mhz = of_known(most_mhz, later.most_mhz, [](double a, double b) { return std::max(a, b); });
}

DisturbanceMeter::DisturbanceMeter() : begin_(until_now()) {}

Disturbance DisturbanceMeter::seen() const {
  Disturbance seen = until_now();
  seen.switches -= begin_.switches;
  seen.faults -= begin_.faults;
  seen.steal -= begin_.steal;
  seen.least_mhz = std::min(begin_.least_mhz, seen.least_mhz);
  seen.most_mhz = std::max(begin_.most_mhz, seen.most_mhz);
  return seen;
}

}  // namespace haichi::measure
