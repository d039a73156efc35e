#include "mpiio/sieve.h"

#include <string.h>

#include <algorithm>

#include "base/clock.h"

namespace haichi::mpiio {
namespace {

// From this mean size of the pieces on, a system call for each costs less than the bytes between.
constexpr int64_t kSievePiece = 512;
// A hole of at least this size is skipped instead of read.
constexpr int64_t kReadThrough = 64 << 10;

/// One window: positions of the access, and the part of the file that holds them.
struct Group {
  int64_t from = 0, to = 0;
  plan::Extent part;
};

class Sieve {
 public:
  explicit Sieve(const SieveRead& read) : read_(read), group_{read.own->begin(), 0, {}} {
    group_.to = group_.from;
  }

  Status run() {
    read_.own->for_each_block(read_.own->begin(), read_.own->end(),
                              [&](int64_t at, int64_t n) { add(at, n); });
    flush();
    return status_;
  }

 private:
  void add(int64_t at, int64_t size) {
    const int64_t capacity = int64_t(read_.window.size());
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
    const auto part = read_.window.first(size_t(group_.part.size()));
    const auto got = read_fully(*read_.file.os, read_.file.fd, part, group_.part.begin);
    if (!got && status_) status_ = tl::unexpected(got.error());
    const int64_t valid = got.value_or(0);
    memset(part.data() + valid, 0, part.size() - size_t(valid));
    deliver();
    if (read_.record)
      read_.record(read_.record_context, trace::Phase::read, 0, begin_ns, now_ns(), valid);
    group_.from = group_.to;
  }

  /// The pieces move together at the front of the window, then all of them to their places at once.
  void deliver() {
    std::byte* packed = read_.window.data();
    read_.own->for_each_block(group_.from, group_.to, [&](int64_t at, int64_t n) {
      memmove(packed, read_.window.data() + (at - group_.part.begin), size_t(n));
      packed += n;
    });
    const std::byte* next = read_.window.data();
    const int64_t first = read_.own->begin();
    read_.memory_pattern->for_each_block(group_.from - first, group_.to - first, 0,
                                         [&](int64_t at, int64_t n) {
                                           memcpy(read_.memory + at, next, size_t(n));
                                           next += n;
                                         });
  }

  const SieveRead& read_;
  Group group_;
  Status status_;
};

}  // namespace

bool worth_sieving(int64_t bytes, int64_t blocks) {
  return bytes > 0 && blocks > 1 && bytes / blocks < kSievePiece;
}

Status read_by_sieving(const SieveRead& read) { return Sieve(read).run(); }

}  // namespace haichi::mpiio
