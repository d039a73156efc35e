#include "recorder/begin_session.h"

#include <time.h>
#include <unistd.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "base/clock.h"
#include "base/job_path.h"
#include "base/log.h"
#include "base/os.h"
#include "base/settings.h"
#include "base/utc_text.h"
#include "base/version.h"
#include "generated/real.h"
#include "mpi/compat/handles.h"
#include "mpi/compat/library_version.h"
#include "mpi/job/discover.h"
#include "mpi/job/machine_signature.h"
#include "mpi/job/roll_call.h"
#include "mpi/job/shared_text.h"
#include "placement/formats.h"
#include "recorder/code_objects.h"
#include "recorder/part_files.h"
#include "recorder/session.h"
#include "recorder/timed_call.h"

extern char** environ;

namespace haichi::recorder {
namespace {

using mpi::handles;
using mpi::real;
using nlohmann::json;

/// Where rank 0 wants the record; empty if it wants none. A world that another one has spawned must
/// not write over its parents' record.
std::string wanted_path(const Settings& settings) {
  std::string path = settings.text("record.file");
  if (path.empty()) return "";
  MPI_Comm parent = handles().comm_null;
  if (real().Comm_get_parent(&parent) == MPI_SUCCESS && parent != handles().comm_null)
    path += ".spawned-%p";
  return resolved_path(path, std::to_string(getpid()));
}

json command_line() {
  const auto text = read_file("/proc/self/cmdline");
  json words = json::array();
  for (size_t at = 0; text && at < text->size();) {
    const size_t end = std::min(text->find('\0', at), text->size());
    words.push_back(text->substr(at, end - at));
    at = end + 1;
  }
  return words;
}

/// What rank 0 decides for all.
struct Wish {
  bool syncs = false, sequences = false;
  std::string part_folder;  ///< empty: nothing is kept beside the record
  std::string path;         ///< empty: no record
};

Wish wish_of(const Settings& settings) {
  Wish wish{.syncs = settings.flag("record.sync"), .sequences = settings.flag("record.sequence")};
  wish.path = wanted_path(settings);
  if (settings.flag("record.keep")) wish.part_folder = part_folder_of(wish.path);
  return wish;
}

/// Rank 0's on all ranks; one without a path if the MPI library fails.
Wish shared(const Wish& of_rank_0) {
  std::string text;
  if (!of_rank_0.path.empty())
    text = fmt::format("{:d}{:d}{}{}{}", of_rank_0.syncs, of_rank_0.sequences,
                       of_rank_0.part_folder, '\0', of_rank_0.path);
  text = mpi::shared_text(handles().comm_world, std::move(text));
  const size_t end = text.find('\0');
  if (text.size() < 3 || end == text.npos) return {};
  return {text[0] == '1', text[1] == '1', text.substr(2, end - 2), text.substr(end + 1)};
}

std::string first_line(const placement::Placement& world, const SessionParts& parts) {
  const machine::Signature here = mpi::signature_of(world);
  const json line = {{"kind", "record"},
                     {"schema", "haichi.record/1"},
                     {"by", std::string("haichi ") + kVersion},
                     {"started", utc_text(time(nullptr))},
                     {"program", command_line()},
                     {"abi", mpi::kAbi},
                     {"ranks", world.ranks()},
                     {"placement", json::parse(placement::to_json(world), nullptr, false)},
                     {"signature",
                      {{"library", here.library},
                       {"processor", here.processor},
                       {"cores", here.cores},
                       {"node_names", here.node_names}}},
                     {"sync", parts.syncs},
                     {"sequence", parts.sequences}};
  return line.dump(-1, ' ', false, json::error_handler_t::replace);
}

MPI_Comm make_own_comm() {
  MPI_Comm own = handles().comm_null;
  if (real().Comm_dup(handles().comm_world, &own) != MPI_SUCCESS) return handles().comm_null;
  real().Comm_set_errhandler(own, handles().errors_return);
  return own;
}

void begin_with(const Wish& wish, int rank, const placement::Placement& world) {
  SessionParts parts = {.path = wish.path,
                        .own = make_own_comm(),
                        .rank = rank,
                        .ranks = world.ranks(),
                        .fd = -1,
                        .part_folder = wish.part_folder,
                        .syncs = wish.syncs,
                        .sequences = wish.sequences};
  if (parts.own == handles().comm_null) return;
  if (!parts.part_folder.empty()) parts.fd = make_part_file(parts.part_folder, rank);
  const record::Start start = {
      .rank = parts.rank, .ranks = parts.ranks, .now_ns = now_ns(), .cpu_ns = process_cpu_ns()};
  auto made = std::make_unique<Session>(std::move(parts), world, start);
  if (made->parts.rank == 0) {
    made->record_line = first_line(world, made->parts);
    made->recording.definitions().add_line(made->record_line);
  }
  for (const record::CodeObject& object : code_objects())
    made->recording.definitions().add_object(object);
  made->communicators.made(handles().comm_world);
  call_clock.start(now_ns());
  set_session(made.release());
}

}  // namespace

void begin_session() {
  const Settings settings = Settings::from_environment(environ);
  if (!mpi::all_have_haichi(std::max<int64_t>(settings.number("start.wait"), 1) * 1'000'000'000))
    return;
  int rank = 0;
  if (real().Comm_rank(handles().comm_world, &rank) != MPI_SUCCESS) return;
  const Wish wish = shared(rank == 0 ? wish_of(settings) : Wish());
  if (wish.path.empty()) return;
  const auto world = mpi::discover(handles().comm_world, settings.text("placement"));
  if (!world) {
    if (rank == 0) log(LogLevel::error, "{}; nothing is recorded", world.error().text);
    return;
  }
  begin_with(wish, rank, *world);
}

}  // namespace haichi::recorder
