#include "mpiio/direct.h"

#include <string.h>

#include <algorithm>

#include "base/clock.h"

namespace haichi::mpiio {

bool DirectSchedule::next(plan::Step& step) {
  if (done_ || bytes_ == 0) return false;
  done_ = true;
  step = {};
  const bool writing = direction_ == Direction::write;
  step.kind = writing ? plan::Step::Kind::file_write : plan::Step::Kind::file_read;
  (writing ? step.from : step.to) = {Place{}.number(), 0, bytes_};
  return true;
}

template <class Transfer>
void DirectBuffers::for_each_run(Transfer&& transfer) {
  const Access& own = *config_.own;
  int64_t position = 0;
  own.for_each_block(own.begin(), own.end(), [&](int64_t offset, int64_t size) {
    while (size > 0) {
      const auto at = config_.memory_pattern->contiguous_at(position, position + size);
      const int64_t n = at ? size : std::min(size, int64_t(config_.bounce.size()));
      std::byte* const from = at ? config_.memory + *at : config_.bounce.data();
      transfer(std::span(from, size_t(n)), offset, position);
      offset += n;
      position += n;
      size -= n;
    }
  });
}

void DirectBuffers::copy_memory(int64_t position, std::span<std::byte> bytes, bool to_memory) {
  std::byte* other = bytes.data();
  config_.memory_pattern->for_each_block(
      position, position + int64_t(bytes.size()), 0, [&](int64_t at, int64_t n) {
        std::byte* const mine = config_.memory + at;
        memcpy(to_memory ? mine : other, to_memory ? other : mine, size_t(n));
        other += n;
      });
}

void DirectBuffers::write_file(const plan::Slice& slice, int64_t) {
  const int64_t begin_ns = now_ns();
  for_each_run([&](std::span<std::byte> run, int64_t offset, int64_t position) {
    if (run.data() == config_.bounce.data()) copy_memory(position, run, false);
    const Status done = write_fully(*config_.file.os, config_.file.fd, run, offset);
    if (!done && status_) status_ = done;
  });
  if (config_.record)
    config_.record(config_.record_context, trace::Phase::write, 0, begin_ns, now_ns(), slice.size);
}

void DirectBuffers::read_file(const plan::Slice& slice, int64_t) {
  const int64_t begin_ns = now_ns();
  for_each_run([&](std::span<std::byte> run, int64_t offset, int64_t position) {
    const auto got = read_fully(*config_.file.os, config_.file.fd, run, offset);
    if (!got && status_) status_ = tl::unexpected(got.error());
    if (run.data() == config_.bounce.data())
      copy_memory(position, run.first(size_t(got.value_or(0))), true);
  });
  if (config_.record)
    config_.record(config_.record_context, trace::Phase::read, 0, begin_ns, now_ns(), slice.size);
}

}  // namespace haichi::mpiio
