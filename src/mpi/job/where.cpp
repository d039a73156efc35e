// haichi-where-<flavour>: prints where the ranks of its job are. `haichi where` starts the one for
// the MPI whose launcher started it; docs/man/haichi-where.1.md.
#include <mpi.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <string>
#include <vector>

#include "base/log.h"
#include "base/settings.h"
#include "mpi/job/discover.h"
#include "placement/formats.h"
#include "placement/host.h"
#include "placement/hwloc/where_table.h"

extern char** environ;

namespace haichi::mpi {
namespace {

// Exit codes, of rank 0; the others end with 0.
constexpr int kDisagrees = 1;
constexpr int kUsage = 64;     // EX_USAGE of sysexits.h
constexpr int kMpiFails = 70;  // EX_SOFTWARE
constexpr int kBadInput = 78;  // EX_CONFIG, as everywhere in haichi

struct Options {
  bool json = false, taskmap = false, pmi = false, check = false;
};

// Reads the command line on every rank, and complains on rank 0. False: `code` is the exit code.
bool read_options(int argc, char** argv, int rank, Options& options, int& code) {
  CLI::App app("Prints where the ranks of a job are: mpiexec -n 4 haichi where [options]",
               "haichi where");
  auto* const form = app.add_option_group("output", "instead of a table");
  form->add_flag("--json", options.json, "haichi.placement/1");
  form->add_flag("--taskmap", options.taskmap, "task map of Flux RFC 34");
  form->add_flag("--pmi", options.pmi, "PMI process mapping");
  form->require_option(0, 1);
  app.add_flag("--check", options.check,
               "compare with MPI_COMM_TYPE_SHARED; exit code 1 if it disagrees");
  try {
    app.parse(argc, argv);
    return true;
  } catch (const CLI::ParseError& error) {
    code = error.get_exit_code() == 0 ? 0 : kUsage;
    if (rank != 0) return false;
    if (code == 0)
      app.exit(error);
    else
      log(LogLevel::error, "{}; see haichi where --help", error.what());
    return false;
  }
}

placement::RankDetails own_details() {
  placement::RankDetails details = {placement::this_host().name, "", {}, {}};
  const auto topology = placement::Topology::load();
  const auto binding = topology ? topology->binding() : tl::unexpected<Error>(topology.error());
  if (!binding) {
    details.problem = binding.error().text;
    return details;
  }
  details.hardware = topology->hardware();
  details.binding = *binding;
  return details;
}

// All ranks' texts on rank 0, nothing on the others.
std::vector<std::string> gather_texts(const std::string& mine, int rank, int ranks) {
  const int size = int(mine.size());
  std::vector<int> sizes(static_cast<size_t>(ranks)), begins(static_cast<size_t>(ranks));
  MPI_Gather(&size, 1, MPI_INT, sizes.data(), 1, MPI_INT, 0, MPI_COMM_WORLD);
  std::string all;
  if (rank == 0) {
    int total = 0;
    for (size_t i = 0; i < sizes.size(); total += sizes[i++]) begins[i] = total;
    all.resize(size_t(total));
  }
  MPI_Gatherv(mine.data(), size, MPI_CHAR, all.data(), sizes.data(), begins.data(), MPI_CHAR, 0,
              MPI_COMM_WORLD);
  std::vector<std::string> texts;
  for (int i = 0; rank == 0 && i < ranks; ++i)
    texts.push_back(all.substr(size_t(begins[size_t(i)]), size_t(sizes[size_t(i)])));
  return texts;
}

// The placement in the form that was asked for, on rank 0; collective for the table.
std::string described(const placement::Placement& placement, const Options& options, int rank,
                      const std::string& file) {
  if (options.json) return placement::to_json(placement);
  if (options.taskmap) return placement::to_taskmap(placement) + "\n";
  if (options.pmi) return placement::to_pmi_mapping(placement) + "\n";
  std::vector<placement::RankDetails> details;
  for (const std::string& text :
       gather_texts(placement::pack(own_details()), rank, placement.ranks()))
    details.push_back(placement::unpack(text));
  return rank == 0 ? placement::where_table(placement, details, file) : "";
}

int where(int argc, char** argv, int rank) {
  Options options;
  int code = 0;
  if (!read_options(argc, argv, rank, options, code)) return code;
  const Settings settings = Settings::from_environment(environ);
  for (const std::string& problem : settings.problems())
    if (rank == 0) log(LogLevel::warn, "{}", problem);
  const std::string& file = settings.text("placement");
  const auto placement = discover(MPI_COMM_WORLD, file);
  if (!placement) {
    if (rank == 0) log(LogLevel::error, "{}", placement.error().text);
    return placement.error().code == EINVAL ? kBadInput : kMpiFails;
  }
  const std::string text = described(*placement, options, rank, file);
  if (rank == 0) fputs(text.c_str(), stdout);
  if (!options.check) return 0;
  const auto difference = cross_check(MPI_COMM_WORLD, *placement);
  if (!difference) {
    if (rank == 0) log(LogLevel::error, "{}", difference.error().text);
    return kMpiFails;
  }
  if (difference->empty()) {
    if (rank == 0 && !options.json && !options.taskmap && !options.pmi)
      fputs("\nMPI_COMM_TYPE_SHARED agrees.\n", stdout);
    return 0;
  }
  if (rank == 0) log(LogLevel::error, "{}", *difference);
  return kDisagrees;
}

}  // namespace
}  // namespace haichi::mpi

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  haichi::set_log(haichi::LogLevel::warn, "haichi where");
  const int code = haichi::mpi::where(argc, argv, rank);
  fflush(stdout);
  MPI_Finalize();
  return rank == 0 ? code : 0;
}
