// haichi merge-logs: the report of a run that did not come to its end. `haichi report` calls it.
#include <cstdio>

#include "base/os.h"
#include "offline/commands.h"
#include "report/read_logs.h"

namespace haichi::offline {

int merge_logs_command(const Arguments& arguments) {
  if (arguments.empty()) return refuse(kUsage, "merge-logs: no log is named");
  std::vector<std::string> texts;
  for (const std::string& path : arguments) {
    auto text = read_file(path);
    if (!text) return refuse(kConfig, text.error().text);
    texts.push_back(*std::move(text));
  }
  const auto report = report::report_of_logs(texts);
  if (!report) return refuse(kConfig, fmt::format("{} {}", arguments[0], report.error().text));
  return fwrite(report->data(), 1, report->size(), stdout) == report->size() ? 0 : 1;
}

}  // namespace haichi::offline
