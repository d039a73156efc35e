#include "measure/run/options.h"

#include <CLI/CLI.hpp>

#include "base/log.h"
#include "base/settings.h"

namespace haichi::measure {
namespace {

constexpr int64_t kMostBytes = int64_t{64} << 30;

// How each measurement is made, besides the usual way.
void add_variants(CLI::App& app, Options& options) {
  const std::map<std::string, StartAsked> starts{{"auto", StartAsked::by_reason},
                                                 {"barrier", StartAsked::barrier},
                                                 {"window", StartAsked::window}};
  app.add_option("--start", options.start, "How ranks begin a sample that follows no other")
      ->type_name("auto|barrier|window")
      ->transform(CLI::CheckedTransformer(starts));
  app.add_option_function<std::string>(
         "--buffers",
         [&options](const std::string& word) {
           if (word == "cold") options.buffers = {Buffers::cold};
           if (word == "both") options.buffers = {Buffers::hot, Buffers::cold};
         },
         "Memory that is in the caches, that is not, or each")
      ->type_name("hot|cold|both")
      ->check(CLI::IsMember({"hot", "cold", "both"}));
  app.add_option_function<std::string>(
         "--spacing",
         [&options](const std::string& word) {
           if (word == "isolated") options.spacings = {Spacing::isolated};
           if (word == "back-to-back") options.spacings = {Spacing::back_to_back};
           if (word == "both") options.spacings = {Spacing::isolated, Spacing::back_to_back};
         },
         "Samples as each measurement has them, each begun anew, one behind the other, or both")
      ->type_name("own|isolated|back-to-back|both")
      ->check(CLI::IsMember({"own", "isolated", "back-to-back", "both"}));
}

void add_options(CLI::App& app, Options& options, std::vector<std::string>& sizes) {
  app.add_option("what", options.words,
                 "Groups, measurements or MPI functions to measure; all without any")
      ->type_name("GROUP|NAME|MPI_FUNCTION");
  app.add_flag("--list", options.list, "Print the catalogue and measure nothing");
  app.add_flag("--health", options.health,
               "Say which node or link of this job is slower than its peers; --out writes it as "
               "JSON (haichi.health/1)")
      ->excludes("--list");
  app.add_flag("--json", options.json, "The list as JSON")->needs("--list");
  app.add_flag("--quick", options.quick,
               "Only what a profile of the machine is made of, in under a minute");
  app.add_option("--out", options.out,
                 "The samples file (haichi.samples/1); else a new one in this folder")
      ->type_name("FILE");
  app.add_flag("--resume", options.resume, "Go on with what is missing in the file of --out")
      ->needs("--out");
  app.add_option("--launches", options.launches,
                 "Start the launcher behind -- so often, into one file: each launch is a sample")
      ->type_name("NUMBER")
      ->check(CLI::Range(1, 1000));
  app.add_option("--repetition", options.repetition,
                 "Which of several launches this one is; --launches says it")
      ->type_name("NUMBER")
      ->check(CLI::Range(1, 1000))
      ->needs("--out");
  app.add_option("--budget", options.budget, "Take so long, in seconds; else 0.3 for each point")
      ->type_name("SECONDS")
      ->check(CLI::Range(0.01, 1e7));
  app.add_option("--within", options.goal.within,
                 "A point is done when half of its median's 95 % interval is this share of it")
      ->type_name("SHARE")
      ->check(CLI::Range(0.0001, 1.0))
      ->capture_default_str();
  app.add_option("--size", sizes, "Measure with these sizes, e.g. 8 64k 1M; repeatable")
      ->type_name("BYTES")
      ->allow_extra_args(false);
  app.add_flag("--refine", options.refine,
               "Measure further sizes where a line between two errs, 30 of a curve at most");
  app.add_flag("--switches", options.switches,
               "Find to 4 bytes from which sizes on the MPI library takes another way");
  add_variants(app, options);
  app.add_option("--directory", options.directory, "Where files are made to measure MPI-IO")
      ->type_name("DIR")
      ->capture_default_str();
  app.add_flag("--raw", options.raw, "Keep every sample in the file, besides the histogram");
  app.add_flag("--unbound", options.unbound,
               "Leave ranks that the launcher has not bound as they are; else each gets a core");
  app.add_flag("--reference", options.reference,
               "Call the results a reference although ranks share cores");
  // `haichi` itself takes these two; here they are for the help, and for launches.
  app.add_flag("--under", options.under, "With haichi underneath");
  app.add_option("--mpi", options.mpi, "The MPI, where the launcher starts programs of any")
      ->type_name("mpich|openmpi|mpiabi");
  app.add_option("--seed", options.seed, "Of the order in which points are measured")
      ->type_name("NUMBER");
  app.add_option("--patience", options.patience,
                 "Give up after so many seconds without progress; 0 never does")
      ->type_name("SECONDS")
      ->check(CLI::Range(0, 1'000'000))
      ->capture_default_str();
}

}  // namespace

bool read_options(int argc, char** argv, bool speaks, Options& options, int& code) {
  CLI::App app(
      "Measures what MPI does on this machine: mpiexec -n 4 haichi measure [options] "
      "[GROUP|NAME|MPI_FUNCTION ...]",
      "haichi measure");
  std::vector<std::string> sizes;
  add_options(app, options, sizes);
  try {
    app.parse(argc, argv);
    if (options.health && !options.words.empty())
      throw CLI::ValidationError("--health", "takes no words: '" + options.words[0] + "'");
    for (const std::string& size : sizes) {
      const auto bytes = parse_bytes(size);
      if (!bytes || *bytes < 0 || *bytes > kMostBytes)
        throw CLI::ValidationError("--size", "'" + size + "' is no size up to 64 GiB, e.g. 64k");
      options.sizes.push_back(*bytes);
    }
    return true;
  } catch (const CLI::ParseError& error) {
    code = error.get_exit_code() == 0 ? 0 : kUsage;
    if (speaks && code == 0) app.exit(error);
    if (speaks && code != 0) log(LogLevel::error, "{}; see haichi measure --help", error.what());
    return false;
  }
}

}  // namespace haichi::measure
