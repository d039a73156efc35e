// Which node or link of a job is slower than its peers, from the times of a few rounds. Pure: times
// in, findings out.
//
// A round is a shift: each member receives from the one `distance` before it, all at once. A member
// is a node, or a rank where there is one node only. At most 2 log2 N rounds, each way the same
// distances, tell a slow member from a slow link: a member is in many links, a link in one.
// Rounds take turns in several visits, so that what disturbs the machine for a while hits a visit
// and not a member.
#pragma once

#include <string>
#include <vector>

namespace haichi::measure {

/// Seconds by visit, and in it by unit: a member, a link, a rank.
using Visits = std::vector<std::vector<double>>;

/// A unit that is slower than its peers.
struct Outlier {
  int unit;
  double factor;  ///< its time over its peers'
  int seen;       ///< in how many visits
};

/// What comparing units gave.
struct Standing {
  std::vector<Outlier> slow;
  double noise;   ///< of a unit from visit to visit: MAD of logarithms, times 1.48; 0.01 is 1 %
  double spread;  ///< the same between units
  int most;       ///< the slowest unit, found slow or not
  double most_factor;
};

/// Units whose median over the visits is above that of the median unit by more than `limit` (0.15:
/// 15 %), by more than four times what its own noise lets its median err, and by more than four
/// times the spread of all; and in three of four visits. At least one unit and visit.
Standing slower_than_peers(const Visits& seconds, double limit);

/// The distances of the rounds for so many members: 1, 2, 4, ... and as many back, each once, at
/// most 2 log2 of the members; none for fewer than two.
std::vector<int> shift_distances(int members);

/// The times of one round: [visit][receiving member].
struct Shift {
  int distance;
  Visits seconds;
};

/// Median of values of any number; of an even number the lower one of the two in the middle.
double middle(std::vector<double> values);
/// What each visit has of one unit.
std::vector<double> of_unit(const Visits& visits, size_t unit);

enum class Of { member, link, rank };

/// A sentence's worth: what is slower, in what, by how much, and where that was seen.
struct Finding {
  Of of;
  std::string aspect;                    ///< "bandwidth", "latency", "compute" or "copy"
  int unit = -1;                         ///< the member or the rank
  bool sends = false, receives = false;  ///< of a member's link: which way it is slow
  int from = -1, to = -1;                ///< of a link
  double factor = 1;
  int seen = 0;
  std::vector<int> distances;  ///< of the rounds that it is in; empty for a rank's own speed
};

/// How all units stood in one comparison, for who wants to see more than the findings.
struct Compared {
  std::string aspect, units;  ///< e.g. "bandwidth", "sending"
  Standing standing;
};

struct Health {
  std::vector<Finding> findings;
  std::vector<Compared> compared;
};

/// Members, then links, that are slow in `aspect`. Two members have links only: with one pair, the
/// two cannot be told apart.
Health judge_links(const std::string& aspect, int members, const std::vector<Shift>& shifts,
                   double limit);
/// Members, then single ranks of others, that are slow in what each rank did by itself: seconds by
/// visit and rank. `member_of_rank[r]` is from 0 to `members` - 1. A member's time is its median
/// rank's; with a member for each rank there are members only.
Health judge_ranks(const std::string& aspect, int members, const std::vector<int>& member_of_rank,
                   const Visits& seconds, double limit);

}  // namespace haichi::measure
