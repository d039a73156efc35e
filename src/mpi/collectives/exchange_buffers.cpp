#include "mpi/collectives/exchange_buffers.h"

#include <string.h>

#include "base/copy_piece.h"
#include "mpi/types/datatype.h"

namespace haichi::mpi {

using collectives::Exchange;
using mpiio::Pattern;

Result<BlocksInMemory> BlocksInMemory::make(const void* base, MPI_Datatype type, int64_t most) {
  auto shape = decode_type(type);
  if (!shape) return tl::unexpected(shape.error());
  BlocksInMemory blocks;
  blocks.base_ = static_cast<std::byte*>(const_cast<void*>(base));
  blocks.element_size_ = shape->size();
  blocks.extent_ = shape->extent;
  blocks.elements_ = Pattern::loop(shape->pattern, most, shape->extent);
  return blocks;
}

std::byte* BlocksInMemory::together(int64_t displacement, int64_t begin, int64_t size) const {
  const auto at = elements_->contiguous_at(begin, begin + size);
  return at ? base_ + displacement + *at : nullptr;
}

void BlocksInMemory::gather(int64_t displacement, int64_t begin, int64_t size,
                            std::byte* out) const {
  elements_->for_each_block(begin, begin + size, displacement, [&](int64_t at, int64_t length) {
    copy_piece(out, base_ + at, length);
    out += length;
  });
}

void BlocksInMemory::scatter(int64_t displacement, int64_t begin, int64_t size,
                             const std::byte* in) const {
  elements_->for_each_block(begin, begin + size, displacement, [&](int64_t at, int64_t length) {
    copy_piece(base_ + at, in, length);
    in += length;
  });
}

std::byte* ExchangeBuffers::contiguous(const plan::Slice& slice) {
  if (slice.buffer == Exchange::kTemporary || slice.size == 0)
    return temporary_.data() + (slice.size == 0 ? 0 : slice.begin);
  return blocks_of(slice.buffer).together(begin_of(slice.buffer), slice.begin, slice.size);
}

void ExchangeBuffers::gather(const plan::Slice& slice, std::byte* out) {
  if (slice.size == 0) return;  // there may be no memory at all
  if (slice.buffer == Exchange::kTemporary)
    memcpy(out, temporary_.data() + slice.begin, size_t(slice.size));
  else
    blocks_of(slice.buffer).gather(begin_of(slice.buffer), slice.begin, slice.size, out);
}

void ExchangeBuffers::scatter(const plan::Slice& slice, const std::byte* in) {
  if (slice.size == 0) return;
  if (slice.buffer == Exchange::kTemporary)
    memcpy(temporary_.data() + slice.begin, in, size_t(slice.size));
  else
    blocks_of(slice.buffer).scatter(begin_of(slice.buffer), slice.begin, slice.size, in);
}

}  // namespace haichi::mpi
