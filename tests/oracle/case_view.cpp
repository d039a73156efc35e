// Random views: how the ranks of a case share a file.
#include <algorithm>

#include "oracle/case_plan.h"
#include "oracle/rng.h"
#include "oracle/type_generator.h"

namespace oracle {
namespace {

enum Purpose : uint64_t { kShared = 11, kOwn };

enum class Scheme {
  interleaved,  ///< block i of rank r is block i * ranks + r of the file: HPIO, IOR's segments
  darray,       ///< each rank the part of one distributed array that is its own
  subarray,     ///< each rank a block of one array
  segments,     ///< each rank a region of its own, holes in it as they come
  contiguous,   ///< etypes without holes, regions by the offsets of the calls
  same,         ///< one filetype for all ranks, regions by the offsets of the calls
  random        ///< each rank what it likes, overlaps and all
};

struct Shared {
  Scheme scheme;
  TypePtr etype;
  int64_t displacement;
};

Shared choose_shared(const Plan& plan, const Step& step) {
  Rng rng({plan.seed, plan.number, step.id, kShared});
  Shared shared;
  shared.etype = random_etype(rng, plan.features);
  shared.displacement = plan.base + (rng.chance(50) ? 0 : rng.between(0, 300));
  std::vector<Scheme> schemes = {Scheme::interleaved, Scheme::interleaved, Scheme::segments,
                                 Scheme::contiguous};
  if (plan.features.has(Feature::array_view)) {
    schemes.push_back(Scheme::darray);
    schemes.push_back(Scheme::subarray);
  }
  if (plan.features.has(Feature::overlap)) schemes.push_back(Scheme::random);
  if (plan.shared) schemes = {Scheme::contiguous, Scheme::same, Scheme::same};
  shared.scheme = rng.pick(schemes);
  return shared;
}

// What a filetype is made of: the etype, or where that is a byte anything, as HDF5 does it.
TypeGenerator::Leaf leaf_of(Rng& rng, const Plan& plan, const TypePtr& etype) {
  return [&rng, &plan, etype]() -> TypePtr {
    const bool byte = etype->kind == Kind::named && etype->named == Named::byte;
    return byte && rng.chance(25) ? random_leaf(rng, plan.features, true) : etype;
  };
}

// In blocks of so many bytes; none in three of four views.
int64_t gap_behind_row(const Plan& plan, const Step& step, int64_t block) {
  Rng rng({plan.seed, plan.number, step.id, kShared, 4});
  if (!plan.features.has(Feature::gaps) || !rng.chance(25)) return 0;
  // The model keeps every byte of the file; some steps go on where the one before has ended.
  const int64_t most_range = 4 << 20, rows = 12 + 6 * plan.call_bytes / block;
  return rng.between(0, most_range / rows / block);
}

// One pattern, in one of the forms in which programs write it, chosen by each rank on its own.
void interleave(View& view, const Plan& plan, const Step& step, int rank, Rng& own) {
  Rng rng({plan.seed, plan.number, step.id, kShared, 1});
  const int64_t block =
      rng.between(1, std::max<int64_t>(1, std::min<int64_t>(plan.call_bytes, 60)));
  int64_t slots = plan.ranks() + (rng.chance(40) ? rng.between(1, 2) : 0);
  const int64_t blocks = rng.between(1, 12), unit = view.etype->map.extent();
  slots += gap_behind_row(plan, step, block * unit);
  const int64_t at = rank * block, row = slots * block;
  const bool may_resize = plan.features.has(Feature::resized_view);
  const bool arrays = plan.features.has(Feature::array_view);
  switch (own.below(5)) {
    case 0:
      if (!arrays) break;
      view.filetype = subarray({blocks, row}, {blocks, block}, {0, at}, false, view.etype);
      return;
    case 1:
      if (!arrays) break;
      view.filetype = subarray({row, blocks}, {block, blocks}, {at, 0}, true, view.etype);
      return;
    case 2:
      if (!may_resize) break;
      view.displacement += at * unit;
      view.filetype = resized(0, row * unit, contiguous(block, view.etype));
      return;
    case 3:
      if (!may_resize) break;
      view.filetype = resized(0, row * unit, hindexed({block}, {at * unit}, view.etype));
      return;
    default:
      break;
  }
  view.displacement += at * unit;
  TypePtr rows = vector(blocks, block, row, view.etype);
  view.filetype = may_resize ? resized(0, blocks * row * unit, rows) : rows;
  // A vector ends with its last block: repeated, it would run into the others' shares.
  if (!may_resize) view.limit = std::min(view.limit, view.displacement + rows->map.extent());
}

// Factors of `ranks` for up to three dimensions.
std::vector<int64_t> process_grid(Rng& rng, int ranks) {
  std::vector<int64_t> grid;
  int64_t rest = ranks;
  while (grid.size() < 2) {
    std::vector<int64_t> divisors;
    for (int64_t d = 1; d <= rest; ++d)
      if (rest % d == 0) divisors.push_back(d);
    grid.push_back(rng.pick(divisors));
    rest /= grid.back();
  }
  grid.push_back(rest);
  rng.shuffle(grid);
  return grid;
}

void distribute_array(View& view, const Plan& plan, const Step& step, int rank) {
  Rng rng({plan.seed, plan.number, step.id, kShared, 2});
  std::vector<int64_t> grid = process_grid(rng, plan.ranks()), sizes, arguments;
  std::vector<Distribution> distributions;
  for (int64_t ranks : grid) {
    // Where the size is no multiple of the ranks, some may get nothing.
    const bool even = !plan.features.has(Feature::empty_view);
    sizes.push_back(rng.between(1, 4) * ranks + (even ? 0 : rng.below(3)));
    Distribution how = rng.chance(50) ? Distribution::block : Distribution::cyclic;
    if (ranks == 1 && rng.chance(50)) how = Distribution::none;
    int64_t argument = kDefaultArgument;
    if (how == Distribution::cyclic && !even && rng.chance(50)) argument = rng.between(1, 3);
    distributions.push_back(how);
    arguments.push_back(argument);
  }
  view.filetype =
      darray(plan.ranks(), rank, sizes, distributions, arguments, grid, rng.chance(50), view.etype);
}

void block_of_array(View& view, const Plan& plan, const Step& step, int rank) {
  Rng rng({plan.seed, plan.number, step.id, kShared, 3});
  const std::vector<int64_t> grid = process_grid(rng, plan.ranks());
  std::vector<int64_t> sizes, subsizes, starts;
  int64_t rest = rank;
  for (int64_t ranks : grid) {
    const int64_t share = rng.between(1, 5);
    subsizes.push_back(share);
    starts.push_back(rest % ranks * share);
    sizes.push_back(ranks * share + rng.below(3));
    rest /= ranks;
  }
  view.filetype = subarray(sizes, subsizes, starts, rng.chance(50), view.etype);
}

void own_pattern(View& view, const Plan& plan, Rng& own) {
  Rules rules{.view = true,
              .overlap = plan.mode == Mode::rdonly && plan.features.has(Feature::reread),
              .unit = view.etype->map.extent(),
              .most_basics = 1000,
              .most_span = std::max<int64_t>(64 * view.etype->map.extent(), plan.call_bytes)};
  TypeGenerator generator(own, plan.features, rules, leaf_of(own, plan, view.etype));
  const int depth = plan.features.has(Feature::nested_view) ? int(own.between(1, 4)) : 1;
  view.filetype = generator.make(depth, plan.features.has(Feature::empty_view));
  const Typemap& map = view.filetype->map;
  const int64_t units = (map.true_upper() - map.true_lower() - 1) / rules.unit;
  if (plan.features.has(Feature::one_tile) && units > 0 && own.chance(8))
    view.filetype = resized(0, rules.unit * own.between(1, units), view.filetype);
}

// A pattern that all ranks have, and of its etypes each rank its share.
void same_pattern(View& view, const Plan& plan, const Step& step, int rank) {
  Rng rng({plan.seed, plan.number, step.id, kShared, 4});
  own_pattern(view, plan, rng);
  const ViewMap map = view.map();
  const int64_t etypes = map.bytes_below(view.limit) / map.etype_size();
  view.first = rank * etypes / plan.ranks();
  const int64_t next = (rank + 1) * etypes / plan.ranks();
  if (next < etypes) view.limit = map.pieces(next * map.etype_size(), 1).front().at;
}

}  // namespace

View default_view(const Plan& plan, int rank) {
  View view;
  view.etype = view.filetype = named(Named::byte);
  view.limit = plan.base + plan.file_bytes;
  Rng rng({plan.seed, plan.number, kShared});
  if (rng.chance(60) || !plan.features.has(Feature::overlap)) {
    view.first = rank * (plan.file_bytes / plan.ranks());
    view.limit = plan.base + (rank + 1) * (plan.file_bytes / plan.ranks());
  }
  return view;
}

View make_view(const Plan& plan, const Step& step, int rank) {
  const Shared shared = choose_shared(plan, step);
  Rng own({plan.seed, plan.number, step.id, uint64_t(rank), kOwn});
  View view;
  view.etype = shared.etype;
  view.displacement = shared.displacement;
  view.limit = plan.base + plan.file_bytes;
  const int64_t room = view.limit - view.displacement;
  const int64_t share = room / plan.ranks();
  switch (shared.scheme) {
    case Scheme::interleaved:
      interleave(view, plan, step, rank, own);
      break;
    case Scheme::darray:
      distribute_array(view, plan, step, rank);
      break;
    case Scheme::subarray:
      block_of_array(view, plan, step, rank);
      break;
    case Scheme::segments:
      view.displacement += rank * share;
      view.limit = view.displacement + share;
      own_pattern(view, plan, own);
      break;
    case Scheme::contiguous:
      view.filetype = view.etype;
      view.first = rank * share / view.etype->map.extent();
      // The last etype of a share may begin in it and end in the next one.
      view.limit = view.displacement +
                   (rank + 1) * share / view.etype->map.extent() * view.etype->map.extent();
      break;
    case Scheme::same:
      same_pattern(view, plan, step, rank);
      break;
    case Scheme::random:
      view.displacement += own.between(0, plan.call_bytes);
      own_pattern(view, plan, own);
      break;
  }
  return view;
}

}  // namespace oracle
