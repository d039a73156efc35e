#include "machine/profile.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

namespace haichi::machine {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;

json measured() {
  return json::parse(R"({
    "schema": "haichi.machine/2", "name": "two nodes", "source": "measured",
    "made": {"by": "haichi fit", "when": "2026-11-27T01:00:00Z", "from": ["x"], "launches": 3},
    "signature": {"library": "Open MPI v4.1.4", "processor": "a", "cores": 2,
                  "node_names": ["n0", "n1"], "network": true},
    "network": "torus:2x1", "seats": [1, 0],
    "numbers": {"send_ns": {"value": 300.5, "low": 290, "high": 310, "from": "isend"},
                "out_gbs": {"value": 0.0125, "from": "stream"}},
    "curves": [
      {"name": "ping-pong", "place": "node", "bytes": [8, 4096, 65536],
       "seconds": [1e-6, 2e-6, 9e-6],
       "pieces": [{"from": 0, "to": 4096, "latency_s": 1e-6, "s_per_byte": 2e-10},
                  {"from": 65536, "to": 65536, "latency_s": -1e-6, "s_per_byte": 2e-10}]}],
    "loggp": [], "collectives": [], "storage": [], "later": {"unknown": true}})");
}

std::string error_of(const json& document) {
  const auto profile = parse_profile(document.dump());
  return profile ? "" : profile.error().text;
}

TEST(Profile, OfMeasurements) {
  const auto profile = parse_profile(measured().dump());
  ASSERT_TRUE(profile) << profile.error().text;
  EXPECT_EQ(profile->name, "two nodes");
  EXPECT_EQ(profile->source, "measured");
  EXPECT_EQ(profile->made, "2026-11-27T01:00:00Z");
  EXPECT_EQ(profile->signature.library, "Open MPI v4.1.4");
  EXPECT_EQ(profile->signature.cores, 2);
  EXPECT_THAT(profile->signature.node_names, ElementsAre("n0", "n1"));
  EXPECT_EQ(profile->signature.network, true);
  const Machine& machine = profile->machine;
  EXPECT_EQ(machine.network, "torus:2x1");
  EXPECT_THAT(machine.seats, ElementsAre(1, 0));
  EXPECT_EQ(machine.send_ns, 300.5);
  EXPECT_EQ(machine.out_gbs, 0.0125);
  EXPECT_THAT(machine.told, testing::UnorderedElementsAre("send_ns", "out_gbs"));
  EXPECT_EQ(machine.match_ns, Machine{}.match_ns);
  ASSERT_EQ(machine.curves.size(), 1u);
  EXPECT_EQ(machine.curves[0].place, Place::node);
  EXPECT_DOUBLE_EQ(machine.curves[0].seconds(1000), 1.2e-6);
}

TEST(Profile, HasPointsAndCollectiveCalls) {
  json document = measured();
  document["curves"][0]["low"] = {1e-6, 1.5e-6, 8e-6};
  document["collectives"] = json::parse(R"([{"name": "allreduce", "ranks": 8, "nodes": 4,
      "bytes": [8, 64], "seconds": [1e-5, 2e-5]}])");
  const auto profile = parse_profile(document.dump());
  ASSERT_TRUE(profile) << profile.error().text;
  const Curve& curve = profile->machine.curves.at(0);
  EXPECT_THAT(curve.points.bytes, ElementsAre(8, 4096, 65536));
  EXPECT_DOUBLE_EQ(curve.seconds_at(4096, Bound::low), 1.5e-6);
  const CollectiveCurve& call = profile->collectives.at(0);
  EXPECT_EQ(call.name, "allreduce");
  EXPECT_EQ(call.ranks, 8);
  EXPECT_EQ(call.nodes, 4);
  EXPECT_DOUBLE_EQ(call.curve.at(36), 1.5e-5);
  document["collectives"][0]["ranks"] = 0;
  EXPECT_THAT(error_of(document), HasSubstr("collectives[0].ranks takes a whole number from 1"));
}

TEST(Profile, OfFewNumbers) {
  const auto profile = parse_profile(
      R"({"schema": "haichi.machine/1", "network": "mesh:2x2", "seats": [3], "latency_ns": 5})");
  ASSERT_TRUE(profile) << profile.error().text;
  EXPECT_EQ(profile->machine.latency_ns, 5);
  EXPECT_EQ(profile->machine.network, "mesh:2x2");
  EXPECT_THAT(profile->machine.seats, ElementsAre(3));
  EXPECT_TRUE(profile->signature.library.empty());
  EXPECT_THAT(error_of({{"schema", "haichi.machine/1"}, {"latency", 5}}),
              HasSubstr("a machine has no latency"));
}

TEST(Profile, MembersMayBeLeftOutOrNull) {
  json document = measured();
  for (const char* key : {"name", "source", "made", "signature", "numbers", "curves", "seats"})
    document[key] = nullptr;
  EXPECT_EQ(error_of(document), "");
  document = measured();
  for (const char* key : {"library", "processor", "cores", "node_names", "network"})
    document["signature"][key] = nullptr;
  EXPECT_EQ(error_of(document), "");
  EXPECT_EQ(error_of({{"schema", "haichi.machine/2"}}), "");
}

TEST(Profile, WhatIsWrongIsNamedWithWhatToDo) {
  const struct {
    const char* patch;
    const char* says;
  } kCases[] = {
      {R"({"schema": "haichi.machine/3"})", "\"schema\" is \"haichi.machine/3\""},
      {R"({"schema": null})", "\"schema\" is left out"},
      {R"({"numbers": {"send_ns": {"value": -1}}})", "send_ns takes a number from 0"},
      {R"({"numbers": {"send_ns": 5}})", "numbers.send_ns takes {\"value\": number}"},
      {R"({"numbers": {"sendns": {"value": 5}}})", "a machine has no sendns"},
      {R"({"numbers": {"out_gbs": {"value": 0}}})", "out_gbs takes a number above 0"},
      {R"({"signature": {"cores": 0}})", "signature.cores takes a whole number from 1"},
      {R"({"signature": {"node_names": ["a", 1]}})", "signature.node_names takes texts, not 1"},
      {R"({"signature": {"network": "yes"}})", "signature.network takes true or false"},
      {R"({"signature": {"library": 4}})", "signature.library takes a text"},
      {R"({"network": 3})", "network takes a text"},
      {R"({"seats": [0, -1]})", "seats takes whole numbers from 0, not -1"},
      {R"({"curves": 7})", "curves takes a list"},
  };
  for (const auto& each : kCases) {
    json document = measured();
    document.merge_patch(json::parse(each.patch));
    const std::string text = error_of(document);
    EXPECT_THAT(text, HasSubstr(each.says)) << each.patch;
    EXPECT_THAT(text, HasSubstr("haichi fit")) << each.patch;
  }
}

TEST(Profile, ACurveMustBeOne) {
  const struct {
    const char* patch;
    const char* says;
  } kCases[] = {
      {R"({"place": "moon"})", "curves[0].place takes core, numa, node or network"},
      {R"({"bytes": [8, 8, 16]})", "curves[0].bytes takes ascending numbers from 0: 8"},
      {R"({"bytes": [-8, 8, 16]})", "curves[0].bytes takes ascending numbers from 0: -8"},
      {R"({"seconds": [1, 2]})", "curves[0].seconds takes as many numbers"},
      {R"({"seconds": [1, 2, -3]})", "curves[0].seconds takes numbers from 0, not -3"},
      {R"({"pieces": [{"from": 0, "to": 8}]})", "pieces[0].latency_s takes a number, not null"},
      {R"({"pieces": [{"from": 9, "to": 8, "latency_s": 0, "s_per_byte": 0}]})", "must ascend"},
      {R"({"pieces": [{"from": 0, "to": 8, "latency_s": 0, "s_per_byte": -1}]})",
       "pieces[0].s_per_byte takes a number from 0"},
      {R"({"pieces": [{"from": 0, "to": 8, "latency_s": -1, "s_per_byte": 0}]})",
       "less than 0 s for 0 bytes"},
  };
  for (const auto& each : kCases) {
    json document = measured();
    document["curves"][0].merge_patch(json::parse(each.patch));
    EXPECT_THAT(error_of(document), HasSubstr(each.says)) << each.patch;
  }
}

TEST(Profile, DamagedTextIsRefusedWhereverItIsCut) {
  const std::string whole = measured().dump();
  for (size_t size = 0; size < whole.size(); size += 7) {
    const auto profile = parse_profile(whole.substr(0, size));
    ASSERT_FALSE(profile) << size;
    EXPECT_THAT(profile.error().text, HasSubstr("line 1, column"));
  }
}

}  // namespace
}  // namespace haichi::machine
