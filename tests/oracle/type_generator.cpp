#include "oracle/type_generator.h"

#include <algorithm>
#include <numeric>

namespace oracle {
namespace {

int64_t round_up(int64_t value, int64_t unit) { return (value + unit - 1) / unit * unit; }

int64_t span(const Typemap& map) { return map.true_upper() - map.true_lower(); }

// What all libraries pad alike: a structure of named types, as C has it. Its members must not be of
// one size, since MPICH makes an hindexed type, which it does not pad, of a structure of one type,
// and the first must be the lowest, since Open MPI pads after each.
bool is_c_struct(const Type& type) {
  if (type.kind != Kind::structure || type.map.upper_mark || type.map.basics.empty()) return false;
  bool several = false;
  for (const TypePtr& child : type.children) {
    if (child->kind != Kind::named || is_pair(child->named)) return false;
    several |= child->map.size() != type.children.front()->map.size();
  }
  return several && type.map.basics.front().at == type.map.true_lower();
}

// True if the MPI libraries differ on the bounds of a type: MPICH pads structs, whatever their
// markers, Open MPI all that has no marker, and nobody what has one; MPICH 4.0.2 gives an empty
// vector bounds, and those to what it is part of.
bool bounds_disputed(const Type& type) {
  const Typemap& map = type.map;
  if (type.kind != Kind::structure) return map.padding() != 0 || !map.bounds_agreed();
  const bool hollow =
      std::find(type.lengths.begin(), type.lengths.end(), 0) != type.lengths.end() ||
      std::any_of(type.children.begin(), type.children.end(),
                  [](const TypePtr& child) { return child->map.basics.empty(); });
  if (hollow) return true;
  if (is_c_struct(type)) return false;
  const bool marked_padding = map.upper_mark && map.extent() % map.alignment != 0;
  return map.padding() != 0 || marked_padding || !map.bounds_agreed();
}

bool disjoint(std::vector<Basic> basics) {
  std::sort(basics.begin(), basics.end(),
            [](const Basic& a, const Basic& b) { return a.at < b.at; });
  for (size_t i = 1; i < basics.size(); ++i)
    if (basics[i - 1].at + basics[i - 1].size > basics[i].at) return false;
  return true;
}

}  // namespace

int64_t TypeGenerator::length(int64_t most) {
  if (features_.has(Feature::zero_length) && rng_.chance(7)) return 0;
  return rng_.between(1, most);
}

int64_t TypeGenerator::gap() {
  if (rules_.unit > 1) return rules_.unit * rng_.between(0, 3);
  switch (rng_.below(4)) {
    case 0:
      return 0;
    case 1:
      return 8 * rng_.between(0, 4);
    case 2:
      return rng_.between(0, 40);
    default:
      return rng_.between(0, 5);
  }
}

TypePtr TypeGenerator::make(int depth, bool may_be_empty) {
  for (int tries = 0; tries < 12; ++tries) {
    TypePtr type = attempt(depth);
    if (!fits(*type)) continue;
    if (type->map.basics.empty() && !may_be_empty) continue;
    return type;
  }
  return contiguous(rng_.between(1, 3), leaf_());
}

TypePtr TypeGenerator::attempt(int depth) {
  if (depth == 0) return leaf_();
  TypePtr child = attempt(depth - 1);
  // Constructors of something without data stop here: Open MPI 4.1.4 refuses a darray of it, and
  // the bounds of the rest are disputed.
  if (child->map.basics.empty()) return child;
  std::vector<Kind> kinds = {Kind::dup,           Kind::contiguous,     Kind::vector,
                             Kind::hvector,       Kind::indexed,        Kind::hindexed,
                             Kind::indexed_block, Kind::hindexed_block, Kind::structure};
  if (has(Feature::resized_memory, Feature::resized_view)) {
    kinds.push_back(Kind::resized);
    kinds.push_back(Kind::resized);
  }
  if (has(Feature::array_memory, Feature::array_view)) {
    kinds.push_back(Kind::subarray);
    kinds.push_back(Kind::darray);
  }
  TypePtr type = settle(construct(rng_.pick(kinds), child, depth));
  // What does not fit inside will not fit outside.
  return type && fits(*type) ? type : child;
}

TypePtr TypeGenerator::construct(Kind kind, const TypePtr& child, int depth) {
  switch (kind) {
    case Kind::dup:
      return dup(child);
    case Kind::contiguous:
      return contiguous(length(5), child);
    case Kind::vector:
      return make_vector(false, child);
    case Kind::hvector:
      return make_vector(true, child);
    case Kind::structure:
      return make_struct(child, depth);
    case Kind::subarray:
      return make_subarray(child);
    case Kind::darray:
      return make_darray(child);
    case Kind::resized:
      return make_resized(child);
    default:
      return make_indexed(kind, child);
  }
}

// Gives a type whose extent the libraries do not agree on an explicit one; null if it may not.
TypePtr TypeGenerator::settle(TypePtr type) {
  const Typemap& map = type->map;
  if (rules_.view && map.lower() != 0 && !features_.has(Feature::lower_view)) {
    if (!features_.has(Feature::resized_view)) return nullptr;
    return resized(0, round_up(std::max(map.upper(), map.true_upper()), rules_.unit), type);
  }
  const bool off_unit = map.extent() % rules_.unit != 0;
  const bool disputed = bounds_disputed(*type);
  if (!off_unit && !disputed) return type;
  if (!has(Feature::resized_memory, Feature::resized_view)) return nullptr;
  return resized(map.lower(), round_up(map.extent(), rules_.unit), type);
}

bool TypeGenerator::fits(const Type& type) const {
  const Typemap& map = type.map;
  if (int64_t(map.basics.size()) > rules_.most_basics) return false;
  if (span(map) > rules_.most_span || map.extent() > 4 * rules_.most_span) return false;
  if (std::abs(map.true_lower()) > 4 * rules_.most_span) return false;
  if (map.basics.empty()) return true;
  if (!rules_.overlap && !disjoint(map.basics)) return false;
  if (!rules_.view) return true;
  if (map.true_lower() < 0 || map.extent() < span(map) || map.extent() <= 0) return false;
  if (map.upper() < map.true_upper() && !features_.has(Feature::shifted_view)) return false;
  return std::is_sorted(map.basics.begin(), map.basics.end(),
                        [](const Basic& a, const Basic& b) { return a.at < b.at; });
}

TypePtr TypeGenerator::make_vector(bool bytes, const TypePtr& child) {
  const int64_t count = length(5), block = length(3);
  const int64_t extent = child->map.extent();
  int64_t stride = block + rng_.between(0, 3);
  if (rules_.overlap && rng_.chance(30)) stride = rng_.between(0, block);
  if (negative() && rng_.chance(25)) stride = -stride;
  // Open MPI 4.1.4 takes a stride of -1 byte for one of +1.
  if (stride * extent == -1) --stride;
  if (!bytes) return vector(count, block, stride, child);
  int64_t step = std::max<int64_t>(0, block - 1) * extent + span(child->map);
  step = round_up(step, rules_.unit) + gap();
  if (rules_.overlap && rng_.chance(30)) step = step / 2 / rules_.unit * rules_.unit;
  return hvector(count, block, stride < 0 && step != 1 ? -step : step, child);
}

TypePtr TypeGenerator::make_indexed(Kind kind, const TypePtr& child) {
  const bool same = kind == Kind::indexed_block || kind == Kind::hindexed_block;
  const bool bytes = kind == Kind::hindexed || kind == Kind::hindexed_block;
  const int64_t blocks = length(5), extent = child->map.extent();
  const int64_t common = length(3);
  std::vector<int64_t> lengths, at;
  int64_t cursor = negative() ? rng_.between(-6, 3) : rng_.between(0, 3);
  cursor *= bytes ? rules_.unit : 1;
  for (int64_t i = 0; i < blocks; ++i) {
    const int64_t block = same ? common : length(3);
    lengths.push_back(block);
    at.push_back(cursor);
    if (bytes)
      cursor += round_up(std::max<int64_t>(0, block - 1) * extent +
                             std::max(span(child->map), child->map.true_upper()),
                         rules_.unit) +
                gap();
    else
      cursor += block + rng_.between(0, 3);
    if (rules_.overlap && rng_.chance(15)) cursor = at.back();
  }
  if (permuted() && rng_.chance(50)) {
    std::vector<size_t> order(lengths.size());
    std::iota(order.begin(), order.end(), 0);
    rng_.shuffle(order);
    std::vector<int64_t> l, d;
    for (size_t i : order) l.push_back(lengths[i]), d.push_back(at[i]);
    lengths = l, at = d;
  }
  switch (kind) {
    case Kind::indexed:
      return indexed(lengths, at, child);
    case Kind::hindexed:
      return hindexed(lengths, at, child);
    case Kind::indexed_block:
      return indexed_block(common, at, child);
    default:
      return hindexed_block(common, at, child);
  }
}

TypePtr TypeGenerator::make_struct(const TypePtr& child, int depth) {
  std::vector<TypePtr> parts = {child};
  while (parts.size() < 4 && rng_.chance(55))
    parts.push_back(rng_.chance(50) ? leaf_() : attempt(int(rng_.below(depth))));
  if (!rules_.view) rng_.shuffle(parts);
  std::vector<int64_t> lengths, at;
  int64_t cursor = negative() && rng_.chance(40) ? -rng_.between(1, 64) : gap();
  for (const TypePtr& part : parts) {
    const int64_t block = length(3);
    int64_t start = cursor;
    if (!rules_.view) start -= part->map.true_lower();
    if (start % part->map.alignment != 0 && rules_.unit == 1 && rng_.chance(60))
      start = round_up(start + 4096, part->map.alignment) - 4096;
    lengths.push_back(block);
    at.push_back(start);
    cursor = round_up(start + std::max<int64_t>(0, block - 1) * part->map.extent() +
                          std::max<int64_t>(0, part->map.true_upper()),
                      rules_.unit) +
             gap();
  }
  if (permuted() && rng_.chance(40)) {
    std::reverse(parts.begin(), parts.end());
    std::reverse(lengths.begin(), lengths.end());
    std::reverse(at.begin(), at.end());
  }
  return structure(lengths, at, parts);
}

TypePtr TypeGenerator::make_subarray(const TypePtr& child) {
  const int64_t dimensions = rng_.between(1, 3);
  std::vector<int64_t> sizes, subsizes, starts;
  for (int64_t d = 0; d < dimensions; ++d) {
    sizes.push_back(rng_.between(1, 5));
    subsizes.push_back(rng_.between(1, sizes.back()));
    starts.push_back(rng_.between(0, sizes.back() - subsizes.back()));
  }
  return subarray(sizes, subsizes, starts, rng_.chance(50), child);
}

TypePtr TypeGenerator::make_darray(const TypePtr& child) {
  const int64_t dimensions = rng_.between(1, 3);
  std::vector<int64_t> sizes, arguments, grid;
  std::vector<Distribution> distributions;
  int64_t ranks = 1;
  for (int64_t d = 0; d < dimensions; ++d) {
    sizes.push_back(rng_.between(1, 6));
    const Distribution how = Distribution(rng_.below(3));
    grid.push_back(how == Distribution::none ? 1 : rng_.between(1, 3));
    int64_t argument = kDefaultArgument;
    if (how == Distribution::cyclic && rng_.chance(60)) argument = rng_.between(1, 3);
    if (how == Distribution::block && rng_.chance(40))
      argument = (sizes.back() + grid.back() - 1) / grid.back() + rng_.below(2);
    distributions.push_back(how);
    arguments.push_back(argument);
    ranks *= grid.back();
  }
  const int64_t rank = rng_.below(ranks);
  return darray(ranks, rank, sizes, distributions, arguments, grid, rng_.chance(50), child);
}

TypePtr TypeGenerator::make_resized(const TypePtr& child) {
  const Typemap& map = child->map;
  if (rules_.view) {
    const bool any = features_.has(Feature::lower_view) && rng_.chance(40);
    const int64_t lower = any ? rules_.unit * rng_.between(-1, 1) : 0;
    const bool within = !features_.has(Feature::shifted_view) || rng_.chance(70);
    const int64_t least =
        round_up(within ? std::max(map.true_upper() - lower, span(map)) : span(map), rules_.unit);
    return resized(lower, least + rules_.unit * rng_.between(0, 4), child);
  }
  switch (rng_.below(4)) {
    case 0:
      return resized(map.true_lower(), span(map), child);
    case 1:
      return resized(map.lower(), map.extent() + gap(), child);
    case 2: {
      const int64_t before = negative() ? gap() : 0;
      return resized(map.lower() - before, map.extent() + before + gap(), child);
    }
    default: {
      // As for the column of a matrix: repeated, it interleaves with itself.
      const int64_t first = map.basics.empty() ? 1 : map.basics.front().size;
      return resized(negative() ? -rng_.between(0, 8) : 0, first, child);
    }
  }
}

TypePtr random_leaf(Rng& rng, const Features& features, bool view) {
  if (features.has(view ? Feature::f90_view : Feature::f90_memory) && rng.chance(12)) {
    switch (rng.below(3)) {
      case 0:
        return rng.chance(50) ? f90_real(6, 30) : f90_real(15, 300);
      case 1:
        return rng.chance(50) ? f90_complex(6, 30) : f90_complex(15, 300);
      default:
        return f90_integer(rng.pick<int64_t>({2, 4, 9, 18}));
    }
  }
  const bool wide = features.has(Feature::long_double);
  const int64_t pairs =
      int64_t(Named::pair_long_double_int) - int64_t(Named::pair_float_int) + wide;
  if (features.has(view ? Feature::pair_view : Feature::pair_memory) && rng.chance(15))
    return named(Named(int64_t(Named::pair_float_int) + rng.below(pairs)));
  const Named which = Named(rng.below(int64_t(Named::pair_float_int)));
  return named(which == Named::long_double && !wide ? Named::double_real : which);
}

TypePtr random_etype(Rng& rng, const Features& features) {
  if (!features.has(Feature::etype)) return named(Named::byte);
  const int64_t dice = rng.below(100);
  if (dice < 35) return named(Named::byte);
  TypePtr leaf = random_leaf(rng, features, true);
  if (dice < 75) return leaf;
  if (dice < 85) return contiguous(rng.between(1, 4), leaf);
  Rules rules{.view = true, .most_basics = 12, .most_span = 128};
  TypeGenerator generator(rng, features, rules, [&] { return random_leaf(rng, features, true); });
  return generator.make(features.has(Feature::nested_view) ? 2 : 1, false);
}

}  // namespace oracle
