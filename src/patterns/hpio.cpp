// HPIO's regions, as in bench/io/hpio.c:
//   noncontiguous  region i of rank r begins at (i*P + r) * (size + space)
//   contiguous     region i of rank r begins at (r*count + i) * size
#include <errno.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "mpiio/twophase/demand_sum.h"
#include "mpiio/twophase/node_streams.h"
#include "mpiio/twophase/two_phase.h"
#include "mpiio/twophase/two_phase_schedule.h"
#include "mpiio/ways/options.h"
#include "mpiio/ways/way.h"
#include "patterns/file_steps.h"
#include "patterns/pattern.h"

namespace haichi::patterns {
namespace {

using mpiio::Access;
using plan::Step;

// Most bytes of a file, so that no sum of offsets overflows.
constexpr int64_t kLargestFile = int64_t(1) << 60;

// What the schedules of all ranks point to.
struct Base {
  std::vector<Access> accesses;  // by rank
  mpiio::AccessList others;      // the same
  mpiio::TwoPhasePlan plan;
  std::optional<mpiio::NodeStreams> streams;
  mpiio::WayChoice choice;
};

// A rank that accesses its own pieces, one after the other.
class OwnPieces : public plan::Schedule {
 public:
  OwnPieces(Pieces pieces, bool writes) : pieces_(pieces), writes_(writes) {}
  bool next(Step& step) override {
    if (pieces_.range.empty()) return false;
    const plan::Slice slice{0, 0, std::min(pieces_.size, pieces_.range.size())};
    step = {.kind = writes_ ? Step::Kind::file_write : Step::Kind::file_read,
            .file_begin = pieces_.range.begin};
    (writes_ ? step.from : step.to) = slice;
    pieces_.range.begin += pieces_.stride;
    return true;
  }
  int max_outstanding() const override { return 0; }

 private:
  Pieces pieces_;
  const bool writes_;
};

int64_t stride_of(const Parameters& p) {
  return p.contiguous ? p.region_size : p.region_size + p.region_space;
}

Pieces pieces_of(const Parameters& p, int ranks, int rank) {
  if (p.contiguous) {
    const int64_t bytes = p.region_size * p.region_count;
    return {{rank * bytes, (rank + 1) * bytes}, bytes, bytes};
  }
  const int64_t begin = rank * stride_of(p), stride = stride_of(p) * ranks;
  return {{begin, begin + (p.region_count - 1) * stride + p.region_size}, p.region_size, stride};
}

Access access_of(const Parameters& p, int ranks, int rank) {
  const Pieces pieces = pieces_of(p, ranks, rank);
  const mpiio::View view{pieces.range.begin, mpiio::Pattern::block(pieces.size), pieces.stride};
  return {view, 0, p.region_size * p.region_count};
}

// As if the file system told how the file is striped, and HAICHI_MACHINE of the machine.
mpiio::TwoPhaseOptions options_of(const Case& of) {
  const Parameters& p = of.parameters;
  Settings settings = Settings::from_environment(nullptr);
  (void)settings.set("io.buffer", std::to_string(p.buffer), "option");
  mpiio::TwoPhaseOptions options = mpiio::options_of(settings, of.placement);
  options.layout = p.layout;
  options.order = p.order;
  options.aggregators = p.aggregators;
  options.per_node = p.per_node;
  options.max_outstanding = p.window;
  options.may_share = p.share;
  options.file_thread = p.thread;
  // Cycles one after the other are those of ROMIO, which has no streams.
  options.node_streams = p.cycles == Cycles::overlapping ? p.streams : mpiio::Choice::off;
  options.stripe_unit = int64_t(of.machine.stripe_bytes);
  options.stripes = int(of.machine.servers);
  options.machine = &of.machine;
  return options;
}

std::shared_ptr<const Base> plan(const Case& of) {
  auto base = std::make_shared<Base>();
  const Parameters& p = of.parameters;
  const int ranks = of.placement.ranks();
  for (int r = 0; r < ranks; ++r) base->accesses.push_back(access_of(p, ranks, r));
  std::vector<mpiio::RankDemand> demands;
  for (const Access& access : base->accesses)
    demands.push_back({.hull = access.hull(),
                       .bytes = access.end() - access.begin(),
                       .blocks = p.contiguous ? 1 : p.region_count,
                       .access = &access});
  base->others = mpiio::AccessList(base->accesses);
  const mpiio::TwoPhaseOptions options = options_of(of);
  base->plan = mpiio::plan_two_phase(of.placement, options, p.access, demands);
  if (base->plan.stream_part > 0) base->streams.emplace(of.placement, base->plan);
  base->choice = mpiio::choose_way(of.placement, options, p.access,
                                   mpiio::sum_of(base->accesses, p.access), {}, false);
  return base;
}

}  // namespace

Result<Job> hpio(const Case& of) {
  const Parameters& p = of.parameters;
  const int ranks = of.placement.ranks();
  if (p.region_size > kLargestFile || p.region_space > kLargestFile ||
      p.region_count > kLargestFile / ranks / stride_of(p))
    return fail(EINVAL, "the file would be too large: make region-count or region-size smaller");
  if (of.machine.servers < 1) return fail(EINVAL, "hpio needs a machine with servers");
  const auto base = plan(of);
  Job job;
  job.base = base;
  job.program_bytes = p.region_size * p.region_count * ranks;
  if (base->choice.way == mpiio::Way::alone) {
    job.why = {text_of(base->choice, of.placement, mpiio::sum_of(base->accesses, p.access))};
    for (int r = 0; r < ranks; ++r) {
      const Pieces own = pieces_of(p, ranks, r);
      job.schedules.push_back(std::make_unique<FileSteps>(
          std::make_unique<OwnPieces>(own, p.access == mpiio::Direction::write), own, p.holes,
          false));
    }
    return job;
  }
  job.why = base->plan.why;
  job.aggregators = base->plan.aggregators.ranks;
  job.cycles = base->plan.domains.cycles();
  const int64_t last = base->accesses.back().hull().end;
  const Pieces all{
      {0, last}, p.contiguous ? last : p.region_size, p.contiguous ? last : stride_of(p)};
  for (int r = 0; r < ranks; ++r) {
    std::unique_ptr<plan::Schedule> cycles = std::make_unique<mpiio::TwoPhaseSchedule>(
        of.placement, base->plan, r, base->accesses[size_t(r)], base->others, base->plan.shares,
        base->streams ? &*base->streams : nullptr);
    if (p.cycles != Cycles::overlapping)
      cycles = std::make_unique<CyclesApart>(std::move(cycles), r, ranks, p.cycles);
    job.schedules.push_back(
        std::make_unique<FileSteps>(std::move(cycles), all, p.holes, base->plan, r));
  }
  return job;
}

}  // namespace haichi::patterns
