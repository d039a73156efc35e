// The communicators of a record, made anew.
#pragma once

#include <mpi.h>

#include <map>
#include <vector>

#include "record/record.h"

namespace haichi::replay {

struct Comm {
  MPI_Comm handle = MPI_COMM_NULL;
  int rank = 0, size = 0;
  std::vector<int> rank_of;  ///< world rank -> rank here; -1: no member
  const record::Communicator* recorded = nullptr;
};

/// Those that this rank is a member of, by their ids. Collective. Intercommunicators are left out.
class Communicators {
 public:
  Communicators(const record::Record& record, int rank);
  ~Communicators();
  Communicators(const Communicators&) = delete;
  Communicators& operator=(const Communicators&) = delete;

  /// The communicator must be one of this rank's.
  const Comm& operator[](int id) const { return made_.at(id); }
  const std::map<int, Comm>& all() const { return made_; }

 private:
  std::map<int, Comm> made_;
};

}  // namespace haichi::replay
