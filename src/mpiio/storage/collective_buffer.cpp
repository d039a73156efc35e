#include "mpiio/storage/collective_buffer.h"

#include <errno.h>

#include <algorithm>
#include <new>
#include <thread>
#include <utility>

#include "base/copy_piece.h"
#include "mpiio/regions/coverage.h"

namespace haichi::mpiio {

CollectiveBuffer::CollectiveBuffer(const Config& config) : config_(config) {
  if (config.streams && config.stream_memory)
    stream_areas_ = config.streams->areas(node(), config.stream_memory);
}

// A schedule that was given up in the middle may leave one: the window must outlive it.
CollectiveBuffer::~CollectiveBuffer() {
  while (!file_done()) std::this_thread::yield();
}

void CollectiveBuffer::start_round(int64_t round) {
  const int64_t which = round % config_.plan->cb_slots;
  Window& window = windows_[which];
  window.cycle = round;
  window.covered = false;
  window.layout = {};
  if (config_.my_aggregator < 0) return;
  window.layout = config_.plan->domains.layout(config_.my_aggregator, round);
  window.memory =
      config_.windows[size_t(config_.my_aggregator)] + which * config_.plan->cb_slot_bytes;
}

CollectiveBuffer::Seen CollectiveBuffer::seen(const Place& place) const {
  const Window& mine = windows_[place.window];
  if (place.kind == Place::Kind::view) return seen_by(place.who, mine);
  return {config_.own,
          config_.windows[size_t(place.who)] + place.window * config_.plan->cb_slot_bytes,
          plan::WindowPlaces(config_.plan->domains.layout(place.who, mine.cycle))};
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
  if (place.kind == Place::Kind::stream) return visit(stream_areas_ + slice.begin, slice.size);
  if (place.kind == Place::Kind::node_view) {
    const Window& window = windows_[place.window];
    for (const int rank : config_.placement->ranks_on(place.who)) {
      Seen bytes = seen_by(rank, window);
      const plan::Extent& hull = window.layout.hull();
      bytes.access->for_each_block(bytes.access->position_of(hull.begin),
                                   bytes.access->position_of(hull.end),
                                   [&](int64_t at, int64_t n) { visit(bytes.at(at), n); });
    }
    return;
  }
  Seen bytes = seen(place);
  bytes.access->for_each_block(slice.begin, end,
                               [&](int64_t at, int64_t n) { visit(bytes.at(at), n); });
}

std::byte* CollectiveBuffer::contiguous(const plan::Slice& slice) {
  const Place place = Place::of(slice.buffer);
  const int64_t end = slice.begin + slice.size;
  if (place.kind == Place::Kind::window) return windows_[place.window].memory + slice.begin;
  if (place.kind == Place::Kind::stream) return stream_areas_ + slice.begin;
  if (place.kind == Place::Kind::node_view) return nullptr;  // others' bytes lie between
  if (place.kind == Place::Kind::own_memory) {
    const auto at = config_.memory_pattern->contiguous_at(slice.begin, end);
    return at ? config_.memory + *at : nullptr;
  }
  Seen bytes = seen(place);
  const auto at = bytes.access->contiguous_at(slice.begin, end);
  return at ? bytes.at(*at) : nullptr;
}

void CollectiveBuffer::gather(const plan::Slice& slice, std::byte* out) {
  for_each_block(slice, [&](const std::byte* from, int64_t n) {
    copy_piece(out, from, n);
    out += n;
  });
}

void CollectiveBuffer::scatter(const plan::Slice& slice, const std::byte* in) {
  for_each_block(slice, [&](std::byte* to, int64_t n) {
    copy_piece(to, in, n);
    in += n;
  });
}

// Large pieces go straight to their place. Looking for that of each small one takes as long as
// copying it twice, and a middle of this size stays in the cache next to the processor.
void CollectiveBuffer::copy(const plan::Slice& from, const plan::Slice& to) {
  constexpr int64_t kSmall = 2 << 10, kMiddle = 16 << 10;
  std::byte middle[kMiddle];
  int64_t done = 0, waiting = 0;
  auto put = [&](const std::byte* bytes, int64_t n) {
    scatter({to.buffer, to.begin + done, n}, bytes);
    done += n;
  };
  auto put_waiting = [&] {
    if (waiting > 0) put(middle, std::exchange(waiting, 0));
  };
  for_each_block(from, [&](const std::byte* piece, int64_t n) {
    if (n > kSmall || waiting + n > kMiddle) put_waiting();
    if (n > kSmall) return put(piece, n);
    copy_piece(middle + waiting, piece, n);
    waiting += n;
  });
  put_waiting();
}

bool CollectiveBuffer::order_free(const plan::Slice& slice) {
  const Place place = Place::of(slice.buffer);
  if (place.kind != Place::Kind::view && place.kind != Place::Kind::node_view) return true;
  Window& window = windows_[place.window];
  cover(window);
  return !window.overlap;
}

void CollectiveBuffer::cover(Window& window) const {
  if (window.covered) return;
  window.covered = true;
  Coverage found = coverage_of(config_.others->accesses(), window.layout);
  window.overlap = found.overlap;
  window.runs = std::move(found.runs);
}

template <class FileAccess>
void CollectiveBuffer::start_access(const plan::Slice& slice, FileAccess&& access) {
  Window& window = windows_[Place::of(slice.buffer).window];
  cover(window);
  if (config_.worker == nullptr) return keep(access(window), window.cycle);
  under_way_ = &window;
  config_.worker->start([this, &window, access] {
    try {
      outcome_ = access(window);
    } catch (const std::bad_alloc&) {
      outcome_ = {.status = fail(ENOMEM, "no memory to access the file with")};
    }
  });
}

void CollectiveBuffer::keep(const FileOutcome& outcome, int64_t cycle) {
  if (!outcome.status && status_) status_ = outcome.status;
  totals_ += outcome.totals;
  lock_refused_ = lock_refused_ || outcome.lock_refused;
  if (!config_.record) return;
  for (const FileOutcome::Interval& i : outcome.intervals)
    config_.record(config_.record_context, i.phase, cycle, i.begin_ns, i.end_ns, i.bytes);
}

void CollectiveBuffer::read_file(const plan::Slice& slice, int64_t) {
  start_access(slice, [file = config_.file](const Window& w) { return read_window(w, file); });
}

void CollectiveBuffer::write_file(const plan::Slice& slice, int64_t) {
  const Holes holes = lock_refused_ ? Holes::separate : config_.holes;
  start_access(slice, [file = config_.file, holes](const Window& w) {
    return write_window(w, file, holes);
  });
}

bool CollectiveBuffer::file_done() {
  if (under_way_ == nullptr) return true;
  if (!config_.worker->done()) return false;
  keep(outcome_, under_way_->cycle);
  under_way_ = nullptr;
  return true;
}

void CollectiveBuffer::tell_node(int64_t cell, int64_t number) {
  config_.streams->table(node(), config_.stream_memory)
      .tell(cell, config_.placement->local_index(config_.rank), number);
}

plan::NodeSum CollectiveBuffer::node_sum(int64_t cell) {
  return config_.streams->table(node(), config_.stream_memory)
      .sum(cell, config_.placement->local_index(config_.rank));
}

}  // namespace haichi::mpiio
