// The ranks that open files together, and what these files have in common.
//
// Programs open a file for each checkpoint, and libraries duplicate a communicator for each file. A
// communicator of haichi's own, the placement and what was tried are made once for all files of the
// same ranks, so that a second file costs no message.
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstdint>
#include <memory>

#include "mpi/communicators/rank_set.h"
#include "mpi/compat/waiting.h"
#include "mpi/files/access_form.h"
#include "mpi/job/runtime.h"
#include "mpi/node/node_board.h"
#include "mpi/tuning/way_trials.h"
#include "mpiio/twophase/measured_costs.h"
#include "mpiio/ways/doze.h"
#include "placement/placement.h"

namespace haichi::mpi {

class TuningGroup;

/// Has a communicator of haichi's own (private_comm.h). Where threads may open files at the same
/// time each file has a group of its own: two collectives at once on one communicator would be
/// mixed up.
class FileGroup {
 public:
  FileGroup(Runtime& runtime, MPI_Comm own, RankSetPtr ranks);
  ~FileGroup();
  FileGroup(const FileGroup&) = delete;
  FileGroup& operator=(const FileGroup&) = delete;

  /// A number for the next file of these ranks: the same on all of them, of no other file.
  int64_t next_file();

  Runtime& runtime;
  const MPI_Comm comm;
  const RankSetPtr ranks;
  const placement::Placement& placement;  ///< the ranks'
  const int rank;
  /// Files whose accesses of a form and direction were all the library's.
  struct FilesDoze : mpiio::Doze {
    FilesDoze() : Doze(1, 8) {}
  };
  FilesDoze files_doze[kAccessForms][2];
  mpiio::AgreementPace pace;  ///< of agreements about accesses
  int64_t agreement_ns = 0;   ///< what one took at least, as all ranks told; 0: not known
  /// Views in a row that nobody asked for, at the end of the last file (file_view.h).
  std::atomic<int> views_unasked = 0;
  /// An allgather of so many bytes of each rank, on the board where there is one. False if the MPI
  /// library fails. Collective.
  bool allgather(const void* own, size_t bytes, void* all, Waiting waiting);
  /// The first rank's value for all of them, as above.
  bool broadcast(int64_t& value, Waiting waiting);
  /// Where the ranks leave word for one another, if all are on one node and agree often; else null,
  /// on all of them. Collective: made when it is worth it.
  NodeBoard* board(Waiting waiting);

  WayTrials ways;                       ///< which way accesses go
  mpiio::MeasuredCosts costs[2];        ///< of a byte in two phases, by direction
  std::shared_ptr<TuningGroup> tuning;  ///< null: order and window are always the options'

 private:
  friend std::shared_ptr<FileGroup> file_group(Runtime& runtime, MPI_Comm comm);
  friend std::shared_ptr<FileGroup> group_of_all(Runtime& runtime, MPI_Comm own);
  int64_t id_ = 0;  ///< equal on all ranks
  int64_t files_ = 0;
  int64_t agreements_ = 0;  ///< of all ranks, so far; those in memory are not counted
  bool board_refused_ = false;
  std::unique_ptr<NodeBoard> board_;
};

/// The group of the ranks of a communicator. Collective over it if the group is new. Null, on all
/// ranks, if there is nothing to gain or a rank cannot take part.
std::shared_ptr<FileGroup> file_group(Runtime& runtime, MPI_Comm comm);

/// That of all ranks of the job, whose communicator is there since MPI_Init: nothing is agreed on,
/// so that the first file costs no message. A rank without memory ends the job, as it would be
/// missed by the others.
std::shared_ptr<FileGroup> group_of_all(Runtime& runtime, MPI_Comm own);

/// Before MPI_Finalize: frees what the groups own.
void forget_file_groups();

}  // namespace haichi::mpi
