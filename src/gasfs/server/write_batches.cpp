#include "gasfs/server/write_batches.h"

#include <algorithm>
#include <chrono>

#include "base/clock.h"
#include "gasfs/plan/arrange.h"

namespace haichi::gasfs {
namespace {

/// A session that has not written to an object for so long, and for so many times what is waited,
/// is not waited for.
constexpr int64_t kLatelyNs = 1'000'000'000, kLatelyWaits = 10;
/// Objects whose sessions are remembered.
constexpr size_t kMostKnown = 1024;
/// All is one stripe: what a server has of neighbouring stripes is written in one go.
constexpr Layout kUncut{.stripe = uint64_t{1} << 63};

}  // namespace

Done WriteBatches::write(uint64_t session, const WriteMessage& message) {
  Waiting own{message};
  std::unique_lock lock(mutex_);
  if (busy_.size() > kMostKnown) forget_old();
  Object& object = busy_[message.inode];  // stays where it is while somebody uses it
  ++object.users;
  object.waiting.push_back(&own);
  if (gather_us_ > 0) object.sessions[session] = now_ns();
  if (object.waiting.size() > 1) changed_.notify_all();  // who waits for neighbours
  while (!own.over) {
    if (!object.written)
      lead(object, message.inode, lock);
    else
      changed_.wait(lock);
  }
  if (--object.users == 0 && gather_us_ == 0) busy_.erase(message.inode);
  return own.done;
}

/// Writes all that waits, its own too.
void WriteBatches::lead(Object& object, Inode inode, std::unique_lock<std::mutex>& lock) {
  object.written = true;
  if (gather_us_ > 0)
    changed_.wait_for(lock, std::chrono::microseconds(gather_us_),
                      [&] { return all_are_here(object); });
  std::vector<Waiting*> batch;
  batch.swap(object.waiting);
  lock.unlock();
  write_all(inode, batch);
  lock.lock();
  for (Waiting* each : batch) each->over = true;
  object.written = false;
  changed_.notify_all();
}

bool WriteBatches::all_are_here(Object& object) const {
  const int64_t since = now_ns() - kLatelyNs - kLatelyWaits * 1000 * gather_us_;
  std::erase_if(object.sessions, [&](const auto& each) { return each.second < since; });
  return object.waiting.size() >= object.sessions.size();
}

void WriteBatches::forget_old() {
  std::erase_if(busy_, [](auto& each) { return each.second.users == 0; });
}

void WriteBatches::write_all(Inode inode, const std::vector<Waiting*>& batch) {
  if (batch.size() > 1) {
    together_ += batch.size();
    if (write_merged(inode, batch)) return;
  }
  // One alone; or each by itself, so that each is told of its own error.
  for (Waiting* each : batch)
    each->done = objects_.write(inode, each->message.extents, each->message.payload);
}

Done WriteBatches::write_merged(Inode inode, const std::vector<Waiting*>& batch) {
  std::vector<Request> requests;
  std::vector<const std::byte*> sources;  // where the bytes of each message begin
  std::vector<uint64_t> begins;           // and at which number they are counted
  uint64_t bytes = 0;
  for (const Waiting* each : batch) {
    begins.push_back(bytes);
    sources.push_back(each->message.payload.data());
    for (const Extent& extent : each->message.extents) {
      requests.push_back({extent.offset, extent.length, bytes});
      bytes += extent.length;
    }
    ++bytes;  // so that no piece reaches from one message into the next
  }
  const Arranged arranged = arrange(requests, kUncut);
  for (const Run& run : arranged.runs) {
    std::vector<iovec> pieces;
    for (const Piece& piece : std::span(arranged.pieces).subspan(run.first_piece, run.pieces)) {
      const auto of = std::ranges::upper_bound(begins, piece.source) - begins.begin() - 1;
      const auto i = static_cast<size_t>(of);
      auto* at = const_cast<std::byte*>(sources[i] + (piece.source - begins[i]));
      pieces.push_back({at, piece.length});
    }
    if (auto done = objects_.write_run(inode, run.offset, std::move(pieces)); !done) return done;
  }
  return {};
}

}  // namespace haichi::gasfs
