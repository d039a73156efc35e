// A datatype of MPI as a tree, and its typemap by the formulas of the standard.
//
// The oracle of the collective I/O tests. It is written from the text of MPI 4.1, chapter 5
// ("Datatypes"), combiner by combiner, and shares nothing with haichi's flattener or with the MPI
// library: every basic element of a type is one entry of a list. Slow, and easy to hold against
// the text. Sizes and displacements are in bytes.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace oracle {

enum class Kind {
  named,
  f90_real,
  f90_complex,
  f90_integer,
  dup,
  contiguous,
  vector,
  hvector,
  indexed,
  hindexed,
  indexed_block,
  hindexed_block,
  structure,
  subarray,
  darray,
  resized
};
inline constexpr int kKinds = int(Kind::resized) + 1;
const char* name_of(Kind kind);

/// The named datatypes that cases are made of, in the order of named_types().
enum class Named {
  byte,
  character,
  short_int,
  integer,
  long_int,
  float_real,
  double_real,
  long_double,
  bool_c,
  int16,
  uint64,
  complex_float,
  complex_double,
  offset,
  fortran_integer,
  fortran_double,
  fortran_complex,
  pair_float_int,
  pair_double_int,
  pair_long_int,
  pair_short_int,
  pair_2int,
  pair_long_double_int
};

/// What the standard and the C compiler say of a named datatype.
struct NamedType {
  const char* name;  ///< without "MPI_"
  int size[2];       ///< of its one or two basic elements; 0 where there is no second
  int64_t second;    ///< displacement of the second
  int64_t extent;
  int alignment;
};
const std::vector<NamedType>& named_types();
bool is_pair(Named named);
bool is_fortran(Named named);

/// One basic element of a typemap.
struct Basic {
  int64_t at;  ///< displacement
  int32_t size;
  bool half = false;  ///< the second element of a pair type
  friend bool operator==(const Basic&, const Basic&) = default;
};

/// "Typemap = {(type0, disp0), ...}" with the bounds that markers give it.
struct Typemap {
  std::vector<Basic> basics;  ///< in the order of the type signature
  std::optional<int64_t> lower_mark, upper_mark;
  int alignment = 1;  ///< strictest of its basic elements
  /// Bounds that come out if those of each part count whether marked or not, and nothing is padded:
  /// where they differ from the standard's, so do the MPI libraries.
  std::optional<int64_t> parts_lower, parts_upper;

  int64_t size() const;   ///< bytes of data
  int64_t lower() const;  ///< lb
  int64_t upper() const;  ///< ub, with the padding "epsilon" where no marker gives it
  int64_t extent() const { return upper() - lower(); }
  int64_t true_lower() const;
  int64_t true_upper() const;
  int64_t padding() const;  ///< "epsilon": what rounds the extent up to the alignment
  /// True if the bounds are what every MPI library makes of the type.
  bool bounds_agreed() const;
};

enum class Distribution { block, cyclic, none };
inline constexpr int64_t kDefaultArgument = -1;  ///< MPI_DISTRIBUTE_DFLT_DARG

struct Type;
using TypePtr = std::shared_ptr<const Type>;

/// One node of the tree. Which members mean something depends on `kind`; the functions below make
/// nodes and compute their typemaps from those of their children.
struct Type {
  Kind kind = Kind::named;
  Named named = Named::byte;
  int precision = 0, range = 0;                  ///< F90 types
  int64_t count = 0, length = 0;                 ///< contiguous, vector, hvector; block length
  int64_t stride = 0;                            ///< vector: extents; hvector: bytes
  std::vector<int64_t> lengths;                  ///< indexed, hindexed, struct
  std::vector<int64_t> displacements;            ///< extents, or bytes for h... and struct
  std::vector<int64_t> sizes, subsizes, starts;  ///< subarray; `sizes` also darray
  bool fortran_order = false;
  int64_t rank = 0, ranks = 0;  ///< darray
  std::vector<Distribution> distributions;
  std::vector<int64_t> arguments, grid;
  int64_t lower = 0, extent = 0;  ///< resized
  std::vector<TypePtr> children;

  Typemap map;
};

TypePtr named(Named which);
TypePtr f90_real(int precision, int range);
TypePtr f90_complex(int precision, int range);
TypePtr f90_integer(int range);
TypePtr dup(TypePtr child);
TypePtr contiguous(int64_t count, TypePtr child);
TypePtr vector(int64_t count, int64_t length, int64_t stride, TypePtr child);
TypePtr hvector(int64_t count, int64_t length, int64_t stride, TypePtr child);
TypePtr indexed(std::vector<int64_t> lengths, std::vector<int64_t> displacements, TypePtr child);
TypePtr hindexed(std::vector<int64_t> lengths, std::vector<int64_t> displacements, TypePtr child);
TypePtr indexed_block(int64_t length, std::vector<int64_t> displacements, TypePtr child);
TypePtr hindexed_block(int64_t length, std::vector<int64_t> displacements, TypePtr child);
TypePtr structure(std::vector<int64_t> lengths, std::vector<int64_t> displacements,
                  std::vector<TypePtr> children);
TypePtr subarray(std::vector<int64_t> sizes, std::vector<int64_t> subsizes,
                 std::vector<int64_t> starts, bool fortran_order, TypePtr child);
TypePtr darray(int64_t ranks, int64_t rank, std::vector<int64_t> sizes,
               std::vector<Distribution> distributions, std::vector<int64_t> arguments,
               std::vector<int64_t> grid, bool fortran_order, TypePtr child);
TypePtr resized(int64_t lower, int64_t extent, TypePtr child);

/// The calls that make the type, nested, e.g. "vector(3, 2, 4, DOUBLE)".
std::string to_text(const Type& type);

}  // namespace oracle
