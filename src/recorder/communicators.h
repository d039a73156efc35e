// What the recorder knows of communicators: who their ranks are, and their numbers in the record.
#pragma once

#include <mpi.h>

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "record/definitions.h"

namespace haichi::recorder {

/// Ranks of MPI_COMM_WORLD in the order of another communicator's ranks. Rows and columns of a grid
/// are three numbers.
class Members {
 public:
  Members() = default;
  /// An entry of another world is MPI_UNDEFINED.
  explicit Members(std::vector<int> world_ranks);
  int size() const { return size_; }
  /// -1 outside, and for ranks of another world.
  int world_rank(int rank) const {
    if (rank < 0 || rank >= size_) return -1;
    return list_.empty() ? first_ + rank * step_ : list_[size_t(rank)];
  }
  /// "0-3,8"; empty where a rank is of another world.
  std::string text() const;

 private:
  int first_ = 0, step_ = 0, size_ = 0;
  std::vector<int> list_;
};

struct Communicator {
  uint16_t number = record::Key::kNone;
  int rank = -1;  ///< of this process
  bool inter = false;
  bool all_know = false;           ///< an intracommunicator of this world, known since it was made
  Members members;                 ///< of the local group
  Members remote;                  ///< of an intercommunicator
  int incoming = 0, outgoing = 0;  ///< neighbours, of one with a topology

  /// Those that messages go to and roots are among.
  const Members& peers() const { return inter ? remote : members; }
  int size() const { return members.size(); }

  std::string what;  ///< the definition, the same for all of these ranks in this order
  int copy = 0;      ///< how many others of the same definition there were when it was made
};

/// Until they are freed. Not thread-safe.
class Communicators {
 public:
  explicit Communicators(record::Definitions& definitions) : definitions_(definitions) {}

  /// Of a communicator with which MPI has just carried out a call, or that it has just made. Null
  /// if there is no memory.
  const Communicator* of(MPI_Comm valid);
  /// The same, for what outlives the handle.
  std::shared_ptr<const Communicator> shared(MPI_Comm valid);
  /// What a call that all its ranks made has made just now: they all know it from here on.
  void made(MPI_Comm valid);
  /// Whether all ranks of a communicator know it and each other, on all of them alike; no handle
  /// that may be wrong is asked.
  bool all_know(MPI_Comm comm) const;
  /// Before it is freed. Its number, if it was known.
  uint16_t forget(MPI_Comm comm);

 private:
  std::shared_ptr<Communicator> ask(MPI_Comm comm) const;
  void give_number(Communicator& comm);

  record::Definitions& definitions_;
  std::unordered_map<uint64_t, std::shared_ptr<Communicator>> known_;
  std::map<std::string, std::vector<bool>> copies_;  // definition -> which copies are there
  uint64_t last_handle_ = 0;
  const Communicator* last_ = nullptr;
};

}  // namespace haichi::recorder
