#include "measure/across_launches.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace haichi::measure {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string point(const char* name, double median) {
  return R"({"kind":"point","name":")" + std::string(name) +
         R"(","place":"node","bytes":8,"median":)" + std::to_string(median) + "}\n";
}

TEST(TableAcrossLaunches, HasTheMiddleOfTheLaunchesMediansAndTheirRange) {
  const std::string table = table_across_launches(
      point("ping", 0.000003) + R"({"kind":"end","launch":1})" + "\n" + point("ping", 0.000001) +
      point("ping", 0.000007) + point("pong", 0.000002) + point("pong", 0.000004));
  EXPECT_THAT(table, HasSubstr("# ping"));
  EXPECT_THAT(table, HasSubstr("3        3.000        1.000        7.000\n"));
  EXPECT_THAT(table, HasSubstr("2        3.000        2.000        4.000\n"));
}

TEST(TableAcrossLaunches, LeavesOutALineThatWasCutOff) {
  EXPECT_THAT(table_across_launches(point("ping", 1) + R"({"kind":"point","name":"po)"),
              Not(HasSubstr("po)")));
  EXPECT_EQ(table_across_launches(""), "");
}

}  // namespace
}  // namespace haichi::measure
