// Two-phase accesses of ranges that are mostly holes, of all ranks in one process.
#include <gtest/gtest.h>

#include "mpiio/twophase/two_phase.h"
#include "support/two_phase_job.h"

namespace haichi::mpiio {
namespace {

/// Ranks have disjoint random pieces in a few places that are far apart.
Job sparse_job(test::Random& random, std::vector<int>& owner) {
  Job job;
  job.placement = test::random_placement(random, int(random.between(2, 9)));
  job.options.aggregators = int(random.between(0, job.placement.ranks()));
  job.options.buffer = random.between(8 << 10, 128 << 10);
  job.holes = Holes(random.below(3));
  job.sharing_nodes = random.below(2) ? UINT32_MAX : 0;
  owner.assign(8 << 20, -1);
  owner.front() = 0;
  owner.back() = job.placement.ranks() - 1;
  for (int64_t place = random.between(2, 4); place > 0; --place) {
    int64_t at = random.between(0, int64_t(owner.size()) - (64 << 10));
    for (int64_t pieces = random.between(1, 30); pieces > 0; --pieces) {
      const int who = int(random.below(uint64_t(job.placement.ranks())));
      for (int64_t n = random.between(1, 900); n > 0; --n) owner[size_t(at++)] = who;
      at += random.between(0, 900);
    }
  }
  add_ranks(job, owner, [] { return 1; });
  return job;
}

TEST(SparseAccess, RangesThatAreMostlyHolesAreWrittenInFewCycles) {
  for (uint64_t seed = 0; seed < 40; ++seed) {
    test::Random random(seed);
    std::vector<int> owner;
    Job job = sparse_job(random, owner);
    job.file.bytes.assign(owner.size(), std::byte{0xEE});
    ASSERT_NO_FATAL_FAILURE(write_all_right(job, owner, seed));
    EXPECT_LT(job.cycles, 48) << seed;
  }
}

/// As random_job(), but between groups of pieces there are long holes.
Job scattered_job(test::Random& random, std::vector<int>& owner) {
  Job job = random_setting(random);
  const int ranks = job.placement.ranks();
  owner.assign(size_t(random.between(500, 9000)), -1);
  const int64_t most_pieces = random.between(1, 9), most_hole = random.between(100, 900);
  for (size_t at = size_t(random.below(50)); at < owner.size();) {
    for (int64_t pieces = random.between(1, most_pieces); pieces > 0; --pieces) {
      const size_t n = std::min(owner.size() - at, size_t(random.between(1, 12)));
      const int who = int(random.below(uint64_t(ranks)));
      for (size_t i = 0; i < n; ++i) owner[at++] = who;
      at = std::min(owner.size(), at + size_t(random.between(0, 6)));
    }
    at += size_t(random.between(50, most_hole));
  }
  add_ranks(job, owner, [&] { return random.between(1, 3); });
  return job;
}

TEST(SparseAccess, WindowsOfSeveralPartsAreWrittenAndReadRight) {
  int64_t in_parts = 0;
  for (uint64_t seed = 0; seed < 1500; ++seed) {
    test::Random random(seed);
    std::vector<int> owner;
    Job job = scattered_job(random, owner);
    job.file.bytes.assign(size_t(random.between(0, int64_t(owner.size()))), std::byte{0xEE});
    if (random.below(2)) job.file.most_per_call = size_t(random.between(1, 17));
    job.file.interruptions = int(random.below(3));
    auto memory = job.memory;
    ASSERT_NO_FATAL_FAILURE(write_all_right(job, owner, seed));
    in_parts += job.windows_in_parts;
    memory.swap(job.memory);
    ASSERT_NO_FATAL_FAILURE(read_all_right(job, memory, seed + 1));
  }
  EXPECT_GT(in_parts, 5000);
}

// What lies between two parts of a window may be another program's at that time.
TEST(SparseAccess, BetweenTwoPartsOfAWindowNothingIsWritten) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    test::Random random(seed);
    std::vector<int> owner;
    Job job = scattered_job(random, owner);
    job.holes = Holes::rmw;
    job.options.stripe_unit = 0;
    job.options.buffer = random.between(60, 90);  // holes of 30 bytes are in no window
    job.file.bytes.assign(owner.size(), std::byte{0xEE});
    ASSERT_NO_FATAL_FAILURE(write_all_right(job, owner, seed));
    if (job.windows_in_parts == 0) continue;
    for (const auto& [begin, end] : job.file.writes) {
      int64_t hole = 0;
      for (int64_t at = begin; at < end; ++at) {
        hole = owner[size_t(at)] < 0 ? hole + 1 : 0;
        ASSERT_LT(hole, 45) << seed << ": " << begin << " to " << end;
      }
    }
  }
}

TEST(SparseAccess, CyclesFollowTheBytesNotTheRange) {
  for (const int nodes : {1, 4}) {
    Job job;
    job.placement = placement::block(nodes, 8 / nodes);
    job.options.buffer = 3 << 20;
    std::vector<RankDemand> demands;
    for (int r = 0; r < 8; ++r)
      job.accesses.emplace_back(View{r * 64, Pattern::block(64), 1 << 20}, 0, 64 * 10'000);
    for (const Access& each : job.accesses) demands.push_back(demand_of(each));
    for (const Direction direction : {Direction::write, Direction::read}) {
      const TwoPhasePlan plan = plan_two_phase(job.placement, job.options, direction, demands);
      EXPECT_LE(plan.domains.cycles(), 10);  // 5 MB; as a range 10 GB, and some thousand
      int64_t bytes = 0;
      for (int a = 0; a < plan.domains.aggregators(); ++a)
        for (int64_t c = 0; c < plan.domains.cycles(); ++c) {
          const auto window = plan.domains.layout(a, c);
          EXPECT_LE(window.bytes(), plan.cb_slot_bytes);
          bytes += window.bytes();
        }
      EXPECT_EQ(bytes, 8 * 64 * 10'000);
    }
  }
}

}  // namespace
}  // namespace haichi::mpiio
