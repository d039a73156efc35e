#include "mpi/compat/view_types.h"

#include <errno.h>

#include <vector>

#include "generated/real.h"
#include "mpi/compat/handles.h"

namespace haichi::mpi {
namespace {

// More blocks than this would make the substitute itself a burden.
constexpr int64_t kMaxBlocks = 1 << 20;

}  // namespace

bool needs_substitute([[maybe_unused]] const TypeShape& shape) {
#if defined(OPEN_MPI)
  return false;
#else
  return !shape.plain && shape.size() > 0 && shape.pattern->blocks() <= kMaxBlocks;
#endif
}

Result<MPI_Datatype> byte_type_like(const TypeShape& shape) {
  std::vector<int> lengths;
  std::vector<MPI_Aint> places;
  shape.pattern->for_each_block(0, shape.size(), 0, [&](int64_t at, int64_t n) {
    lengths.push_back(int(n));
    places.push_back(MPI_Aint(at - shape.pattern->begin()));
  });
  const std::vector<MPI_Datatype> types(lengths.size(), handles().byte);
  MPI_Datatype bare, type;
  if (real().Type_create_struct(int(lengths.size()), lengths.data(), places.data(), types.data(),
                                &bare) != MPI_SUCCESS)
    return fail(ENOMEM, "the MPI library cannot make a view of bytes");
  // Tiles follow each other by the extent alone; ROMIO loops on some lower bounds other than 0.
  const bool made =
      real().Type_create_resized(bare, 0, MPI_Aint(shape.extent), &type) == MPI_SUCCESS &&
      real().Type_commit(&type) == MPI_SUCCESS;
  real().Type_free(&bare);
  if (!made) return fail(ENOMEM, "the MPI library cannot make a view of bytes");
  return type;
}

Result<MPI_Datatype> contiguous_bytes(int64_t size) {
  MPI_Datatype type;
  if (real().Type_contiguous(int(size), handles().byte, &type) != MPI_SUCCESS ||
      real().Type_commit(&type) != MPI_SUCCESS)
    return fail(ENOMEM, "the MPI library cannot make a view of bytes");
  return type;
}

}  // namespace haichi::mpi
