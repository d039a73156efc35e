// Two-phase collective I/O as a schedule: exchange the bytes so that each aggregator has contiguous
// parts of the file, and let it alone touch the file (paper 000, section 2, Fig. 1; Thakur et al.).
//
// PURE: no MPI, no clock, no environment.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "machine/machine.h"
#include "mpiio/access.h"
#include "mpiio/access_list.h"
#include "placement/placement.h"
#include "plan/aggregators.h"
#include "plan/file_domains.h"
#include "plan/issue_order.h"
#include "plan/schedule.h"

namespace haichi::mpiio {

enum class Direction { read, write };

/// What a user says of something that haichi decides by its cost.
enum class Choice { automatic, on, off };

/// What the user and the file system ask for; equal on all ranks of the file.
struct TwoPhaseOptions {
  plan::Layout layout = plan::Layout::roundrobin;
  plan::IssueOrder order = plan::IssueOrder::nd_rank_shift;
  int aggregators = 0;        ///< 0: one per node, or all that per_node allows
  int per_node = 0;           ///< most aggregators on a node; 0: no limit
  int window = 32;            ///< most sends outstanding per rank; 0: no limit
  int64_t buffer = 16 << 20;  ///< bytes of one aggregator's collective buffer: its windows
  int64_t stripe_unit = 0;    ///< bytes; 0: not striped
  bool may_shrink = true;     ///< windows may be smaller than that, to overlap more cycles
  bool may_go_direct = true;  ///< ranks may access the file themselves where that is cheaper
  bool may_share = true;      ///< ranks of a node may use common memory
  Choice file_thread = Choice::automatic;   ///< a thread beside the exchange accesses the file
  Choice node_streams = Choice::automatic;  ///< one message per node and aggregator
  /// Most bytes of memory for these, for each rank of a node: as many as each may have packed in
  /// messages of its own (src/mpi/executor.cpp).
  int64_t stream_memory = 1 << 20;
  bool keep_local = true;  ///< file domains may go where their bytes are
  int stripes = 0;         ///< servers that the file is striped over; 0: not known
  /// What storage and network can take, where that is known: decides the number of aggregators
  /// unless it was asked for. Outlives the options.
  const machine::Machine* machine = nullptr;
  /// The aggregators, where that has been decided before: by these options, with a buffer that may
  /// have been larger.
  const plan::Aggregators* chosen = nullptr;
};

/// What all ranks want of a file together.
struct Demand {
  plan::Extent hull;      ///< of all bytes; empty: no rank has any
  int64_t spans = 0;      ///< the sizes of the ranks' own hulls, added up
  int64_t bytes = 0;      ///< of all ranks
  int64_t most = 0;       ///< of one rank
  int64_t blocks = 0;     ///< contiguous pieces of the file
  int64_t sieved = 0;     ///< bytes that sieving would read; 0: not known
  int ranks = 0;          ///< that have bytes
  bool all_open = false;  ///< every rank with bytes can access the file itself
  /// The ranks' parts lie beside each other, as far as their hulls tell.
  bool apart() const { return spans <= hull.size(); }
};

/// What one rank wants of a collective access.
struct RankDemand {
  plan::Extent hull;  ///< of the file; empty: it has no bytes
  int64_t bytes = 0;
  int64_t blocks = 0;              ///< contiguous pieces of the file
  const Access* access = nullptr;  ///< if known on all ranks; else its bytes count as spread evenly
};

/// That of a rank whose access, which must live on, all ranks know.
inline RankDemand demand_of(const Access& access) {
  return {access.hull(), access.end() - access.begin(), access.blocks(), &access};
}

/// What all ranks decide alike before a collective access, and why.
struct TwoPhasePlan {
  Direction direction = Direction::write;
  plan::Aggregators aggregators;
  plan::FileDomains domains{{}, 1, 1, 0, 0};
  int64_t window_bytes = 0;  ///< most that one cycle of an aggregator handles
  int windows = 2;           ///< of an aggregator: cycle c uses number c % windows
  plan::IssueOrder order = plan::IssueOrder::rank;
  int window = 0;
  bool shares =
      false;  ///< ranks of a node put their bytes into its aggregators' windows themselves
  bool file_thread = false;  ///< aggregators read and write by a thread beside the exchange
  /// Bytes that each rank of a node has in the mean, at most, where the node sends an aggregator
  /// one message for all of them (NodeStreams); 0: every rank sends its own.
  int64_t stream_part = 0;
  int64_t stream_memory = 0;  ///< most bytes of memory for that, for each rank of a node
  int64_t must_cross = -1;    ///< bytes that cross the network with any domains; -1: not known
  int64_t busiest_link = -1;  ///< bytes that it carries with these, about; -1: not known
  int64_t message = 0;        ///< bytes that a rank has for an aggregator in a cycle, in the mean
  std::vector<std::string> why;
};

/// Bytes of a window of an access of `range`: what is asked for, or less.
int64_t window_size(const placement::Placement& placement, const plan::Extent& range,
                    int aggregators, const TwoPhaseOptions& options);

/// The whole of the collective buffer that an aggregator needs for it.
int64_t buffer_needed(const placement::Placement& placement, const TwoPhaseOptions& options,
                      const plan::Extent& range);

/// True if all ranks are aggregators unless something else is asked for: they are on one node.
bool may_be_direct(const placement::Placement& placement, const TwoPhaseOptions& options);

/// The aggregators under the options: as many as wanted, else as many as storage and network can
/// keep busy if that is known (plan/aggregator_number.h), else one per node, else, on a single
/// node, all ranks, since no network lies between them.
plan::Aggregators aggregators_for(const placement::Placement& placement,
                                  const TwoPhaseOptions& options);

/// `demands[r]` is that of rank r.
TwoPhasePlan plan_two_phase(const placement::Placement& placement, const TwoPhaseOptions& options,
                            Direction direction, const std::vector<RankDemand>& demands);

/// The same of what the ranks want together, where no rank knows what each of the others wants:
/// file domains are even, and what depends on messages counts the ranks as alike. Memory and time
/// in proportion to nodes and aggregators.
TwoPhasePlan plan_two_phase(const placement::Placement& placement, const TwoPhaseOptions& options,
                            Direction direction, const Demand& together);

/// Gives a plan that is not direct another order and window than those of the options; `because`
/// is said with them.
void issue_otherwise(TwoPhasePlan& plan, plan::IssueOrder order, int window,
                     std::string_view because);

class NodeStreams;

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
  /// ranks of the file must say alike. All must outlive the schedule.
  TwoPhaseSchedule(const placement::Placement& placement, const TwoPhasePlan& plan, int me,
                   const Access& own, const AccessList& others, bool shares,
                   NodeStreams* streams = nullptr);

  bool next(plan::Step& step) override;
  int window() const override { return plan_.window; }
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
  void publish(int64_t cycle);
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
    return Place{kind, int(cycle % plan_.windows), who}.number();
  }

  const TwoPhasePlan& plan_;
  const placement::Placement& placement_;
  const int me_;
  const Access& own_;
  const AccessList& others_;
  const bool shares_;
  NodeStreams* const streams_;
  bool streaming_ = false;  // this rank's node has streams
  bool meets_ = false;      // the node has windows or streams in memory that its ranks share
  bool in_common_ = false;  // all ranks share all windows: there are no messages
  int my_aggregator_ = -1;
  std::vector<int> aggregators_in_order_;  // indices, in this rank's issue order; without those
                                           // that can have no bytes of it, unless it streams
  std::vector<int> peers_in_order_;        // ranks, in this rank's issue order; aggregators only
  std::vector<plan::Step> steps_;          // of the current cycle
  size_t at_ = 0;
  int64_t cycle_ = 0;
};

}  // namespace haichi::mpiio
