#include "mpi/types/view_types.h"

#include <errno.h>

#include <algorithm>
#include <vector>

#include "generated/real.h"
#include "mpi/compat/handles.h"

namespace haichi::mpi {
namespace {

// More blocks than this would make the substitute itself a burden.
constexpr int64_t kMaxBlocks = 1 << 20;
// A constructor counts in an int. An error in it would end the program.
constexpr int64_t kMostOfAnInt = 1 << 30;

/// Bytes by place and length.
class ByteBlocks {
 public:
  void add(int64_t at, int64_t length) {
    for (; length > 0; at += kMostOfAnInt, length -= kMostOfAnInt) {
      lengths_.push_back(int(std::min(length, kMostOfAnInt)));
      places_.push_back(MPI_Aint(at));
    }
  }
  /// A committed type of these bytes with lower bound 0.
  Result<MPI_Datatype> type_of_extent(int64_t extent) const {
    const std::vector<MPI_Datatype> types(lengths_.size(), handles().byte);
    MPI_Datatype bare, type;
    if (real().Type_create_struct(int(lengths_.size()), lengths_.data(), places_.data(),
                                  types.data(), &bare) != MPI_SUCCESS)
      return fail(ENOMEM, "the MPI library cannot make a view of bytes");
    const bool made = real().Type_create_resized(bare, 0, MPI_Aint(extent), &type) == MPI_SUCCESS &&
                      real().Type_commit(&type) == MPI_SUCCESS;
    real().Type_free(&bare);
    if (!made) return fail(ENOMEM, "the MPI library cannot make a view of bytes");
    return type;
  }

 private:
  std::vector<int> lengths_;
  std::vector<MPI_Aint> places_;
};

}  // namespace

bool needs_substitute([[maybe_unused]] const TypeShape& shape) {
#if defined(OPEN_MPI)
  return false;
#else
  return !shape.plain && shape.size() > 0 && shape.pattern->blocks() <= kMaxBlocks;
#endif
}

Result<MPI_Datatype> byte_type_like(const TypeShape& shape) {
  ByteBlocks blocks;
  shape.pattern->for_each_block(0, shape.size(), 0, [&](int64_t at, int64_t n) {
    blocks.add(at - shape.pattern->begin(), n);
  });
  // Tiles follow each other by the extent alone; ROMIO loops on some lower bounds other than 0.
  return blocks.type_of_extent(shape.extent);
}

Result<MPI_Datatype> contiguous_bytes(int64_t size) {
  if (size > kMostOfAnInt) {
    ByteBlocks blocks;
    blocks.add(0, size);
    return blocks.type_of_extent(size);
  }
  MPI_Datatype type;
  if (real().Type_contiguous(int(size), handles().byte, &type) != MPI_SUCCESS ||
      real().Type_commit(&type) != MPI_SUCCESS)
    return fail(ENOMEM, "the MPI library cannot make a view of bytes");
  return type;
}

}  // namespace haichi::mpi
