#include "measure/case/common_clock.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/clock.h"
#include "measure/case/must.h"
#include "placement/host.h"

namespace haichi::measure {
namespace {

constexpr int kTag = 78;
constexpr int kExchanges = 20;
// Quartz drifts by some ten millionths: by microseconds in so long a time if nothing were known.
constexpr int64_t kAgain_ns = 500'000'000;
constexpr double kNano = 1e-9;

// What a rank says of itself behind the exchanges.
struct Answerer {
  ClockOffset to_first;
  uint64_t kernel;
};

}  // namespace

CommonClock::CommonClock(MPI_Comm comm) : comm_(comm), kernel_(placement::this_kernel()) {
  MPI_Comm_rank(comm, &rank_);
  MPI_Comm_size(comm, &ranks_);
  last_.at = now_ns();
  to_first_.add(last_);
}

void CommonClock::look() {
  int due = looked_ns_ == 0 || now_ns() - looked_ns_ > kAgain_ns;
  must(MPI_Bcast(&due, 1, MPI_INT, 0, comm_));
  // All clocks one clock: that does not change.
  if (due == 0 || (looked_ns_ != 0 && error_ == 0)) return;
  int bit = 1;
  while (2 * bit < ranks_) bit *= 2;
  for (; bit > 0; bit /= 2) {
    if (rank_ % (2 * bit) == 0 && rank_ + bit < ranks_) answer(rank_ + bit);
    if (rank_ % (2 * bit) == bit) ask(rank_ - bit);
  }
  error_ = last_.error * kNano;
  must(MPI_Allreduce(MPI_IN_PLACE, &error_, 1, MPI_DOUBLE, MPI_MAX, comm_));
  looked_ns_ = now_ns();
}

void CommonClock::ask(int parent) {
  std::vector<ClockExchange> exchanges(kExchanges);
  for (ClockExchange& each : exchanges) {
    each.sent = now_ns();
    must(MPI_Send(&each.sent, 0, MPI_BYTE, parent, kTag, comm_));
    must(MPI_Recv(&each.answered, sizeof each.answered, MPI_BYTE, parent, kTag, comm_,
                  MPI_STATUS_IGNORE));
    each.received = now_ns();
  }
  Answerer answerer;
  must(MPI_Recv(&answerer, sizeof answerer, MPI_BYTE, parent, kTag, comm_, MPI_STATUS_IGNORE));
  ClockOffset seen = offset_of(exchanges);
  const ClockOffset& told = answerer.to_first;
  // Of one kernel's clock there is one, unless it shows otherwise (a time namespace, a tool's).
  const bool one = kernel_ == answerer.kernel && kernel_ != 0 &&
                   std::abs(seen.offset - told.offset) <= seen.error + told.error;
  seen.error += told.error;
  last_ = one ? told : seen;
  to_first_.add(last_);
}

void CommonClock::answer(int child) {
  for (int i = 0; i < kExchanges; ++i) {
    must(MPI_Recv(nullptr, 0, MPI_BYTE, child, kTag, comm_, MPI_STATUS_IGNORE));
    const int64_t now = to_first_.other_at(now_ns());
    must(MPI_Send(&now, sizeof now, MPI_BYTE, child, kTag, comm_));
  }
  const Answerer self{last_, kernel_};
  must(MPI_Send(&self, sizeof self, MPI_BYTE, child, kTag, comm_));
}

}  // namespace haichi::measure
