// What lives as long as the MPI program: settings, placement of the world, recorder, notes.
#pragma once

#include <mpi.h>

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "base/log.h"
#include "base/process_io.h"
#include "base/settings.h"
#include "base/task_queue.h"
#include "base/worker.h"
#include "machine/machine.h"
#include "mpi/job/machine_file.h"
#include "placement/placement.h"
#include "report/records.h"
#include "trace/recorder.h"

namespace haichi::report {
class RankLog;
}

namespace haichi::mpi {

/// False if HAICHI_DISABLE is set: every hook is then a plain call. Constant over the life of the
/// process, no environment look-up after the first call.
bool active();

/// One per process, made after MPI_Init and gone before MPI_Finalize. The members that do not
/// change are free to read; the others are behind `mutex`.
class Runtime {
 public:
  /// Null before MPI_Init, after MPI_Finalize, and where haichi gave up (the reason was logged).
  static Runtime* get();
  /// What get() gives from here on; mpi/life/lifetime.h makes it.
  static void put(std::unique_ptr<Runtime> runtime);
  /// get() gives null from here on.
  static std::unique_ptr<Runtime> take();

  Runtime(Settings s, placement::Placement p, KnownMachine m, int r, size_t events);
  ~Runtime();

  const Settings settings;  ///< rank 0's, on all ranks
  const std::shared_ptr<const placement::Placement> shared_world;
  const placement::Placement& world;  ///< the same
  /// What messages and file accesses cost here, if a profile says so.
  const std::optional<machine::Machine> machine;
  const report::MachineUse machine_use;  ///< filled in on rank 0
  const int rank;
  const bool threads_may_write;       ///< the program may call MPI from several threads at once
  const bool reports;                 ///< a report is written in the end
  const bool observes;                ///< what the MPI library does, and does nothing itself
  const int64_t many_ranks;           ///< scale.ranks, which is asked for in every call
  const int64_t calls_before_a_look;  ///< at a communicator, of the exchanges on it
  const int64_t start_ns;        ///< haichi::now_ns() at a moment that all ranks passed together
  const int64_t started_unix_s;  ///< the same, seconds since 1970
  const std::optional<ProcessIo> io_before;  ///< of this process; nothing unless `reports`

  std::mutex mutex;
  trace::Recorder recorder;
  report::CollectiveAccesses accesses;   ///< counted if `reports`
  int64_t mpi_bytes[2] = {};             ///< the same bytes by mpiio::Direction
  int32_t calls_traced = 0;              ///< numbers the calls in this rank's trace
  std::map<std::string, int64_t> notes;  ///< text -> how often

  /// What is left of this rank's record if the job is killed; null if there is none.
  std::unique_ptr<report::RankLog> rank_log;
  bool told_of_no_report = false;  ///< that there may be none; on rank 0

  using BorrowedWorker = std::unique_ptr<Worker, std::function<void(Worker*)>>;
  /// Whether so many ranks are too many for each of them to know of each other one: they agree node
  /// by node. The same on all ranks.
  bool works_by_nodes(int ranks) const { return ranks >= many_ranks; }

  /// A worker to access a file with. Null if the system gives no thread.
  BorrowedWorker borrow_worker();

  /// The thread that accesses files behind the program; made when it is asked for first. Null if
  /// the system gives no thread.
  TaskQueue* behind_program();
  /// Waits until it has done everything, and ends it.
  void finish_behind_program();
  /// False as long as nobody has asked for it.
  bool any_behind_program() const { return behind_.load(std::memory_order_acquire) != nullptr; }

  /// Counts a fall-through or a problem for the report; logged when it happens first.
  void note(const std::string& text, LogLevel level = LogLevel::info);

 private:
  std::unique_ptr<Worker> idle_worker_;
  std::atomic<TaskQueue*> behind_ = nullptr;
};

}  // namespace haichi::mpi
