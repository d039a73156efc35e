// Two-phase collective I/O as a schedule: exchange the bytes so that each aggregator has contiguous
// parts of the file, and let it alone touch the file (paper 000, section 2, Fig. 1; Thakur et al.).
//
// PURE: no MPI, no clock, no environment.
#pragma once

#include <cstdint>
#include <vector>

#include "mpiio/regions/access_list.h"
#include "mpiio/twophase/node_streams.h"
#include "mpiio/twophase/two_phase_plan.h"
#include "placement/placement.h"
#include "plan/issue_order.h"
#include "plan/schedule.h"

namespace haichi::mpiio {

/// What a slice of the schedule is of. A collective buffer holds several windows, so that one can
/// be exchanged while another is read or written.
struct Place {
  enum class Kind {
    own_memory,  ///< slices are positions relative to the access's begin
    window,      ///< this aggregator's window: bytes relative to its begin
    view,        ///< this aggregator's window through rank `who`'s view: positions of its access
    others,      ///< aggregator `who`'s window (its index) through this rank's own view
    node_view,   ///< this aggregator's window through the views of node `who`'s ranks, one after
                 ///< the other: all that they have in it
    stream,      ///< the areas of NodeStreams on this node
  };
  Kind kind = Kind::own_memory;
  int window = 0;  ///< which of the aggregator's: the cycle modulo their number
  int who = 0;

  /// As the number that a plan::Slice has.
  int number() const { return (who * 4 + window) * 8 + int(kind); }
  static Place of(int number) { return {Kind(number % 8), number / 8 % 4, number / 32}; }
  static constexpr int kMostWindows = 3;
};

/// One rank's steps. A round is a cycle. Only non-empty transfers appear.
///
/// Writing: the messages of cycle k + 1 are issued before those of cycle k are waited for and its
/// window is written. Reading: the messages of cycle k travel while the window of cycle k + 1 is
/// read. (Paper 000, Fig. 11, has exchange and file access in a row.)
///
/// Where the ranks of a node share memory, what a rank has for an aggregator of its own node is a
/// copy into (from) that aggregator's window, and the node meets once a cycle. Where that is the
/// only node there are no messages, and each rank goes on between its arrival at a meeting and the
/// others'. Where it has streams, what a rank has for an aggregator of another node is a copy too,
/// and one rank sends (receives) what all have. See "Streams of a node" in docs/notes.md.
class TwoPhaseSchedule : public plan::Schedule {
 public:
  /// `own` is this rank's access. `others[r]` is rank r's access as far as this rank's windows
  /// need it; nothing if this rank is not an aggregator. `shares`: this rank's node shares
  /// memory, which all its ranks must say alike. `streams`: null if no node has any, which all
  /// ranks of the file must say alike. All must outlive the schedule, which must not be moved once
  /// it has begun.
  TwoPhaseSchedule(const placement::Placement& placement, const TwoPhasePlan& plan, int me,
                   const Access& own, const AccessList& others, bool shares,
                   const NodeStreams* streams = nullptr);

  bool next(plan::Step& step) override;
  int max_outstanding() const override { return plan_.max_outstanding; }
  /// Index of this rank among the aggregators, or -1.
  int my_aggregator() const { return my_aggregator_; }

 private:
  bool fill();
  void fill_writing(int64_t cycle);
  void fill_reading(int64_t cycle);
  void fill_writing_in_common(int64_t cycle);
  void fill_reading_in_common(int64_t cycle);
  void add(int64_t cycle, plan::Step step) {
    step.round = cycle;
    steps_.push_back(step);
  }
  void add_plain(int64_t cycle, plan::Step::Kind kind);
  void add_messages(int64_t cycle);
  void add_aggregator_side(int64_t cycle);
  void add_message_of(int64_t cycle, int peer);
  bool add_stream_of(int64_t cycle, int node);
  void add_rank_side(int64_t cycle, bool copied);
  void begin_streams(int64_t stage);
  void end_streams();
  void add_tells(int64_t cycle);
  void add_sums(int64_t cycle);
  bool needs_sum(int aggregator, int64_t bytes) const;
  /// What this rank told its node of an aggregator on another one, and what all of the node did.
  struct Told {
    int64_t bytes = 0;
    plan::NodeSum node;
  };
  const Told& told(int64_t cycle, int aggregator) const {
    return told_[size_t(streams_->cell(cycle, aggregator))];
  }
  bool add_own_stream(int64_t cycle, int aggregator, int64_t bytes);
  void add_stream_copies(int64_t cycle, int64_t round);
  void add_file_access(int64_t cycle);
  void add_file_wait(int64_t cycle);
  /// True if what goes between this rank and `peer` is copied, not sent.
  bool copies(int peer) const;
  bool is_elsewhere(int aggregator) const {
    return !placement_.same_node(plan_.aggregators.ranks[size_t(aggregator)], me_);
  }
  bool speaks_for_node(int peer) const;
  void find_peers(const plan::PeerOrder& order);
  /// Positions of `access` in a window.
  struct Part {
    int64_t begin, end;
    int64_t size() const { return end - begin; }
  };
  static Part part_of(const Access& access, const plan::Extent& window) {
    if (window.empty()) return {0, 0};
    return {access.position_of(window.begin), access.position_of(window.end)};
  }

  int place(Place::Kind kind, int64_t cycle, int who) const {
    return Place{kind, int(cycle % plan_.cb_slots), who}.number();
  }

  const TwoPhasePlan& plan_;
  const placement::Placement& placement_;
  const int me_;
  const Access& own_;
  const AccessList& others_;
  const bool shares_;
  const int node_;
  const NodeStreams* const streams_;
  bool streaming_ = false;  // this rank's node has streams
  bool meets_ = false;      // the node has windows or streams in memory that its ranks share
  bool in_common_ = false;  // all ranks share all windows: there are no messages
  int my_aggregator_ = -1;
  std::vector<int> aggregators_in_order_;  // indices, in this rank's issue order; without those
                                           // that can have no bytes of it, unless it streams
  std::vector<int> peers_in_order_;        // ranks, in this rank's issue order; aggregators only
  std::vector<Told> told_;                 // by cell
  std::vector<plan::Step> steps_;          // of the current cycle
  size_t at_ = 0;
  int64_t cycle_ = 0;
};

}  // namespace haichi::mpiio
