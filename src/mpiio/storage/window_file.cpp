#include "mpiio/storage/window_file.h"

#include <string.h>

#include <algorithm>
#include <memory>
#include <new>
#include <span>

#include "base/clock.h"
#include "mpiio/twophase/cut.h"

namespace haichi::mpiio {
namespace {

// Below these mean distances between pieces, one read and one write of everything cost less than a
// system call for each piece; the second where little of it is holes. See "Holes" in docs/notes.md.
constexpr int64_t kRmwDistance = 2048;
constexpr int64_t kRmwDistanceDense = 8192;
// Read-modify-write goes in parts of this size, each under its own lock.
constexpr int64_t kRmwPart = 1 << 20;
// A reader skips holes of at least this size instead of reading through them.
constexpr int64_t kReadThrough = hole_of(Direction::read);

void note(FileOutcome& outcome, const Status& done) {
  if (!done && outcome.status) outcome.status = done;
}

/// Runs of a window that lie beside each other in it, and where its bytes are.
struct Runs {
  RunList::Iterator first, last;
  std::byte* memory;
  plan::WindowPlaces places;

  plan::Extent hull() const { return {first->begin, last[-1].end}; }
  std::byte* at(int64_t offset) { return memory + places(offset); }
};

void write_separately(Runs runs, const AggregatorFile& file, FileOutcome& outcome) {
  if (runs.first == runs.last) return;
  const int64_t begin_ns = now_ns();
  const RangeLock lock(file, F_RDLCK, file.lock_writes ? runs.hull() : plan::Extent{});
  int64_t bytes = 0;
  for (auto run = runs.first; run != runs.last; ++run) {
    const std::span<const std::byte> from(runs.at(run->begin), size_t(run->size()));
    const Status done = write_fully(*file.os, file.fd, from, run->begin);
    note(outcome, done);
    if (done) bytes += run->size();
  }
  outcome.totals.bytes_written += bytes;
  outcome.intervals.push_back({trace::Phase::write, begin_ns, now_ns(), bytes});
}

// Fills the holes of `part` in the window from the file, and writes the part whole.
Status modify(Runs runs, const AggregatorFile& file, plan::Extent part,
              std::span<std::byte> scratch, FileOutcome& outcome) {
  const int64_t read_begin = now_ns();
  const auto got = read_fully(*file.os, file.fd, scratch.first(size_t(part.size())), part.begin);
  if (!got) return tl::unexpected(got.error());
  const int64_t end_of_file = part.begin + *got;  // zeros behind it
  int64_t hole = part.begin;
  std::byte* const memory = runs.at(part.begin);
  auto fill = [&](int64_t until) {
    if (until <= hole) return;
    const int64_t read_to = std::clamp(end_of_file, hole, until);
    memcpy(memory + (hole - part.begin), scratch.data() + (hole - part.begin),
           size_t(read_to - hole));
    memset(memory + (read_to - part.begin), 0, size_t(until - read_to));
  };
  auto run = std::upper_bound(runs.first, runs.last, part.begin,
                              [](int64_t at, const plan::Extent& r) { return at < r.end; });
  for (; run != runs.last && run->begin < part.end; ++run) {
    fill(std::min(run->begin, part.end));
    hole = std::max(hole, run->end);
  }
  fill(part.end);
  const int64_t write_begin = now_ns();
  const std::span<const std::byte> whole(memory, size_t(part.size()));
  const Status done = write_fully(*file.os, file.fd, whole, part.begin);
  outcome.totals.bytes_read += *got;
  if (done) outcome.totals.bytes_written += part.size();
  outcome.intervals.push_back({trace::Phase::read, read_begin, write_begin, *got});
  outcome.intervals.push_back({trace::Phase::write, write_begin, now_ns(), part.size()});
  return done;
}

/// Runs of one part. False where holes may not be filled: then they are written one by one.
bool write_with_rmw(const Runs& runs, const AggregatorFile& file, FileOutcome& outcome) {
  const plan::Extent all = runs.hull();
  const int64_t size = std::min(kRmwPart, all.size());
  const std::unique_ptr<std::byte[]> scratch(new (std::nothrow) std::byte[size_t(size)]);
  for (int64_t at = all.begin; at < all.end; at += size) {
    const plan::Extent part{at, std::min(all.end, at + size)};
    const FillPermit permit(file, scratch ? part : plan::Extent{});
    if (!permit.given()) {
      outcome.lock_refused = scratch != nullptr;
      write_separately(runs, file, outcome);
      return false;
    }
    note(outcome, modify(runs, file, part, std::span(scratch.get(), size_t(size)), outcome));
  }
  return true;
}

bool worth_rmw(const Runs& runs, Holes holes) {
  const int64_t pieces = runs.last - runs.first;
  if (pieces < 2) return false;
  int64_t bytes = 0;
  for (auto run = runs.first; run != runs.last; ++run) bytes += run->size();
  return wants_rmw(pieces, runs.hull().size(), bytes, holes);
}

/// Calls visit(runs) for the runs of each part that has any.
template <class Visit>
void for_each_part(const FileWindow& window, Visit&& visit) {
  Runs runs{window.runs.begin(), window.runs.end(), window.memory,
            plan::WindowPlaces(window.layout)};
  if (!window.layout.in_parts()) return visit(runs);
  window.layout.for_each_part([&](const plan::Extent& part) {
    runs.last = runs.first;
    while (runs.last != window.runs.end() && runs.last->begin < part.end) ++runs.last;
    if (runs.first != runs.last) visit(runs);
    runs.first = runs.last;
  });
}

void read_runs(Runs runs, const AggregatorFile& file, FileOutcome& outcome) {
  for (auto run = runs.first; run != runs.last;) {
    plan::Extent part = *run++;
    while (run != runs.last && run->begin - part.end < kReadThrough) part.end = (*run++).end;
    std::byte* const to = runs.at(part.begin);
    const auto got = read_fully(*file.os, file.fd, std::span(to, size_t(part.size())), part.begin);
    if (!got) note(outcome, tl::unexpected(got.error()));
    // The file became shorter after its size was agreed on, or the read failed: give zeros, not
    // whatever the buffer held.
    const int64_t valid = got.value_or(0);
    memset(to + valid, 0, size_t(part.size() - valid));
    outcome.totals.bytes_read += valid;
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
  for_each_part(window, [&](const Runs& runs) { read_runs(runs, file, outcome); });
  outcome.totals.whole = 1;
  outcome.intervals.push_back({trace::Phase::read, begin_ns, now_ns(), outcome.totals.bytes_read});
  return outcome;
}

// What is not filled is written under one lock, whatever parts it is in.
FileOutcome write_window(const FileWindow& window, const AggregatorFile& file, Holes holes) {
  FileOutcome outcome;
  if (window.runs.empty()) return outcome;
  bool filled = false;
  Runs separate{window.runs.begin(), window.runs.begin(), window.memory,
                plan::WindowPlaces(window.layout)};
  for_each_part(window, [&](const Runs& runs) {
    separate.last = runs.last;
    if (!file.readable || outcome.lock_refused || !worth_rmw(runs, holes)) return;
    separate.last = runs.first;
    write_separately(separate, file, outcome);
    separate.first = separate.last = runs.last;
    if (write_with_rmw(runs, file, outcome)) filled = true;
  });
  write_separately(separate, file, outcome);
  int64_t& how = filled                    ? outcome.totals.rmw
                 : window.runs.size() == 1 ? outcome.totals.whole
                                           : outcome.totals.separate;
  how = 1;
  return outcome;
}

}  // namespace haichi::mpiio
