#include "offline/map_request.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace haichi::offline {
namespace {

using testing::HasSubstr;

constexpr std::string_view kFour =
    R"("placement":{"schema":"haichi.placement/1","nodes":[{"ranks":"0-1"},{"ranks":"2-3"}]})";

std::string asked(std::string_view rest) { return fmt::format("{{{},{}}}", kFour, rest); }

TEST(MapRequest, OfEdges) {
  const auto request = read_map_request(asked(R"("edges":[[0,2,5],[2,0,1],[1,1,9]])"));
  ASSERT_TRUE(request);
  EXPECT_EQ(request->seats.nodes(), 2);
  EXPECT_EQ(request->graph.ends(), 2);
  EXPECT_EQ(request->graph.of(0)[0].weight, 6);
  EXPECT_FALSE(request->grid);
}

TEST(MapRequest, OfAGrid) {
  const auto request = read_map_request(asked(R"("grid":{"dims":[2,2],"periods":[true,false]})"));
  ASSERT_TRUE(request);
  EXPECT_EQ(request->grid->extents, (std::vector<int>{2, 2}));
  EXPECT_EQ(request->graph.of(0)[1].weight, 4);
}

TEST(MapRequest, SaysWhatIsWrong) {
  const auto error = [](const std::string& text) {
    const auto request = read_map_request(text);
    return request ? std::string("nothing") : request.error().text;
  };
  EXPECT_THAT(error("{"), HasSubstr("no JSON object"));
  EXPECT_THAT(error("{}"), HasSubstr("no placement"));
  EXPECT_THAT(error(asked(R"("x":1)")), HasSubstr("either edges or a grid"));
  EXPECT_THAT(error(asked(R"("edges":7)")), HasSubstr("not a list"));
  EXPECT_THAT(error(asked(R"("edges":[[0,4,1]])")), HasSubstr("edge 0 is not"));
  EXPECT_THAT(error(asked(R"("edges":[[0,1,-1]])")), HasSubstr("edge 0 is not"));
  EXPECT_THAT(error(asked(R"("edges":[[0,1,4e18],[0,1,1]])")), HasSubstr("edge 0 is not"));
  EXPECT_THAT(error(asked(R"("edges":[[0,1,4000000000000000000],[0,1,4000000000000000000]])")),
              HasSubstr("edge 1 is not"));
  EXPECT_THAT(error(asked(R"("grid":{"dims":[3,2],"periods":[true,false]})")),
              HasSubstr("not of 4 ranks"));
  EXPECT_THAT(error(asked(R"("grid":{"dims":[4],"periods":[]})")), HasSubstr("as many of each"));
  EXPECT_THAT(error(asked(R"("grid":{"dims":[4],"periods":[1]})")), HasSubstr("dimension 0"));
}

}  // namespace
}  // namespace haichi::offline
