// Which of the recorded calls are made again, decided beforehand and on all ranks alike, so that a
// replay never waits for somebody who skips.
//
// Of the calls that the replay knows, a message is sent if its receive is recorded and received if
// its send is: of sends and receives between the same ranks with the same tag the first as many as
// there are of both. A collective call is made if all members have it, in the same order. What was
// recorded was over when it was, so what is left can be made in the recorded order too (a subset of
// an order that had no circle has none). Where receives take from any rank or any tag, who gets
// which is not recorded: there the numbers must be equal, or none of these messages is sent.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "record/record.h"
#include "replay/function.h"

namespace haichi::replay {

/// What becomes of an event of a rank.
struct Step {
  Function function;
  bool plays = false;                  ///< and if so, as often as `limit` allows
  bool plays_receive = false;          ///< of MPI_Sendrecv: its other half
  int comm = -1;                       ///< also of a call on a window or a file
  int limit = -1, receive_limit = -1;  ///< index in RankPlan::limits; -1: always
  int64_t capacity = 0;                ///< of a receive: the most that may come
};

struct RankPlan {
  std::vector<Step> steps;  ///< of each event
  std::vector<uint64_t> limits;
  /// Bytes of the largest access of any rank.
  int64_t largest_one_sided = 0, largest_in_file = 0;

  /// Whether a call with this limit is one of those that are made, and then counts it.
  bool may(int limit);
  /// Whether the event is to be made now. What persistent requests are made of is limited when they
  /// start.
  bool plays(const Step& step) {
    return (step.function.form == Form::persistent || may(step.limit)) && step.plays;
  }
};

/// Calls that are left out, of all ranks together.
struct Skipped {
  std::string call, why;
  uint64_t times = 0;
};

class Plan {
 public:
  /// The record must outlive it.
  explicit Plan(const record::Record& record);
  ~Plan();
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;

  RankPlan of(int rank);
  /// How many calls of all ranks are made.
  uint64_t calls() const;
  const std::vector<Skipped>& skipped() const;
  /// The skipped ones as a line each.
  std::vector<std::string> told() const;

 private:
  class Planner;
  std::unique_ptr<Planner> planner_;
};

}  // namespace haichi::replay
