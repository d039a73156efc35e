#include "launch/config_file.h"

#include <errno.h>
#include <gmock/gmock.h>
#include <unistd.h>

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

class ConfigPath : public TestFiles {
 protected:
  void SetUp() override { std::filesystem::current_path(path("")); }
  void TearDown() override { std::filesystem::current_path("/"); }
};

std::string found_in(const Environment& environment) {
  const auto found = find_config(environment, "/nowhere");
  if (!found) return found.error().text;
  return found->file ? found->file->path : "";
}

TEST_F(ConfigPath, PrefersTheVariableThenHereThenHome) {
  Environment environment;
  EXPECT_EQ(found_in(environment), "");
  environment.set("HOME", path("home"));
  EXPECT_EQ(found_in(environment), "");
  write("home/.config/haichi/haichi.toml", "");
  EXPECT_EQ(found_in(environment), path("home/.config/haichi/haichi.toml"));
  environment.set("XDG_CONFIG_HOME", path("xdg"));
  EXPECT_EQ(found_in(environment), "");
  write("xdg/haichi/haichi.toml", "");
  EXPECT_EQ(found_in(environment), path("xdg/haichi/haichi.toml"));
  write("haichi.toml", "");
  EXPECT_EQ(found_in(environment), "haichi.toml");
  environment.set("HAICHI_CONFIG", write("named", "", 0666));
  EXPECT_EQ(found_in(environment), path("named"));
  environment.set("HAICHI_CONFIG", "");
  EXPECT_EQ(found_in(environment), "");
}

TEST_F(ConfigPath, AFileThatIsNamedAndMissingIsAWrongSetting) {
  Environment environment;
  environment.set("HAICHI_CONFIG", "/nowhere/haichi.toml");
  const auto found = find_config(environment, "/nowhere");
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, EINVAL);
}

TEST_F(ConfigPath, WhatOthersMayWriteIsIgnoredWithALine) {
  Environment environment;
  environment.set("XDG_CONFIG_HOME", path("xdg"));
  write("xdg/haichi/haichi.toml", "");
  write("haichi.toml", "", 0664);
  const auto found = find_config(environment, "/nowhere");
  ASSERT_TRUE(found);
  ASSERT_EQ(found->ignored.size(), 1u);
  EXPECT_THAT(found->ignored[0], StartsWith("haichi.toml is ignored: others may write it"));
  EXPECT_EQ(found->file->path, path("xdg/haichi/haichi.toml"));
}

TEST_F(ConfigPath, TheSitesFileIsRootsAndStandsBesideTheCallers) {
  if (geteuid() != 0) GTEST_SKIP() << "a file of root's needs root";
  Environment environment;
  const std::string site = write("etc/haichi.toml", "of the site");
  write("haichi.toml", "of the caller");
  auto found = find_config(environment, site);
  ASSERT_TRUE(found && found->site && found->file);
  EXPECT_EQ(found->site->text, "of the site");
  EXPECT_EQ(found->file->text, "of the caller");
  environment.set("HAICHI_CONFIG", "haichi.toml");
  found = find_config(environment, site);
  EXPECT_TRUE(found && found->site && found->file);
  environment.set("HAICHI_CONFIG", "");
  found = find_config(environment, site);
  EXPECT_TRUE(found && !found->site && !found->file);
  environment.unset("HAICHI_CONFIG");
  ASSERT_EQ(chown(site.c_str(), 12345, 12345), 0);
  found = find_config(environment, site);
  ASSERT_TRUE(found && !found->site);
  EXPECT_EQ(found->ignored, std::vector{site + " is ignored: it belongs to another user"});
}

TEST_F(ConfigPath, RootObeysNoneOfAnotherUser) {
  if (geteuid() != 0) GTEST_SKIP() << "files of another user need root";
  Environment environment;
  write("haichi.toml", "this is not even read\n");
  ASSERT_EQ(chown("haichi.toml", 12345, 12345), 0);
  EXPECT_EQ(found_in(environment), "");
  ASSERT_EQ(chown("haichi.toml", 0, 0), 0);
  EXPECT_EQ(found_in(environment), "haichi.toml");
  ASSERT_EQ(chown(".", 12345, 12345), 0);
  EXPECT_EQ(found_in(environment), "");
  environment.set("HAICHI_CONFIG", "haichi.toml");
  EXPECT_EQ(found_in(environment), "haichi.toml");
}

TEST(SettingNear, CorrectsSlipsAndNothingElse) {
  EXPECT_EQ(setting_near("io.ordr")->key, "io.order");
  EXPECT_EQ(setting_near("HAICHI_IO_LAYOT")->key, "io.layout");
  EXPECT_EQ(setting_near("HAICHI_COLOUR"), nullptr);
  EXPECT_EQ(setting_near("HAICHI_FOO"), nullptr);
}

}  // namespace
}  // namespace haichi::launch
