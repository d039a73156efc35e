#include "patterns/recorded.h"

#include <errno.h>
#include <gtest/gtest.h>

#include "mpiio/twophase/two_phase.h"
#include "patterns/pattern.h"
#include "support/list_schedule.h"

namespace haichi::patterns {
namespace {

using plan::Step;

std::vector<plan::Schedule*> pointers(const Job& job) {
  std::vector<plan::Schedule*> schedules;
  for (const auto& each : job.schedules) schedules.push_back(each.get());
  return schedules;
}

bool equal(const plan::Slice& a, const plan::Slice& b) {
  return a.buffer == b.buffer && a.begin == b.begin && a.size == b.size;
}

TEST(Recorded, EveryStepComesBack) {
  const auto placement = placement::block(3, 2);
  Parameters p = find_pattern("hpio")->defaults;
  p.region_count = 400;
  for (const auto access : {mpiio::Direction::write, mpiio::Direction::read}) {
    p.access = access;
    auto job = hpio({placement, {}, p});
    ASSERT_TRUE(job);
    const auto text = record(pointers(*job), placement);
    ASSERT_TRUE(text) << text.error().text;
    const auto back = read_record(*text);
    ASSERT_TRUE(back) << back.error().text;
    EXPECT_EQ(back->window, 32);
    job = hpio({placement, {}, p});
    for (int r = 0; r < 6; ++r) {
      size_t at = 0;
      for (Step step; job->schedules[size_t(r)]->next(step); ++at) {
        ASSERT_LT(at, back->steps[size_t(r)].size());
        const Step& read = back->steps[size_t(r)][at];
        EXPECT_EQ(read.kind, step.kind);
        EXPECT_EQ(read.round, step.round);
        const bool message = step.kind == Step::Kind::send || step.kind == Step::Kind::receive;
        EXPECT_TRUE(!message || read.peer == step.peer) << at;
        EXPECT_TRUE(equal(read.from, step.from) && equal(read.to, step.to)) << at;
        EXPECT_EQ(read.file_begin, step.file_begin);
      }
      EXPECT_EQ(at, back->steps[size_t(r)].size());
    }
  }
}

TEST(Recorded, AnEndlessScheduleIsNotRecorded) {
  struct Endless : plan::Schedule {
    bool next(Step& step) override { return step = {.kind = Step::Kind::wait}, true; }
    int max_outstanding() const override { return 0; }
  } endless;
  const auto text = record({&endless}, placement::block(1, 1));
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().code, E2BIG);
}

TEST(Recorded, NamesTheLineThatIsWrong) {
  const std::string head = "{\"schema\":\"haichi.schedule/1\",\"ranks\":2,\"window\":0}\n";
  const auto error = [](const std::string& text) {
    const auto read = read_record(text);
    return read ? "" : read.error().text;
  };
  EXPECT_EQ(error(""), "no ranks");
  EXPECT_EQ(error("{}"), "line 1: no \"schema\": \"haichi.schedule/1\"");
  EXPECT_EQ(error(head + "x"), "line 2: not a JSON object");
  EXPECT_EQ(error(head + R"({"rank":2,"step":"wait","round":0})"),
            "line 2: rank is missing or wrong");
  EXPECT_EQ(error(head + R"({"rank":1,"step":"jump","round":0})"),
            "line 2: step is missing or wrong");
  EXPECT_EQ(error(head + R"({"rank":1,"step":"wait"})"), "line 2: round is missing or wrong");
  EXPECT_EQ(error(head + R"({"rank":1,"step":"send","round":0,"peer":2,"from":[0,0,1]})"),
            "line 2: peer is missing or wrong");
  EXPECT_EQ(error(head + R"({"rank":1,"step":"send","round":0,"peer":0,"from":[0,0]})"),
            "line 2: from is missing or wrong");
  EXPECT_EQ(error(head + R"({"rank":1,"step":"wait","round":0})"), "");
}

}  // namespace
}  // namespace haichi::patterns
