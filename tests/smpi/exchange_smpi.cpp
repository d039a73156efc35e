// An all-to-all on ranks that SimGrid simulates: by one of haichi's algorithms, step by step over
// MPI calls, or by MPI_Alltoall, whose algorithm --cfg=smpi/alltoall:NAME chooses. Usage:
//
//   smpirun ... exchange-smpi ALGORITHM|library BYTES
//
// Prints the simulated seconds from the first rank's start to the last one's end and the number of
// wrong bytes, as one JSON object. One rank a node. Exit code 2 for a bad argument.
//
// It is compiled by smpicxx, so it and what it links are plain C++ with no MPI of haichi's below.
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "collectives/algorithm.h"

namespace {

using haichi::collectives::Candidate;
using haichi::collectives::Exchange;
using haichi::plan::Slice;
using haichi::plan::Step;

std::byte byte_of(int from, int to, int64_t i) {
  return std::byte(uint8_t(from * 31 + to * 7 + i));
}

// This rank's blocks and temporary memory (collectives/exchange.h, Exchange).
class Memory {
 public:
  Memory(const Exchange& exchange, int64_t temporary)
      : block_(exchange.block),
        out_(size_t(exchange.ranks() * block_)),
        in_(out_.size()),
        temporary_(size_t(temporary)) {
    for (int64_t at = 0; at < int64_t(out_.size()); ++at)
      out_[size_t(at)] = byte_of(exchange.me, int(at / block_), at % block_);
  }
  std::byte* out() { return out_.data(); }
  std::byte* in() { return in_.data(); }
  std::byte* at(const Slice& slice) {
    if (slice.buffer == Exchange::kTemporary) return temporary_.data() + slice.begin;
    const int peer = (slice.buffer - 1) / 2;
    const bool sent = slice.buffer == Exchange::send_buffer(peer);
    return (sent ? out_ : in_).data() + peer * block_ + slice.begin;
  }
  long wrong(int me) const {
    long count = 0;
    for (int64_t at = 0; at < int64_t(in_.size()); ++at)
      count += in_[size_t(at)] != byte_of(int(at / block_), me, at % block_);
    return count;
  }

 private:
  const int64_t block_;
  std::vector<std::byte> out_, in_, temporary_;
};

// Keeps the rules of "Schedules" in docs/notes.md, as far as an exchange without files needs them.
void carry_out(haichi::plan::Schedule& schedule, Memory& memory) {
  std::vector<MPI_Request> receives, sends;
  const auto wait = [](std::vector<MPI_Request>& all) {
    MPI_Waitall(int(all.size()), all.data(), MPI_STATUSES_IGNORE);
    all.clear();
  };
  Step step;
  while (schedule.next(step)) {
    if (step.kind == Step::Kind::receive) {
      receives.emplace_back();
      MPI_Irecv(memory.at(step.to), int(step.to.size), MPI_BYTE, step.peer, 0, MPI_COMM_WORLD,
                &receives.back());
    } else if (step.kind == Step::Kind::send) {
      if (schedule.max_outstanding() > 0 && int(sends.size()) == schedule.max_outstanding()) {
        int done = 0;
        MPI_Waitany(int(sends.size()), sends.data(), &done, MPI_STATUS_IGNORE);
        sends.erase(sends.begin() + done);
      }
      sends.emplace_back();
      MPI_Isend(memory.at(step.from), int(step.from.size), MPI_BYTE, step.peer, 0, MPI_COMM_WORLD,
                &sends.back());
    } else if (step.kind == Step::Kind::copy) {
      std::memcpy(memory.at(step.to), memory.at(step.from), size_t(step.to.size));
    } else if (step.kind == Step::Kind::wait) {
      wait(receives);
      wait(sends);
    }
  }
  wait(receives);
  wait(sends);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const bool library = argc == 3 && std::strcmp(argv[1], "library") == 0;
  const auto candidate =
      haichi::collectives::parse_candidate(library || argc != 3 ? "ring" : argv[1]);
  const int64_t block = argc == 3 ? std::atoll(argv[2]) : 0;
  if (!candidate || block < 1) {
    if (rank == 0) std::fputs("usage: exchange-smpi ALGORITHM|library BYTES\n", stderr);
    MPI_Finalize();
    return 2;
  }
  const auto placement = haichi::placement::block(ranks, 1);
  const Exchange exchange{&placement, rank, block};
  Memory memory(exchange, candidate->temporary(exchange));
  const auto schedule = candidate->schedule(exchange);
  double begin = MPI_Wtime(), first = 0, last = 0;
  if (library)
    MPI_Alltoall(memory.out(), int(block), MPI_BYTE, memory.in(), int(block), MPI_BYTE,
                 MPI_COMM_WORLD);
  else
    carry_out(*schedule, memory);
  double end = MPI_Wtime();
  long wrong = memory.wrong(rank), all_wrong = 0;
  MPI_Reduce(&begin, &first, 1, MPI_DOUBLE, MPI_MIN, 0, MPI_COMM_WORLD);
  MPI_Reduce(&end, &last, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  MPI_Reduce(&wrong, &all_wrong, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0)
    std::printf("{\"seconds\": %.9f, \"wrong_bytes\": %ld}\n", last - first, all_wrong);
  MPI_Finalize();
  return 0;
}
