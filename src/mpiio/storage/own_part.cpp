#include "mpiio/storage/own_part.h"

#include <algorithm>

#include "base/clock.h"
#include "base/copy_piece.h"

namespace haichi::mpiio {
namespace {

/// Calls transfer(memory, file offset, position) for runs of the file, blocks that touch taken
/// together; at most the bounce buffer's size each where memory is not contiguous there (`memory`
/// is then the bounce buffer).
template <class Transfer>
void for_each_run(const OwnPart& part, Transfer&& transfer) {
  const Access& own = *part.own;
  int64_t position = 0;
  plan::Extent run{};
  auto flush = [&] {
    while (!run.empty()) {
      const auto at = part.memory_pattern->contiguous_at(position, position + run.size());
      const int64_t n = at ? run.size() : std::min(run.size(), int64_t(part.bounce.size()));
      std::byte* const from = at ? part.memory + *at : part.bounce.data();
      transfer(std::span(from, size_t(n)), run.begin, position);
      run.begin += n;
      position += n;
    }
  };
  own.for_each_block(own.begin(), own.end(), [&](int64_t offset, int64_t size) {
    if (offset != run.end) {
      flush();
      run = {offset, offset};
    }
    run.end += size;
  });
  flush();
}

void copy_memory(const OwnPart& part, int64_t position, std::span<std::byte> bytes,
                 bool to_memory) {
  std::byte* other = bytes.data();
  part.memory_pattern->for_each_block(
      position, position + int64_t(bytes.size()), 0, [&](int64_t at, int64_t n) {
        std::byte* const mine = part.memory + at;
        copy_piece(to_memory ? mine : other, to_memory ? other : mine, n);
        other += n;
      });
}

void record(const OwnPart& part, trace::Phase phase, int64_t begin_ns) {
  if (part.record)
    part.record(part.record_context, phase, 0, begin_ns, now_ns(),
                part.own->end() - part.own->begin());
}

}  // namespace

Status write_pieces(const OwnPart& part) {
  Status status;
  const int64_t begin_ns = now_ns();
  const RangeLock lock(part.file, F_RDLCK,
                       part.file.lock_writes ? part.own->hull() : plan::Extent{});
  for_each_run(part, [&](std::span<std::byte> run, int64_t offset, int64_t position) {
    if (run.data() == part.bounce.data()) copy_memory(part, position, run, false);
    const Status done = write_fully(*part.file.os, part.file.fd, run, offset);
    if (!done && status) status = done;
  });
  record(part, trace::Phase::write, begin_ns);
  return status;
}

Status read_pieces(const OwnPart& part) {
  Status status;
  const int64_t begin_ns = now_ns();
  for_each_run(part, [&](std::span<std::byte> run, int64_t offset, int64_t position) {
    const auto got = read_fully(*part.file.os, part.file.fd, run, offset);
    if (!got && status) status = tl::unexpected(got.error());
    if (run.data() == part.bounce.data())
      copy_memory(part, position, run.first(size_t(got.value_or(0))), true);
  });
  record(part, trace::Phase::read, begin_ns);
  return status;
}

}  // namespace haichi::mpiio
