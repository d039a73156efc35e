#include "mpiio/window_file.h"

#include <string.h>

#include <algorithm>
#include <memory>
#include <new>
#include <span>

#include "base/clock.h"

namespace haichi::mpiio {
namespace {

// Below these mean distances between pieces, one read and one write of everything cost less than a
// system call for each piece; the second where little of it is holes. See "Holes" in docs/notes.md.
constexpr int64_t kRmwDistance = 2048;
constexpr int64_t kRmwDistanceDense = 8192;
// Read-modify-write goes in parts of this size, each under its own lock.
constexpr int64_t kRmwPart = 1 << 20;
// A reader skips holes of at least this size instead of reading through them.
constexpr int64_t kReadThrough = 64 << 10;

void note(FileOutcome& outcome, const Status& done) {
  if (!done && outcome.status) outcome.status = done;
}

void write_separately(const FileWindow& window, const AggregatorFile& file, FileOutcome& outcome) {
  const int64_t begin_ns = now_ns();
  const plan::Extent all{window.runs.front().begin, window.runs.back().end};
  const RangeLock lock(file, F_RDLCK, file.lock_writes ? all : plan::Extent{});
  int64_t bytes = 0;
  for (const plan::Extent run : window.runs) {
    const std::span<const std::byte> from(window.at(run.begin), size_t(run.size()));
    const Status done = write_fully(*file.os, file.fd, from, run.begin);
    note(outcome, done);
    if (done) bytes += run.size();
  }
  outcome.totals.bytes_written += bytes;
  outcome.intervals.push_back({trace::Phase::write, begin_ns, now_ns(), bytes});
}

// Fills the holes of `part` in the window from the file, and writes the part whole.
Status modify(const FileWindow& window, const AggregatorFile& file, plan::Extent part,
              std::span<std::byte> scratch, FileOutcome& outcome) {
  const int64_t read_begin = now_ns();
  const auto got = read_fully(*file.os, file.fd, scratch.first(size_t(part.size())), part.begin);
  if (!got) return tl::unexpected(got.error());
  const int64_t end_of_file = part.begin + *got;  // zeros behind it
  int64_t hole = part.begin;
  auto fill = [&](int64_t until) {
    if (until <= hole) return;
    const int64_t read_to = std::clamp(end_of_file, hole, until);
    memcpy(window.at(hole), scratch.data() + (hole - part.begin), size_t(read_to - hole));
    memset(window.at(read_to), 0, size_t(until - read_to));
  };
  auto run = std::upper_bound(window.runs.begin(), window.runs.end(), part.begin,
                              [](int64_t at, const plan::Extent& r) { return at < r.end; });
  for (; run != window.runs.end() && run->begin < part.end; ++run) {
    fill(std::min(run->begin, part.end));
    hole = std::max(hole, run->end);
  }
  fill(part.end);
  const int64_t write_begin = now_ns();
  const std::span<const std::byte> whole(window.at(part.begin), size_t(part.size()));
  const Status done = write_fully(*file.os, file.fd, whole, part.begin);
  outcome.totals.bytes_read += *got;
  if (done) outcome.totals.bytes_written += part.size();
  outcome.intervals.push_back({trace::Phase::read, read_begin, write_begin, *got});
  outcome.intervals.push_back({trace::Phase::write, write_begin, now_ns(), part.size()});
  return done;
}

void write_with_rmw(const FileWindow& window, const AggregatorFile& file, FileOutcome& outcome) {
  const plan::Extent all{window.runs.front().begin, window.runs.back().end};
  const int64_t size = std::min(kRmwPart, all.size());
  const std::unique_ptr<std::byte[]> scratch(new (std::nothrow) std::byte[size_t(size)]);
  for (int64_t at = all.begin; at < all.end; at += size) {
    const plan::Extent part{at, std::min(all.end, at + size)};
    const FillPermit permit(file, scratch ? part : plan::Extent{});
    if (!permit.given()) {
      outcome.lock_refused = scratch != nullptr;
      outcome.totals.rmw -= 1;
      outcome.totals.separate += 1;
      write_separately(window, file, outcome);
      return;
    }
    note(outcome, modify(window, file, part, std::span(scratch.get(), size_t(size)), outcome));
  }
}

}  // namespace

bool wants_rmw(int64_t pieces, int64_t span, int64_t bytes, Holes holes) {
  if (pieces < 2 || holes == Holes::separate) return false;
  if (holes == Holes::rmw) return true;
  const int64_t distance = span / pieces;
  if (distance < kRmwDistance || distance >= kRmwDistanceDense) return distance < kRmwDistance;
  return bytes >= span / 4 * 3;
}

FileTotals& FileTotals::operator+=(const FileTotals& more) {
  whole += more.whole;
  separate += more.separate;
  rmw += more.rmw;
  bytes_read += more.bytes_read;
  bytes_written += more.bytes_written;
  return *this;
}

FileOutcome read_window(const FileWindow& window, const AggregatorFile& file) {
  FileOutcome outcome;
  if (window.runs.empty()) return outcome;
  const int64_t begin_ns = now_ns();
  for (size_t i = 0; i < window.runs.size();) {
    plan::Extent part = window.runs[i++];
    while (i < window.runs.size() && window.runs[i].begin - part.end < kReadThrough)
      part.end = window.runs[i++].end;
    std::byte* const to = window.at(part.begin);
    const auto got = read_fully(*file.os, file.fd, std::span(to, size_t(part.size())), part.begin);
    if (!got) note(outcome, tl::unexpected(got.error()));
    // The file became shorter after its size was agreed on, or the read failed: give zeros, not
    // whatever the buffer held.
    const int64_t valid = got.value_or(0);
    memset(to + valid, 0, size_t(part.size() - valid));
    outcome.totals.bytes_read += valid;
  }
  outcome.totals.whole = 1;
  outcome.intervals.push_back({trace::Phase::read, begin_ns, now_ns(), outcome.totals.bytes_read});
  return outcome;
}

FileOutcome write_window(const FileWindow& window, const AggregatorFile& file, Holes holes) {
  FileOutcome outcome;
  if (window.runs.empty()) return outcome;
  int64_t bytes = 0;
  for (const plan::Extent run : window.runs) bytes += run.size();
  const int64_t span = window.runs.back().end - window.runs.front().begin;
  if (file.readable && wants_rmw(int64_t(window.runs.size()), span, bytes, holes)) {
    outcome.totals.rmw = 1;
    write_with_rmw(window, file, outcome);
  } else {
    (window.runs.size() == 1 ? outcome.totals.whole : outcome.totals.separate) = 1;
    write_separately(window, file, outcome);
  }
  return outcome;
}

}  // namespace haichi::mpiio
