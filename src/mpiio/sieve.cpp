#include "mpiio/sieve.h"

#include <string.h>

#include <algorithm>

#include "base/clock.h"
#include "base/copy_piece.h"

namespace haichi::mpiio {
namespace {

// A hole of at least this size is skipped instead of read.
constexpr int64_t kReadThrough = 64 << 10;

// How many places of an access are looked at, and how many bytes of the file there.
constexpr int kSamples = 4;
constexpr int64_t kSample = 64 << 10;

/// One window: positions of the access, and the part of the file that holds them.
struct Group {
  int64_t from = 0, to = 0;
  plan::Extent part;
};

class Sieve {
 public:
  explicit Sieve(const OwnPart& part) : part_(part), group_{part.own->begin(), 0, {}} {
    group_.to = group_.from;
  }

  Status run() {
    part_.own->for_each_block(part_.own->begin(), part_.own->end(),
                              [&](int64_t at, int64_t n) { add(at, n); });
    flush();
    return status_;
  }

 private:
  void add(int64_t at, int64_t size) {
    const int64_t capacity = int64_t(part_.bounce.size());
    while (size > 0) {
      if (group_.to == group_.from) group_.part = {at, at};
      const int64_t room = capacity - (at - group_.part.begin);
      if (room <= 0 || at - group_.part.end >= kReadThrough) {
        flush();
        continue;
      }
      const int64_t n = std::min(size, room);
      group_.part.end = at + n;
      group_.to += n;
      at += n;
      size -= n;
    }
  }

  void flush() {
    if (group_.to == group_.from) return;
    const int64_t begin_ns = now_ns();
    const auto part = part_.bounce.first(size_t(group_.part.size()));
    const auto got = read_fully(*part_.file.os, part_.file.fd, part, group_.part.begin);
    if (!got && status_) status_ = tl::unexpected(got.error());
    const int64_t valid = got.value_or(0);
    memset(part.data() + valid, 0, part.size() - size_t(valid));
    deliver();
    if (part_.record)
      part_.record(part_.record_context, trace::Phase::read, 0, begin_ns, now_ns(), valid);
    group_.from = group_.to;
  }

  void deliver() {
    const int64_t first = part_.own->begin();
    const Pattern& memory = *part_.memory_pattern;
    int64_t position = group_.from - first;
    const auto all = memory.contiguous_at(position, group_.to - first);
    std::byte* next = all ? part_.memory + *all : nullptr;
    part_.own->for_each_block(group_.from, group_.to, [&](int64_t at, int64_t n) {
      const std::byte* from = part_.bounce.data() + (at - group_.part.begin);
      if (next) {
        copy_piece(next, from, n);
        next += n;
        return;
      }
      memory.for_each_block(position, position + n, 0, [&](int64_t to, int64_t m) {
        copy_piece(part_.memory + to, from, m);
        from += m;
      });
      position += n;
    });
  }

  const OwnPart& part_;
  Group group_;
  Status status_;
};

}  // namespace

int64_t sieved_bytes(const Access& access) {
  if (access.empty()) return 0;
  const int64_t bytes = access.end() - access.begin();
  int64_t wanted = 0, read = 0;
  for (int i = 0; i < kSamples; ++i) {
    const int64_t position = access.begin() + bytes / kSamples * i;
    int64_t offset = 0;
    access.for_each_block(position, position + 1, [&](int64_t at, int64_t) { offset = at; });
    const int64_t last = access.position_of(offset + kSample);
    wanted += last - position;
    // Up to the last byte that is wanted: what lies behind it may be a hole that is skipped.
    access.for_each_block(last - 1, last, [&](int64_t at, int64_t) { read += at + 1 - offset; });
  }
  return int64_t(double(bytes) * double(read) / double(wanted));
}

Status read_by_sieving(const OwnPart& part) { return Sieve(part).run(); }

}  // namespace haichi::mpiio
