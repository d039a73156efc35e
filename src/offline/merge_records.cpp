// haichi merge-records: the record of a run that did not come to its end, from the parts that its
// ranks have left. `haichi record` calls it.
#include <errno.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/number_text.h"
#include "base/os.h"
#include "base/version.h"
#include "offline/commands.h"
#include "record/kept_sequence.h"
#include "record/write.h"

namespace haichi::offline {
namespace {

/// The ranks whose parts lie in a folder, ascending. What has another name is none.
std::vector<int> ranks_in(const std::string& folder) {
  std::vector<int> ranks;
  std::error_code error;
  for (const auto& each : std::filesystem::directory_iterator(folder, error))
    if (const auto rank = whole_number(std::string_view(each.path().filename().string())))
      ranks.push_back(*rank);
  std::sort(ranks.begin(), ranks.end());
  return ranks;
}

bool print(std::string_view lines) {
  return fwrite(lines.data(), 1, lines.size(), stdout) == lines.size();
}

std::string first_line(const record::PartText& part, int ranks) {
  if (!part.record_line().empty()) return part.record_line() + "\n";
  return fmt::format(R"({{"kind":"record","schema":"haichi.record/1","by":"haichi {}","ranks":{}}})"
                     "\n",
                     kVersion, ranks);
}

/// One part at a time. There is no last line: it says that a record is whole.
Status merge(const std::string& folder, const std::vector<int>& ranks) {
  record::SharedNumbers shared;
  for (size_t i = 0; i < ranks.size(); ++i) {
    const std::string path = fmt::format("{}/{}", folder, ranks[i]);
    const auto bytes = read_file(path);
    if (!bytes) return tl::unexpected(bytes.error());
    record::PartView view;
    if (!record::view_part(std::as_bytes(std::span(*bytes)), view))
      return fail(EINVAL, "{} is no part of a record, or of another version of haichi", path);
    const record::PartText part(view);
    std::optional<record::Sequence> sequence =
        record::kept_sequence(view.sequence, part.functions());
    record::Numbers numbers;
    if ((i == 0 && !print(first_line(part, view.head->ranks))) ||
        !shared.give(part.wanted(), numbers, print) ||
        !part.write(numbers, print, sequence ? &*sequence : nullptr))
      return fail(EIO, "standard output cannot be written");
  }
  return {};
}

}  // namespace

int merge_records_command(const Arguments& arguments) {
  if (arguments.size() != 1) return refuse(kUsage, "merge-records: name one folder of parts");
  const std::string& folder = arguments[0];
  const std::vector<int> ranks = ranks_in(folder);
  if (ranks.empty()) return refuse(kConfig, folder + ": there are no parts of a record in it");
  const Status merged = merge(folder, ranks);
  return merged ? 0 : refuse(kConfig, merged.error().text);
}

}  // namespace haichi::offline
