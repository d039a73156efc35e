#include "mpi/types/datatype.h"

#include <errno.h>

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "generated/real.h"
#include "mpi/compat/handles.h"
#include "mpi/types/darray.h"
#include "mpi/types/kept_types.h"

namespace haichi::mpi {
namespace {

using mpiio::Pattern;
using mpiio::PatternPtr;

constexpr int kMaxDepth = 500;

/// Arguments of a type constructor in the order of its C binding, integers and counts in one list.
struct Contents {
  int combiner = MPI_COMBINER_NAMED;
  bool named = false;            // as the library itself says
  std::vector<int64_t> numbers;  // integers, and large counts where the constructor had them
  std::vector<int64_t> addresses;
  std::vector<MPI_Datatype> types;
};

class Decoder {
 public:
  Result<TypeShape> decode(MPI_Datatype type, int depth);

 private:
  Result<Contents> contents_of(MPI_Datatype type);
  Result<PatternPtr> pattern_of(const Contents& c, int depth);
  Result<PatternPtr> indexed(const Contents& c, const TypeShape& child);
  Result<PatternPtr> structure(const Contents& c, int depth);
  PatternPtr block_of(const TypeShape& child, int64_t count);
  bool plain_ = true;
};

bool is_predefined(int combiner) {
  return combiner == MPI_COMBINER_NAMED || combiner == MPI_COMBINER_F90_REAL ||
         combiner == MPI_COMBINER_F90_COMPLEX || combiner == MPI_COMBINER_F90_INTEGER;
}

const TypeShape* find(MPI_Datatype type) {
  if (const TypeShape* const named = find_named(type)) return named;
  return type == handles().datatype_null ? nullptr : find_kept(type);
}

// A predefined type: contiguous, except for pair types, which are C structs. Only the short one has
// a hole in its middle; the others have theirs, if any, at the end.
Result<TypeShape> predefined(MPI_Datatype type, bool& plain) {
  MPI_Count size, lower_bound, extent;
  if (real().Type_size_x(type, &size) != MPI_SUCCESS ||
      real().Type_get_extent_x(type, &lower_bound, &extent) != MPI_SUCCESS)
    return fail(EINVAL, "datatype has no size");
  TypeShape shape;
  shape.lower_bound = lower_bound;
  shape.extent = extent;
  struct ShortInt {
    short value;
    int index;
  };
  constexpr int64_t kShortInt = sizeof(short) + sizeof(int);
  if (size == kShortInt && extent == int64_t(sizeof(ShortInt)))
    shape.pattern = Pattern::sequence({{0, Pattern::block(sizeof(short))},
                                       {offsetof(ShortInt, index), Pattern::block(sizeof(int))}});
  else
    shape.pattern = Pattern::block(size);
  if (size != extent) plain = false;
  return shape;
}

#if MPI_VERSION >= 4
bool large_contents(MPI_Datatype type, Contents& c, bool& failed) {
  if (!real().Type_get_envelope_c) return false;
  MPI_Count ints, addresses, counts, types;
  if (real().Type_get_envelope_c(type, &ints, &addresses, &counts, &types, &c.combiner) !=
          MPI_SUCCESS ||
      counts == 0)
    return false;
  std::vector<int> small(static_cast<size_t>(ints));
  std::vector<MPI_Aint> places(static_cast<size_t>(addresses));
  std::vector<MPI_Count> large(static_cast<size_t>(counts));
  c.types.resize(size_t(types));
  failed = real().Type_get_contents_c(type, ints, addresses, counts, types, small.data(),
                                      places.data(), large.data(), c.types.data()) != MPI_SUCCESS;
  if (failed) return true;
  // The canonical order is that of the small-count constructors. Only subarray and darray have
  // plain integers beside counts; the reader of those expects: sizes before order, see below.
  if (c.combiner == MPI_COMBINER_SUBARRAY) {
    c.numbers.push_back(small[0]);
    c.numbers.insert(c.numbers.end(), large.begin(), large.end());
    c.numbers.push_back(small[1]);
  } else if (c.combiner == MPI_COMBINER_DARRAY) {
    const size_t dims = size_t(small[2]);
    c.numbers.assign(small.begin(), small.begin() + 3);
    c.numbers.insert(c.numbers.end(), large.begin(), large.end());
    c.numbers.insert(c.numbers.end(), small.begin() + 3, small.begin() + 3 + int64_t(3 * dims) + 1);
  } else if (c.combiner == MPI_COMBINER_HVECTOR) {
    c.numbers.assign(large.begin(), large.begin() + 2);
    c.addresses.assign(large.begin() + 2, large.end());
  } else if (c.combiner == MPI_COMBINER_HINDEXED || c.combiner == MPI_COMBINER_STRUCT) {
    const size_t n = size_t(large[0]);
    c.numbers.assign(large.begin(), large.begin() + 1 + int64_t(n));
    c.addresses.assign(large.begin() + 1 + int64_t(n), large.end());
  } else if (c.combiner == MPI_COMBINER_HINDEXED_BLOCK) {
    c.numbers.assign(large.begin(), large.begin() + 2);
    c.addresses.assign(large.begin() + 2, large.end());
  } else if (c.combiner == MPI_COMBINER_RESIZED) {
    c.addresses.assign(large.begin(), large.end());
  } else {
    c.numbers.assign(large.begin(), large.end());
  }
  return true;
}
#endif

Result<Contents> Decoder::contents_of(MPI_Datatype type) {
  Contents c;
#if MPI_VERSION >= 4
  bool failed = false;
  if (large_contents(type, c, failed)) {
    if (failed) return fail(EINVAL, "the MPI library does not tell the datatype's contents");
    plain_ = false;
    return c;
  }
  c = {};
#endif
  int ints, addresses, types;
  if (real().Type_get_envelope(type, &ints, &addresses, &types, &c.combiner) != MPI_SUCCESS)
    return fail(EINVAL, "the MPI library does not tell the datatype's envelope");
  c.named = c.combiner == MPI_COMBINER_NAMED;
  // MPICH 4.0.2 gives pair types a combiner that is not MPI_COMBINER_NAMED, and no contents.
  if (ints == 0 && addresses == 0 && types == 0) c.combiner = MPI_COMBINER_NAMED;
  if (is_predefined(c.combiner)) return c;
  std::vector<int> small(static_cast<size_t>(ints));
  std::vector<MPI_Aint> places(static_cast<size_t>(addresses));
  c.types.resize(size_t(types));
  if (real().Type_get_contents(type, ints, addresses, types, small.data(), places.data(),
                               c.types.data()) != MPI_SUCCESS)
    return fail(EINVAL, "the MPI library does not tell the datatype's contents");
  c.numbers.assign(small.begin(), small.end());
  c.addresses.assign(places.begin(), places.end());
  return c;
}

// True if elements of the type that follow each other are one block.
bool gapless(const TypeShape& shape) {
  return shape.pattern->is_block() && shape.extent == shape.size();
}

PatternPtr Decoder::block_of(const TypeShape& child, int64_t count) {
  return Pattern::loop(child.pattern, count, child.extent);
}

// All four indexed constructors: blocks of child at displacements in extents or in bytes.
Result<PatternPtr> Decoder::indexed(const Contents& c, const TypeShape& child) {
  const int64_t n = c.numbers[0];
  const bool same_length =
      c.combiner == MPI_COMBINER_INDEXED_BLOCK || c.combiner == MPI_COMBINER_HINDEXED_BLOCK;
  const bool in_bytes =
      c.combiner == MPI_COMBINER_HINDEXED || c.combiner == MPI_COMBINER_HINDEXED_BLOCK;
  auto length = [&](int64_t i) { return c.numbers[same_length ? 1 : size_t(1 + i)]; };
  auto offset = [&](int64_t i) {
    return in_bytes ? c.addresses[size_t(i)]
                    : c.numbers[size_t(same_length ? 2 + i : 1 + n + i)] * child.extent;
  };
  if (gapless(child)) {
    std::vector<Pattern::Block> blocks(static_cast<size_t>(n));
    for (int64_t i = 0; i < n; ++i) blocks[size_t(i)] = {offset(i), length(i) * child.extent};
    return Pattern::scattered(std::move(blocks));
  }
  std::vector<Pattern::Placed> parts;
  parts.reserve(size_t(n));
  std::unordered_map<int64_t, PatternPtr> of_length;  // one object for all of a length
  for (int64_t i = 0; i < n; ++i) {
    PatternPtr& block = of_length[length(i)];
    if (!block) block = block_of(child, length(i));
    parts.push_back({offset(i), block});
  }
  return Pattern::sequence(std::move(parts));
}

Result<PatternPtr> Decoder::structure(const Contents& c, int depth) {
  std::unordered_map<MPI_Datatype, TypeShape> shapes;
  bool all_gapless = true;
  for (size_t i = 0; i < c.types.size(); ++i) {
    if ((i > 0 && c.types[i] == c.types[i - 1]) || shapes.contains(c.types[i])) continue;
    auto child = decode(c.types[i], depth + 1);
    if (!child) return tl::unexpected(child.error());
    all_gapless = all_gapless && gapless(*child);
    shapes.emplace(c.types[i], *std::move(child));
  }
  std::vector<Pattern::Block> blocks;
  std::vector<Pattern::Placed> parts;
  const TypeShape* child = nullptr;
  for (size_t i = 0; i < c.types.size(); ++i) {
    if (i == 0 || c.types[i] != c.types[i - 1]) child = &shapes.at(c.types[i]);
    const int64_t length = c.numbers[1 + i];
    if (all_gapless)
      blocks.push_back({c.addresses[i], length * child->extent});
    else
      parts.push_back({c.addresses[i], block_of(*child, length)});
  }
  return all_gapless ? Pattern::scattered(std::move(blocks)) : Pattern::sequence(std::move(parts));
}

// Row-major nest of loops, innermost dimension first.
PatternPtr subarray(const Contents& c, const TypeShape& child) {
  const size_t dims = size_t(c.numbers[0]);
  const bool fortran = c.numbers[1 + 3 * dims] == MPI_ORDER_FORTRAN;
  PatternPtr pattern = child.pattern;
  int64_t stride = child.extent, offset = 0;
  for (size_t k = 0; k < dims; ++k) {
    const size_t d = fortran ? k : dims - 1 - k;
    const int64_t whole = c.numbers[1 + d], part = c.numbers[1 + dims + d];
    pattern = Pattern::loop(pattern, part, stride);
    offset += c.numbers[1 + 2 * dims + d] * stride;
    stride *= whole;
  }
  return Pattern::shifted(pattern, offset);
}

Result<PatternPtr> Decoder::pattern_of(const Contents& c, int depth) {
  if (c.combiner == MPI_COMBINER_STRUCT) return structure(c, depth);
  if (c.types.empty()) return fail(EINVAL, "unknown datatype constructor {}", c.combiner);
  auto child = decode(c.types[0], depth + 1);
  if (!child) return child.map([](const TypeShape& s) { return s.pattern; });
  switch (c.combiner) {
    case MPI_COMBINER_DUP:
    case MPI_COMBINER_RESIZED:
      return child->pattern;
    case MPI_COMBINER_CONTIGUOUS:
      return block_of(*child, c.numbers[0]);
    case MPI_COMBINER_VECTOR:
      return Pattern::loop(block_of(*child, c.numbers[1]), c.numbers[0],
                           c.numbers[2] * child->extent);
    case MPI_COMBINER_HVECTOR:
      return Pattern::loop(block_of(*child, c.numbers[1]), c.numbers[0], c.addresses[0]);
    case MPI_COMBINER_INDEXED:
    case MPI_COMBINER_HINDEXED:
    case MPI_COMBINER_INDEXED_BLOCK:
    case MPI_COMBINER_HINDEXED_BLOCK:
      return indexed(c, *child);
    case MPI_COMBINER_SUBARRAY:
      return subarray(c, *child);
    case MPI_COMBINER_DARRAY:
      return darray_pattern(c.numbers, child->pattern, child->extent);
    default:
      return fail(EINVAL, "unknown datatype constructor {}", c.combiner);
  }
}

Result<TypeShape> Decoder::decode(MPI_Datatype type, int depth) {
  if (type == handles().datatype_null) return fail(EINVAL, "datatype is MPI_DATATYPE_NULL");
  if (depth > kMaxDepth) return fail(E2BIG, "datatype is nested deeper than {} levels", kMaxDepth);
  if (const TypeShape* const known = depth > 0 ? find(type) : nullptr) {
    plain_ = plain_ && known->plain && find_named(type);
    return *known;
  }
  auto contents = contents_of(type);
  if (!contents) return tl::unexpected(contents.error());
  if (is_predefined(contents->combiner)) {
    bool plain = contents->combiner == MPI_COMBINER_NAMED;
    auto shape = predefined(type, plain);
    plain_ = plain_ && plain;
    if (!shape) return shape;
    shape->plain = plain;
    if (contents->named) keep_named(type, *shape);
    return shape;
  }
  if (depth > 0 || contents->combiner == MPI_COMBINER_RESIZED ||
      std::find(contents->numbers.begin(), contents->numbers.end(), 0) != contents->numbers.end())
    plain_ = false;
  auto pattern = pattern_of(*contents, depth);
  for (MPI_Datatype each : contents->types) free_unless_predefined(each);
  if (!pattern) return tl::unexpected(pattern.error());
  MPI_Count lower_bound, extent;
  if (real().Type_get_extent_x(type, &lower_bound, &extent) != MPI_SUCCESS)
    return fail(EINVAL, "datatype has no extent");
  return TypeShape{*pattern, lower_bound, extent, plain_};
}

}  // namespace

Result<TypeShape> decode_type(MPI_Datatype type) {
  if (const TypeShape* const known = find(type)) return *known;
  auto shape = Decoder().decode(type, 0);
  if (shape && !find_named(type)) keep(type, *shape);
  return shape;
}

void free_unless_predefined(MPI_Datatype type) {
  if (find_named(type)) return;
  int ints, addresses, types, combiner;
  if (real().Type_get_envelope(type, &ints, &addresses, &types, &combiner) == MPI_SUCCESS &&
      ints + addresses + types > 0 && !is_predefined(combiner))
    real().Type_free(&type);
}

}  // namespace haichi::mpi
