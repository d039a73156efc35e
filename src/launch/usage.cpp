#include "launch/usage.h"

#include <cstdio>

#include "launch/commands.h"
#include "launch/exec.h"
#include "launch/mpi_library.h"

namespace haichi::launch {
namespace {

class ProgramFormatter : public CLI::Formatter {
 public:
  std::string make_usage(const CLI::App* app, std::string) const override {
    return "Usage: " + app->get_name() + " [OPTIONS] [--] PROGRAM [ARGS...]\n";
  }
};

}  // namespace

void add_mpi_option(CLI::App& app, std::string& name) {
  std::vector<std::string> names;
  for (const Abi abi : kAbis) names.emplace_back(abi_name(abi));
  app.add_option("--mpi", name, "The MPI, where it can't be seen: around scripts")
      ->type_name("ABI")
      ->check(CLI::IsMember(names));
}

int parse_words(CLI::App& app, const std::vector<std::string>& words) {
  try {
    app.parse(std::vector<std::string>(words.rbegin(), words.rend()));
  } catch (const CLI::CallForHelp&) {
    fputs(app.help().c_str(), stdout);
    return 0;
  } catch (const CLI::ParseError& error) {
    return refuse(kUsage, std::string(error.what()) + "; see " + app.get_name() + " --help");
  }
  return -1;
}

int parse_before_program(CLI::App& app, std::vector<std::string>& words) {
  app.prefix_command();
  app.formatter(std::make_shared<ProgramFormatter>());
  if (const int code = parse_words(app, words); code >= 0) return code;
  std::vector<std::string> rest = app.remaining();
  if (!rest.empty() && rest[0] == "--") {
    rest.erase(rest.begin());
  } else if (!rest.empty() && rest[0].starts_with('-')) {
    return refuse(kUsage, "unknown option " + rest[0] + "; see " + app.get_name() + " --help");
  }
  words = std::move(rest);
  return -1;
}

}  // namespace haichi::launch
