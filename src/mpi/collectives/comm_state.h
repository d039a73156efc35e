// What haichi knows of a communicator whose collectives it may carry out.
#pragma once

#include <mpi.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "collectives/algorithm.h"
#include "collectives/decisions.h"
#include "collectives/model.h"
#include "collectives/selection.h"
#include "mpi/collectives/neighbourhood.h"
#include "mpi/communicators/rank_set.h"
#include "mpi/job/runtime.h"
#include "placement/placement.h"
#include "report/records.h"
#include "topology/shape.h"

namespace haichi::mpi {

/// What is chosen for by itself: calls of one key take the same candidate.
struct CollectiveKey {
  std::string_view collective;  ///< name of the MPI function without "_c"
  /// log2 of a block's bytes, of the mean one where they differ; -1 where ranks do not know each
  /// other's
  int size_bin;
  auto operator<=>(const CollectiveKey&) const = default;
};

/// The candidates of one key and what is known of them. Number 0 is the MPI library's own.
struct Tuned {
  std::vector<collectives::Candidate> candidates;  ///< element 0 has no algorithm
  collectives::Selection selection;
  double seconds = 0;  ///< this rank's, in all calls
  /// What the model says of all of haichi's candidates, those that it left out too; empty: no
  /// model.
  std::vector<std::pair<collectives::Candidate, collectives::Verdict>> verdicts = {};
  std::string_view why;
  report::CollectiveInLog in_log = {};
};

/// Made behind the first collective calls on a communicator that haichi may take, where that gains
/// something. Has a communicator of its own (private_comm.h). Used by one call at a time, as MPI
/// demands of collectives.
class CommState {
 public:
  CommState(Runtime& runtime, MPI_Comm own, RankSetPtr ranks, int rank);
  CommState(const CommState&) = delete;
  CommState& operator=(const CommState&) = delete;

  /// The trials of this key, begun if it is new. `regular`: blocks of one size.
  Tuned& tuned(const CollectiveKey& key, collectives::Kind kind, bool regular);
  /// What earlier runs decided: keys that are begun later start with it. The same on all ranks.
  void start_with(std::vector<collectives::Decision> decisions);
  /// From now on candidates that cost far more than others on this machine are not tried (paper
  /// 004, section 3.2). The nodes sit where the machine says, or else their addresses; or node n of
  /// the communicator at place n. Fails if its network cannot hold them. The same on all ranks.
  Status predict_by(const machine::Machine& machine);
  /// What the trials of this run decided, where they have come to an end.
  std::vector<collectives::Decision> decided() const;
  /// What is to be said of this communicator in the report; empty except on its rank 0.
  std::vector<report::CollectiveRecord> records() const;
  /// After a call of the key.
  void log(const CollectiveKey& key, Tuned& tuned);
  /// The communicator goes.
  void log_last();

  Runtime& runtime;
  const MPI_Comm own;
  const RankSetPtr ranks;
  const placement::Placement& placement;  ///< the ranks'
  const int rank;
  /// Set where the program's communicator has a topology, on all ranks or on none.
  std::optional<Neighbourhood> neighbourhood;

 private:
  /// The candidate that an earlier run chose for a key, and its time.
  const collectives::Decision* earlier(const CollectiveKey& key) const;

  report::CollectiveRecord record_of(const CollectiveKey& key, const Tuned& tuned) const;
  /// Places of the nodes in the machine's network; empty: node n has place n.
  Result<std::vector<int>> seats(const machine::Machine& machine,
                                 const topology::Shape& shape) const;

  struct Model {
    collectives::Costs costs;
    collectives::Traffic traffic;
    double factor;  ///< of the prediction of the best: what is above is not tried
  };
  /// Leaves out of the candidates behind the library's what the model says, which is returned.
  std::vector<std::pair<collectives::Candidate, collectives::Verdict>> prune(
      std::vector<collectives::Candidate>& candidates, int64_t block);

  std::map<CollectiveKey, Tuned> tuned_;
  std::optional<Model> model_;  // the default costs until predict_by()
  std::vector<collectives::Decision> earlier_;
};

/// Collective over `comm`. All ranks get a state or none does.
std::unique_ptr<CommState> make_state(Runtime& runtime, MPI_Comm comm);

/// Nothing to gain on a communicator of this placement, whatever happens: it has one rank, one node
/// (unless asked for), or haichi is to leave collectives alone.
bool never_taken(const Runtime& runtime, const placement::Placement& placement);

}  // namespace haichi::mpi
