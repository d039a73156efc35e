// The recorder between MPI_Init and MPI_Finalize.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "placement/placement.h"
#include "record/fold.h"
#include "record/recording.h"
#include "recorder/buffers.h"
#include "recorder/communicators.h"
#include "recorder/types.h"
#include "recorder/windows_and_files.h"

namespace haichi::recorder {

struct SessionParts {
  std::string path;  ///< of the record, from the root
  MPI_Comm own;      ///< all ranks, with no message of the program's
  int rank, ranks;
  int fd;                   ///< of the file that keeps this rank's part; -1: none
  std::string part_folder;  ///< where that is; empty: nowhere
  bool syncs = false;       ///< a barrier before each blocking collective
  bool sequences = false;   ///< the order of calls too
};

/// Everything but the first members is for who holds recording.lock().
struct Session {
  Session(SessionParts parts, const placement::Placement& world, const record::Start& start);

  const SessionParts parts;
  std::string record_line;  ///< the first one of the file; on rank 0

  record::Recording recording;
  Types types;
  Communicators communicators;
  Buffers buffers;
  Known<MPI_Win, Window> windows;
  Known<MPI_File, File> files;
  Known<MPI_Message, ProbedMessage> messages;
  std::optional<record::Folder> folder;  ///< if the order of calls is wanted
  std::vector<int> slots;                ///< of a call's requests, so that no call takes memory

  int take_window_number();
  void free_window_number(int number);

  /// Where a rank of MPI_COMM_WORLD is; -1 is nowhere.
  record::Place place_of(int world_rank) const {
    return size_t(world_rank) < places_.size() ? places_[size_t(world_rank)] : record::Place::none;
  }

 private:
  std::vector<record::Place> places_;
  std::vector<bool> window_numbers_;  // which are taken
};

/// Null outside. Thread-safe.
Session* session();
/// What session() gives from here on.
void set_session(Session* session);

}  // namespace haichi::recorder
