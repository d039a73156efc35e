// Memory that the ranks of a node have in common, and the place where they meet.
//
// An anonymous file (memfd_create(2)) of the node's first rank, which the others open through
// /proc: it has no name that could be left behind, and is not bounded by /dev/shm. Its pages are
// allocated when it is made, so that a lack of memory is an error then and not a signal later. That
// takes half a millisecond a MiB, so each process keeps the last one for its next file.
#pragma once

#include <mpi.h>

#include <memory>

#include "base/result.h"
#include "mpi/requests/executor.h"
#include "placement/placement.h"

namespace haichi::mpi {

class NodeMemory : public NodeMeeting {
 public:
  /// Whether what a process has kept may serve.
  enum class Origin : unsigned char { kept_or_fresh, fresh };
  /// Collective over the ranks of this rank's node: all get the memory, or all get an error. The
  /// placement is that of `comm` and may pretend: what counts is that the memory can be opened.
  static Result<std::unique_ptr<NodeMemory>> make(MPI_Comm comm,
                                                  const placement::Placement& placement, int rank,
                                                  size_t bytes,
                                                  Origin origin = Origin::kept_or_fresh);
  /// Takes back what is not needed any more, for the next make().
  static void keep(std::unique_ptr<NodeMemory> memory);
  ~NodeMemory() override;
  NodeMemory(const NodeMemory&) = delete;
  NodeMemory& operator=(const NodeMemory&) = delete;

  /// Page-aligned; the same bytes on all ranks of the node, at addresses of their own.
  std::byte* data() const;
  size_t size() const { return bytes_; }

  void arrive() override;
  bool all_here() override;
  void sleep() override;

 private:
  struct Header;
  struct Offer;
  class Talks;
  NodeMemory(Header* header, size_t bytes, int ranks)
      : header_(header), bytes_(bytes), ranks_(ranks) {}
  static std::unique_ptr<NodeMemory> map(int fd, size_t bytes, int ranks);
  static std::unique_ptr<NodeMemory> create(size_t bytes, int ranks, Offer& offer);
  static std::unique_ptr<NodeMemory> open(const Offer& offer, int ranks);
  static std::unique_ptr<NodeMemory> take_kept(size_t bytes, int ranks, int64_t nonce);

  Header* const header_;
  const size_t bytes_;
  const int ranks_;
  unsigned meeting_ = 0;  // that this rank last arrived at
};

}  // namespace haichi::mpi
