// haichi run: puts the right shim under one program and becomes that program.
//
// Nothing of haichi stays: no parent process, no pipe, no handler. So the exit code, signals,
// standard input and output, and what the launcher knows by process id, are the program's own.
#include <sys/stat.h>

#include <CLI/CLI.hpp>

#include "base/log.h"
#include "launch/commands.h"
#include "launch/elf.h"
#include "launch/exec.h"
#include "launch/paths.h"
#include "launch/preload.h"
#include "launch/resolve.h"
#include "launch/usage.h"

namespace haichi::launch {
namespace {

struct RunOptions {
  std::string mpi;
  std::string report;
  std::string record;
  bool records = false;  ///< into `record`, or a file with a name of haichi's
  std::vector<std::string> assignments;
  bool sequence = false;
  bool sync = false;
  bool observe = false;
  bool verbose = false;
};

/// Gives the option that asks for a record.
const CLI::Option* add_options(CLI::App& app, RunOptions& options) {
  add_mpi_option(app, options.mpi);
  app.add_option("--report", options.report, "Write the run report to this file (HAICHI_REPORT)")
      ->type_name("PATH");
  const CLI::Option* const record =
      app.add_flag(
             "--record{}", options.record,
             "Record the program's MPI calls, into this file or haichi-record-PROGRAM-JOB.jsonl "
             "(HAICHI_RECORD)")
          ->type_name("[=FILE]");
  app.add_flag("--sequence", options.sequence,
               "With --record: the order of calls too (--set record.sequence=1)");
  app.add_flag("--sync", options.sync,
               "With --record: wait for all ranks before each blocking collective, to tell waiting "
               "from what it takes (--set record.sync=1)");
  app.add_flag("--observe", options.observe,
               "Leave everything to the MPI library, and report what its collective file accesses "
               "took (--set io.enable=observe --set collectives.enable=off)");
  app.add_option("--set", options.assignments,
                 "Set one setting, e.g. io.order=rank; repeatable. `haichi config` lists them")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  app.add_flag("--verbose", options.verbose,
               "Say which MPI was found and what is preloaded (--set log=info)");
  return record;
}

// The loader drops LD_PRELOAD for programs that run with another user's rights.
bool drops_preload(const std::string& path) {
  struct stat info;
  return stat(path.c_str(), &info) == 0 && (info.st_mode & (S_ISUID | S_ISGID)) != 0;
}

/// Whether the program is haichi again, of this or another installation, as where a site's launcher
/// has haichi and so has the user's line.
bool is_haichi(const std::string& path) { return file_name(real_path(path)) == "haichi"; }

// A program without a loader of its own, which would heed LD_PRELOAD; the loader itself has none,
// and heeds it.
bool is_static(const std::string& path) {
  const auto file = ElfFile::open(path);
  return file && !file->has_interpreter() && file->soname().empty();
}

/// Says what no preloaded library can get under; whatever that starts may have it all the same.
void warn_of_unreachable(const std::string& path, int rank) {
  if (rank > 0) return;
  if (drops_preload(path))
    log(LogLevel::warn, "{} is set-user-id or set-group-id: the loader ignores LD_PRELOAD there",
        path);
  if (is_static(path))
    log(LogLevel::warn,
        "{} is statically linked: nothing of haichi gets under it, only under programs that it "
        "starts",
        path);
}

ExitCode code_of_choice(const Error& error) {
  return error.code == ENOTSUP || error.code == EINVAL ? kUnsupported : kNotExecutable;
}

int start_plain(const std::string& path, Invocation& invocation) {
  const std::string before(invocation.environment.get_or("LD_PRELOAD", ""));
  const std::string rest = without_shims(before);
  if (rest.empty() && !before.empty()) invocation.environment.unset("LD_PRELOAD");
  if (!rest.empty() && rest != before) invocation.environment.set("LD_PRELOAD", rest);
  return become(path, std::move(invocation.words), invocation.environment);
}

/// The shim, behind the recorder if a record is wanted.
Result<std::vector<std::string>> shims_of(Abi abi, bool records, int rank, const std::string& bin) {
  std::vector<std::string> found;
  auto shim = find_shim(abi, bin);
  if (!shim) return tl::unexpected(shim.error());
  if (records) {
    auto recorder = find_recorder(abi, bin);
    if (!recorder) return tl::unexpected(recorder.error());
    if (is_of_this_build(*recorder) && is_of_this_build(*shim))
      found.push_back(*std::move(recorder));
    else if (rank == 0)
      log(LogLevel::warn,
          "nothing is recorded: {} and {} are not of one build; build or install haichi again as a "
          "whole",
          *recorder, *shim);
  }
  found.push_back(*std::move(shim));
  return found;
}

std::string record_name(const std::string& program) {
  return fmt::format("haichi-record-{}-%j.jsonl", program.substr(program.rfind('/') + 1));
}

/// What stands under the program beside MPI's functions.
struct Beneath {
  bool records = false;
  bool splits_reads = false;
};

int start_with_shim(const std::string& path, std::optional<Abi> forced, const Job& job,
                    Beneath beneath, Invocation& invocation) {
  Environment& environment = invocation.environment;
  const auto choice = choose_abi(path, forced, job, environment, Loader(environment));
  // The run inside finds the MPI of its program itself.
  if (!choice && choice.error().code == EINVAL && !forced && is_haichi(path))
    return start_plain(path, invocation);
  // Any program reads.
  const bool plain = !choice && choice.error().code == EINVAL && beneath.splits_reads && !forced;
  if (!choice && !plain) return refuse(code_of_choice(choice.error()), choice.error().text);
  std::vector<std::string> shims;
  if (choice) {
    auto of_mpi = shims_of(choice->abi, beneath.records, job.rank, invocation.bin);
    if (!of_mpi) return refuse(kUnavailable, of_mpi.error().text);
    shims = *std::move(of_mpi);
  }
  if (beneath.splits_reads) {
    auto posix = find_posix(invocation.bin);
    if (!posix) return refuse(kUnavailable, posix.error().text);
    shims.push_back(*std::move(posix));
  }
  environment.set("LD_PRELOAD", with_shims(environment.get_or("LD_PRELOAD", ""), shims));
  log(LogLevel::info, "{}: {}; LD_PRELOAD={}", path,
      choice ? fmt::format("MPI is {} ({})", abi_name(choice->abi), choice->why) : "no MPI program",
      *environment.get("LD_PRELOAD"));
  warn_of_unreachable(path, job.rank);
  return become(path, std::move(invocation.words), environment);
}

}  // namespace

int run_command(Invocation invocation) {
  RunOptions options;
  CLI::App app(
      "Runs an MPI program with haichi underneath it, once per rank:\n"
      "  mpiexec -n 16 haichi run ./app args...",
      "haichi run");
  const CLI::Option* const record = add_options(app, options);
  if (const int code = parse_before_program(app, invocation.words); code >= 0) return code;
  options.records = record->count() > 0;
  if (invocation.words.empty())
    return refuse(kUsage, "no program to run: haichi run [OPTIONS] [--] PROGRAM [ARGS...]");
  if (options.verbose) options.assignments.push_back("log=info");
  if (options.observe)
    options.assignments.insert(options.assignments.end(),
                               {"io.enable=observe", "collectives.enable=off"});
  if (!options.report.empty()) options.assignments.push_back("report.file=" + options.report);
  if (options.records)
    options.assignments.push_back("record.file=" + (options.record.empty()
                                                        ? record_name(invocation.words[0])
                                                        : options.record));

  if (options.sequence) options.assignments.push_back("record.sequence=1");
  if (options.sync) options.assignments.push_back("record.sync=1");

  const auto path = find_program(invocation.words[0], invocation.environment);
  if (!path)
    return refuse(path.error().code == ENOENT ? kNotFound : kNotExecutable, path.error().text);
  const Job job = job_from(invocation.environment);
  if (Settings::from_environment(invocation.environment.pointers().data()).flag("disable"))
    return start_plain(*path, invocation);
  const auto settings = apply_settings(job, options.assignments, invocation.environment);
  if (!settings) return refuse(kConfig, settings.error().text);
  if (settings->flag("disable")) return start_plain(*path, invocation);
  const Beneath beneath{!settings->text("record.file").empty(),
                        settings->text("io.split") != "off"};
  return start_with_shim(*path, abi_from_name(options.mpi), job, beneath, invocation);
}

}  // namespace haichi::launch
