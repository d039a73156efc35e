#include "replay/run/options.h"

#include <CLI/CLI.hpp>

#include "base/log.h"

namespace haichi::replay {

bool read_options(int argc, char** argv, bool speaks, Options& options, int& code) {
  CLI::App app(
      "Makes the MPI calls of a recorded program again, with computing as time that passes: "
      "mpiexec "
      "-n 16 haichi replay [options] RECORD",
      "haichi replay");
  app.add_option("record", options.record,
                 "What `haichi run --record --sequence` wrote; as many ranks as it has")
      ->type_name("RECORD")
      ->required();
  const std::map<std::string, Compute> kinds{
      {"busy", Compute::busy}, {"idle", Compute::idle}, {"none", Compute::none}};
  app.add_option(
         "--compute", options.compute,
         "Computing between calls as time that the processor is busy (the default), that it "
         "sleeps, or no time")
      ->type_name("busy|idle|none")
      ->transform(CLI::CheckedTransformer(kinds));
  app.add_option("--directory", options.directory, "Where files are made, and removed again")
      ->type_name("DIR")
      ->capture_default_str();
  app.add_flag("--json", options.json, "Print haichi.replay/1, not a table");
  app.add_option("--patience", options.patience,
                 "Give up after so many seconds without progress; 0 never does")
      ->type_name("SECONDS")
      ->check(CLI::Range(0, 1'000'000))
      ->capture_default_str();
  // `haichi` itself takes these two; here they are for the help.
  bool under = false;
  std::string mpi;
  app.add_flag("--under", under, "With haichi underneath");
  app.add_option("--mpi", mpi, "The MPI, where the launcher starts programs of any")
      ->type_name("mpich|openmpi|mpiabi");
  try {
    app.parse(argc, argv);
    return true;
  } catch (const CLI::ParseError& error) {
    code = error.get_exit_code() == 0 ? 0 : kUsage;
    if (speaks && code == 0) app.exit(error);
    if (speaks && code != 0) log(LogLevel::error, "{}; see haichi replay --help", error.what());
    return false;
  }
}

}  // namespace haichi::replay
