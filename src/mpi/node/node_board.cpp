#include "mpi/node/node_board.h"

#include <string.h>

namespace haichi::mpi {

std::unique_ptr<NodeBoard> NodeBoard::make(MPI_Comm comm, const placement::Placement& placement,
                                           int rank) {
  const size_t bytes = 2 * kMostBytes * size_t(placement.ranks());
  auto memory = NodeMemory::make(comm, placement, rank, bytes, NodeMemory::Origin::fresh);
  if (!memory) return nullptr;
  return std::unique_ptr<NodeBoard>(
      new NodeBoard(comm, placement.ranks(), rank, std::move(*memory)));
}

// Whoever writes into a half has been at the meeting of the other one, and so had all who read this
// half before.
void NodeBoard::allgather(const void* own, size_t bytes, void* all) {
  std::byte* const half = memory_->data() + (turn_++ % 2) * kMostBytes * size_t(ranks_);
  memcpy(half + kMostBytes * size_t(rank_), own, bytes);
  memory_->arrive();
  wait_for_node(*memory_, comm_);
  for (size_t r = 0; r < size_t(ranks_); ++r)
    memcpy(static_cast<std::byte*>(all) + r * bytes, half + kMostBytes * r, bytes);
}

}  // namespace haichi::mpi
