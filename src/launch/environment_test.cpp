#include "launch/environment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace haichi::launch {
namespace {

using ::testing::ElementsAre;
using ::testing::StrEq;

TEST(Environment, FindsWholeNamesOnly) {
  const char* const entries[] = {"PATHS=no", "PATH=/bin", "EMPTY=", nullptr};
  const Environment environment(entries);
  EXPECT_EQ(environment.get("PATH"), "/bin");
  EXPECT_EQ(environment.get("EMPTY"), "");
  EXPECT_FALSE(environment.has("PAT"));
  EXPECT_EQ(environment.get_or("EMPTY", "x"), "x");
}

TEST(Environment, SetReplacesInPlaceAndUnsetRemoves) {
  const char* const entries[] = {"A=1", "B=2", nullptr};
  Environment environment(entries);
  environment.set("A", "3");
  environment.set("C", "");
  environment.unset("B");
  const auto pointers = environment.pointers();
  EXPECT_THAT(pointers, ElementsAre(StrEq("A=3"), StrEq("C="), nullptr));
}

}  // namespace
}  // namespace haichi::launch
