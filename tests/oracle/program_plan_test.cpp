#include "oracle/program_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

namespace oracle {
namespace {

constexpr int kPrograms = 500;
constexpr int kMany = 4 * kPrograms;  // for what is rare

Program drawn(uint64_t number, const char* avoid = "") {
  ProgramFeatures features;
  EXPECT_EQ(features.leave_out(avoid), std::nullopt);
  return make_program(3, number, 2 + int(number % 7), features);
}

std::vector<Piece> cells_of(const Phase& phase) {
  std::vector<Piece> cells;
  for (const ProgramCall& call : phase.calls)
    for (const Part& part : call.parts)
      cells.insert(cells.end(), part.cells.begin(), part.cells.end());
  std::sort(cells.begin(), cells.end(), [](auto a, auto b) { return a.at < b.at; });
  return cells;
}

TEST(ProgramPlan, NoByteIsWrittenTwiceInAPhase) {
  for (uint64_t number = 0; number < kPrograms; ++number)
    for (const Phase& phase : drawn(number).phases) {
      const auto cells = cells_of(phase);
      for (size_t i = 0; i < cells.size(); ++i) {
        ASSERT_GT(cells[i].length, 0);
        ASSERT_LE(cells[i].length, 65536);
        ASSERT_LE(cells[i].at + cells[i].length, phase.end);
        if (i > 0) {
          ASSERT_GE(cells[i].at, cells[i - 1].at + cells[i - 1].length) << number;
        }
      }
    }
}

TEST(ProgramPlan, EverythingOccurs) {
  std::bitset<kProgramFeatures> seen;
  std::set<CallKind> kinds, in_thread;
  std::set<size_t> phases, handles;
  size_t empty = 0;
  for (uint64_t number = 0; number < kMany; ++number) {
    const Program program = drawn(number);
    phases.insert(program.phases.size());
    handles.insert(program.handles.size());
    for (const Phase& phase : program.phases) {
      seen |= phase.features;
      empty += cells_of(phase).empty();
      for (const ProgramCall& call : phase.calls)
        (call.in_thread ? in_thread : kinds).insert(call.kind);
    }
  }
  for (const auto& row : table_of(ProgramFeature{})) {
    // Those of a whole program or of single ranks are not marked in its phases.
    const size_t bit = size_t(&row - table_of(ProgramFeature{}).data());
    const auto feature = ProgramFeature(bit);
    if (feature == ProgramFeature::late || feature == ProgramFeature::slow ||
        feature == ProgramFeature::holes || feature == ProgramFeature::growing)
      continue;
    EXPECT_TRUE(seen[bit]) << row.name;
  }
  EXPECT_EQ(kinds.size(), 12u);
  EXPECT_THAT(in_thread, testing::UnorderedElementsAre(CallKind::write_at, CallKind::iwrite_at));
  EXPECT_THAT(phases, testing::UnorderedElementsAre(1u, 2u, 3u));
  EXPECT_THAT(handles, testing::UnorderedElementsAre(1u, 2u, 3u));
  EXPECT_LT(empty, kMany / 20u);
}

TEST(ProgramPlan, APartIsWhatTheViewShowsThere) {
  for (uint64_t number = 0; number < kPrograms; ++number)
    for (const Phase& phase : drawn(number).phases)
      for (const ProgramCall& call : phase.calls) {
        const ProgramView& view = phase.views[size_t(call.view)];
        if (view.flat) continue;
        for (const Part& part : call.parts) {
          int64_t first = 0;
          size_t i = 0;
          const auto& cells = view.cells[size_t(part.rank)];
          while (i < cells.size() && first < part.first) first += cells[i++].length;
          ASSERT_EQ(first, part.first);
          for (const Piece& cell : part.cells) ASSERT_EQ(cell.at, cells[i++].at);
        }
      }
}

TEST(ProgramPlan, WhatIsUnderWayEndsBeforeTheNextView) {
  for (uint64_t number = 0; number < kPrograms; ++number)
    for (const Phase& phase : drawn(number).phases)
      for (size_t i = 0; i < phase.calls.size(); ++i) {
        const ProgramCall& call = phase.calls[i];
        const int handle = phase.views[size_t(call.view)].handle;
        for (const ProgramView& view : phase.views) {
          if (view.handle != handle || view.before <= int(i)) continue;
          ASSERT_LT(call.end_after, view.before);
          for (const Part& part : call.parts) ASSERT_LT(part.wait_after, view.before);
        }
        for (int j = int(i) + 1; is_split(call.kind) && j <= call.end_after; ++j)
          ASSERT_FALSE(is_collective(phase.calls[size_t(j)].kind) &&
                       phase.views[size_t(phase.calls[size_t(j)].view)].handle == handle);
      }
}

TEST(ProgramPlan, WhatIsAvoidedDoesNotOccur) {
  const auto has = [](const Phase& phase, ProgramFeature feature) {
    return phase.features[size_t(feature)];
  };
  size_t strided = 0, contiguous = 0;
  for (uint64_t number = 0; number < kPrograms; ++number)
    for (const Phase& phase : drawn(number, "split,views,strided+contiguous").phases) {
      strided += has(phase, ProgramFeature::strided);
      contiguous += has(phase, ProgramFeature::contiguous);
      ASSERT_FALSE(has(phase, ProgramFeature::split) || has(phase, ProgramFeature::views));
      ASSERT_FALSE(has(phase, ProgramFeature::strided) && has(phase, ProgramFeature::contiguous));
    }
  EXPECT_GT(strided, 20u);
  EXPECT_GT(contiguous, 20u);
  ProgramFeatures features;
  EXPECT_EQ(features.leave_out("split,strided+nothing"), "nothing");
}

TEST(ProgramPlan, WhatARankWritesCollectivelyAloneIsItsOwnAccess) {
  size_t strided = 0;
  for (uint64_t number = 0; number < kPrograms; ++number) {
    const Program program = drawn(number, "strided+contiguous,bare,unlocked");
    for (const Phase& phase : program.phases)
      for (const ProgramCall& call : phase.calls) {
        const ProgramView& view = phase.views[size_t(call.view)];
        const Handle& handle = program.handles[size_t(view.handle)];
        if (handle.over != Handle::Over::alone || call.kind > CallKind::write_at_all || view.flat)
          continue;
        for (const Part& part : call.parts) {
          if (part.cells.size() < 2) continue;
          ++strided;
          ASSERT_TRUE(phase.features[size_t(ProgramFeature::strided)]) << number;
          ASSERT_FALSE(phase.features[size_t(ProgramFeature::contiguous)]) << number;
        }
      }
  }
  EXPECT_GT(strided, 20u);
}

TEST(ProgramPlan, HintsThatAreAvoidedDoNotOccur) {
  const std::pair<std::string, std::string> bare{"romio_ds_write", "disable"},
      aggregators{"romio_cb_write", "enable"};
  size_t bare_handles[2] = {}, lone_aggregators[2] = {};
  for (const bool avoided : {false, true})
    for (uint64_t number = 0; number < kMany; ++number)
      for (const Handle& handle : drawn(number, avoided ? "bare,unlocked" : "").handles) {
        const auto has = [&](const auto& hint) {
          return std::find(handle.hints.begin(), handle.hints.end(), hint) != handle.hints.end();
        };
        bare_handles[avoided] += has(bare);
        lone_aggregators[avoided] += handle.over == Handle::Over::alone && has(aggregators);
      }
  EXPECT_GT(bare_handles[false], 5u);
  EXPECT_EQ(bare_handles[true], 0u);
  EXPECT_GT(lone_aggregators[false], 5u);
  EXPECT_EQ(lone_aggregators[true], 0u);
}

TEST(ProgramPlan, AProgramIsTheSameOnEveryRank) {
  EXPECT_EQ(to_text(drawn(17)), to_text(drawn(17)));
  EXPECT_NE(to_text(drawn(17)), to_text(drawn(24)));
}

// The file as the program's calls leave it; records in the order of the plan.
std::vector<uint8_t> written(const Program& program, int phases) {
  std::vector<uint8_t> bytes(size_t(program.before_bytes));
  fill_bytes(program.before_key, 0, program.before_bytes, bytes.data());
  for (int i = 0; i < phases; ++i)
    for (const ProgramCall& call : program.phases[size_t(i)].calls)
      for (const Part& part : call.parts)
        for (const Piece& cell : part.cells) {
          bytes.resize(std::max(bytes.size(), size_t(cell.at + cell.length)));
          fill_bytes(part.key, cell.at, cell.length, bytes.data() + cell.at);
        }
  return bytes;
}

TEST(ProgramModel, AgreesWithWhatIsWritten) {
  for (uint64_t number = 0; number < kPrograms; ++number) {
    const Program program = drawn(number);
    ProgramModel model(program);
    for (int i = 0; i < int(program.phases.size()); ++i)
      ASSERT_THAT(model.check(i, written(program, i + 1)), testing::IsEmpty()) << number;
  }
}

TEST(ProgramModel, NamesWhoseBytesAreLostAndWhatIsThere) {
  size_t looked = 0;
  for (uint64_t number = 0; number < kPrograms; ++number) {
    const Program program = drawn(number);
    const Phase& phase = program.phases.front();
    for (size_t c = 0; c < phase.calls.size(); ++c)
      for (const Part& part : phase.calls[c].parts) {
        if (part.bytes() < 64 || part.cells.front().length < 8) continue;
        const Piece cell = part.cells.front();
        if (cell.at + cell.length > program.before_bytes) continue;
        auto content = written(program, 1);
        fill_bytes(program.before_key, cell.at, cell.length, content.data() + cell.at);
        ProgramModel model(program);
        const auto wrong = model.check(0, content);
        ASSERT_FALSE(wrong.empty()) << number;
        if (phase.calls[c].kind == CallKind::write_shared) continue;
        ASSERT_GE(wrong.size(), 2u) << number;
        EXPECT_THAT(wrong[1], testing::AllOf(testing::HasSubstr("call " + std::to_string(c)),
                                             testing::HasSubstr("before the phase")));
        ++looked;
      }
  }
  EXPECT_GT(looked, 200u);
}

}  // namespace
}  // namespace oracle
