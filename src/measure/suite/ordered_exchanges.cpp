// An exchange in each of haichi's issue orders (paper 000, section 3) with a bound on the messages
// that a rank has outstanding: with few of them the order decides which links are idle.
#include <algorithm>
#include <optional>

#include "measure/case/case.h"
#include "measure/suite/groups.h"
#include "mpi/job/discover.h"
#include "plan/issue_order.h"

namespace haichi::measure {
namespace {

constexpr int kTag = 6;

std::vector<int> peers_in(plan::IssueOrder order, Case& c) {
  std::optional<Result<placement::Placement>> placement;
  c.together("placement", [&] { placement = mpi::discover(c.comm); });
  if (!*placement) throw CallFailed(placement->error().text);
  const plan::PeerOrder all(**placement, order, c.rank);
  std::vector<int> peers;
  for (int k = 0; k < all.size(); ++k)
    if (all.peer(k) != c.rank) peers.push_back(all.peer(k));
  return peers;
}

// `window` sends at most are outstanding, 0: all; receives are posted before.
Body exchange(Case& c, plan::IssueOrder order, int window) {
  const std::vector<int> peers = peers_in(order, c);
  const int n = int(peers.size());
  const int most = window == 0 ? n : std::min(window, n);
  char *const out = c.memory(n * c.bytes), *const in = c.memory(n * c.bytes);
  MPI_Request *const sends = c.requests(n), *const receives = c.requests(n);
  return {.call = [=, &c] {
    for (int i = 0; i < n; ++i)
      must(MPI_Irecv(in + i * c.bytes, c.count(), MPI_BYTE, peers[size_t(i)], kTag, c.comm,
                     &receives[i]));
    for (int i = 0; i < n; ++i) {
      int place = i;
      if (i >= most) must(MPI_Waitany(most, sends, &place, MPI_STATUS_IGNORE));
      must(MPI_Isend(out + i * c.bytes, c.count(), MPI_BYTE, peers[size_t(i)], kTag, c.comm,
                     &sends[place]));
    }
    must(MPI_Waitall(most, sends, MPI_STATUSES_IGNORE));
    must(MPI_Waitall(n, receives, MPI_STATUSES_IGNORE));
  }};
}

Measurement entry(plan::IssueOrder order, int window) {
  const std::string words(plan::name_of(order));
  std::string name = words;
  for (char& letter : name)
    if (letter == '_') letter = '-';
  return {
      .name = fmt::format("exchange-{}-{}", name, window == 0 ? "all" : fmt::format("w{}", window)),
      .group = "exchange",
      .functions = {"MPI_Isend", "MPI_Irecv", "MPI_Waitany"},
      .section = "3.7",
      .timed =
          fmt::format("all Irecv, Isend in the order {}, {}, Waitall", words,
                      window == 0 ? "all at once" : fmt::format("{} at most at a time", window)),
      .sample = "one message from each rank to each other",
      .buffers = "a block for each message in and out, the same every time: hot",
      .make = [=](Case& c) { return exchange(c, order, window); },
      .sizes = {1 << 10, 256 << 10},
      .least_ranks = 2};
}

}  // namespace

std::vector<Measurement> ordered_exchanges() {
  using plan::IssueOrder;
  std::vector<Measurement> all;
  for (const IssueOrder order :
       {IssueOrder::rank, IssueOrder::pairwise, IssueOrder::nd_shift, IssueOrder::nd_rank_shift})
    for (const int window : {1, 4, 0}) all.push_back(entry(order, window));
  return all;
}

}  // namespace haichi::measure
