#include "launch/config_file.h"

#include <errno.h>
#include <gmock/gmock.h>

#include "launch/test_files.h"

namespace haichi::launch {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string error_of(std::string_view text) {
  const auto settings = parse_config(text, "haichi.toml");
  return settings ? "no error" : settings.error().text;
}

TEST(ParseConfig, TakesDottedKeysAndTables) {
  const auto settings =
      parse_config("io.order = \"rank\"\n[io]\nwindow = 4\nbuffer = \"4M\"\n", "haichi.toml");
  // A dotted key defines the table that [io] opens again, which TOML forbids.
  ASSERT_FALSE(settings);
  const auto table = parse_config("disable = true\n[io]\nwindow = 4\nbuffer = \"4M\"\n", "x");
  ASSERT_TRUE(table) << table.error().text;
  ASSERT_EQ(table->size(), 3u);
  for (const FileSetting& one : *table) {
    if (one.setting->key == "disable") {
      EXPECT_EQ(one.value, "1");
      EXPECT_EQ(one.place, "x:1");
    } else if (one.setting->key == "io.window") {
      EXPECT_EQ(one.value, "4");
      EXPECT_EQ(one.place, "x:3");
    } else {
      EXPECT_EQ(one.setting->key, "io.buffer");
      EXPECT_EQ(one.value, "4M");
    }
  }
  const auto dotted =
      parse_config("io.order = \"rank\"\nreport.events = 5\nreport.file = \"r\"\n", "x");
  ASSERT_TRUE(dotted) << dotted.error().text;
  EXPECT_EQ(dotted->size(), 3u);
}

TEST(ParseConfig, SaysWhatIsWrongAndWhere) {
  EXPECT_THAT(error_of("a = \n"), StartsWith("haichi.toml:1: not TOML: "));
  EXPECT_EQ(
      error_of("\nio.ordr = \"rank\"\n"),
      "haichi.toml:2: unknown key io.ordr, did you mean io.order?; `haichi config` lists them "
      "all");
  EXPECT_EQ(error_of("[io]\norder = \"sideways\"\n"),
            "haichi.toml:2: io.order=sideways: use one of rank|pairwise|nd_shift|nd_rank_shift");
  EXPECT_THAT(error_of("io.window = 1.5\n"), HasSubstr("io.window takes a string"));
  EXPECT_THAT(error_of("io.window = -1\n"), HasSubstr("0 or more"));
  EXPECT_THAT(error_of("io = [1]\n"), HasSubstr("unknown key io"));
  EXPECT_THAT(error_of("config = \"x\"\n"), HasSubstr("unknown key config"));
}

TEST(ReadConfig, AMissingFileIsAWrongSetting) {
  const auto settings = read_config("/nowhere/haichi.toml");
  ASSERT_FALSE(settings);
  EXPECT_EQ(settings.error().code, EINVAL);
}

class ConfigPath : public TestFiles {
 protected:
  void SetUp() override { std::filesystem::current_path(path("")); }
  void TearDown() override { std::filesystem::current_path("/"); }
};

TEST_F(ConfigPath, PrefersTheVariableThenHereThenHome) {
  Environment environment;
  EXPECT_FALSE(config_path(environment));
  environment.set("HOME", path("home"));
  EXPECT_FALSE(config_path(environment));
  write("home/.config/haichi/haichi.toml", "");
  EXPECT_EQ(config_path(environment), path("home/.config/haichi/haichi.toml"));
  environment.set("XDG_CONFIG_HOME", path("xdg"));
  EXPECT_FALSE(config_path(environment));
  write("xdg/haichi/haichi.toml", "");
  EXPECT_EQ(config_path(environment), path("xdg/haichi/haichi.toml"));
  write("haichi.toml", "");
  EXPECT_EQ(config_path(environment), "haichi.toml");
  environment.set("HAICHI_CONFIG", "/some/file");
  EXPECT_EQ(config_path(environment), "/some/file");
  environment.set("HAICHI_CONFIG", "");
  EXPECT_FALSE(config_path(environment));
}

TEST(SettingNear, CorrectsSlipsAndNothingElse) {
  EXPECT_EQ(setting_near("io.ordr")->key, "io.order");
  EXPECT_EQ(setting_near("HAICHI_IO_LAYOT")->key, "io.layout");
  EXPECT_EQ(setting_near("HAICHI_COLOUR"), nullptr);
  EXPECT_EQ(setting_near("HAICHI_FOO"), nullptr);
}

}  // namespace
}  // namespace haichi::launch
