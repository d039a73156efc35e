#include "oracle/mpi_type.h"

namespace oracle {
namespace {

MPI_Datatype handle_of(Named named) {
  switch (named) {
    case Named::byte:
      return MPI_BYTE;
    case Named::character:
      return MPI_CHAR;
    case Named::short_int:
      return MPI_SHORT;
    case Named::integer:
      return MPI_INT;
    case Named::long_int:
      return MPI_LONG;
    case Named::float_real:
      return MPI_FLOAT;
    case Named::double_real:
      return MPI_DOUBLE;
    case Named::long_double:
      return MPI_LONG_DOUBLE;
    case Named::bool_c:
      return MPI_C_BOOL;
    case Named::int16:
      return MPI_INT16_T;
    case Named::uint64:
      return MPI_UINT64_T;
    case Named::complex_float:
      return MPI_C_FLOAT_COMPLEX;
    case Named::complex_double:
      return MPI_C_DOUBLE_COMPLEX;
    case Named::offset:
      return MPI_OFFSET;
    case Named::fortran_integer:
      return MPI_INTEGER;
    case Named::fortran_double:
      return MPI_DOUBLE_PRECISION;
    case Named::fortran_complex:
      return MPI_COMPLEX;
    case Named::pair_float_int:
      return MPI_FLOAT_INT;
    case Named::pair_double_int:
      return MPI_DOUBLE_INT;
    case Named::pair_long_int:
      return MPI_LONG_INT;
    case Named::pair_short_int:
      return MPI_SHORT_INT;
    case Named::pair_2int:
      return MPI_2INT;
    case Named::pair_long_double_int:
      return MPI_LONG_DOUBLE_INT;
  }
  return MPI_DATATYPE_NULL;
}

bool is_predefined(Kind kind) { return kind <= Kind::f90_integer; }

std::vector<int> ints(const std::vector<int64_t>& values) { return {values.begin(), values.end()}; }
std::vector<MPI_Aint> addresses(const std::vector<int64_t>& values) {
  return {values.begin(), values.end()};
}

std::vector<int> distribution_constants(const Type& type) {
  std::vector<int> out;
  for (Distribution how : type.distributions)
    out.push_back(how == Distribution::block    ? MPI_DISTRIBUTE_BLOCK
                  : how == Distribution::cyclic ? MPI_DISTRIBUTE_CYCLIC
                                                : MPI_DISTRIBUTE_NONE);
  return out;
}

std::vector<int> distribution_arguments(const Type& type) {
  std::vector<int> out;
  for (int64_t argument : type.arguments)
    out.push_back(argument == kDefaultArgument ? MPI_DISTRIBUTE_DFLT_DARG : int(argument));
  return out;
}

MPI_Datatype predefined(const Type& type) {
  MPI_Datatype made = MPI_DATATYPE_NULL;
  switch (type.kind) {
    case Kind::f90_real:
      MPI_Type_create_f90_real(type.precision, type.range, &made);
      break;
    case Kind::f90_complex:
      MPI_Type_create_f90_complex(type.precision, type.range, &made);
      break;
    case Kind::f90_integer:
      MPI_Type_create_f90_integer(type.range, &made);
      break;
    default:
      return handle_of(type.named);
  }
  return made;
}

MPI_Datatype array_type(const Type& type, MPI_Datatype old) {
  MPI_Datatype made = MPI_DATATYPE_NULL;
  const int dimensions = int(type.sizes.size());
  const int order = type.fortran_order ? MPI_ORDER_FORTRAN : MPI_ORDER_C;
  const auto sizes = ints(type.sizes);
  if (type.kind == Kind::subarray) {
    MPI_Type_create_subarray(dimensions, sizes.data(), ints(type.subsizes).data(),
                             ints(type.starts).data(), order, old, &made);
  } else {
    MPI_Type_create_darray(int(type.ranks), int(type.rank), dimensions, sizes.data(),
                           distribution_constants(type).data(), distribution_arguments(type).data(),
                           ints(type.grid).data(), order, old, &made);
  }
  return made;
}

MPI_Datatype block_type(const Type& type, MPI_Datatype old) {
  MPI_Datatype made = MPI_DATATYPE_NULL;
  const int blocks = int(type.displacements.size());
  const auto lengths = ints(type.lengths);
  const auto elements = ints(type.displacements);
  const auto bytes = addresses(type.displacements);
  const int length = int(type.length);
  if (type.kind == Kind::indexed)
    MPI_Type_indexed(blocks, lengths.data(), elements.data(), old, &made);
  else if (type.kind == Kind::hindexed)
    MPI_Type_create_hindexed(blocks, lengths.data(), bytes.data(), old, &made);
  else if (type.kind == Kind::indexed_block)
    MPI_Type_create_indexed_block(blocks, length, elements.data(), old, &made);
  else
    MPI_Type_create_hindexed_block(blocks, length, bytes.data(), old, &made);
  return made;
}

MPI_Datatype construct(const Type& type, const std::vector<MPI_Datatype>& old) {
  MPI_Datatype made = MPI_DATATYPE_NULL;
  const int count = int(type.count), length = int(type.length);
  switch (type.kind) {
    case Kind::dup:
      MPI_Type_dup(old[0], &made);
      break;
    case Kind::contiguous:
      MPI_Type_contiguous(count, old[0], &made);
      break;
    case Kind::vector:
      MPI_Type_vector(count, length, int(type.stride), old[0], &made);
      break;
    case Kind::hvector:
      MPI_Type_create_hvector(count, length, MPI_Aint(type.stride), old[0], &made);
      break;
    case Kind::structure:
      MPI_Type_create_struct(int(type.lengths.size()), ints(type.lengths).data(),
                             addresses(type.displacements).data(), old.data(), &made);
      break;
    case Kind::resized:
      MPI_Type_create_resized(old[0], MPI_Aint(type.lower), MPI_Aint(type.extent), &made);
      break;
    case Kind::subarray:
    case Kind::darray:
      return array_type(type, old[0]);
    default:
      return block_type(type, old[0]);
  }
  return made;
}

MPI_Datatype build(const Type& type) {
  if (is_predefined(type.kind)) return predefined(type);
  std::vector<MPI_Datatype> old;
  for (const TypePtr& child : type.children) old.push_back(build(*child));
  MPI_Datatype made = construct(type, old);
  // A type may be freed as soon as others were made of it.
  for (size_t i = 0; i < old.size(); ++i)
    if (!is_predefined(type.children[i]->kind)) MPI_Type_free(&old[i]);
  return made;
}

}  // namespace

MPI_Datatype make_mpi_type(const Type& type) {
  MPI_Datatype handle = build(type);
  if (!is_predefined(type.kind)) MPI_Type_commit(&handle);
  return handle;
}

void free_mpi_type(const Type& type, MPI_Datatype& handle) {
  if (!is_predefined(type.kind)) MPI_Type_free(&handle);
}

}  // namespace oracle
