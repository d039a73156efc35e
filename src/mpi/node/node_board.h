// Where the ranks of a node leave word for one another: what each has to say, in memory that they
// have in common.
//
// An MPI collective of few bytes takes as long as a small access to a file, above all where there
// are more ranks than processors. Where all ranks of a file are on one node, they agree here.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <memory>

#include "mpi/node/node_memory.h"
#include "placement/placement.h"

namespace haichi::mpi {

/// Used by one collective call at a time, as the communicator that it belongs to.
class NodeBoard {
 public:
  /// Most bytes that a rank can say at once.
  static constexpr size_t kMostBytes = 384;

  /// Collective over the ranks of `comm`, which are all on one node as the placement has it. Null
  /// on all of them if they cannot have memory in common.
  static std::unique_ptr<NodeBoard> make(MPI_Comm comm, const placement::Placement& placement,
                                         int rank);

  /// Collective. `all`: room for `bytes`, at most kMostBytes, of each rank, in order of rank.
  void allgather(const void* own, size_t bytes, void* all);

 private:
  NodeBoard(MPI_Comm comm, int ranks, int rank, std::unique_ptr<NodeMemory> memory)
      : comm_(comm), ranks_(ranks), rank_(rank), memory_(std::move(memory)) {}

  const MPI_Comm comm_;
  const int ranks_, rank_;
  const std::unique_ptr<NodeMemory> memory_;
  unsigned turn_ = 0;  // of two halves: who is late reads one while others write the other
};

}  // namespace haichi::mpi
