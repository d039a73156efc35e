// The memory that a file's collective accesses need on one rank: its collective buffer, and what it
// has in common with the other ranks of its node. Kept while the file is open.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "mpi/node/node_memory.h"
#include "mpiio/twophase/node_streams.h"
#include "mpiio/twophase/two_phase_plan.h"
#include "placement/placement.h"

namespace haichi::mpi {

class FileMemory {
 public:
  /// `placement` is that of `comm`, and must outlive the object.
  FileMemory(MPI_Comm comm, const placement::Placement& placement, int rank)
      : comm_(comm), placement_(placement), rank_(rank) {}
  ~FileMemory();
  FileMemory(const FileMemory&) = delete;
  FileMemory& operator=(const FileMemory&) = delete;

  /// Largest collective buffer, up to `asked`, with which this rank can carry out an access of
  /// `bytes` of its own; 0 if not even a small one fits. Asked before the ranks depend on each
  /// other: a rank that runs out of memory in the middle of an exchange makes all others wait.
  int64_t affordable_window(bool aggregates, int64_t bytes, int64_t asked);

  /// Where an access finds the windows of the aggregators that it can reach.
  struct Windows {
    std::vector<std::byte*> of_aggregator;  ///< as CollectiveBuffer::Config::windows
    NodeMeeting* meeting = nullptr;         ///< null if the node shares no memory
    std::byte* streams = nullptr;           ///< of NodeStreams, if the node has any
    bool streaming = false;                 ///< nodes have streams; equal on all ranks
    std::string refusal;  ///< why the node has no memory in common, the first time it is so
  };
  /// Collective over the ranks of the node if the plan shares, over those of the file if it
  /// streams. `streams`: null if it does not.
  Windows windows(const mpiio::TwoPhasePlan& plan, const mpiio::NodeStreams* streams);

 private:
  /// Empty, or why it could not be had.
  std::string share_with_node(size_t bytes);
  bool agree_on_streams(const mpiio::TwoPhasePlan& plan, bool mine);

  const MPI_Comm comm_;
  const placement::Placement& placement_;
  const int rank_;
  std::unique_ptr<std::byte[]> own_;  // as much as the collective buffer
  int64_t own_capacity_ = 0;
  std::unique_ptr<NodeMemory> common_;
  bool common_refused_ = false;
  /// What decides how much memory the ranks of each node have in common.
  struct Asked {
    int64_t cb_slot_bytes = 0;
    int64_t stream_part = 0;
    bool shares = false;
    std::vector<int> aggregators;
    friend bool operator==(const Asked&, const Asked&) = default;
  };
  Asked asked_;                  // of the last access
  bool streams_agreed_ = false;  // of that one: all nodes have got what they need for streams
};

}  // namespace haichi::mpi
