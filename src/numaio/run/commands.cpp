#include "numaio/run/commands.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>

namespace haichi::numaio {

int refuse(int code, const std::string& text) {
  fprintf(stderr, "haichi: error: %s\n", text.c_str());
  return code;
}

int parse_words(CLI::App& app, const Words& words) {
  try {
    app.parse(std::vector<std::string>(words.rbegin(), words.rend()));
  } catch (const CLI::CallForHelp&) {
    printf("%s", app.help().c_str());
    return 0;
  } catch (const CLI::ParseError& error) {
    const std::string program = app.get_name();
    const std::string command = program.substr(program.find(' ') + 1);
    return refuse(kUsage, fmt::format("{}: {}", command, error.what()));
  }
  return -1;
}

Result<Descriptor> nameless_file(const std::string& folder) {
  std::string name = folder + "/haichi-numaio-XXXXXX";
  Descriptor fd(mkostemp(name.data(), O_CLOEXEC));
  if (!fd) return fail(errno, "{}: no file can be made: {}", folder, strerror(errno));
  unlink(name.c_str());
  return fd;
}

}  // namespace haichi::numaio
