// haichi-replay-<flavour>: makes the MPI calls of a recorded program again. `haichi replay` starts
// the one for the MPI whose launcher started it; docs/guide/replay.md, docs/man/haichi-replay.1.md.
#include <errno.h>
#include <mpi.h>
#include <unistd.h>

#include <cstdio>
#include <new>

#include "base/clock.h"
#include "base/log.h"
#include "record/read_record.h"
#include "replay/plan.h"
#include "replay/run/must.h"
#include "replay/run/options.h"
#include "replay/run/outcome.h"
#include "replay/run/player.h"
#include "replay/run/watch.h"

namespace haichi::replay {
namespace {

int rank_in_world() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

// Reads the record and says whether this job can replay it.
Result<record::Record> read(const Options& options) {
  auto record = record::read_record_file(options.record, {.calls = false, .traffic = false});
  if (!record) return record;
  int ranks = 1;
  must(MPI_Comm_size(MPI_COMM_WORLD, &ranks));
  if (ranks != record->ranks)
    return fail(EINVAL, "{} is of {} ranks, and these are {}: mpiexec -n {} haichi replay ...",
                options.record, record->ranks, ranks, record->ranks);
  for (const auto& sequence : record->sequences)
    if (sequence) return record;
  return fail(EINVAL, "{} has no sequences of calls; haichi run --record --sequence records them",
              options.record);
}

// True on all ranks if it is on all; else the first that failed says why.
bool all_could(const Result<record::Record>& record) {
  const int none = 1 << 30, failed = record ? none : rank_in_world();
  int first = none;
  must(MPI_Allreduce(&failed, &first, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD));
  if (first == rank_in_world()) log(LogLevel::error, "{}", record.error().text);
  return first == none;
}

// What the names of all files begin with; no other job has it.
std::string scratch_path(const std::string& directory) {
  char host[256] = "", path[4096] = "";
  gethostname(host, sizeof host - 1);
  snprintf(path, sizeof path, "%s/haichi-replay-%s-%d-%lld", directory.c_str(), host, int(getpid()),
           static_cast<long long>(now_ns()));
  must(MPI_Bcast(path, sizeof path, MPI_CHAR, 0, MPI_COMM_WORLD));
  return path;
}

int replay(const Options& options) {
  const int rank = rank_in_world();
  auto record = read(options);
  if (!all_could(record)) return kBadRecord;
  if (!record->sequences[size_t(rank)]) record->sequences[size_t(rank)].emplace();
  Plan plan(*record);
  std::vector<std::string> notes = record->notes;
  for (std::string& line : plan.told()) notes.push_back(std::move(line));
  if (rank == 0)
    for (const std::string& line : notes) log(LogLevel::warn, "{}", line);
  Outcome mine;
  {
    const Communicators comms(*record, rank);
    const std::string scratch = scratch_path(options.directory);
    begin_watch(options.patience);
    mine = Player(*record, *record->sequences[size_t(rank)], plan.of(rank), comms, options.compute,
                  scratch)
               .play();
    end_watch();
  }
  const auto all = gathered(mine);
  if (rank != 0) return 0;
  fputs((options.json ? json_of(all, *record, options, notes) : table_of(all)).c_str(), stdout);
  return 0;
}

// Ends the job from whichever rank an MPI call failed on.
int guarded_replay(const Options& options) {
  try {
    return replay(options);
  } catch (const CallFailed& error) {
    log(LogLevel::error, "{} failed: {}", doing(), error.what());
    MPI_Abort(MPI_COMM_WORLD, kMpiFails);
  } catch (const std::bad_alloc&) {
    log(LogLevel::error, "{} has no memory for the messages of the record", doing());
    MPI_Abort(MPI_COMM_WORLD, kMpiFails);
  }
  return kMpiFails;
}

int start(int argc, char** argv) {
  set_log(LogLevel::warn, "haichi replay");
  Options options;
  int code = 0;
  // Help needs no MPI.
  if (!read_options(argc, argv, false, options, code) && code == 0) {
    read_options(argc, argv, true, options, code);
    return code;
  }
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  options = {};
  const bool first = rank_in_world() == 0;
  if (read_options(argc, argv, first, options, code)) code = guarded_replay(options);
  fflush(stdout);
  MPI_Finalize();
  return first ? code : 0;
}

}  // namespace
}  // namespace haichi::replay

int main(int argc, char** argv) { return haichi::replay::start(argc, argv); }
