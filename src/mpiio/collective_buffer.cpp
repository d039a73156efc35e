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
  round_ = round;
  covered_ = false;
  window_ = {};
  if (config_.my_aggregator < 0) return;
  window_ = config_.plan->domains.window(config_.my_aggregator, round);
}

template <class Visit>
void CollectiveBuffer::blocks_in_buffer(int rank, int64_t from, int64_t size, Visit&& visit) {
  (*config_.others)[size_t(rank)].for_each_block(from, from + size, [&](int64_t at, int64_t n) {
    visit(config_.window_memory + (at - window_.begin), n);
  });
}

std::byte* CollectiveBuffer::contiguous(const plan::Slice& slice) {
  if (slice.buffer == kCollectiveBuffer) return config_.window_memory + slice.begin;
  const int64_t end = slice.begin + slice.size;
  if (slice.buffer == kOwnMemory) {
    const auto at = config_.memory_pattern->contiguous_at(slice.begin, end);
    return at ? config_.memory + *at : nullptr;
  }
  const Access& access = (*config_.others)[size_t(rank_of_view(slice.buffer))];
  const auto at = access.contiguous_at(slice.begin, end);
  return at ? config_.window_memory + (*at - window_.begin) : nullptr;
}

void CollectiveBuffer::gather(const plan::Slice& slice, std::byte* out) {
  auto copy = [&](const std::byte* from, int64_t n) {
    memcpy(out, from, size_t(n));
    out += n;
  };
  if (slice.buffer == kOwnMemory)
    config_.memory_pattern->for_each_block(
        slice.begin, slice.begin + slice.size, 0,
        [&](int64_t at, int64_t n) { copy(config_.memory + at, n); });
  else
    blocks_in_buffer(rank_of_view(slice.buffer), slice.begin, slice.size, copy);
}

void CollectiveBuffer::scatter(const plan::Slice& slice, const std::byte* in) {
  auto copy = [&](std::byte* to, int64_t n) {
    memcpy(to, in, size_t(n));
    in += n;
  };
  if (slice.buffer == kOwnMemory)
    config_.memory_pattern->for_each_block(
        slice.begin, slice.begin + slice.size, 0,
        [&](int64_t at, int64_t n) { copy(config_.memory + at, n); });
  else
    blocks_in_buffer(rank_of_view(slice.buffer), slice.begin, slice.size, copy);
}

bool CollectiveBuffer::order_free(const plan::Slice& slice) {
  if (slice.buffer == kOwnMemory) return true;
  cover_window();
  return !overlap_;
}

void CollectiveBuffer::merge_blocks() {
  // Blocks of each rank are ascending; merge neighbours pairwise until one ascending list is left.
  std::vector<size_t> bounds = {0};
  for (const Access& access : *config_.others) {
    access.for_each_block(access.position_of(window_.begin), access.position_of(window_.end),
                          [&](int64_t at, int64_t n) { runs_.push_back({at, at + n}); });
    if (runs_.size() > bounds.back()) bounds.push_back(runs_.size());
  }
  auto before = [](const plan::Extent& a, const plan::Extent& b) { return a.begin < b.begin; };
  std::vector<plan::Extent> merged;
  while (bounds.size() > 2) {
    merged.resize(runs_.size());
    std::vector<size_t> next = {0};
    for (size_t i = 0; i + 1 < bounds.size(); i += 2) {
      const auto first = runs_.begin() + int64_t(bounds[i]);
      const auto middle = runs_.begin() + int64_t(bounds[i + 1]);
      const size_t stop = bounds[std::min(i + 2, bounds.size() - 1)];
      const auto last = runs_.begin() + int64_t(stop);
      std::merge(first, middle, middle, last, merged.begin() + int64_t(bounds[i]), before);
      next.push_back(stop);
    }
    runs_.swap(merged);
    bounds = std::move(next);
  }
}

void CollectiveBuffer::cover_window() {
  if (covered_) return;
  covered_ = true;
  overlap_ = false;
  runs_.clear();
  merge_blocks();
  size_t kept = 0;
  for (const plan::Extent& block : runs_) {
    if (kept > 0 && block.begin <= runs_[kept - 1].end) {
      overlap_ = overlap_ || block.begin < runs_[kept - 1].end;
      runs_[kept - 1].end = std::max(runs_[kept - 1].end, block.end);
    } else {
      runs_[kept++] = block;
    }
  }
  runs_.resize(kept);
}

void CollectiveBuffer::note(const Status& done) {
  if (!done && status_) status_ = done;
}

void CollectiveBuffer::read_file(const plan::Slice&, int64_t) {
  cover_window();
  if (runs_.empty()) return;
  const int64_t begin_ns = now_ns();
  int64_t bytes = 0;
  for (size_t i = 0; i < runs_.size();) {
    plan::Extent part = runs_[i++];
    while (i < runs_.size() && runs_[i].begin - part.end < kReadThrough) part.end = runs_[i++].end;
    std::byte* const to = config_.window_memory + (part.begin - window_.begin);
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
    config_.record(config_.record_context, trace::Phase::read, round_, begin_ns, now_ns(), bytes);
}

bool CollectiveBuffer::wants_rmw() const {
  if (!config_.file.readable || config_.holes == Holes::separate) return false;
  if (config_.holes == Holes::rmw) return true;
  const int64_t span = runs_.back().end - runs_.front().begin;
  return span / int64_t(runs_.size()) < kRmwDistance;
}

void CollectiveBuffer::write_file(const plan::Slice&, int64_t) {
  cover_window();
  if (runs_.empty()) return;
  if (runs_.size() == 1) {
    totals_.whole += 1;
    write_separately();
  } else if (wants_rmw()) {
    totals_.rmw += 1;
    write_with_rmw();
  } else {
    totals_.separate += 1;
    write_separately();
  }
}

void CollectiveBuffer::write_separately() {
  const int64_t begin_ns = now_ns();
  int64_t bytes = 0;
  for (const plan::Extent& run : runs_) {
    const std::byte* const from = config_.window_memory + (run.begin - window_.begin);
    const Status done = write_fully(*config_.file.os, config_.file.fd,
                                    std::span(from, size_t(run.size())), run.begin);
    note(done);
    if (done) bytes += run.size();
  }
  totals_.bytes_written += bytes;
  if (config_.record)
    config_.record(config_.record_context, trace::Phase::write, round_, begin_ns, now_ns(), bytes);
}

// Fills the holes of `part` in the collective buffer from the file, and writes the part whole.
Status CollectiveBuffer::modify(plan::Extent part, std::span<std::byte> scratch) {
  Os& os = *config_.file.os;
  const int64_t read_begin = now_ns();
  const auto got = read_fully(os, config_.file.fd, scratch.first(size_t(part.size())), part.begin);
  if (!got) return tl::unexpected(got.error());
  memset(scratch.data() + *got, 0, size_t(part.size() - *got));
  int64_t hole = part.begin;
  auto fill = [&](int64_t until) {
    if (until > hole)
      memcpy(config_.window_memory + (hole - window_.begin), scratch.data() + (hole - part.begin),
             size_t(until - hole));
  };
  auto run = std::upper_bound(runs_.begin(), runs_.end(), part.begin,
                              [](int64_t at, const plan::Extent& r) { return at < r.end; });
  for (; run != runs_.end() && run->begin < part.end; ++run) {
    fill(std::min(run->begin, part.end));
    hole = std::max(hole, run->end);
  }
  fill(part.end);
  const int64_t write_begin = now_ns();
  const Status done = write_fully(
      os, config_.file.fd,
      std::span(config_.window_memory + (part.begin - window_.begin), size_t(part.size())),
      part.begin);
  totals_.bytes_read += *got;
  if (done) totals_.bytes_written += part.size();
  if (config_.record) {
    config_.record(config_.record_context, trace::Phase::read, round_, read_begin, write_begin,
                   *got);
    config_.record(config_.record_context, trace::Phase::write, round_, write_begin, now_ns(),
                   part.size());
  }
  return done;
}

void CollectiveBuffer::write_with_rmw() {
  const plan::Extent all{runs_.front().begin, runs_.back().end};
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
      write_separately();
      return;
    }
    note(modify(part, std::span(scratch.get(), size_t(size))));
    os.lock(config_.file.fd, F_UNLCK, part.begin, part.size());
  }
}

}  // namespace haichi::mpiio
