// One-sided calls, on windows of the replay's own.
#pragma once

#include <mpi.h>

#include <map>
#include <set>
#include <vector>

#include "record/sequence.h"
#include "replay/function.h"
#include "replay/run/communicators.h"
#include "replay/run/room.h"

namespace haichi::replay {

/// All accesses go to the begin of the target's window, which has room for the largest of the
/// record: where they went is not recorded, nor are kinds of locks, so all are shared.
class Windows {
 public:
  Windows(const Amounts& amounts, int64_t largest);

  /// Makes the call; that of a function with a request is then pending in the room.
  void play(const record::Event& event, const Function& function, const Comm& comm, Room& room);
  /// Ends what is still locked and frees what is there. Collective.
  void finish();

 private:
  struct Window {
    MPI_Win handle = MPI_WIN_NULL;
    std::set<int> locked;
    bool all_locked = false;
  };
  void create(const record::Event& event, const Comm& comm);
  void synchronise(Window& window, OneSided call, int peer);
  void access(Window& window, const record::Event& event, const Function& function, int peer,
              Room& room);
  void free(Window& window);

  const Amounts& amounts_;
  const int64_t largest_;
  Room memory_;  // of accesses without requests; never grows while one is pending
  std::map<int, Window> windows_;
  std::vector<int> made_;  // in the order in which they were made, which is the same on all ranks
};

}  // namespace haichi::replay
