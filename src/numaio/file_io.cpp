#include "numaio/file_io.h"

#include <errno.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "numaio/copy.h"
#include "numaio/engine.h"
#include "numaio/page_query.h"
#include "numaio/residency.h"

namespace haichi::numaio {
namespace {

constexpr int64_t kMostAtOnce = 0x7ffff000;  // what the kernel moves in one call
// Kinds of calls beside reads, which go by their file's device.
constexpr uint64_t kWritesParts = ~uint64_t{0}, kCopies = ~uint64_t{1};
constexpr int64_t kAlign = 4096;  // also enough for O_DIRECT on any usual device

// How far a sequence of system calls came: `bytes`, and why not farther (0: the file ended).
struct Reached {
  int64_t bytes;
  int error;
};

template <class Call>
Reached repeat(int64_t size, const Call& call) {
  int64_t done = 0;
  while (done < size) {
    const int64_t got = call(done, std::min(size - done, kMostAtOnce));
    if (got == -EINTR) continue;
    if (got <= 0) return {done, int(-got)};
    done += got;
  }
  return {done, 0};
}

Reached read_all(Os& os, int fd, void* buffer, int64_t size, int64_t offset) {
  return repeat(size, [&](int64_t done, int64_t some) {
    return os.pread(fd, static_cast<char*>(buffer) + done, size_t(some), offset + done);
  });
}

int64_t result_of(Reached reached) {
  return reached.bytes == 0 && reached.error != 0 ? -reached.error : reached.bytes;
}

// A read by several threads of what is in memory, and by the plain call of what is not: a thread
// that comes to a byte on storage has all others leave what they have not begun. What is left is
// read in one call, so that the kernel is asked for all of it at once.
class SplitRead {
 public:
  struct Target {
    int fd;
    char* buffer;
    int64_t offset;
  };

  /// Of all of the target up to the end of `part`, which is what is to be read. The last `stored`
  /// of the bytes are left from the beginning. `waits`: storage is no reason to leave anything.
  SplitRead(CacheOs& os, const Target& target, const Piece& part, int64_t stored, bool waits)
      : os_(os), target_(target), stopped_{part.begin + part.bytes, 0}, asks_(!waits) {
    if (stored > 0) left_.push_back({stopped_.bytes - stored, stored});
  }

  /// Reads a piece, by any thread, or leaves it.
  void read(const Piece& piece) {
    int64_t done = 0;
    if (asks_.load(std::memory_order_relaxed)) {
      if (!met_storage()) done = read_cached(piece);
      if (met_storage() && done < piece.bytes)
        return leave({piece.begin + done, piece.bytes - done});
    }
    read_plainly({piece.begin + done, piece.bytes - done});
  }

  /// Whether something was on storage of which that was not known.
  bool met_storage() const { return met_storage_.load(std::memory_order_relaxed); }

  /// Reads what is left, by the calling thread: how far the bytes are there from the first on.
  Reached finish() {
    for (const Piece& each : joined())
      if (each.begin >= stopped_.bytes || !read_plainly(each)) break;
    return stopped_;
  }

 private:
  // Between two left parts, at most, that are read in one call; what lies there is read again.
  static constexpr int64_t kReadAgain = 8 << 20;

  // Up to the first byte that is not in memory, if there is one; else, or where the kernel doesn't
  // tell, the plain call goes on.
  int64_t read_cached(const Piece& piece) {
    int64_t done = 0;
    while (done < piece.bytes) {
      const int64_t at = piece.begin + done;
      const int64_t got = os_.pread_cached(target_.fd, target_.buffer + at,
                                           size_t(piece.bytes - done), target_.offset + at);
      if (got == -EINTR) continue;
      if (got <= 0) {
        if (got == -EAGAIN) met_storage_.store(true, std::memory_order_relaxed);
        if (got == -EOPNOTSUPP || got == -ENOSYS) asks_.store(false, std::memory_order_relaxed);
        break;
      }
      done += got;
    }
    return done;
  }

  bool read_plainly(const Piece& piece) {
    const Reached reached = read_all(os_, target_.fd, target_.buffer + piece.begin, piece.bytes,
                                     target_.offset + piece.begin);
    if (reached.bytes == piece.bytes) return true;
    const std::lock_guard lock(mutex_);
    if (piece.begin + reached.bytes < stopped_.bytes)
      stopped_ = {piece.begin + reached.bytes, reached.error};
    return false;
  }

  void leave(const Piece& piece) {
    const std::lock_guard lock(mutex_);
    left_.push_back(piece);
  }

  std::vector<Piece> joined() {
    std::sort(left_.begin(), left_.end(),
              [](const Piece& a, const Piece& b) { return a.begin < b.begin; });
    std::vector<Piece> parts;
    for (const Piece& each : left_) {
      if (!parts.empty() && each.begin - (parts.back().begin + parts.back().bytes) <= kReadAgain)
        parts.back().bytes = each.begin + each.bytes - parts.back().begin;
      else
        parts.push_back(each);
    }
    return parts;
  }

  CacheOs& os_;
  Target target_;
  std::mutex mutex_;
  Reached stopped_;          // the place nearest to the beginning at which a piece could not go on
  std::vector<Piece> left_;  // apart
  std::atomic<bool> asks_, met_storage_ = false;
};

// Bytes that a file has from `offset` on, and its device; 0 of what is no regular file.
int64_t bytes_there(Os& os, int fd, int64_t size, int64_t offset, uint64_t& device) {
  struct stat about = {};
  if (os.fstat(fd, &about) < 0 || !S_ISREG(about.st_mode)) return 0;
  device = about.st_dev;
  return std::clamp<int64_t>(about.st_size - offset, 0, size);
}

// Where the file's pages lie.
PageMap cached_pages(int fd, int64_t offset, int64_t bytes, int64_t& lead) {
  const int64_t first = offset / page_size();
  lead = offset % page_size();
  const int64_t pages = (lead + bytes + page_size() - 1) / page_size();
  const auto file = FilePages::open(fd, offset + bytes);
  if (!file) return {};
  const auto look_up = [&](auto asked, auto nodes) { return file->look_up(asked, nodes); };
  const auto map = map_pages(pages, counted_from(first, look_up));
  if (!map) return {};
  // What is not cached comes to be where it is read first: all of it follows, if any does.
  const bool told =
      std::all_of(map->segments.begin(), map->segments.end(),
                  [](const Segment& each) { return each.node >= 0 || each.node == kInterleaved; });
  return told ? *map : PageMap{};
}

}  // namespace

int64_t parallel_pread(CacheOs& os, int fd, void* buffer, int64_t size, int64_t offset) {
  const auto plain = [&] { return result_of(read_all(os, fd, buffer, size, offset)); };
  if (Turn::too_small(size)) return plain();
  uint64_t device = 0;
  const int64_t there = bytes_there(os, fd, size, offset, device);
  const Options now = options();
  if (there < now.hot_bytes) {
    last() = {1, 1, 0, size, "no regular file, or near its end"};
    return plain();
  }
  const int64_t in_memory = now.always ? there : bytes_before_storage(fd, offset, there);
  auto turn = Turn::take(in_memory, device);
  if (turn == nullptr) {
    if (in_memory < there) last() = {1, 1, 0, size, "on storage, almost from its beginning on"};
    return plain();
  }
  auto* const bytes = static_cast<char*>(buffer);
  const int64_t first = turn->plain_part();
  if (first > 0) {
    const Reached reached = read_all(os, fd, bytes, first, offset);
    if (reached.bytes < first) return result_of(reached);
    turn->began_plainly(first);
  }
  SplitRead read(os, {fd, bytes, offset}, {first, there - first}, there - in_memory, now.always);
  const Transfer transfer{
      {bytes + first, in_memory - first},
      false,
      [&](int64_t& lead) { return cached_pages(fd, offset + first, in_memory - first, lead); },
      offset + first,
      kAlign};
  const auto move = [&](const Piece& piece, int) { read.read({first + piece.begin, piece.bytes}); };
  if (!turn->run(transfer, move)) {
    const Reached rest = read_all(os, fd, bytes + first, size - first, offset + first);
    return result_of({first + rest.bytes, rest.error});
  }
  last().bytes += first;
  last().local_bytes += first;
  if (read.met_storage()) turn->forget_time();
  turn.reset();
  if (in_memory < there || read.met_storage())
    last().why = "split up to what is on storage, then the plain call";
  const Reached reached = read.finish();
  if (reached.bytes < there || there == size) return result_of(reached);
  // The file ended there a moment ago; it may have grown.
  return there + read_all(os, fd, bytes + there, size - there, offset + there).bytes;
}

int64_t pread_turn(Os& os, int fd, void* buffer, int64_t size, int64_t offset, int turn,
                   int turns) {
  uint64_t device = 0;
  const int64_t there = bytes_there(os, fd, size, offset, device);
  last() = {1, 1, 0, size, "in turns with other processes"};
  const int64_t first = there / turns * turn / kAlign * kAlign;
  // What is read of the second half before the first is not counted until that is there.
  const auto read = [&](int64_t begin, int64_t end) {
    return read_all(os, fd, static_cast<char*>(buffer) + begin, end - begin, offset + begin);
  };
  const Reached late = read(first, there);
  const Reached early = read(0, first);
  if (early.bytes < first || late.bytes < there - first || there == size)
    return result_of(early.bytes < first ? early : Reached{first + late.bytes, late.error});
  return result_of({there + read(there, size).bytes, 0});
}

int64_t plain_pwrite(Os& os, int fd, const void* buffer, int64_t size, int64_t offset) {
  last() = {1, 1, 0, size, "one file is written by one thread"};
  return result_of(repeat(size, [&](int64_t done, int64_t some) {
    return os.pwrite(fd, static_cast<const char*>(buffer) + done, size_t(some), offset + done);
  }));
}

int write_parts(Os& os, std::span<const Part> parts) {
  std::vector<int> errors(parts.size(), 0);
  int64_t bytes = 0;
  std::map<std::pair<dev_t, ino_t>, size_t> known;
  std::vector<std::vector<size_t>> files;  // parts of each, by their number
  for (size_t i = 0; i < parts.size(); ++i) {
    struct stat about = {};
    if (const int failed = os.fstat(parts[i].fd, &about); failed < 0) {
      errors[i] = failed;
      continue;
    }
    const auto [at, fresh] = known.try_emplace({about.st_dev, about.st_ino}, files.size());
    if (fresh) files.emplace_back();
    files[at->second].push_back(i);
    bytes += parts[i].size;
  }
  const auto write = [&](int number) {
    for (const size_t i : files[size_t(number)]) {
      const Part& part = parts[i];
      const Reached reached = repeat(part.size, [&](int64_t done, int64_t some) {
        return os.pwrite(part.fd, static_cast<const char*>(part.buffer) + done, size_t(some),
                         part.offset + done);
      });
      if (reached.bytes < part.size) errors[i] = reached.error != 0 ? -reached.error : -ENOSPC;
    }
  };
  auto turn = files.size() > 1 ? Turn::take(bytes, kWritesParts) : nullptr;
  bool split = false;
  if (turn != nullptr) {
    std::vector<int> nodes;
    for (const auto& each : files) {
      const Part& first = parts[each.front()];
      nodes.push_back(turn->node_of({first.buffer, first.size}));
    }
    split = turn->run_each(nodes, write);
  }
  if (!split) {
    if (files.size() <= 1) last() = {1, 1, 0, bytes, "one file is written by one thread"};
    for (size_t number = 0; number < files.size(); ++number) write(int(number));
  }
  const auto failed =
      std::find_if(errors.begin(), errors.end(), [](int error) { return error != 0; });
  return failed == errors.end() ? 0 : *failed;
}

void parallel_copy(void* to, const void* from, int64_t bytes) {
  auto* const target = static_cast<std::byte*>(to);
  const auto* const source = static_cast<const std::byte*>(from);
  // Within the caches nothing is faster than memcpy().
  if (Turn::too_small(bytes) && bytes < options().hot_bytes)
    return copy_kernels().front().copy(target, source, size_t(bytes));
  // Before the turn: to find it out takes as long as many copies, and a turn's time is compared.
  const CopyKernel& kernel = fastest_kernel();
  const auto turn = Turn::take(bytes, kCopies);
  const int64_t origin = int64_t(reinterpret_cast<uintptr_t>(to) % uintptr_t(kAlign));
  const Transfer transfer{{to, bytes}, false, {}, origin, kAlign};
  const auto move = [&](const Piece& piece, int) {
    kernel.copy(target + piece.begin, source + piece.begin, size_t(piece.bytes));
  };
  if (turn == nullptr || !turn->run(transfer, move)) kernel.copy(target, source, size_t(bytes));
}

}  // namespace haichi::numaio
