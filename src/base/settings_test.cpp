#include "base/settings.h"

#include <gtest/gtest.h>

namespace haichi {
namespace {

TEST(ParseBytes, TakesPlainNumbersAndUnitsOf1024) {
  EXPECT_EQ(parse_bytes("64"), 64);
  EXPECT_EQ(parse_bytes("16k"), 16 << 10);
  EXPECT_EQ(parse_bytes("16KiB"), 16 << 10);
  EXPECT_EQ(parse_bytes("2MB"), 2 << 20);
  EXPECT_EQ(parse_bytes("1g"), 1 << 30);
}

TEST(ParseBytes, RefusesWhatItDoesNotKnow) {
  for (const char* bad :
       {"", "x", "-1", "16parsec", "1kk", "1 M", "99999999999999999999", "9000000T"})
    EXPECT_FALSE(parse_bytes(bad)) << bad;
}

TEST(SettingsTable, IsSortedByKeyAndDefaultsParse) {
  for (size_t i = 1; i < std::size(kSettings); ++i)
    EXPECT_LT(kSettings[i - 1].key, kSettings[i].key);
  const char* const none[] = {nullptr};
  EXPECT_TRUE(Settings::from_environment(none).problems().empty());
}

TEST(CheckValue, SaysWhatIsAllowedAndNamesNoSetting) {
  for (const Setting& row : kSettings) {
    if (row.key == "io.order") {
      EXPECT_TRUE(check_value(row, "pairwise"));
      const auto bad = check_value(row, "sideways");
      ASSERT_FALSE(bad);
      EXPECT_EQ(bad.error().text, "use one of rank|pairwise|nd_shift|nd_rank_shift");
    }
    EXPECT_TRUE(check_value(row, row.fallback)) << row.key;
  }
}

TEST(Settings, EnvironmentOverridesDefaultAndSaysSo) {
  const char* const env[] = {"HOME=/root", "HAICHI_IO_ORDER=rank", "HAICHI_IO_BUFFER=1M", nullptr};
  const Settings s = Settings::from_environment(env);
  EXPECT_TRUE(s.problems().empty());
  EXPECT_EQ(s.text("io.order"), "rank");
  EXPECT_EQ(s.source("io.order"), "environment");
  EXPECT_EQ(s.number("io.buffer"), 1 << 20);
  EXPECT_EQ(s.source("io.layout"), "default");
}

TEST(Settings, BadValuesKeepTheDefaultAndAreReported) {
  const char* const env[] = {"HAICHI_IO_ORDER=sideways", "HAICHI_IO_BUFFER=16parsec",
                             "HAICHI_COLOUR=red", nullptr};
  const Settings s = Settings::from_environment(env);
  ASSERT_EQ(s.problems().size(), 3u);
  EXPECT_EQ(s.problems()[0],
            "HAICHI_IO_ORDER=sideways: use one of rank|pairwise|nd_shift|nd_rank_shift; "
            "nd_rank_shift stays");
  EXPECT_NE(s.problems()[1].find("unknown unit parsec"), std::string::npos);
  EXPECT_NE(s.problems()[2].find("unknown setting HAICHI_COLOUR"), std::string::npos);
  EXPECT_EQ(s.text("io.order"), "nd_rank_shift");
}

TEST(Settings, AHintNamesItselfInItsError) {
  const char* const none[] = {nullptr};
  Settings s = Settings::from_environment(none);
  const auto bad = s.set("io.aggregators", "many", "hint");
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().text, "cb_nodes=many: use a whole number, 0 or more; 0 stays");
  EXPECT_TRUE(s.set("io.aggregators", "4", "hint"));
  EXPECT_EQ(s.source("io.aggregators"), "hint");
}

}  // namespace
}  // namespace haichi
