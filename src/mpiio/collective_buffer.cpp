#include "mpiio/collective_buffer.h"

#include <errno.h>
#include <string.h>

#include <algorithm>

#include "base/clock.h"

namespace haichi::mpiio {
namespace {

// Below this mean distance between pieces, one read and one write of everything cost less than a
// system call for each piece. See "Holes" in docs/notes.md.
constexpr int64_t kRmwDistance = 2048;
// Read-modify-write goes in parts of this size, each under its own lock.
constexpr int64_t kRmwPart = 1 << 20;
// A reader skips holes of at least this size instead of reading through them.
constexpr int64_t kReadThrough = 64 << 10;

}  // namespace

CollectiveBuffer::CollectiveBuffer(const Config& config) : config_(config) {}

void CollectiveBuffer::start_round(int64_t round) {
  Window& window = windows_[round % 2];
  window.cycle = round;
  window.covered = false;
  window.extent = {};
  if (config_.my_aggregator < 0) return;
  window.extent = config_.plan->domains.window(config_.my_aggregator, round);
  window.memory =
      config_.windows[size_t(config_.my_aggregator)] + (round % 2) * config_.plan->window_bytes;
}

CollectiveBuffer::Seen CollectiveBuffer::seen(const Place& place) const {
  const Window& mine = windows_[place.parity];
  if (place.kind == Place::Kind::view)
    return {&(*config_.others)[size_t(place.who)], mine.memory - mine.extent.begin};
  const plan::Extent extent = config_.plan->domains.window(place.who, mine.cycle);
  return {config_.own, config_.windows[size_t(place.who)] +
                           place.parity * config_.plan->window_bytes - extent.begin};
}

template <class Visit>
void CollectiveBuffer::for_each_block(const plan::Slice& slice, Visit&& visit) {
  const Place place = Place::of(slice.buffer);
  const int64_t end = slice.begin + slice.size;
  if (place.kind == Place::Kind::own_memory) {
    config_.memory_pattern->for_each_block(
        slice.begin, end, 0, [&](int64_t at, int64_t n) { visit(config_.memory + at, n); });
    return;
  }
  const Seen bytes = seen(place);
  bytes.access->for_each_block(slice.begin, end,
                               [&](int64_t at, int64_t n) { visit(bytes.origin + at, n); });
}

std::byte* CollectiveBuffer::contiguous(const plan::Slice& slice) {
  const Place place = Place::of(slice.buffer);
  const int64_t end = slice.begin + slice.size;
  if (place.kind == Place::Kind::window) return windows_[place.parity].memory + slice.begin;
  if (place.kind == Place::Kind::own_memory) {
    const auto at = config_.memory_pattern->contiguous_at(slice.begin, end);
    return at ? config_.memory + *at : nullptr;
  }
  const Seen bytes = seen(place);
  const auto at = bytes.access->contiguous_at(slice.begin, end);
  return at ? bytes.origin + *at : nullptr;
}

void CollectiveBuffer::gather(const plan::Slice& slice, std::byte* out) {
  for_each_block(slice, [&](const std::byte* from, int64_t n) {
    memcpy(out, from, size_t(n));
    out += n;
  });
}

void CollectiveBuffer::scatter(const plan::Slice& slice, const std::byte* in) {
  for_each_block(slice, [&](std::byte* to, int64_t n) {
    memcpy(to, in, size_t(n));
    in += n;
  });
}

bool CollectiveBuffer::order_free(const plan::Slice& slice) {
  const Place place = Place::of(slice.buffer);
  if (place.kind != Place::Kind::view) return true;
  Window& window = windows_[place.parity];
  cover(window);
  return !window.overlap;
}

void CollectiveBuffer::merge_blocks(Window& window) const {
  std::vector<plan::Extent>& runs = window.runs;
  // Blocks of each rank are ascending; merge neighbours pairwise until one ascending list is left.
  std::vector<size_t> bounds = {0};
  for (const Access& access : *config_.others) {
    access.for_each_block(access.position_of(window.extent.begin),
                          access.position_of(window.extent.end),
                          [&](int64_t at, int64_t n) { runs.push_back({at, at + n}); });
    if (runs.size() > bounds.back()) bounds.push_back(runs.size());
  }
  auto before = [](const plan::Extent& a, const plan::Extent& b) { return a.begin < b.begin; };
  std::vector<plan::Extent> merged;
  while (bounds.size() > 2) {
    merged.resize(runs.size());
    std::vector<size_t> next = {0};
    for (size_t i = 0; i + 1 < bounds.size(); i += 2) {
      const auto first = runs.begin() + int64_t(bounds[i]);
      const auto middle = runs.begin() + int64_t(bounds[i + 1]);
      const size_t stop = bounds[std::min(i + 2, bounds.size() - 1)];
      const auto last = runs.begin() + int64_t(stop);
      std::merge(first, middle, middle, last, merged.begin() + int64_t(bounds[i]), before);
      next.push_back(stop);
    }
    runs.swap(merged);
    bounds = std::move(next);
  }
}

void CollectiveBuffer::cover(Window& window) const {
  if (window.covered) return;
  window.covered = true;
  window.overlap = false;
  std::vector<plan::Extent>& runs = window.runs;
  runs.clear();
  merge_blocks(window);
  size_t kept = 0;
  for (const plan::Extent& block : runs) {
    if (kept > 0 && block.begin <= runs[kept - 1].end) {
      window.overlap = window.overlap || block.begin < runs[kept - 1].end;
      runs[kept - 1].end = std::max(runs[kept - 1].end, block.end);
    } else {
      runs[kept++] = block;
    }
  }
  runs.resize(kept);
}

void CollectiveBuffer::note(const Status& done) {
  if (!done && status_) status_ = done;
}

void CollectiveBuffer::read_file(const plan::Slice& slice, int64_t) {
  Window& window = windows_[Place::of(slice.buffer).parity];
  cover(window);
  const std::vector<plan::Extent>& runs = window.runs;
  if (runs.empty()) return;
  const int64_t begin_ns = now_ns();
  int64_t bytes = 0;
  for (size_t i = 0; i < window.runs.size();) {
    plan::Extent part = window.runs[i++];
    while (i < window.runs.size() && window.runs[i].begin - part.end < kReadThrough)
      part.end = window.runs[i++].end;
    std::byte* const to = window.at(part.begin);
    const auto got = read_fully(*config_.file.os, config_.file.fd,
                                std::span(to, size_t(part.size())), part.begin);
    if (!got) note(tl::unexpected(got.error()));
    // The file became shorter after its size was agreed on, or the read failed: give zeros, not
    // whatever the buffer held.
    const int64_t valid = got.value_or(0);
    memset(to + valid, 0, size_t(part.size() - valid));
    bytes += valid;
  }
  totals_.whole += 1;
  totals_.bytes_read += bytes;
  if (config_.record)
    config_.record(config_.record_context, trace::Phase::read, window.cycle, begin_ns, now_ns(),
                   bytes);
}

bool CollectiveBuffer::wants_rmw(const Window& window) const {
  if (!config_.file.readable || config_.holes == Holes::separate) return false;
  if (config_.holes == Holes::rmw) return true;
  const int64_t span = window.runs.back().end - window.runs.front().begin;
  return span / int64_t(window.runs.size()) < kRmwDistance;
}

void CollectiveBuffer::write_file(const plan::Slice& slice, int64_t) {
  Window& window = windows_[Place::of(slice.buffer).parity];
  cover(window);
  if (window.runs.empty()) return;
  if (window.runs.size() == 1) {
    totals_.whole += 1;
    write_separately(window);
  } else if (wants_rmw(window)) {
    totals_.rmw += 1;
    write_with_rmw(window);
  } else {
    totals_.separate += 1;
    write_separately(window);
  }
}

void CollectiveBuffer::write_separately(const Window& window) {
  const int64_t begin_ns = now_ns();
  int64_t bytes = 0;
  for (const plan::Extent& run : window.runs) {
    const std::byte* const from = window.at(run.begin);
    const Status done = write_fully(*config_.file.os, config_.file.fd,
                                    std::span(from, size_t(run.size())), run.begin);
    note(done);
    if (done) bytes += run.size();
  }
  totals_.bytes_written += bytes;
  if (config_.record)
    config_.record(config_.record_context, trace::Phase::write, window.cycle, begin_ns, now_ns(),
                   bytes);
}

// Fills the holes of `part` in the collective buffer from the file, and writes the part whole.
Status CollectiveBuffer::modify(const Window& window, plan::Extent part,
                                std::span<std::byte> scratch) {
  Os& os = *config_.file.os;
  const int64_t read_begin = now_ns();
  const auto got = read_fully(os, config_.file.fd, scratch.first(size_t(part.size())), part.begin);
  if (!got) return tl::unexpected(got.error());
  memset(scratch.data() + *got, 0, size_t(part.size() - *got));
  int64_t hole = part.begin;
  auto fill = [&](int64_t until) {
    if (until > hole)
      memcpy(window.at(hole), scratch.data() + (hole - part.begin), size_t(until - hole));
  };
  auto run = std::upper_bound(window.runs.begin(), window.runs.end(), part.begin,
                              [](int64_t at, const plan::Extent& r) { return at < r.end; });
  for (; run != window.runs.end() && run->begin < part.end; ++run) {
    fill(std::min(run->begin, part.end));
    hole = std::max(hole, run->end);
  }
  fill(part.end);
  const int64_t write_begin = now_ns();
  const Status done = write_fully(
      os, config_.file.fd, std::span(window.at(part.begin), size_t(part.size())), part.begin);
  totals_.bytes_read += *got;
  if (done) totals_.bytes_written += part.size();
  if (config_.record) {
    config_.record(config_.record_context, trace::Phase::read, window.cycle, read_begin,
                   write_begin, *got);
    config_.record(config_.record_context, trace::Phase::write, window.cycle, write_begin, now_ns(),
                   part.size());
  }
  return done;
}

void CollectiveBuffer::write_with_rmw(const Window& window) {
  const plan::Extent all{window.runs.front().begin, window.runs.back().end};
  const int64_t size = std::min(kRmwPart, all.size());
  std::unique_ptr<std::byte[]> scratch(new std::byte[size_t(size)]);
  for (int64_t at = all.begin; at < all.end; at += size) {
    const plan::Extent part{at, std::min(all.end, at + size)};
    Os& os = *config_.file.os;
    int locked;
    while ((locked = os.lock(config_.file.fd, F_WRLCK, part.begin, part.size())) == -EINTR) {
    }
    if (locked < 0) {
      // No lock to be had: never read-modify-write without one.
      totals_.rmw -= 1;
      totals_.separate += 1;
      write_separately(window);
      return;
    }
    note(modify(window, part, std::span(scratch.get(), size_t(size))));
    os.lock(config_.file.fd, F_UNLCK, part.begin, part.size());
  }
}

}  // namespace haichi::mpiio
