#include "mpi/log/run_report.h"

#include <mpi.h>

#include <string>

#include "base/log.h"
#include "base/os.h"
#include "generated/real.h"
#include "mpi/communicators/world_comm.h"
#include "mpi/compat/handles.h"
#include "mpi/job/job_facts.h"
#include "mpi/job/runtime.h"
#include "mpi/log/run_log.h"
#include "mpiio/ways/way.h"
#include "report/header.h"
#include "report/kept.h"
#include "report/part.h"
#include "report/rank_text.h"
#include "report/tree.h"

namespace haichi::mpi {
namespace {

constexpr int kTag = 0x6861;

report::Bounds bounds_of(const Runtime& runtime) {
  return {.ranks = runtime.world.ranks(),
          .nodes = runtime.world.nodes(),
          .bytes = runtime.settings.number("report.bytes")};
}

/// What goes beside MPI files. Nothing where the kernel does not tell.
std::optional<report::StorageRecord> storage_record(const Runtime& runtime) {
  const std::optional<ProcessIo>& before = runtime.io_before;
  const auto now = before ? process_io() : std::nullopt;
  if (!now) return std::nullopt;
  return report::StorageRecord{.read = now->read_bytes - before->read_bytes,
                               .written = now->written_bytes - before->written_bytes,
                               .mpi_read = runtime.mpi_bytes[int(mpiio::Direction::read)],
                               .mpi_written = runtime.mpi_bytes[int(mpiio::Direction::write)]};
}

std::string text_of_this_rank(Runtime& runtime) {
  const std::lock_guard guard(runtime.mutex);
  return report::rank_text({.rank = runtime.rank,
                            .node = runtime.world.node_of(runtime.rank),
                            .recorder = runtime.recorder,
                            .accesses = runtime.accesses,
                            .files = report::take_file_records(),
                            .collectives = report::take_collective_records(),
                            .notes = runtime.notes,
                            .storage = storage_record(runtime),
                            .messages = report::take_messages(),
                            .exchanges = report::take_exchanges()},
                           bounds_of(runtime));
}

/// Of all ranks, with no message of the program's.
MPI_Comm comm_of_all() {
  return asking_comm() != handles().comm_null ? asking_comm() : handles().comm_world;
}

bool receive(void* data, int size, int rank) {
  MPI_Request request;
  return real().Irecv(data, size, handles().byte, rank, kTag, comm_of_all(), &request) ==
             MPI_SUCCESS &&
         real().Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS;
}

/// What `rank` and those below it say; empty if that does not come.
std::string told_by(int rank) {
  int64_t size = 0;
  if (!receive(&size, sizeof size, rank)) return "";
  std::string text(size_t(size), '\0');
  return receive(text.data(), int(size), rank) ? text : "";
}

void tell(int rank, const std::string& text) {
  const int64_t size = int64_t(text.size());
  const Handles& h = handles();
  real().Send(&size, sizeof size, h.byte, rank, kTag, comm_of_all());
  real().Send(text.data(), int(size), h.byte, rank, kTag, comm_of_all());
}

/// What this rank and those below it say, told to the rank above.
report::Part joined(Runtime& runtime) {
  const auto by_node = runtime.world.by_node();
  const int node = runtime.world.node_of(runtime.rank);
  const int position = runtime.world.first_index(node) + runtime.world.local_index(runtime.rank);
  report::Part part(bounds_of(runtime));
  part.add_rank(text_of_this_rank(runtime));
  for (const int below : report::below(position, int(by_node.size())))
    part.add(told_by(by_node[size_t(below)]));
  if (const int above = report::above(position); above >= 0)
    tell(by_node[size_t(above)], part.text());
  return part;
}

/// Whether it could be written. One line says if not, here or where the log was given up.
bool write_on_rank_0(const Runtime& runtime, report::Part& part) {
  const std::string& path = runtime.settings.text("report.file");
  const auto written = write_file_atomically(path, part.report(report::header(job_of(runtime))));
  if (!written)
    log(runtime.told_of_no_report ? LogLevel::info : LogLevel::error,
        "no report: {}; give HAICHI_REPORT a path that can be written", written.error().text);
  return written.has_value();
}

}  // namespace

void write_run_report(Runtime& runtime) {
  if (!runtime.reports) return;
  report::Part part = joined(runtime);
  const bool written = runtime.rank == 0 && write_on_rank_0(runtime, part);
  end_run_log(runtime, written);
}

}  // namespace haichi::mpi
