// Another order of a communicator's ranks, for a topology whose creator allows one (`reorder`):
// neighbours on one node. See docs/adr/0021-reordered-topologies.md.
#pragma once

#include <mpi.h>

#include <memory>
#include <vector>

#include "mpi/topologies/topology_arguments.h"

namespace haichi::mpi {

/// A communicator that has all ranks of the program's in their new order, to make the topology of.
/// Errors on it are returned. Collective from end to end; freed by its destructor.
class OrderedComm {
 public:
  /// Both communicators are given to it: `own` is haichi's, of the ranks in their old order.
  /// `rank`: of this process in the new order; `seat`: the old rank of the process that is now what
  /// this one was.
  OrderedComm(MPI_Comm comm, MPI_Comm own, int rank, int seat);
  ~OrderedComm();
  OrderedComm(const OrderedComm&) = delete;
  OrderedComm& operator=(const OrderedComm&) = delete;

  MPI_Comm comm() const { return comm_; }

  /// What the process gave that had this one's new rank in the old order, when all give something.
  std::vector<int> passed_on(const std::vector<int>& given) const;

 private:
  MPI_Comm comm_, own_;
  int rank_, seat_;
};

/// True if haichi looks at what topologies are made of this communicator, whose size and this rank
/// then are known. Local, and the same on all ranks.
bool may_be_ordered(MPI_Comm comm, int& size, int& rank);

/// The order that is best for what all ranks gave, if all allow another one (`reorder`) and less
/// goes between nodes then; else null, on all ranks. Collective over `comm` for ranks whose call is
/// not refused. `function` is for the report.
std::unique_ptr<OrderedComm> order_for(MPI_Comm comm, const char* function, bool reorder,
                                       const GivenTopology& given);

/// Gives a communicator that was made of an ordered one the error handler of `parent`, where the
/// MPI library has such ones inherited.
void inherit_errhandler(MPI_Comm made, MPI_Comm parent);

}  // namespace haichi::mpi
