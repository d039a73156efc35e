#include "mpiio/storage/sieve.h"

#include <string.h>

#include <algorithm>

#include "base/clock.h"
#include "base/copy_piece.h"
#include "mpiio/regions/spread.h"
#include "mpiio/twophase/cut.h"

namespace haichi::mpiio {
namespace {

// A hole of at least this size is skipped instead of read; or written around.
constexpr int64_t kReadThrough = hole_of(Direction::read);
constexpr int64_t kWriteThrough = 8 << 10;

/// One window: positions of the access, and the part of the file that holds them.
struct Group {
  int64_t from = 0, to = 0;
  plan::Extent part;
};

/// Calls visit(group) for windows of at most the bounce buffer's size, with no larger hole in them
/// than `hole`.
template <class Visit>
void for_each_group(const OwnPart& part, int64_t hole, Visit&& visit) {
  const int64_t capacity = int64_t(part.bounce.size());
  Group group{part.own->begin(), part.own->begin(), {}};
  auto flush = [&] {
    if (group.to == group.from) return;
    visit(group);
    group.from = group.to;
  };
  part.own->for_each_block(part.own->begin(), part.own->end(), [&](int64_t at, int64_t size) {
    while (size > 0) {
      if (group.to == group.from) group.part = {at, at};
      const int64_t room = capacity - (at - group.part.begin);
      if (room <= 0 || at - group.part.end >= hole) {
        flush();
        continue;
      }
      const int64_t n = std::min(size, room);
      group.part.end = at + n;
      group.to += n;
      at += n;
      size -= n;
    }
  });
  flush();
}

/// Copies between the bounce buffer, which holds the group's part of the file, and memory.
void copy_group(const OwnPart& part, const Group& group, bool to_memory) {
  const int64_t first = part.own->begin();
  const Pattern& memory = *part.memory_pattern;
  auto copy = [&](std::byte* mine, std::byte* other, int64_t n) {
    copy_piece(to_memory ? mine : other, to_memory ? other : mine, n);
  };
  int64_t position = group.from - first;
  const auto all = memory.contiguous_at(position, group.to - first);
  std::byte* next = all ? part.memory + *all : nullptr;
  part.own->for_each_block(group.from, group.to, [&](int64_t at, int64_t n) {
    std::byte* other = part.bounce.data() + (at - group.part.begin);
    if (next) {
      copy(next, other, n);
      next += n;
      return;
    }
    memory.for_each_block(position, position + n, 0, [&](int64_t mine, int64_t m) {
      copy(part.memory + mine, other, m);
      other += m;
    });
    position += n;
  });
}

void record(const OwnPart& part, trace::Phase phase, int64_t begin_ns, int64_t bytes) {
  if (part.record) part.record(part.record_context, phase, 0, begin_ns, now_ns(), bytes);
}

Status read_group(const OwnPart& part, const Group& group) {
  const int64_t begin_ns = now_ns();
  const auto room = part.bounce.first(size_t(group.part.size()));
  const auto got = read_fully(*part.file.os, part.file.fd, room, group.part.begin);
  const int64_t valid = got.value_or(0);
  memset(room.data() + valid, 0, room.size() - size_t(valid));
  copy_group(part, group, true);
  record(part, trace::Phase::read, begin_ns, valid);
  return got ? Status() : tl::unexpected(got.error());
}

Status write_group(const OwnPart& part, const Group& group, Holes& holes) {
  const int64_t begin_ns = now_ns();
  copy_group(part, group, false);
  FileWindow window{group.part, part.bounce.data(), {}};
  part.own->for_each_block(group.from, group.to,
                           [&](int64_t at, int64_t n) { window.runs.add({at, at + n}); });
  const FileOutcome outcome = write_window(window, part.file, holes);
  if (outcome.lock_refused) holes = Holes::separate;
  record(part, trace::Phase::write, begin_ns, group.to - group.from);
  return outcome.status;
}

}  // namespace

int64_t sieved_bytes(const Access& access) { return spread_of(access, kReadThrough).bytes; }

bool worth_filling(const Access& access) {
  if (access.empty()) return false;
  const int64_t bytes = access.end() - access.begin();
  if (!wants_rmw(access.blocks(), bytes, bytes, Holes::automatic)) return false;  // without holes
  // Of the bytes between the first and the last, those of large holes are not touched.
  const int64_t span = std::min(sieved_bytes(access), access.hull().size());
  return wants_rmw(access.blocks(), span, bytes, Holes::automatic);
}

Status read_by_sieving(const OwnPart& part) {
  Status status;
  for_each_group(part, kReadThrough, [&](const Group& group) {
    const Status done = read_group(part, group);
    if (!done && status) status = done;
  });
  return status;
}

Status write_by_sieving(const OwnPart& part) {
  Status status;
  Holes holes = Holes::automatic;
  for_each_group(part, kWriteThrough, [&](const Group& group) {
    const Status done = write_group(part, group, holes);
    if (!done && status) status = done;
  });
  return status;
}

}  // namespace haichi::mpiio
