#include "goal/messages.h"

#include <algorithm>
#include <optional>

namespace haichi::goal {
namespace {

using replay::Collective;

int around(int rank, int ranks) { return (rank % ranks + ranks) % ranks; }

std::vector<Round> dissemination(const Part& p) {
  std::vector<Round> rounds;
  for (int distance = 1; distance < p.ranks; distance *= 2)
    rounds.push_back({{true, around(p.rank + distance, p.ranks), 1},
                      {false, around(p.rank - distance, p.ranks), 1}});
  return rounds;
}

// Towards the leaves: from the parent, then to the children, the farthest first. Towards the root:
// the other way round.
std::vector<Round> binomial(const Part& p, int root, bool to_leaves) {
  const int mine = around(p.rank - root, p.ranks);
  Round parent, children;
  int mask = 1;
  for (; mask < p.ranks && (mine & mask) == 0; mask *= 2) continue;
  if (mine != 0) parent = {{!to_leaves, around(mine - mask + root, p.ranks), p.bytes}};
  for (mask /= 2; mask > 0; mask /= 2)
    if (mine + mask < p.ranks)
      children.push_back({to_leaves, around(mine + mask + root, p.ranks), p.bytes});
  if (!to_leaves) std::reverse(children.begin(), children.end());
  return to_leaves ? std::vector{parent, children} : std::vector{children, parent};
}

std::vector<Round> all_reduced(const Part& p) {
  auto rounds = binomial(p, 0, false);
  for (Round& each : binomial(p, 0, true)) rounds.push_back(std::move(each));
  return rounds;
}

int64_t block_of(const Part& p, int rank) {
  return p.sums != nullptr ? p.sums->sent[size_t(rank)] : p.bytes;
}

std::vector<Round> with_root(const Part& p, bool root_sends) {
  if (p.rank != p.root) return {{{!root_sends, p.root, block_of(p, p.rank)}}};
  Round round;
  for (int k = 1; k < p.ranks; ++k) {
    const int peer = around(p.root + k, p.ranks);
    round.push_back({root_sends, peer, block_of(p, peer)});
  }
  return {round};
}

std::vector<Round> ring(const Part& p) {
  std::vector<Round> rounds;
  const int next = around(p.rank + 1, p.ranks), before = around(p.rank - 1, p.ranks);
  for (int k = 0; k + 1 < p.ranks; ++k)
    rounds.push_back({{true, next, block_of(p, around(p.rank - k, p.ranks))},
                      {false, before, block_of(p, around(before - k, p.ranks))}});
  return rounds;
}

template <class Bytes>
std::vector<Round> pairwise(const Part& p, Bytes bytes) {
  std::vector<Round> rounds;
  for (int k = 1; k < p.ranks; ++k) {
    const int to = around(p.rank + k, p.ranks), from = around(p.rank - k, p.ranks);
    rounds.push_back({{true, to, bytes(p.rank, to)}, {false, from, bytes(from, p.rank)}});
  }
  return rounds;
}

std::vector<Round> chain(const Part& p) {
  std::vector<Round> rounds;
  if (p.rank > 0) rounds.push_back({{false, p.rank - 1, p.bytes}});
  if (p.rank + 1 < p.ranks) rounds.push_back({{true, p.rank + 1, p.bytes}});
  return rounds;
}

// The rank one step along a dimension of the grid, whose last dimension varies fastest
// (MPI-4.1, 8.2).
std::optional<int> beside(const record::Communicator& comm, int rank, size_t dimension, int step) {
  int stride = 1;
  for (size_t i = dimension + 1; i < comm.dims.size(); ++i) stride *= comm.dims[i];
  const int size = comm.dims[dimension], at = rank / stride % size;
  if (!comm.periods[dimension] && (at + step < 0 || at + step >= size)) return std::nullopt;
  return rank + (around(at + step, size) - at) * stride;
}

std::vector<Round> with_neighbours(const Part& p) {
  Round round;
  for (size_t dimension = 0; dimension < p.comm.dims.size(); ++dimension)
    for (const int step : {-1, 1})
      if (const auto peer = beside(p.comm, p.rank, dimension, step)) {
        round.push_back({true, *peer, p.bytes});
        round.push_back({false, *peer, p.bytes});
      }
  return {round};
}

}  // namespace

std::vector<Round> rounds_of(const Part& p) {
  switch (p.collective) {
    case Collective::none:
      return {};
    case Collective::barrier:
      return dissemination(p);
    case Collective::bcast:
      return binomial(p, p.root, true);
    case Collective::reduce:
      return binomial(p, p.root, false);
    case Collective::allreduce:
      return all_reduced(p);
    case Collective::gather:
    case Collective::gatherv:
      return with_root(p, false);
    case Collective::scatter:
    case Collective::scatterv:
      return with_root(p, true);
    case Collective::allgather:
    case Collective::allgatherv:
      return ring(p);
    case Collective::alltoall:
    case Collective::reduce_scatter_block:
      return pairwise(p, [&](int, int) { return p.bytes; });
    case Collective::alltoallv:
      return pairwise(p, [&](int from, int to) { return replay::share(*p.sums, from, to); });
    case Collective::reduce_scatter:
      return pairwise(
          p, [&](int, int to) { return p.bytes / p.ranks + (to < p.bytes % p.ranks ? 1 : 0); });
    case Collective::scan:
    case Collective::exscan:
      return chain(p);
    case Collective::neighbor_allgather:
    case Collective::neighbor_alltoall:
      return with_neighbours(p);
  }
  return {};
}

}  // namespace haichi::goal
