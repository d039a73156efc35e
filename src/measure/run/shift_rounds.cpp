#include "measure/run/shift_rounds.h"

#include "base/clock.h"
#include "measure/case/must.h"

namespace haichi::measure {
namespace {

constexpr double kNano = 1e-9;
constexpr int kReady = 11, kAsk = 12, kBytes = 13;  // tags

}  // namespace

ShiftRounds::ShiftRounds(MPI_Comm comm) : comm_(comm) {
  MPI_Comm_rank(comm, &member_);
  MPI_Comm_size(comm, &members_);
}

std::vector<double> ShiftRounds::times(int distance, int64_t bytes, int repeats) {
  if (int64_t(out_.size()) < bytes) {
    out_.assign(size_t(bytes), 1);
    in_.assign(size_t(bytes), 1);
  }
  const int to = (member_ + distance) % members_;
  const int from = (member_ + members_ - distance) % members_;
  must(MPI_Barrier(comm_));
  std::vector<double> seconds;
  for (int i = 0; i < repeats; ++i) {
    if (from != to) {
      seconds.push_back(once(from, to, int(bytes)));
      continue;
    }
    // Two that send to each other share a connection, and what grants the one its bytes would wait
    // behind the other's: one after the other.
    const bool first = member_ < from;
    const double one = once(first ? MPI_PROC_NULL : from, first ? to : MPI_PROC_NULL, int(bytes));
    const double two = once(first ? from : MPI_PROC_NULL, first ? MPI_PROC_NULL : to, int(bytes));
    seconds.push_back(first ? two : one);
  }
  return seconds;
}

// The clock runs from asking a sender that has said it is there, so that it is one rank's and does
// not count how late others left a barrier.
double ShiftRounds::once(int from, int to, int bytes) {
  enum { ready, asked, all };
  MPI_Request in[3], out[3];
  must(MPI_Irecv(nullptr, 0, MPI_BYTE, from, kReady, comm_, &in[ready]));
  must(MPI_Irecv(nullptr, 0, MPI_BYTE, to, kAsk, comm_, &in[asked]));
  must(MPI_Irecv(in_.data(), bytes, MPI_BYTE, from, kBytes, comm_, &in[all]));
  must(MPI_Isend(nullptr, 0, MPI_BYTE, to, kReady, comm_, &out[ready]));
  int64_t begin = 0, end = 0;
  for (int left = 3; left > 0; --left) {
    int which = 0;
    must(MPI_Waitany(3, in, &which, MPI_STATUS_IGNORE));
    if (which == ready) {
      begin = now_ns();
      must(MPI_Isend(nullptr, 0, MPI_BYTE, from, kAsk, comm_, &out[asked]));
    } else if (which == asked) {
      must(MPI_Isend(out_.data(), bytes, MPI_BYTE, to, kBytes, comm_, &out[all]));
    } else {
      end = now_ns();
    }
  }
  must(MPI_Waitall(3, out, MPI_STATUSES_IGNORE));
  return double(end - begin) * kNano;
}

}  // namespace haichi::measure
