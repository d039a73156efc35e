// haichi where FILE... | PID:ADDRESS+LENGTH | --page-cache FOLDER: on which NUMA nodes the pages of
// files or of a process's memory lie. The form of the table is numastat's, a column for each node.
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <numeric>

#include "base/number_text.h"
#include "numaio/host_nodes.h"
#include "numaio/mappings.h"
#include "numaio/page_query.h"
#include "numaio/run/commands.h"

namespace haichi::numaio {
namespace {

constexpr double kMiB = 1 << 20;

// Bytes by node or PageState.
using Bytes = std::map<int, int64_t>;

struct Row {
  std::string name;
  Bytes bytes;
  std::vector<Segment> segments;  // in pages; of one range only
};

std::string word_of(int node) {
  switch (node) {
    case kUntouched:
      return "no page yet";
    case kNoPage:
      return "no memory of a node";
    case kInterleaved:
      return "interleaved";
    case kUnknown:
      return "not told";
    default:
      return fmt::format("node {}", node);
  }
}

// A column for each node that the host or a row has, then those states that a row has.
void print_table(const std::vector<Row>& rows, const std::string& untouched) {
  std::vector<int> columns(static_cast<size_t>(this_hosts_nodes().nodes()));
  std::iota(columns.begin(), columns.end(), 0);
  for (const int state : {int(kUntouched), int(kNoPage), int(kUnknown)})
    if (std::any_of(rows.begin(), rows.end(), [&](const Row& row) {
          const auto found = row.bytes.find(state);
          return found != row.bytes.end() && found->second > 0;
        }))
      columns.push_back(state);
  std::string head;
  for (const int column : columns)
    head += fmt::format("{:>14}", column == kUntouched ? untouched : word_of(column));
  printf("MiB %s%14s  %s\n", head.c_str() + 4, "all", "what");
  for (const Row& row : rows) {
    int64_t all = 0;
    std::string line;
    for (const int column : columns) {
      const auto found = row.bytes.find(column);
      line += fmt::format("{:14.2f}", found == row.bytes.end() ? 0 : double(found->second) / kMiB);
    }
    for (const auto& [node, bytes] : row.bytes) all += bytes;
    printf("%s%14.2f  %s\n", line.c_str(), double(all) / kMiB, row.name.c_str());
  }
}

void print_segments(const Row& row, const std::string& untouched) {
  const double page = double(page_size()) / kMiB;
  for (const Segment& each : row.segments)
    printf("  %12.3f to %12.3f MiB  %s\n", double(each.first) * page,
           double(each.first + each.pages) * page,
           each.node == kUntouched ? untouched.c_str() : word_of(each.node).c_str());
}

// Every page of the range; `sampled` asks for a few and fills in what lies between.
Result<Row> row_of(const std::string& name, int64_t pages, const LookUp& look_up, bool sampled) {
  Row row{name, {}, {}};
  const int64_t step = sampled ? std::max<int64_t>(pages, 1) : int64_t{1} << 16;
  for (int64_t first = 0; first < pages; first += step) {
    const int64_t some = std::min(step, pages - first);
    const auto map = map_pages(some, counted_from(first, look_up), sampled ? 4 * kSamples : some);
    if (!map) return tl::unexpected(map.error());
    for (Segment segment : map->segments) {
      row.bytes[segment.node] += segment.pages * page_size();
      segment.first += first;
      if (!row.segments.empty() && row.segments.back().node == segment.node)
        row.segments.back().pages += segment.pages;
      else
        row.segments.push_back(segment);
    }
  }
  return row;
}

Result<Row> row_of_file(const std::string& path, bool sampled) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (fd < 0) return fail(errno, "{}: {}", path, strerror(errno));
  struct stat about = {};
  fstat(fd, &about);
  Result<Row> row = Row{path, {}, {}};
  if (!S_ISREG(about.st_mode)) {
    row = fail(EINVAL, "{}: no regular file", path);
  } else if (about.st_size > 0) {
    const auto pages = FilePages::open(fd, about.st_size);
    row = pages ? row_of(
                      path, pages->pages(),
                      [&](auto asked, auto nodes) { return pages->look_up(asked, nodes); }, sampled)
                : tl::unexpected(Error{pages.error().code, path + ": " + pages.error().text});
  }
  close(fd);
  return row;
}

struct Range {
  pid_t pid;
  uint64_t begin, bytes;
};

// "PID:ADDRESS+LENGTH", both also as 0x...
std::optional<Range> parse_range(const std::string& word) {
  const size_t colon = word.find(':'), plus = word.find('+', colon == word.npos ? 0 : colon);
  if (colon == word.npos || plus == word.npos) return std::nullopt;
  const auto pid = whole_number<int>(word.substr(0, colon));
  const auto unsigned_number = [](const std::string& text) -> std::optional<uint64_t> {
    char* end = nullptr;
    errno = 0;
    const uint64_t value = strtoull(text.c_str(), &end, 0);
    if (text.empty() || *end != '\0' || errno != 0 || text[0] == '-') return std::nullopt;
    return value;
  };
  const auto begin = unsigned_number(word.substr(colon + 1, plus - colon - 1));
  const auto bytes = unsigned_number(word.substr(plus + 1));
  if (!pid || *pid < 0 || !begin || !bytes || *bytes == 0 || *begin + *bytes < *begin)
    return std::nullopt;
  return Range{*pid, *begin, *bytes};
}

// A row for each mapping of the process that the range meets.
Result<std::vector<Row>> rows_of_memory(const Range& range, bool sampled) {
  const pid_t pid = range.pid == 0 ? getpid() : range.pid;
  const auto mappings = mappings_of(pid);
  if (!mappings) return tl::unexpected(mappings.error());
  std::vector<Row> rows;
  for (const Mapping& each : *mappings) {
    const uint64_t begin =
        std::max(each.begin, range.begin / uint64_t(page_size()) * uint64_t(page_size()));
    const uint64_t end = std::min(each.end, range.begin + range.bytes);
    if (begin >= end) continue;
    std::string name = fmt::format("{:x}-{:x} {}", begin, end, each.name);
    if (each.device) name += " (a device's)";
    if (each.huge_bytes > 0)
      name +=
          fmt::format(" ({:.0f} MiB of the mapping in huge pages)", double(each.huge_bytes) / kMiB);
    const int64_t pages = int64_t(end - begin + uint64_t(page_size()) - 1) / page_size();
    const LookUp look_up = memory_pages(begin, page_size(), pid);
    auto row = row_of(name, pages, look_up, sampled);
    if (!row) return tl::unexpected(row.error());
    rows.push_back(std::move(*row));
  }
  if (rows.empty()) return fail(ENOENT, "process {} has no memory there", pid);
  return rows;
}

int64_t cached(const Row& row) {
  int64_t sum = 0;
  for (const auto& [node, bytes] : row.bytes) sum += node >= 0 ? bytes : 0;
  return sum;
}

// The files below a folder that have cached pages, those with most first, and their sum.
Result<std::vector<Row>> rows_of_folder(const std::string& folder, size_t most, bool sampled) {
  std::error_code error;
  std::filesystem::recursive_directory_iterator files(
      folder, std::filesystem::directory_options::skip_permission_denied, error);
  if (error) return fail(error.value(), "{}: {}", folder, error.message());
  std::vector<Row> rows;
  Row sum{"all files below " + folder, {}, {}};
  for (const auto end = std::filesystem::recursive_directory_iterator(); files != end && !error;
       files.increment(error)) {
    std::error_code ignored;
    if (!files->is_regular_file(ignored) || files->is_symlink(ignored)) continue;
    auto row = row_of_file(files->path(), sampled);
    if (!row || cached(*row) == 0) continue;  // gone, not ours to read, or not cached
    for (const auto& [node, bytes] : row->bytes) sum.bytes[node] += bytes;
    row->segments.clear();
    rows.push_back(std::move(*row));
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const Row& a, const Row& b) { return cached(a) > cached(b); });
  rows.resize(std::min(rows.size(), most));
  rows.push_back(std::move(sum));
  return rows;
}

struct Options {
  std::vector<std::string> what;
  std::string folder;
  size_t most = 20;
  bool sampled = false, map = false;
};

int show(const Options& asked) {
  std::vector<Row> rows;
  bool memory = false;
  for (const std::string& word : asked.what) {
    if (const auto range = parse_range(word)) {
      auto found = rows_of_memory(*range, asked.sampled);
      if (!found) return refuse(kBadInput, "where: " + found.error().text);
      rows.insert(rows.end(), found->begin(), found->end());
      memory = true;
      continue;
    }
    auto row = row_of_file(word, asked.sampled);
    if (!row) return refuse(kBadInput, "where: " + row.error().text);
    rows.push_back(std::move(*row));
  }
  if (!asked.folder.empty()) {
    auto found = rows_of_folder(asked.folder, asked.most, asked.sampled);
    if (!found) return refuse(kBadInput, "where: " + found.error().text);
    rows.insert(rows.end(), found->begin(), found->end());
  }
  const std::string untouched = memory ? "no page yet" : "not cached";
  print_table(rows, untouched);
  if (!asked.map) return 0;
  for (const Row& row : rows) {
    if (row.segments.empty()) continue;
    printf("\n%s\n", row.name.c_str());
    print_segments(row, untouched);
  }
  return 0;
}

}  // namespace

int where_command(const Words& words) {
  Options asked;
  CLI::App app("On which NUMA nodes the pages of files or of a process's memory lie.",
               "haichi where");
  app.add_option("what", asked.what, "FILE, or PID:ADDRESS+LENGTH (0 is this process)");
  app.add_option("--page-cache", asked.folder, "All files below this folder that are cached");
  app.add_option("--most", asked.most, "How many of them are shown; the sum is of all")
      ->capture_default_str();
  app.add_flag("--sampled", asked.sampled, "Ask for a few pages of each only");
  app.add_flag("--map", asked.map, "Say which part of each lies where, too");
  if (const int code = parse_words(app, words); code >= 0) return code;
  if (asked.what.empty() && asked.folder.empty())
    return refuse(kUsage, "where: name a FILE, PID:ADDRESS+LENGTH, or --page-cache FOLDER");
  return show(asked);
}

}  // namespace haichi::numaio
