// haichi write-goal, read-goal: a record as GOAL in a file, and GOAL as a record on standard
// output. `haichi export` and `haichi import` call them.
#include <errno.h>
#include <string.h>

#include <cstdio>
#include <fstream>

#include "goal/read_goal.h"
#include "goal/record_text.h"
#include "goal/write_goal.h"
#include "offline/commands.h"
#include "record/read_record.h"

namespace haichi::offline {

int write_goal_command(const Arguments& arguments) {
  if (arguments.size() != 2) return refuse(kUsage, "write-goal takes a record and a file");
  const std::string &path = arguments[0], &to = arguments[1];
  const auto record = record::read_record_file(path, {.calls = false, .traffic = false});
  if (!record) return refuse(kConfig, record.error().text);
  FILE* const out = fopen(to.c_str(), "w");
  if (out == nullptr) return refuse(kConfig, fmt::format("{}: {}", to, strerror(errno)));
  const auto written = goal::write_goal(*record, out);
  fclose(out);
  if (!written) {
    const bool input = written.error().code == EINVAL || written.error().code == EFBIG;
    return refuse(kConfig, fmt::format("{}: {}", input ? path : to, written.error().text));
  }
  for (const auto* notes : {&record->notes, &written->notes})
    for (const std::string& note : *notes) fmt::print(stderr, "{}\n", note);
  return 0;
}

int read_goal_command(const Arguments& arguments) {
  if (arguments.size() != 1) return refuse(kUsage, "read-goal takes one file");
  const std::string& path = arguments[0];
  errno = 0;
  std::ifstream in(path);
  if (!in) return refuse(kConfig, fmt::format("{}: {}", path, strerror(errno ? errno : ENOENT)));
  auto record = goal::read_goal(in);
  if (!record) return refuse(kConfig, fmt::format("{}: {}", path, record.error().text));
  record->program = {path};
  const std::string text = goal::record_text(*record);
  return fwrite(text.data(), 1, text.size(), stdout) == text.size() && fflush(stdout) == 0 ? 0 : 1;
}

}  // namespace haichi::offline
