// File calls, on scratch files.
#pragma once

#include <mpi.h>

#include <map>
#include <string>
#include <vector>

#include "record/sequence.h"
#include "replay/function.h"
#include "replay/run/communicators.h"
#include "replay/run/room.h"

namespace haichi::replay {

/// Where accesses lie in their files is not recorded, nor are views: each rank has a part of its
/// own, as long as the largest access of the record, and each access is at its begin. Files are
/// removed when they are closed.
class Files {
 public:
  /// `path`: what the names of all files begin with, the same on all ranks.
  Files(const Amounts& amounts, std::string path, int64_t largest);

  void play(const record::Event& event, const Function& function, const Comm& comm, Room& room);
  /// Closes what is open. Collective.
  void finish();

 private:
  void open(const record::Event& event, const Comm& comm);
  void access(MPI_File file, const record::Event& event, const Function& function, const Comm& comm,
              Room& room);

  const Amounts& amounts_;
  const std::string path_;
  const int64_t largest_;
  std::map<int, MPI_File> files_;
  std::vector<int> opened_;  // in the order of their opening, which is the same on all ranks
};

}  // namespace haichi::replay
