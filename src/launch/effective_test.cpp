#include "launch/effective.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include "launch/config_command.h"
#include "launch/config_file.h"
#include "launch/test_files.h"

namespace haichi::launch {
namespace {

using ::testing::HasSubstr;

class EffectiveTest : public TestFiles {
 protected:
  EffectiveTest() { environment_.set("HAICHI_CONFIG", ""); }

  const Effective& row(const EffectiveSettings& settings, std::string_view key) const {
    return settings.rows[size_t(find_setting(key) - std::begin(kSettings))];
  }

  Environment environment_;
};

TEST_F(EffectiveTest, CommandLineWinsOverEnvironmentOverFileOverDefault) {
  const std::string file =
      write("h.toml", "[io]\norder = \"rank\"\nlayout = \"packed\"\nwindow = 1\n");
  environment_.set("HAICHI_CONFIG", file);
  environment_.set("HAICHI_IO_ORDER", "pairwise");
  environment_.set("HAICHI_IO_WINDOW", "2");
  const auto settings = effective_settings(environment_, {"io.window=3"});
  ASSERT_TRUE(settings) << settings.error().text;
  EXPECT_EQ(row(*settings, "io.layout").value, "packed");
  EXPECT_EQ(row(*settings, "io.layout").source, file + ":3");
  EXPECT_EQ(row(*settings, "io.order").value, "pairwise");
  EXPECT_EQ(row(*settings, "io.order").source, "environment");
  EXPECT_EQ(row(*settings, "io.window").value, "3");
  EXPECT_EQ(row(*settings, "io.window").source, "command line");
  EXPECT_EQ(row(*settings, "io.holes").source, "default");

  export_settings(*settings, environment_);
  EXPECT_EQ(environment_.get("HAICHI_IO_LAYOUT"), "packed");
  EXPECT_EQ(environment_.get("HAICHI_IO_ORDER"), "pairwise");
  EXPECT_EQ(environment_.get("HAICHI_IO_WINDOW"), "3");
  EXPECT_FALSE(environment_.has("HAICHI_IO_HOLES"));
}

TEST_F(EffectiveTest, TheCommandLineCanNameTheFile) {
  const std::string file = write("h.toml", "io.order = \"rank\"\n");
  const auto settings = effective_settings(environment_, {"config=" + file});
  ASSERT_TRUE(settings) << settings.error().text;
  EXPECT_EQ(row(*settings, "io.order").value, "rank");
  EXPECT_EQ(settings->file, file);
}

TEST_F(EffectiveTest, TheSitesFileIsUnderTheCallersAndNeverStopsAProgram) {
  if (geteuid() != 0) GTEST_SKIP() << "a file of root's needs root";
  environment_.set("HAICHI_CONFIG", write("h.toml", "io.window = 2\n"));
  const std::string site = write("etc/haichi.toml", "io.window = 1\nio.order = \"rank\"\n");
  const auto settings = effective_settings(environment_, {}, site);
  ASSERT_TRUE(settings) << settings.error().text;
  EXPECT_EQ(row(*settings, "io.window").value, "2");
  EXPECT_EQ(row(*settings, "io.order").value, "rank");
  EXPECT_EQ(row(*settings, "io.order").source, site + ":2");

  write("etc/haichi.toml", "io.order = \"rank\"\nof.next.year = 1\n");
  const auto later = effective_settings(environment_, {}, site);
  ASSERT_TRUE(later) << later.error().text;
  EXPECT_EQ(row(*later, "io.order").source, "default");
  ASSERT_EQ(later->warnings.size(), 1u);
  EXPECT_THAT(later->warnings[0], HasSubstr(site + ":2: unknown key of.next.year"));
}

TEST_F(EffectiveTest, AWrongVariableIsAProblemAndAnUnknownOneAWarning) {
  environment_.set("HAICHI_IO_ORDER", "sideways");
  environment_.set("HAICHI_IO_ORDRE", "rank");
  const auto settings = effective_settings(environment_, {});
  ASSERT_TRUE(settings);
  EXPECT_EQ(row(*settings, "io.order").problem,
            "HAICHI_IO_ORDER=sideways: use one of rank|pairwise|nd_shift|nd_rank_shift");
  ASSERT_EQ(settings->warnings.size(), 1u);
  EXPECT_EQ(settings->warnings[0],
            "unknown setting HAICHI_IO_ORDRE, did you mean HAICHI_IO_ORDER?; `haichi config` lists "
            "them all");
}

TEST_F(EffectiveTest, AssignmentsAreChecked) {
  for (const auto& [assignment, why] : {std::pair{"io.order", "key=value"},
                                        {"io.odrer=rank", "did you mean io.order?"},
                                        {"io.order=up", "use one of"}}) {
    const auto settings = effective_settings(environment_, {assignment});
    ASSERT_FALSE(settings) << assignment;
    EXPECT_THAT(settings.error().text, HasSubstr(why));
  }
}

// What `haichi config --toml` prints is a file that reads back to the same values.
TEST_F(EffectiveTest, TomlReadsBack) {
  environment_.set("HAICHI_IO_BUFFER", "4M");
  environment_.set("HAICHI_REPORT", "out dir/\"r\".json");
  environment_.set("HAICHI_REPORT_EVENTS", "7");
  environment_.set("HAICHI_DISABLE", "yes");
  const auto settings = effective_settings(environment_, {});
  ASSERT_TRUE(settings);
  const std::string file = write("back.toml", config_as_toml(*settings));
  Environment empty;
  empty.set("HAICHI_CONFIG", file);
  const auto back = effective_settings(empty, {});
  ASSERT_TRUE(back) << back.error().text;
  EXPECT_EQ(row(*back, "io.buffer").value, "4M");
  EXPECT_EQ(row(*back, "report.file").value, "out dir/\"r\".json");
  EXPECT_EQ(row(*back, "report.events").value, "7");
  EXPECT_EQ(row(*back, "disable").value, "1");
  EXPECT_EQ(row(*back, "io.order").source, "default");
}

TEST_F(EffectiveTest, TheManualNamesEverySettingOnce) {
  const std::string manual = config_as_manual();
  for (const Setting& setting : kSettings) {
    const std::string term = fmt::format("\n`{}`\n: ", setting.variable);
    const size_t at = manual.find(term);
    ASSERT_NE(at, manual.npos) << setting.variable;
    EXPECT_EQ(manual.find(term, at + 1), manual.npos);
    EXPECT_THAT(manual, HasSubstr(std::string(setting.help)));
  }
}

}  // namespace
}  // namespace haichi::launch
