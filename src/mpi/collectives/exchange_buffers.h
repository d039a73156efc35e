// The program's memory behind an exchange: its send and receive buffers with their datatypes.
#pragma once

#include <mpi.h>

#include <memory>
#include <span>
#include <vector>

#include "base/result.h"
#include "collectives/exchange.h"
#include "mpiio/regions/pattern.h"

namespace haichi::mpi {

/// Blocks of one of the two buffers of an exchange: each some elements of one datatype, somewhere
/// behind `base`.
class BlocksInMemory {
 public:
  /// Fails if the datatype cannot be decoded. `most` is the largest count of any block.
  static Result<BlocksInMemory> make(const void* base, MPI_Datatype type, int64_t most);

  int64_t element_size() const { return element_size_; }
  int64_t extent() const { return extent_; }
  /// Address of byte `begin` of a block whose elements begin at `displacement` (in bytes), if the
  /// next `size` bytes lie together; else null.
  std::byte* together(int64_t displacement, int64_t begin, int64_t size) const;
  void gather(int64_t displacement, int64_t begin, int64_t size, std::byte* out) const;
  void scatter(int64_t displacement, int64_t begin, int64_t size, const std::byte* in) const;

 private:
  std::byte* base_ = nullptr;
  mpiio::PatternPtr elements_;  // of the largest block
  int64_t element_size_ = 0, extent_ = 0;
};

/// Where each rank's block begins: at equal distances, or wherever the program says.
struct Displacements {
  int64_t each = 0;              ///< bytes from one to the next, if `of` is empty
  std::vector<int64_t> of = {};  ///< bytes
  int64_t operator[](int rank) const { return of.empty() ? rank * each : of[size_t(rank)]; }
};

/// Buffers of the schedules of one exchange (collectives/exchange.h).
class ExchangeBuffers : public plan::Buffers {
 public:
  struct Side {
    std::vector<BlocksInMemory> blocks;  ///< one for all ranks, or by rank
    Displacements at;
    const BlocksInMemory& of(int rank) const {
      return blocks[blocks.size() == 1 ? 0 : size_t(rank)];
    }
  };
  ExchangeBuffers(Side send, Side receive, std::span<std::byte> temporary)
      : send_(std::move(send)), receive_(std::move(receive)), temporary_(temporary) {}

  std::byte* contiguous(const plan::Slice& slice) override;
  void gather(const plan::Slice& slice, std::byte* out) override;
  void scatter(const plan::Slice& slice, const std::byte* in) override;
  // MPI forbids that blocks share bytes.
  bool order_free(const plan::Slice&) override { return true; }
  void read_file(const plan::Slice&, int64_t) override {}
  void write_file(const plan::Slice&, int64_t) override {}

 private:
  // Buffers 1, 3, ... are sent, 2, 4, ... received.
  const Side& side_of(int buffer) const { return buffer % 2 == 1 ? send_ : receive_; }
  const BlocksInMemory& blocks_of(int buffer) const { return side_of(buffer).of((buffer - 1) / 2); }
  int64_t begin_of(int buffer) const { return side_of(buffer).at[(buffer - 1) / 2]; }

  Side send_, receive_;
  std::span<std::byte> temporary_;
};

}  // namespace haichi::mpi
