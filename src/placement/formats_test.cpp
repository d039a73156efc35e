#include "placement/formats.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <random>

#include "base/clock.h"
#include "base/os.h"

namespace haichi::placement {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string node_list(const Placement& p) {
  std::string text;
  for (int rank = 0; rank < p.ranks(); ++rank) text += fmt::format("{} ", p.node_of(rank));
  return text;
}

template <class T>
std::string error_of(const Result<T>& result) {
  if (result) return "no error";
  EXPECT_EQ(result.error().code, EINVAL);
  EXPECT_EQ(result.error().text.find('\n'), std::string::npos) << result.error().text;
  return result.error().text;
}

TEST(RankList, ReadsWhatItWrites) {
  const std::vector<int> ranks = {0, 1, 2, 3, 8, 10, 11};
  EXPECT_EQ(to_rank_list(ranks), "0-3,8,10-11");
  EXPECT_EQ(*from_rank_list("0-3,8,10-11"), ranks);
  EXPECT_EQ(to_rank_list({}), "");
  EXPECT_TRUE(from_rank_list("")->empty());
  EXPECT_THAT(*from_rank_list("5-5"), ElementsAre(5));
}

TEST(RankList, SaysWhereItIsWrong) {
  const struct {
    const char *text, *error;
  } cases[] = {
      {"0-", "it ends where a rank should follow"},
      {"0,,1", "character 3 is ',', not a rank"},
      {"-1", "character 1 is '-', not a rank"},
      {"0--1", "character 3 is '-', not a rank"},
      {"0, 1", "character 3 is ' ', not a rank"},
      {"0-3 ", "character 4 is ' ', not ',' or '-'"},
      {"3-0", "3-0 at character 1 runs backwards; write 0-3"},
      {"0-3,2", "2 at character 5 follows 3; write the ranks in ascending order"},
      {"1,1", "1 at character 3 follows 1"},
      {"99999999999", "a rank at character 1 is larger than 16777215"},
      {"0-2000000000", "a rank at character 3 is larger than 16777215"},
      {"\n", "character 1 is byte 0x0a, not a rank"},
      {"0-3,x", "character 5 is 'x', not a rank"},
  };
  for (const auto& c : cases)
    EXPECT_THAT(error_of(from_rank_list(c.text)), HasSubstr(c.error)) << c.text;
}

TEST(PlacementJson, ReadsNamesRanksAndPlaces) {
  const auto p = from_json(R"({"schema": "haichi.placement/1",
    "nodes": [{"name": "late", "ranks": "1,3"}, {"name": "first", "ranks": "0,2"}],
    "places": [{"core": 0, "cores": 2, "numa": 1}, {}, {"core": -1}, {"cores": 4}]})");
  ASSERT_TRUE(p) << p.error().text;
  EXPECT_EQ(node_list(*p), "0 1 0 1 ");
  EXPECT_EQ(p->node_name(0), "first");  // nodes are numbered as they appear by rank
  EXPECT_EQ(p->node_name(1), "late");
  ASSERT_EQ(p->places().size(), 4u);
  EXPECT_EQ(p->places()[0].numa_node, 1);
  EXPECT_EQ(p->places()[1].core, -1);
  EXPECT_EQ(p->places()[3].cores, 4);
}

TEST(PlacementJson, KeepsAddresses) {
  const auto p = from_json(R"({"schema": "haichi.placement/1",
    "nodes": [{"ranks": "1", "address": "s0.n\"1"}, {"ranks": "0,2"}]})");
  ASSERT_TRUE(p) << p.error().text;
  EXPECT_EQ(p->node_address(0), "");
  EXPECT_EQ(p->node_address(1), "s0.n\"1");
  EXPECT_EQ(to_json(*from_json(to_json(*p))), to_json(*p));
  EXPECT_THAT(to_json(*p), HasSubstr(R"({"name": "node0", "address": "s0.n\"1", "ranks": "1"})"));
}

TEST(PlacementJson, NamesAndPlacesMayBeAbsent) {
  const auto p = from_json(R"({"schema":"haichi.placement/1","nodes":[{"name":null,"ranks":"0-1"},
                               {"name":"b","ranks":"2"}],"places":null})");
  ASSERT_TRUE(p) << p.error().text;
  EXPECT_EQ(p->node_name(0), "node0");
  EXPECT_EQ(p->node_name(1), "b");
  EXPECT_TRUE(p->places().empty());
  EXPECT_EQ(from_json(R"({"schema":"haichi.placement/1","nodes":[{"ranks":"0"}]})")->node_name(0),
            "node0");
}

TEST(PlacementJson, WritesWhatADifferentReaderExpects) {
  Placement p(std::vector<int>{0, 0, 1}, {"a\"b", "n1"});
  EXPECT_EQ(to_json(p), R"({
  "schema": "haichi.placement/1",
  "nodes": [
    {"name": "a\"b", "ranks": "0-1"},
    {"name": "n1", "ranks": "2"}
  ]
}
)");
  p.set_places({{0, 1, 0}, {1, 1, 0}, {}});
  EXPECT_THAT(to_json(p), HasSubstr(R"("places": [
    {"core": 0, "cores": 1, "numa": 0},
    {"core": 1, "cores": 1, "numa": 0},
    {"core": -1, "cores": 0, "numa": -1}
  ]
})"));
}

TEST(PlacementJson, KeepsGoingWithNamesThatAreNotUtf8) {
  const auto back = from_json(to_json(Placement(std::vector<int>{0}, {"n\xff"})));
  ASSERT_TRUE(back) << back.error().text;
  EXPECT_EQ(back->node_name(0), "n\xef\xbf\xbd");
}

TEST(PlacementJson, SaysWhichFieldIsWrong) {
  const auto nodes = [](std::string_view text) {
    return fmt::format(R"({{"schema":"haichi.placement/1","nodes":{}}})", text);
  };
  const auto places = [](std::string_view text) {
    return fmt::format(
        R"({{"schema":"haichi.placement/1","nodes":[{{"ranks":"0-1"}}],"places":{}}})", text);
  };
  const struct {
    std::string text;
    const char* error;
  } cases[] = {
      {"{\n \"schema\" 1}", "parse error at line 2, column 11"},
      {"{", "parse error at line 1, column 2"},
      {"[]", "the text is [], not a JSON object"},
      {"{}", R"("schema" is missing; write "haichi.placement/1")"},
      {R"({"schema":"haichi.placement/2"})", R"("schema" is "haichi.placement/2")"},
      {R"({"schema":"haichi.placement/1","Nodes":[]})", R"(unknown field "Nodes"; known are)"},
      {R"({"schema":"haichi.placement/1"})", R"("nodes" is missing)"},
      {nodes("[]"), R"("nodes" is [];)"},
      {nodes("{}"), R"("nodes" is {};)"},
      {nodes("[3]"), "nodes[0] is 3;"},
      {nodes(R"([{"name":"a"}])"), "nodes[0].ranks is missing"},
      {nodes(R"([{"name":"","ranks":"0"}])"), R"(nodes[0].name is "")"},
      {nodes(R"([{"name":1,"ranks":"0"}])"), "nodes[0].name is 1;"},
      {nodes(R"([{"ranks":[0]}])"), R"(nodes[0].ranks is [0]; write a rank list in quotes)"},
      {nodes(R"([{"ranks":"0"},{"rank":"1"}])"), R"(nodes[1] has the unknown field "rank")"},
      {nodes(R"([{"ranks":"0"},{"ranks":""}])"), "nodes[1].ranks is empty; leave out a node"},
      {nodes(R"([{"ranks":"0-x"}])"), R"(nodes[0].ranks "0-x": character 3 is 'x')"},
      {nodes(R"([{"ranks":"0-3"},{"ranks":"3-4"}])"), "rank 3 is in nodes[0] and in nodes[1]"},
      {nodes(R"([{"ranks":"0-3"},{"ranks":"5"}])"), "rank 4 is on no node, but rank 5 is"},
      {places("[]"), R"("places" has 0 entries; give one for each of the 2 ranks)"},
      {places("7"), R"("places" is 7;)"},
      {places("[{},7]"), "places[1] is 7;"},
      {places(R"([{},{"numa_node":0}])"), R"(places[1] has the unknown field "numa_node")"},
      {places(R"([{"core":1.5},{}])"), "places[0].core is 1.5; write a whole number"},
      {places(R"([{"core":true},{}])"), "places[0].core is true;"},
      {places(R"([{},{"cores":-1}])"), "places[1].cores is -1; write a whole number, 0 if"},
      {places(R"([{"numa":-2},{}])"), "places[0].numa is -2; write a whole number, -1 if"},
      {places(R"([{"core":99999999999},{}])"), "places[0].core is 99999999999;"},
      {"{\"schema\":\"\xff\"}", "parse error at line 1, column 12"},
  };
  for (const auto& c : cases)
    EXPECT_THAT(error_of(from_json(c.text)), HasSubstr(c.error)) << c.text;
}

TEST(PlacementJson, KeepsErrorsShort) {
  const std::string huge(1 << 20, 'x');
  EXPECT_LT(error_of(from_json("{\"" + huge)).size(), 300u);
  EXPECT_LT(error_of(from_json("\"" + huge + "\"")).size(), 300u);
  EXPECT_LT(error_of(from_json(std::string(1 << 20, '['))).size(), 300u);
}

TEST(Parse, TellsTheThreeNotationsApart) {
  const struct {
    const char *text, *nodes;
  } cases[] = {
      {R"( {"schema":"haichi.placement/1","nodes":[{"ranks":"0-1"},{"ranks":"2-3"}]})", "0 0 1 1 "},
      {"{\"version\":1,\"map\":[[0,2,1,2]]}\n", "0 1 0 1 "},
      {"\n[[0,2,2,1]]", "0 0 1 1 "},
      {"(vector,(0,2,2))\n", "0 0 1 1 "},
  };
  for (const auto& c : cases) {
    const auto p = parse(c.text, 4);
    ASSERT_TRUE(p) << c.text << ": " << p.error().text;
    EXPECT_EQ(node_list(*p), c.nodes) << c.text;
  }
}

TEST(Parse, RefusesWhatDoesNotFitTheJob) {
  EXPECT_EQ(error_of(parse("[[0,2,2,1]]", 8)),
            "the placement is for 4 ranks, but the job has 8; start 4 ranks, or describe ranks 0 "
            "to 7");
  EXPECT_THAT(error_of(parse("[[0,4,4,1]]", 8)), HasSubstr("is for 16 ranks, but the job has 8"));
}

TEST(Parse, RefusesWhatIsNoPlacement) {
  EXPECT_EQ(error_of(parse(" \n", 4)), "the placement is empty");
  EXPECT_THAT(error_of(parse("n0 slots=4\n", 4)), HasSubstr("this is no placement"));
  EXPECT_THAT(error_of(parse("{\"nodes\":[]}", 4)), HasSubstr("\"schema\" is missing"));
  EXPECT_THAT(error_of(parse("{\"version\":1}", 4)), HasSubstr("\"map\" is missing"));
  EXPECT_THAT(error_of(parse("{nonsense", 4)), HasSubstr("parse error at line 1, column 3"));
}

// The examples of machines/placements, which README.md there describes.
TEST(Examples, AreWhatTheirReadmeSays) {
  const auto folder = std::filesystem::path(__FILE__).parent_path() / "../../machines/placements";
  const struct {
    const char* name;
    int ranks, nodes;
    const char* first_node;
  } examples[] = {
      {"two-nodes.json", 4, 2, "0,2"},        {"two-nodes.taskmap", 4, 2, "0,2"},
      {"two-nodes.pmi", 4, 2, "0,2"},         {"unequal.json", 6, 2, "0-2,5"},
      {"paper-000.taskmap", 768, 64, "0-11"}, {"hydra-4.0.2.pmi", 8, 2, "0,3,6"},
      {"hydra-5.0.2.pmi", 8, 2, "0,3,6"},
  };
  for (const auto& example : examples) {
    const auto text = read_file((folder / example.name).string());
    ASSERT_TRUE(text) << text.error().text;
    const auto placement = parse(*text, example.ranks);
    ASSERT_TRUE(placement) << example.name << ": " << placement.error().text;
    EXPECT_EQ(placement->nodes(), example.nodes) << example.name;
    EXPECT_EQ(to_rank_list(placement->ranks_on(0)), example.first_node) << example.name;
  }
  const auto files = std::filesystem::directory_iterator(folder);
  EXPECT_EQ(std::distance(begin(files), end(files)), std::ssize(examples));
}

// Placements as schedulers make them: a random number of nodes, filled by blocks of random size,
// in turns, at random, or a mix.
Placement random_placement(std::mt19937& random, int ranks) {
  const auto below = [&](int n) { return int(random() % unsigned(n)); };
  const int nodes = 1 + below(std::min(ranks, 5000)), kind = below(4), chunk = 1 + below(64);
  std::vector<int> node_of_rank;
  for (int rank = 0; rank < ranks; ++rank) {
    const int by_block = rank / chunk % nodes, by_turn = rank % nodes;
    const int kinds[] = {by_block, by_turn, below(nodes), below(8) ? by_block : below(nodes)};
    node_of_rank.push_back(kinds[kind]);
  }
  return Placement(node_of_rank);
}

TEST(RoundTrip, AnyPlacementInAnyNotation) {
  std::mt19937 random(20240607);
  for (int i = 0; i < 3000; ++i) {
    const int ranks = 1 + int(random() % 200);
    const Placement p = random_placement(random, ranks);
    for (const std::string& text : {to_json(p), to_taskmap(p), to_pmi_mapping(p)}) {
      const auto back = parse(text, ranks);
      ASSERT_TRUE(back) << text << ": " << back.error().text;
      ASSERT_EQ(*back, p) << text;
    }
  }
}

TEST(RoundTrip, HundredThousandRanksInNoTime) {
  std::mt19937 random(7);
  constexpr int kRanks = 100'000;
  for (int i = 0; i < 4; ++i) {
    Placement p = random_placement(random, kRanks);
    p.set_places(std::vector<RankPlace>(kRanks, RankPlace{3, 1, 0}));
    for (const std::string& text : {to_json(p), to_taskmap(p), to_pmi_mapping(p)}) {
      const int64_t begin = now_ns();
      const auto back = parse(text, kRanks);
      const double seconds = double(now_ns() - begin) * 1e-9;
      ASSERT_TRUE(back) << back.error().text;
      EXPECT_EQ(*back, p);
      EXPECT_LT(seconds, 20.0);  // takes 0.2 s; a quadratic reader would take minutes
    }
  }
}

// Any text at all is answered by a placement of the right size or by one line.
TEST(Parse, SurvivesRandomText) {
  std::mt19937 random(99);
  const std::string seeds[] = {
      R"({"schema":"haichi.placement/1","nodes":[{"name":"a","ranks":"0-1"},{"ranks":"2-3"}],)"
      R"("places":[{"core":0,"cores":1,"numa":0},{},{},{}]})",
      R"({"version":1,"map":[[0,2,1,1],[1,1,2,1]]})",
      "(vector,[(0,2,1),3]x2,(0,1,4))",
  };
  int accepted = 0;
  for (int i = 0; i < 10000; ++i) {
    std::string text = seeds[random() % 3];
    for (int edits = 1 + int(random() % 3); edits > 0; --edits) {
      const size_t at = random() % text.size();
      constexpr std::string_view kBytes = "0123456789{}[](),:-\"x. \n\xff";
      switch (random() % 3) {
        case 0:
          text[at] = kBytes[random() % kBytes.size()];
          break;
        case 1:
          text.erase(at, 1 + random() % 4);
          break;
        default:
          text.insert(at, 1, kBytes[random() % kBytes.size()]);
      }
      if (text.empty()) text = " ";
    }
    const auto p = parse(text, 4);
    if (!p) {
      error_of(p);
      continue;
    }
    ++accepted;
    EXPECT_EQ(p->ranks(), 4) << text;
    EXPECT_EQ(*parse(to_taskmap(*p), 4), *p) << text;
  }
  EXPECT_GT(accepted, 50);
}

}  // namespace
}  // namespace haichi::placement
