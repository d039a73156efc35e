// How the ranks of a large job agree before a collective access in two phases: node by node.
//
// The ranks of a node tell their speaker what they want, the speakers tell each other what their
// nodes want, and each rank hears what it needs of that from its speaker: the sum of all, and, if
// it is an aggregator, the word of every node. So a rank keeps and computes no more than the ranks
// of a node plus the nodes. The speakers' exchange is that of Bruck et al. (1997): log2 of the
// nodes rounds. See "Agreeing node by node" in docs/notes.md.
//
// PURE: no MPI, no clock, no environment.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "mpiio/agreement/announcement.h"
#include "placement/placement.h"
#include "plan/schedule.h"

namespace haichi::mpiio {

/// What some ranks want together.
struct NodeWord {
  int64_t window = INT64_MAX;  ///< least of all ranks'
  int64_t file_size = -1;      ///< largest
  int64_t hull_begin = 0, hull_end = 0;
  uint64_t tuning_least = UINT64_MAX, tuning_most = 0;
  int64_t large = 0;  ///< ranks whose accesses did not fit into their announcements

  plan::Extent hull() const { return {hull_begin, hull_end}; }
  void add(const NodeWord& other);
};

NodeWord word_of(const Announcement& announcement);

/// The rank that speaks for a node: its last one, since aggregators are the first ones.
int speaker_of(const placement::Placement& placement, int node);

/// One rank's side; to be given to an executor as both schedule and buffers, once.
class NodeAgreement : public plan::Schedule, public plan::Buffers {
 public:
  /// `aggregators`: ranks that hear the words of all nodes. What is referred to must outlive it.
  NodeAgreement(const placement::Placement& placement, int me, const Announcement& own,
                std::span<const int> aggregators);

  /// After the run, on all ranks.
  const NodeWord& total() const { return total_; }
  /// After the run: the word of each node, on speakers and aggregators; else nothing.
  std::span<const NodeWord> words() const { return words_; }
  /// After the run: on a speaker the announcements of its node's ranks, ascending; else nothing.
  std::span<const Announcement> of_node() const { return of_node_; }
  bool speaks() const { return speaks_; }

  bool next(plan::Step& step) override;
  int max_outstanding() const override { return 32; }
  std::byte* contiguous(const plan::Slice& slice) override;
  void gather(const plan::Slice& slice, std::byte* out) override;
  void scatter(const plan::Slice& slice, const std::byte* in) override;
  bool order_free(const plan::Slice&) override { return true; }
  void read_file(const plan::Slice&, int64_t) override {}
  void write_file(const plan::Slice&, int64_t) override {}

 private:
  enum Buffer { own, table, spoken, result };
  bool fill();
  void collect();
  void pass_on(int64_t distance);
  void order_words();
  void give_out();
  void hear();
  void add(plan::Step::Kind kind, int peer, plan::Slice slice);
  void end_round();
  bool hears_all(int rank) const;

  const placement::Placement& placement_;
  const int me_, node_, nodes_;
  const Announcement& own_;
  const std::span<const int> aggregators_;
  const bool speaks_;
  const bool hears_all_;
  std::vector<int> hearers_;           // of this speaker's node, ascending
  std::vector<Announcement> of_node_;  // speakers only
  std::vector<NodeWord> words_;        // from this node on, around, until they are ordered
  NodeWord total_;
  std::vector<plan::Step> steps_;
  size_t at_ = 0;
  int64_t stage_ = 0;
  int64_t distance_ = 1;  // to the speakers of the next round, in nodes
};

}  // namespace haichi::mpiio
