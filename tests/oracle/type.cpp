#include "oracle/type.h"

#include <algorithm>
#include <complex>
#include <cstddef>

namespace oracle {
namespace {

template <class T>
NamedType single(const char* name) {
  return {name, {int(sizeof(T)), 0}, 0, int64_t(sizeof(T)), int(alignof(T))};
}

// MPI 4.1, 6.9.4: a pair type is as if made of the C structure of its two members.
template <class First>
NamedType pair(const char* name) {
  struct Pair {
    First first;
    int second;
  };
  return {name,
          {int(sizeof(First)), int(sizeof(int))},
          int64_t(offsetof(Pair, second)),
          int64_t(sizeof(Pair)),
          int(alignof(Pair))};
}

std::vector<NamedType> make_named_types() {
  return {{"BYTE", {1, 0}, 0, 1, 1},
          single<char>("CHAR"),
          single<short>("SHORT"),
          single<int>("INT"),
          single<long>("LONG"),
          single<float>("FLOAT"),
          single<double>("DOUBLE"),
          single<long double>("LONG_DOUBLE"),
          single<bool>("C_BOOL"),
          single<int16_t>("INT16_T"),
          single<uint64_t>("UINT64_T"),
          single<std::complex<float>>("C_FLOAT_COMPLEX"),
          single<std::complex<double>>("C_DOUBLE_COMPLEX"),
          single<int64_t>("OFFSET"),
          single<int>("INTEGER"),
          single<double>("DOUBLE_PRECISION"),
          single<std::complex<float>>("COMPLEX"),
          pair<float>("FLOAT_INT"),
          pair<double>("DOUBLE_INT"),
          pair<long>("LONG_INT"),
          pair<short>("SHORT_INT"),
          pair<int>("2INT"),
          pair<long double>("LONG_DOUBLE_INT")};
}

// A copy of `child` at displacement `at`, appended to `out`: the one step that every constructor
// of the standard repeats.
void place(Typemap& out, const Typemap& child, int64_t at) {
  for (const Basic& basic : child.basics)
    out.basics.push_back({basic.at + at, basic.size, basic.half});
  if (child.lower_mark) {
    const int64_t mark = *child.lower_mark + at;
    out.lower_mark = out.lower_mark ? std::min(*out.lower_mark, mark) : mark;
  }
  if (child.upper_mark) {
    const int64_t mark = *child.upper_mark + at;
    out.upper_mark = out.upper_mark ? std::max(*out.upper_mark, mark) : mark;
  }
  const int64_t lower = child.lower() + at, upper = child.upper() + at;
  out.parts_lower = std::min(out.parts_lower.value_or(lower), lower);
  out.parts_upper = std::max(out.parts_upper.value_or(upper), upper);
  out.alignment = std::max(out.alignment, child.alignment);
}

void set_bounds(Typemap& map, int64_t lower, int64_t upper) {
  map.lower_mark = map.parts_lower = lower;
  map.upper_mark = map.parts_upper = upper;
}

void place_block(Typemap& out, const Typemap& child, int64_t at, int64_t length) {
  for (int64_t i = 0; i < length; ++i) place(out, child, at + i * child.extent());
}

Typemap plain(int size) { return {{{0, size, false}}, {}, {}, size, {}, {}}; }

std::shared_ptr<Type> node(Kind kind, std::vector<TypePtr> children = {}) {
  auto type = std::make_shared<Type>();
  type->kind = kind;
  type->children = std::move(children);
  return type;
}

// One dimension of a subarray (5.1.3): elements start .. start+subsize-1 of `size`.
Typemap subarray_dimension(int64_t size, int64_t subsize, int64_t start, const Typemap& old) {
  Typemap out;
  out.alignment = old.alignment;
  const int64_t extent = old.extent();
  Typemap bare = old;
  bare.lower_mark = bare.upper_mark = {};
  for (int64_t i = 0; i < subsize; ++i) place(out, bare, (start + i) * extent);
  set_bounds(out, 0, size * extent);
  return out;
}

// One dimension of a darray (5.1.4, function "cyclic"): of `size` elements dealt out in blocks of
// `argument` to `ranks` processes, those of process `rank`.
Typemap cyclic_dimension(int64_t argument, int64_t size, int64_t rank, int64_t ranks,
                         const Typemap& old) {
  Typemap out;
  out.alignment = old.alignment;
  const int64_t extent = old.extent();
  Typemap bare = old;
  bare.lower_mark = bare.upper_mark = {};
  for (int64_t i = 0; i < size; ++i)
    if ((i / argument) % ranks == rank) place(out, bare, i * extent);
  set_bounds(out, 0, size * extent);
  return out;
}

// How many consecutive elements of a dimension go to one process at a time (5.1.4).
int64_t distribution_argument(const Type& type, size_t d) {
  const int64_t size = type.sizes[d], ranks = type.grid[d], given = type.arguments[d];
  switch (type.distributions[d]) {
    case Distribution::block:
      return given == kDefaultArgument ? (size + ranks - 1) / ranks : given;
    case Distribution::cyclic:
      return given == kDefaultArgument ? 1 : given;
    case Distribution::none:
      return size;
  }
  return size;
}

}  // namespace

const std::vector<NamedType>& named_types() {
  static const std::vector<NamedType> table = make_named_types();
  return table;
}

bool is_pair(Named named) { return named >= Named::pair_float_int; }
bool is_fortran(Named named) {
  return named >= Named::fortran_integer && named <= Named::fortran_complex;
}

int64_t Typemap::size() const {
  int64_t total = 0;
  for (const Basic& basic : basics) total += basic.size;
  return total;
}

int64_t Typemap::true_lower() const {
  if (basics.empty()) return 0;
  int64_t low = INT64_MAX;
  for (const Basic& basic : basics) low = std::min(low, basic.at);
  return low;
}

int64_t Typemap::true_upper() const {
  if (basics.empty()) return 0;
  int64_t high = INT64_MIN;
  for (const Basic& basic : basics) high = std::max(high, basic.at + basic.size);
  return high;
}

int64_t Typemap::lower() const { return lower_mark ? *lower_mark : true_lower(); }

int64_t Typemap::padding() const {
  if (upper_mark) return 0;
  const int64_t over = (true_upper() - lower()) % alignment;
  return over == 0 ? 0 : (over < 0 ? -over : alignment - over);
}

int64_t Typemap::upper() const { return upper_mark ? *upper_mark : true_upper() + padding(); }

bool Typemap::bounds_agreed() const {
  if (basics.empty()) return !upper_mark;
  // Open MPI pads after each part, which shows where a later part begins lower.
  const auto misaligned = [&](const Basic& basic) { return (basic.at - lower()) % alignment != 0; };
  if (!upper_mark && basics.front().at != true_lower() &&
      std::any_of(basics.begin(), basics.end(), misaligned))
    return false;
  return lower() == parts_lower.value_or(lower()) && upper() == parts_upper.value_or(upper());
}

TypePtr named(Named which) {
  auto type = node(Kind::named);
  type->named = which;
  const NamedType& row = named_types()[size_t(which)];
  type->map.basics.push_back({0, row.size[0], false});
  if (row.size[1] > 0) type->map.basics.push_back({row.second, row.size[1], true});
  type->map.alignment = row.alignment;
  return type;
}

TypePtr f90_real(int precision, int range) {
  auto type = node(Kind::f90_real);
  type->precision = precision, type->range = range;
  type->map = plain(precision <= 6 && range <= 37 ? 4 : 8);
  return type;
}

TypePtr f90_complex(int precision, int range) {
  auto type = node(Kind::f90_complex);
  type->precision = precision, type->range = range;
  const int half = precision <= 6 && range <= 37 ? 4 : 8;
  type->map = plain(2 * half);
  type->map.alignment = half;
  return type;
}

TypePtr f90_integer(int range) {
  auto type = node(Kind::f90_integer);
  type->range = range;
  type->map = plain(range <= 2 ? 1 : range <= 4 ? 2 : range <= 9 ? 4 : 8);
  return type;
}

TypePtr dup(TypePtr child) {
  auto type = node(Kind::dup, {child});
  type->map = child->map;
  return type;
}

TypePtr contiguous(int64_t count, TypePtr child) {
  auto type = node(Kind::contiguous, {child});
  type->count = count;
  place_block(type->map, child->map, 0, count);
  return type;
}

TypePtr vector(int64_t count, int64_t length, int64_t stride, TypePtr child) {
  auto type = node(Kind::vector, {child});
  type->count = count, type->length = length, type->stride = stride;
  const int64_t extent = child->map.extent();
  for (int64_t i = 0; i < count; ++i)
    place_block(type->map, child->map, i * stride * extent, length);
  return type;
}

TypePtr hvector(int64_t count, int64_t length, int64_t stride, TypePtr child) {
  auto type = node(Kind::hvector, {child});
  type->count = count, type->length = length, type->stride = stride;
  for (int64_t i = 0; i < count; ++i) place_block(type->map, child->map, i * stride, length);
  return type;
}

TypePtr indexed(std::vector<int64_t> lengths, std::vector<int64_t> displacements, TypePtr child) {
  auto type = node(Kind::indexed, {child});
  const int64_t extent = child->map.extent();
  for (size_t i = 0; i < lengths.size(); ++i)
    place_block(type->map, child->map, displacements[i] * extent, lengths[i]);
  type->lengths = std::move(lengths), type->displacements = std::move(displacements);
  return type;
}

TypePtr hindexed(std::vector<int64_t> lengths, std::vector<int64_t> displacements, TypePtr child) {
  auto type = node(Kind::hindexed, {child});
  for (size_t i = 0; i < lengths.size(); ++i)
    place_block(type->map, child->map, displacements[i], lengths[i]);
  type->lengths = std::move(lengths), type->displacements = std::move(displacements);
  return type;
}

TypePtr indexed_block(int64_t length, std::vector<int64_t> displacements, TypePtr child) {
  auto type = node(Kind::indexed_block, {child});
  type->length = length;
  for (int64_t at : displacements)
    place_block(type->map, child->map, at * child->map.extent(), length);
  type->displacements = std::move(displacements);
  return type;
}

TypePtr hindexed_block(int64_t length, std::vector<int64_t> displacements, TypePtr child) {
  auto type = node(Kind::hindexed_block, {child});
  type->length = length;
  for (int64_t at : displacements) place_block(type->map, child->map, at, length);
  type->displacements = std::move(displacements);
  return type;
}

TypePtr structure(std::vector<int64_t> lengths, std::vector<int64_t> displacements,
                  std::vector<TypePtr> children) {
  auto type = node(Kind::structure, std::move(children));
  for (size_t i = 0; i < lengths.size(); ++i)
    place_block(type->map, type->children[i]->map, displacements[i], lengths[i]);
  type->lengths = std::move(lengths), type->displacements = std::move(displacements);
  return type;
}

TypePtr subarray(std::vector<int64_t> sizes, std::vector<int64_t> subsizes,
                 std::vector<int64_t> starts, bool fortran_order, TypePtr child) {
  auto type = node(Kind::subarray, {child});
  type->map = child->map;
  const size_t dimensions = sizes.size();
  for (size_t i = 0; i < dimensions; ++i) {
    const size_t d = fortran_order ? i : dimensions - 1 - i;
    type->map = subarray_dimension(sizes[d], subsizes[d], starts[d], type->map);
  }
  type->sizes = std::move(sizes), type->subsizes = std::move(subsizes);
  type->starts = std::move(starts), type->fortran_order = fortran_order;
  return type;
}

TypePtr darray(int64_t ranks, int64_t rank, std::vector<int64_t> sizes,
               std::vector<Distribution> distributions, std::vector<int64_t> arguments,
               std::vector<int64_t> grid, bool fortran_order, TypePtr child) {
  auto type = node(Kind::darray, {child});
  type->ranks = ranks, type->rank = rank, type->fortran_order = fortran_order;
  type->sizes = std::move(sizes), type->distributions = std::move(distributions);
  type->arguments = std::move(arguments), type->grid = std::move(grid);
  const size_t dimensions = type->sizes.size();
  // The process grid is row major for both orders of the array.
  std::vector<int64_t> position(dimensions);
  int64_t rest = rank, below = ranks;
  for (size_t d = 0; d < dimensions; ++d) {
    below /= type->grid[d];
    position[d] = rest / below;
    rest %= below;
  }
  type->map = child->map;
  for (size_t i = 0; i < dimensions; ++i) {
    const size_t d = fortran_order ? i : dimensions - 1 - i;
    type->map = cyclic_dimension(distribution_argument(*type, d), type->sizes[d], position[d],
                                 type->grid[d], type->map);
  }
  return type;
}

TypePtr resized(int64_t lower, int64_t extent, TypePtr child) {
  auto type = node(Kind::resized, {child});
  type->lower = lower, type->extent = extent;
  type->map = child->map;
  set_bounds(type->map, lower, lower + extent);
  return type;
}

}  // namespace oracle
