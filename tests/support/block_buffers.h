// The bytes of an exchange under the checking executor.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "collectives/exchange.h"

namespace haichi::test {

/// One rank's blocks: each in memory of its own, so that a step beyond a block's end is seen.
class BlockBuffers : public plan::Buffers {
 public:
  BlockBuffers(const collectives::Exchange& x, int64_t temporary) : temporary_(size_t(temporary)) {
    blocks_.resize(2 * size_t(std::max(x.blocks_sent(), x.blocks_received())));
    for (int peer = 0; peer < x.blocks_sent(); ++peer)
      block(collectives::Exchange::send_buffer(peer)).resize(size_t(x.bytes_to(peer)));
    for (int peer = 0; peer < x.blocks_received(); ++peer)
      block(collectives::Exchange::receive_buffer(peer)).resize(size_t(x.bytes_from(peer)));
  }
  std::vector<std::byte>& block(int buffer) { return blocks_[size_t(buffer - 1)]; }
  std::byte* contiguous(const plan::Slice& slice) override {
    std::vector<std::byte>& memory =
        slice.buffer == collectives::Exchange::kTemporary ? temporary_ : block(slice.buffer);
    EXPECT_LE(slice.begin + slice.size, int64_t(memory.size())) << "of buffer " << slice.buffer;
    return memory.data() + slice.begin;
  }
  void gather(const plan::Slice& slice, std::byte* out) override {
    std::copy_n(contiguous(slice), slice.size, out);
  }
  void scatter(const plan::Slice& slice, const std::byte* in) override {
    std::copy_n(in, slice.size, contiguous(slice));
  }
  bool order_free(const plan::Slice&) override { return true; }
  void read_file(const plan::Slice&, int64_t) override { FAIL() << "there is no file"; }
  void write_file(const plan::Slice&, int64_t) override { FAIL() << "there is no file"; }

 private:
  std::vector<std::byte> temporary_;
  std::vector<std::vector<std::byte>> blocks_;
};

}  // namespace haichi::test
