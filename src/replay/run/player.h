// Makes the calls of this rank's sequence again.
#pragma once

#include <mpi.h>

#include <deque>
#include <map>
#include <string>
#include <vector>

#include "record/record.h"
#include "replay/plan.h"
#include "replay/run/collectives.h"
#include "replay/run/communicators.h"
#include "replay/run/computing.h"
#include "replay/run/files.h"
#include "replay/run/room.h"
#include "replay/run/windows.h"
#include "replay/shares.h"

namespace haichi::replay {

/// What a rank's replay took, and what the record says of the same calls. Seconds.
struct Outcome {
  double recorded_s = 0, recorded_mpi_s = 0;
  double replayed_s = 0, replayed_mpi_s = 0;
  double calls = 0;
};

/// Plays the sequence of one rank. Requests have the slots of the record. A call that is left out
/// leaves its request null, for which nobody waits.
class Player {
 public:
  /// All but the last must outlive it; files have names that begin with `scratch`. Collective, as
  /// is play().
  Player(const record::Record& record, const record::Sequence& sequence, RankPlan plan,
         const Communicators& comms, Compute compute, const std::string& scratch);

  /// All ranks begin together; an Outcome is of this rank alone.
  Outcome play();

 private:
  void make_room();
  void do_event(size_t index);
  void call(const record::Event& event, const Step& step, bool plays);
  void message(const record::Event& event, const Step& step, Form form);
  void send(const record::Event& event, const Step& step, Form form);
  void receive(const record::Event& event, const Step& step, Form form);
  void exchange(const record::Event& event, const Step& step, bool sends, bool receives);
  void collective(const record::Event& event, const Step& step);
  void new_comm(const record::Event& event);
  void wait(const record::Event& event);
  void test(const record::Event& event);
  void start(const record::Event& event);
  void put_behind(Room& room);
  Room& new_behind();
  void finish();

  Room& room(int slot);
  int peer(const record::Event& event, int world_rank) const;

  const record::Sequence& sequence_;
  RankPlan plan_;
  const Communicators& comms_;
  Computing computing_;
  Amounts amounts_;
  std::deque<Room> slots_;
  Room blocking_;
  std::deque<Room> behind_;  // begun, and nobody waits for them before the end
  std::map<int, VaryingCalls> varying_;
  Windows windows_;
  Files files_;
  std::vector<MPI_Request> waited_;
  Outcome outcome_;
};

}  // namespace haichi::replay
