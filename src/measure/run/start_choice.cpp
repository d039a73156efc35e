#include "measure/run/start_choice.h"

#include <algorithm>
#include <vector>

#include "base/clock.h"
#include "measure/case/common_clock.h"
#include "measure/case/must.h"

namespace haichi::measure {
namespace {

constexpr int kBarriers = 31;

double barrier_seconds() {
  std::vector<double> times(kBarriers);
  for (double& each : times) {
    const int64_t begin = now_ns();
    must(MPI_Barrier(MPI_COMM_WORLD));
    each = double(now_ns() - begin) * 1e-9;
  }
  std::nth_element(times.begin(), times.begin() + kBarriers / 2, times.end());
  return times[kBarriers / 2];
}

}  // namespace

StartChoice choose_start(StartAsked asked, bool oversubscribed) {
  CommonClock clock(MPI_COMM_WORLD);
  clock.look();
  StartChoice choice{Start::barrier, clock.error(), barrier_seconds()};
  must(MPI_Bcast(&choice, sizeof choice, MPI_BYTE, 0, MPI_COMM_WORLD));
  const bool better = !oversubscribed && choice.clock_error < choice.barrier;
  if (asked == StartAsked::window || (asked == StartAsked::by_reason && better))
    choice.start = Start::window;
  return choice;
}

}  // namespace haichi::measure
