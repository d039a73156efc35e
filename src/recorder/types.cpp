#include "recorder/types.h"

#include <algorithm>
#include <memory>
#include <new>

#include "generated/real.h"
#include "mpi/compat/handles.h"
#include "recorder/handle.h"

namespace haichi::recorder {
namespace {

using mpi::handles;
using mpi::real;
using record::Shape;

constexpr int kDeepest = 16;  // nests of datatypes that are looked into

bool is_named(MPI_Datatype type) {
  int integers, addresses, types, combiner;
  return real().Type_get_envelope(type, &integers, &addresses, &types, &combiner) != MPI_SUCCESS ||
         combiner == MPI_COMBINER_NAMED;
}

/// Regular: made of strides alone, however deep.
Shape shape_within(MPI_Datatype type, int depth) {
  int integers = 0, addresses = 0, types = 0, combiner = MPI_COMBINER_NAMED;
  if (depth > kDeepest ||
      real().Type_get_envelope(type, &integers, &addresses, &types, &combiner) != MPI_SUCCESS)
    return Shape::irregular;
  if (combiner == MPI_COMBINER_NAMED || types == 0) return Shape::regular;
  constexpr int kOfStrides[] = {
      MPI_COMBINER_DUP,     MPI_COMBINER_CONTIGUOUS, MPI_COMBINER_VECTOR, MPI_COMBINER_HVECTOR,
      MPI_COMBINER_RESIZED, MPI_COMBINER_SUBARRAY,   MPI_COMBINER_DARRAY};
  if (std::find(std::begin(kOfStrides), std::end(kOfStrides), combiner) == std::end(kOfStrides) ||
      types != 1)
    return Shape::irregular;
  const std::unique_ptr<int[]> ints(new (std::nothrow) int[size_t(integers) + 1]);
  const std::unique_ptr<MPI_Aint[]> places(new (std::nothrow) MPI_Aint[size_t(addresses) + 1]);
  MPI_Datatype inner = handles().datatype_null;
  if (!ints || !places ||
      real().Type_get_contents(type, integers, addresses, 1, ints.get(), places.get(), &inner) !=
          MPI_SUCCESS)
    return Shape::irregular;
  const Shape shape = shape_within(inner, depth + 1);
  if (!is_named(inner)) real().Type_free(&inner);  // what contents gives is the caller's
  return shape;
}

TypeFacts ask(MPI_Datatype type) {
  MPI_Count size = 0, begin = 0, extent = 0;
  if (real().Type_size_x(type, &size) != MPI_SUCCESS ||
      real().Type_get_true_extent_x(type, &begin, &extent) != MPI_SUCCESS)
    return {};
  MPI_Count low = 0, step = 0;
  real().Type_get_extent_x(type, &low, &step);
  TypeFacts facts{int64_t(size), Shape::contiguous};
  if (extent != size || step != size) facts.shape = shape_within(type, 0);
  return facts;
}

}  // namespace

TypeFacts Types::of(MPI_Datatype valid) {
  if (valid == handles().datatype_null) return {};
  const uint64_t handle = bits(valid);
  Known& known = place_of(handle);
  if (known.handle != handle) known = {handle, ask(valid)};
  return known.facts;
}

void Types::forget(MPI_Datatype type) {
  const uint64_t handle = bits(type);
  if (Known& known = place_of(handle); known.handle == handle) known = {};
}

}  // namespace haichi::recorder
