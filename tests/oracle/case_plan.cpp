#include "oracle/case_plan.h"

#include <algorithm>
#include <numeric>

#include "oracle/rng.h"
#include "oracle/type_generator.h"

namespace oracle {
namespace {

// Last word of the path of a random number: what it decides.
enum Purpose : uint64_t { kPlan = 1, kSeek, kCall, kData, kPrefillData, kSharing, kBehind };

void choose_members(Plan& plan, Rng& rng, int world) {
  plan.members.resize(size_t(world));
  std::iota(plan.members.begin(), plan.members.end(), 0);
  if (!plan.features.has(Feature::subcomm) || !rng.chance(35)) return;
  rng.shuffle(plan.members);
  const int least = plan.features.has(Feature::single) ? 1 : std::min(2, world);
  plan.members.resize(size_t(rng.between(least, world)));
}

void choose_sizes(Plan& plan, Rng& rng) {
  const int64_t dice = rng.below(100);
  plan.call_bytes = dice < 40   ? rng.between(1, 200)
                    : dice < 85 ? rng.between(200, 3000)
                                : rng.between(3000, 20000);
  // Holes and other ranks' shares make the file larger than what is moved.
  plan.file_bytes = (plan.call_bytes * plan.ranks() + 512) * 6;
  if (plan.features.has(Feature::far) && rng.chance(6))
    plan.base = rng.pick<int64_t>({INT64_C(0x7fffff00), INT64_C(0xfffffff0), INT64_C(0x123456789)});
}

void choose_mode(Plan& plan, Rng& rng) {
  const int64_t dice = rng.below(100);
  plan.mode = dice < 35   ? Mode::create_rdwr
              : dice < 50 ? Mode::create_wronly
              : dice < 75 ? Mode::rdwr
              : dice < 85 ? Mode::wronly
                          : Mode::rdonly;
  if (plan.mode != Mode::create_rdwr && plan.mode != Mode::create_wronly)
    plan.prefill_bytes = rng.chance(10) ? 0 : rng.between(1, plan.file_bytes * 3 / 4);
}

void choose_hints(Plan& plan, Rng& rng) {
  if (!plan.features.has(Feature::hints)) return;
  const auto hint = [&](int percent, const char* key, const std::string& value) {
    if (rng.chance(percent)) plan.hints.emplace_back(key, value);
  };
  const int64_t nodes = rng.between(1, plan.ranks());
  hint(60, "cb_nodes", std::to_string(nodes));
  // So that some cases take many cycles, none takes a thousand.
  const int64_t cycles = rng.pick<int64_t>({1, 2, 3, 7, 20, 40});
  const int64_t buffer =
      std::clamp<int64_t>(plan.file_bytes / nodes / cycles + rng.below(8), 64, 4096);
  hint(80, "cb_buffer_size", std::to_string(std::max(buffer, plan.file_bytes / 200)));
  const int64_t unit = rng.pick<int64_t>({64, 100, 128, 512, 1024, 4096});
  hint(30, "striping_unit", std::to_string(unit));
  hint(15, "striping_factor", std::to_string(rng.between(1, 8)));
  hint(50, "haichi_cb_layout", rng.pick<std::string>({"roundrobin", "packed"}));
  hint(60, "haichi_comm_order",
       rng.pick<std::string>({"rank", "pairwise", "nd_shift", "nd_rank_shift"}));
  hint(40, "haichi_comm_window", std::to_string(rng.pick<int64_t>({0, 1, 2, 4, 32})));
  hint(40, "haichi_holes", rng.pick<std::string>({"auto", "separate", "rmw"}));
  hint(60, "haichi_node_streams", rng.pick<std::string>({"on", "on", "off"}));
  const std::string how = rng.pick<std::string>({"enable", "enable", "automatic"});
  hint(50, "romio_cb_write", how);
  hint(50, "romio_cb_read", how);
}

// Which of the ranks' accesses at the shared file pointer.
StepKind choose_shared_access(const Plan& plan, bool write, Rng& rng) {
  if (plan.features.has(Feature::independent) && rng.chance(15))
    return write ? StepKind::write_shared : StepKind::read_shared;
  if (plan.features.has(Feature::split) && rng.chance(30))
    return write ? StepKind::write_ordered_split : StepKind::read_ordered_split;
  return write ? StepKind::write_ordered : StepKind::read_ordered;
}

StepKind choose_access(const Plan& plan, Rng& rng) {
  const bool write = plan.writable() && (!plan.readable() || rng.chance(55));
  if (plan.shared && rng.chance(65)) return choose_shared_access(plan, write, rng);
  const bool explicit_offset = rng.chance(50);
  if (plan.features.has(Feature::independent) && rng.chance(8))
    return write ? (explicit_offset ? StepKind::write_at : StepKind::write)
                 : (explicit_offset ? StepKind::read_at : StepKind::read);
  if (plan.features.has(Feature::split) && rng.chance(12))
    return write ? (explicit_offset ? StepKind::write_at_all_split : StepKind::write_all_split)
                 : (explicit_offset ? StepKind::read_at_all_split : StepKind::read_all_split);
  if (plan.features.has(Feature::nonblocking) && rng.chance(12))
    return write ? (explicit_offset ? StepKind::iwrite_at_all : StepKind::iwrite_all)
                 : (explicit_offset ? StepKind::iread_at_all : StepKind::iread_all);
  return write ? (explicit_offset ? StepKind::write_at_all : StepKind::write_all)
               : (explicit_offset ? StepKind::read_at_all : StepKind::read_all);
}

void choose_steps(Plan& plan, Rng& rng) {
  uint64_t id = 0;
  const auto add = [&](StepKind kind) { plan.steps.push_back({kind, ++id}); };
  const int64_t accesses = rng.between(1, 5);
  // Far from the start of the file only a view's displacement gets there.
  if (plan.base > 0 || rng.chance(75)) add(StepKind::set_view);
  for (int64_t i = 0; i < accesses; ++i) {
    if (i > 0 && rng.chance(30)) add(StepKind::set_view);
    if (rng.chance(35)) add(StepKind::seek);
    if (plan.shared && rng.chance(30)) add(StepKind::seek_shared);
    add(choose_access(plan, rng));
    if (plan.writable() && rng.chance(25)) add(StepKind::sync);
  }
}

}  // namespace

const char* name_of(StepKind kind) {
  static const char* const names[] = {"set_view",
                                      "seek",
                                      "seek_shared",
                                      "sync",
                                      "write_all",
                                      "write_at_all",
                                      "read_all",
                                      "read_at_all",
                                      "write_all_begin/end",
                                      "write_at_all_begin/end",
                                      "read_all_begin/end",
                                      "read_at_all_begin/end",
                                      "iwrite_all",
                                      "iwrite_at_all",
                                      "iread_all",
                                      "iread_at_all",
                                      "write_ordered",
                                      "read_ordered",
                                      "write_ordered_begin/end",
                                      "read_ordered_begin/end",
                                      "write",
                                      "write_at",
                                      "read",
                                      "read_at",
                                      "write_shared",
                                      "read_shared"};
  return names[size_t(kind)];
}

bool is_write(StepKind kind) {
  switch (kind) {
    case StepKind::write_all:
    case StepKind::write_at_all:
    case StepKind::write_all_split:
    case StepKind::write_at_all_split:
    case StepKind::iwrite_all:
    case StepKind::iwrite_at_all:
    case StepKind::write_ordered:
    case StepKind::write_ordered_split:
    case StepKind::write:
    case StepKind::write_at:
    case StepKind::write_shared:
      return true;
    default:
      return false;
  }
}

bool is_read(StepKind kind) { return kind > StepKind::sync && !is_write(kind); }

bool has_offset(StepKind kind) {
  switch (kind) {
    case StepKind::write_at_all:
    case StepKind::read_at_all:
    case StepKind::write_at_all_split:
    case StepKind::read_at_all_split:
    case StepKind::iwrite_at_all:
    case StepKind::iread_at_all:
    case StepKind::write_at:
    case StepKind::read_at:
      return true;
    default:
      return false;
  }
}

bool is_collective(StepKind kind) {
  return kind >= StepKind::write_all && kind <= StepKind::read_ordered_split;
}

bool is_at_shared(StepKind kind) {
  return (kind >= StepKind::write_ordered && kind <= StepKind::read_ordered_split) ||
         kind >= StepKind::write_shared;
}

bool is_independent(StepKind kind) { return kind >= StepKind::write; }

Plan make_plan(uint64_t seed, uint64_t number, int world, const Features& features) {
  Plan plan;
  plan.seed = seed, plan.number = number, plan.features = features;
  Rng rng({seed, number, kPlan});
  // By numbers of its own: the other cases are the same with and without the feature.
  plan.shared = features.has(Feature::shared) && Rng({seed, number, kSharing}).chance(15);
  choose_members(plan, rng, world);
  choose_sizes(plan, rng);
  choose_mode(plan, rng);
  choose_hints(plan, rng);
  // By numbers of its own, too.
  if (features.has(Feature::hints) && Rng({seed, number, kBehind}).chance(50))
    plan.hints.emplace_back("haichi_nonblocking", "thread");
  choose_steps(plan, rng);
  return plan;
}

uint64_t prefill_key(const Plan& plan) { return Rng::hash({plan.seed, plan.number, kPrefillData}); }

uint64_t buffer_key(const Plan& plan, const Step& step, int rank) {
  return Rng::hash({plan.seed, plan.number, step.id, uint64_t(rank), kData});
}

Seek make_seek(const Plan& plan, const Step& step, int rank, const View& view, int64_t position,
               int64_t file_size) {
  Rng rng({plan.seed, plan.number, step.id, uint64_t(rank), kSeek});
  const int64_t share = plan.call_bytes / std::max<int64_t>(1, view.etype->map.size());
  Seek seek;
  if (view.filetype->map.basics.empty()) return seek;  // no place to go to
  seek.offset = view.first + rng.between(0, share);
  const int64_t dice = rng.below(100);
  if (dice < 55) return seek;
  if (dice < 90 || !plan.features.has(Feature::seek_end)) {
    seek.whence = Seek::Whence::cur;
    seek.offset = rng.between(-std::min(position, share), share);
    return seek;
  }
  // Only where the file ends between two etypes of the view is its end one number.
  const ViewMap map = view.map();
  const int64_t available = map.bytes_below(file_size);
  if (available == 0 || available % map.etype_size() != 0) return seek;
  seek.whence = Seek::Whence::end;
  seek.offset = -rng.between(0, std::min<int64_t>(available / map.etype_size(), 20));
  return seek;
}

Seek make_shared_seek(const Plan& plan, const Step& step, const View& view, int64_t position,
                      int64_t file_size) {
  View all = view;
  all.first = 0;
  // Numbers of no rank.
  return make_seek(plan, step, plan.ranks(), all, position, file_size);
}

Call make_call(const Plan& plan, const Step& step, int rank, const View& view, int64_t position,
               int64_t file_size) {
  Rng rng({plan.seed, plan.number, step.id, uint64_t(rank), kCall});
  const ViewMap map = view.map();
  const bool write = is_write(step.kind);
  Call call;
  call.ignore_status = rng.chance(12);
  call.bottom = plan.features.has(Feature::bottom) && rng.chance(10);

  const bool byte_etype = view.etype->kind == Kind::named && view.etype->named == Named::byte;
  const int64_t wanted = rng.between(0, plan.call_bytes);
  Rules rules{.overlap = write && plan.features.has(Feature::overlap_memory),
              .most_basics = 4000,
              .most_span = std::max<int64_t>(256, 4 * plan.call_bytes)};
  TypeGenerator generator(rng, plan.features, rules, [&]() -> TypePtr {
    return byte_etype ? random_leaf(rng, plan.features, false) : view.etype;
  });
  const int deepest = plan.features.has(Feature::nested_memory) ? 4 : 1;
  const TypePtr plain = byte_etype ? named(Named::byte) : view.etype;
  if (!is_collective(step.kind)) {
    // These are here for what they do to the file and its pointers between collective calls.
    call.type = contiguous(view.etype->map.size(), named(Named::byte));
  } else if (rng.chance(15)) {
    call.type = plain;
  } else {
    call.type =
        generator.make(int(rng.between(0, deepest)), plan.features.has(Feature::zero_length));
  }
  const int64_t size = call.type->map.size();
  const bool idle = plan.features.has(Feature::idle) && rng.chance(12);
  call.count = idle ? 0 : size == 0 ? rng.between(0, 3) : std::max<int64_t>(1, wanted / size);
  // A buffer of some hundred KiB is enough, whatever the extent.
  const int64_t extent = std::max<int64_t>(1, call.type->map.extent());
  call.count = std::min(call.count, std::max<int64_t>(1, 300'000 / extent));

  call.offset = position;
  if (has_offset(step.kind)) {
    const int64_t share = plan.call_bytes / std::max<int64_t>(1, map.etype_size());
    call.offset = view.first + rng.between(0, rng.chance(50) ? 0 : share);
  }
  const bool shared = is_at_shared(step.kind);
  // Reads may cross the end of the file, one rank well beyond it, if that is wanted.
  int64_t limit = shared ? plan.base + plan.file_bytes : view.limit;
  if (!write && !(plan.features.has(Feature::eof) && rng.chance(35)))
    limit = std::min(limit, file_size);
  int64_t room = map.bytes_below(limit) - call.offset * map.etype_size();
  // The others' parts come before this one.
  if (shared) room /= plan.ranks();
  if (size > 0) call.count = std::min(call.count, std::max<int64_t>(0, room / size));
  if (map.empty() && size > 0) call.count = 0;
  // A file pointer that was not moved is at the same place on all ranks.
  if (!shared && call.offset < view.first && !plan.features.has(Feature::overlap)) call.count = 0;
  // Received bytes must have one place each (5.1.11), those sent need not.
  if (!write && call.count > 1 && MemoryMap(call.type->map, call.count).overlaps()) call.count = 1;
  return call;
}

}  // namespace oracle
