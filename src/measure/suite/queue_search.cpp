// What it costs a rank to look through the receives that it has posted, for the one that a message
// is for.
//
// Those that are passed over are posted from ranks that send nothing: an MPI library with a list
// for each sender does not look at them, and one with a list for all does.
#include <string>

#include "measure/case/case.h"
#include "measure/suite/groups.h"

namespace haichi::measure {
namespace {

constexpr int kTag = 1;
constexpr int kPingPong = 2;  // ranks of it; the others are those that send nothing
constexpr int kLengths[] = {0, 16, 64, 256, 1024};

// The receive that is meant is posted behind the others, and before its message can come: the other
// rank answers what is sent after that.
Body behind(Case& c, int others) {
  if (c.rank >= kPingPong) return {.call = [] {}};
  MPI_Request* const requests = c.requests(others + 1);
  MPI_Request* const meant = requests + others;
  char* const in = c.memory(1);
  char* const out = c.memory(1);
  c.withdraw_at_end(requests, others + 1);
  c.alone("MPI_Irecv", [&] {
    for (int i = 0; i < others; ++i) {
      const int from = kPingPong + i % (c.ranks - kPingPong);
      must(MPI_Irecv(nullptr, 0, MPI_BYTE, from, kTag, c.comm, &requests[i]));
    }
  });
  const auto post = [=, &c] { must(MPI_Irecv(in, 1, MPI_BYTE, c.peer(), kTag, c.comm, meant)); };
  const auto send = [=, &c] { must(MPI_Send(out, 1, MPI_BYTE, c.peer(), kTag, c.comm)); };
  const auto wait = [=] { must(MPI_Wait(meant, MPI_STATUS_IGNORE)); };
  Body body;
  if (c.rank == 0) {
    body.call = [=] {
      post();
      send();
      wait();
    };
    return body;
  }
  c.alone("MPI_Irecv", post);
  body.call = [=] {
    wait();
    post();
    send();
  };
  return body;
}

Measurement entry(int others) {
  return {.name = "queue-search-" + std::to_string(others),
          .group = "p2p",
          .functions = {"MPI_Irecv"},
          .section = "3.5",
          .timed = "Irecv, Send, Wait; the other Wait, Irecv, Send; behind " +
                   std::to_string(others) + " receives on each, from ranks that send nothing",
          .sample = "one round trip between the first two ranks, on the first",
          .buffers = "one byte to send and one to receive",
          .make = [others](Case& c) { return behind(c, others); },
          .start = Start::back_to_back,
          .over = Over::first,
          .parts = 2,
          .least_ranks = 3};
}

}  // namespace

std::vector<Measurement> queue_search() {
  std::vector<Measurement> all;
  for (const int others : kLengths) all.push_back(entry(others));
  return all;
}

}  // namespace haichi::measure
