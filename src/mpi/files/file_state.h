// What haichi knows of an open MPI file.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/lustre.h"
#include "mpi/files/backlog.h"
#include "mpi/files/file_group.h"
#include "mpi/files/file_memory.h"
#include "mpi/files/file_options.h"
#include "mpi/files/file_pointer.h"
#include "mpi/files/file_view.h"
#include "mpi/files/outcome.h"
#include "mpi/files/own_descriptor.h"
#include "mpi/files/presence.h"
#include "mpi/files/turn.h"
#include "mpi/job/runtime.h"
#include "mpiio/storage/collective_buffer.h"
#include "mpiio/ways/doze.h"
#include "placement/placement.h"
#include "report/records.h"

namespace haichi::mpi {

/// A split collective (MPI 4.1, section 14.4.5) between its begin and its end: haichi did all of it
/// at the begin, or it is the MPI library's (`outcome` is not taken).
struct SplitAccess {
  std::string_view kind;  ///< its name without "_begin": "MPI_File_write_all"
  CollectiveOutcome outcome;
  int64_t number = 0;    ///< that WayTrials has for it, if the outcome is timed
  int64_t begin_ns = 0;  ///< what it took on this rank until the begin was over
};

/// State of one handle. Made by on_File_open where haichi can take the file's collective accesses
/// on all ranks; files without a state are passed through. Made right after the library opened the
/// file.
///
/// `mutex` guards what a thread may ask for while another is in a collective call of the file:
/// hints, the record, what is split. Nobody holds it while waiting for other
/// ranks. The rest changes in collective calls alone, of which MPI allows one at a time.
class FileState : public std::enable_shared_from_this<FileState> {
 public:
  FileState(std::shared_ptr<FileGroup> group, std::string path, int amode);
  FileState(const FileState&) = delete;
  FileState& operator=(const FileState&) = delete;

  /// Takes the hints that haichi knows from an info object; bad values are noted and ignored.
  void take_hints(MPI_Info info);
  /// What this rank's descriptor tells of it; asked for once.
  std::optional<Striping> striping();
  /// What the first agreement of the ranks tells of the file.
  void take_agreed(bool all_off, const Striping& striping);
  /// For the report, before the file is closed: what is known of the handle as a whole.
  void complete_record();
  /// False, with a note, if this rank cannot have a descriptor of its own. Opens it if need be.
  bool has_descriptor();
  /// Before bytes of the program's are written through the descriptor.
  void note_descriptor_written() { descriptor_.note_written(); }
  Status close_descriptor() { return descriptor_.close(); }
  /// False if this rank is an aggregator under the options in force and has no descriptor.
  bool ready_as_aggregator() { return has_descriptor() || !options.aggregates(rank); }
  /// What the file is accessed through.
  mpiio::AggregatorFile aggregator_file();

  /// Why collective accesses in this direction are passed through, or empty: what is the same on
  /// all ranks by the rules of MPI, modes and representation.
  std::string common_refusal(mpiio::Direction direction) const;
  /// All accesses are the MPI library's, by no word of the ranks; what they take is recorded.
  bool observes() const { return runtime.observes; }

  /// For the report: what is kept of the program's memory type in a call, and of other ranks'
  /// accesses.
  void note_memory(const mpiio::Pattern& pattern);
  void note_others(int64_t bytes);

  const std::shared_ptr<FileGroup> group;
  Runtime& runtime;
  std::mutex mutex;
  const MPI_Comm comm;
  const std::string path;
  const int amode;
  const int rank;
  const placement::Placement& placement;
  const std::vector<int>& world_rank;  ///< of each rank of `comm`, its rank in MPI_COMM_WORLD

  FileView view;
  FilePointer pointer;
  FileOptions options;
  FileMemory memory;

  /// All ranks were told at open to leave the file alone; found out by the first agreement.
  bool handed_back = false;
  std::optional<SplitAccess> split;  ///< that has begun and not ended
  /// Accesses that are the library's by choice, by form and direction.
  mpiio::Doze doze[kAccessForms][2];
  mpiio::Doze& doze_of(AccessForm form, mpiio::Direction direction) {
    return doze[int(form)][int(direction)];
  }
  /// The same of accesses that a rank cannot take, as long as view and mode are what they are.
  mpiio::Doze refused[2] = {mpiio::Doze(0), mpiio::Doze(0)};
  void forget_refusals();
  /// Of the handle among those who write to the file; -1: nobody could be told. The last rank's
  /// counts.
  int64_t slot = -1;
  /// Before any write of the program's: where a second thread begins to write, everybody is told
  /// that this rank may write while others are in a collective access.
  void note_writer();
  Waiting waiting() const {
    return must_wait_in_library(runtime) ? Waiting::in_the_library : Waiting::polling;
  }
  /// Of a collective access of haichi's, or a nonblocking call of the library's.
  Turn take_turn();
  /// The MPI library may be writing to the file for a request of this rank's that is not complete.
  /// Set by a nonblocking write of the library's; nobody tells when that is complete, but where MPI
  /// forbids outstanding requests of a file (sync, set_view, set_size) there are none.
  std::atomic<bool> library_writes = false;
  /// Of nonblocking accesses that are carried out behind the program.
  Backlog backlog;

  report::FileRecord record;

 private:
  std::mutex turn_;                            // between threads, see take_turn()
  std::atomic<const void*> writer_ = nullptr;  // the thread that writes
  std::unique_ptr<Presence> second_writer_;    // under `mutex`
  bool agreed_ = false;                        // take_agreed() was called
  OwnDescriptor descriptor_;
  std::atomic<bool> descriptor_refused_ = false;
  mutable mpiio::LockBackoff backoff_;
};

}  // namespace haichi::mpi
