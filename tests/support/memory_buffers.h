// Buffers of a schedule as plain vectors, for tests.
#pragma once

#include <algorithm>
#include <cstring>
#include <vector>

#include "plan/schedule.h"

namespace haichi::test {

/// Buffer b of the rank is `memory[b]`; the file is a vector that the ranks share, grown by writes
/// and read as zeros behind its end.
class MemoryBuffers : public plan::Buffers {
 public:
  std::vector<std::vector<std::byte>> memory;
  std::vector<std::byte>* file = nullptr;
  bool scattered = false;       ///< true: no slice is contiguous, all go through gather and scatter
  bool ordered = false;         ///< true: received slices are not order_free
  std::vector<int64_t> rounds;  ///< that were started

  void start_round(int64_t round) override { rounds.push_back(round); }
  std::byte* contiguous(const plan::Slice& slice) override {
    return scattered ? nullptr : at(slice);
  }
  void gather(const plan::Slice& slice, std::byte* out) override {
    std::copy_n(at(slice), slice.size, out);
  }
  void scatter(const plan::Slice& slice, const std::byte* in) override {
    std::copy_n(in, slice.size, at(slice));
  }
  bool order_free(const plan::Slice&) override { return !ordered; }
  void read_file(const plan::Slice& slice, int64_t file_begin) override {
    for (int64_t i = 0; i < slice.size; ++i)
      at(slice)[i] =
          file_begin + i < int64_t(file->size()) ? (*file)[size_t(file_begin + i)] : std::byte{0};
  }
  void write_file(const plan::Slice& slice, int64_t file_begin) override {
    file->resize(std::max(file->size(), size_t(file_begin + slice.size)));
    std::copy_n(at(slice), slice.size, file->begin() + file_begin);
  }

 private:
  std::byte* at(const plan::Slice& slice) {
    return memory.at(size_t(slice.buffer)).data() + slice.begin;
  }
};

}  // namespace haichi::test
