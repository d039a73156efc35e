#include "measure/samples_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

#include "measure/records.h"

namespace haichi::measure {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Json = nlohmann::ordered_json;

class SamplesFileTest : public testing::Test {
 protected:
  void SetUp() override {
    char folder[] = "/tmp/haichi-samples-XXXXXX";
    ASSERT_NE(mkdtemp(folder), nullptr);
    folder_ = folder;
    path_ = folder_ + "/s.jsonl";
  }
  void TearDown() override {
    unlink(path_.c_str());
    rmdir(folder_.c_str());
  }
  void write(const std::string& text) { std::ofstream(path_) << text; }
  std::string text() {
    std::ostringstream all;
    all << std::ifstream(path_).rdbuf();
    return all.str();
  }

  std::string folder_, path_;
  const Json launch_ = {{"schema", kSamplesSchema},
                        {"kind", "launch"},
                        {"library", "M"},
                        {"job_ranks", 2},
                        {"nodes_of_ranks", {0, 0}}};
  const std::string head_ = launch_.dump() + "\n";
  const std::string point_ =
      R"({"kind":"point","name":"ping","place":"node","bytes":4,"samples":1})"
      "\n";
};

TEST_F(SamplesFileTest, LinesAreWrittenAsTheyCome) {
  auto file = SamplesFile::create(path_);
  ASSERT_TRUE(file) << file.error().text;
  ASSERT_TRUE(file->add(launch_));
  EXPECT_EQ(text(), head_);
}

TEST_F(SamplesFileTest, SamplesAreNotOverwritten) {
  write(head_);
  const auto file = SamplesFile::create(path_);
  ASSERT_FALSE(file);
  EXPECT_THAT(file.error().text, HasSubstr("--resume goes on with it"));
  EXPECT_EQ(text(), head_);
}

TEST_F(SamplesFileTest, GoesOnBehindALineThatWasCutOff) {
  write(head_ + R"({"kind":"measurement","name":"ping"})" + "\n" + point_ + R"({"kind":"poi)");
  auto file = SamplesFile::resume(path_, what_must_be_alike(launch_), 1);
  ASSERT_TRUE(file) << file.error().text;
  EXPECT_EQ(file->launches(), 1);
  EXPECT_TRUE(file->measured().count("ping/node/4"));
  EXPECT_TRUE(file->describes("ping"));
  EXPECT_FALSE(file->describes("pong"));
  ASSERT_TRUE(file->add(launch_));
  EXPECT_THAT(text(), testing::EndsWith(point_ + head_));
}

TEST_F(SamplesFileTest, RefusesWhatIsNotOfThisJob) {
  const auto problem = [&](const std::string& text, const Json& launch) {
    write(text);
    const auto file = SamplesFile::resume(path_, what_must_be_alike(launch), 1);
    EXPECT_EQ(this->text(), text);
    return file ? "" : file.error().text.substr(path_.size());
  };
  Json other = launch_;
  other["job_ranks"] = 4;
  EXPECT_EQ(problem(head_, other), " is of another job: job_ranks is 2 there and 4 here");
  EXPECT_EQ(problem("{\"kind\":\"launch\"}\n", launch_), " is not of the form haichi.samples/1");
  EXPECT_EQ(problem(head_ + "{]\n" + point_, launch_), ":2: no record of a samples file");
  EXPECT_EQ(problem(head_ + "[1]\n", launch_), ":2: no record of a samples file");
}

TEST_F(SamplesFileTest, BeginsAFileThatIsNotThere) {
  const auto file = SamplesFile::resume(path_, what_must_be_alike(launch_), 1);
  ASSERT_TRUE(file);
  EXPECT_EQ(file->launches(), 0);
}

TEST(SamplesFile, SaysWhereItCannotWrite) {
  const auto nowhere = SamplesFile::create("/nowhere/s.jsonl");
  ASSERT_FALSE(nowhere);
  EXPECT_EQ(nowhere.error().text, "/nowhere/s.jsonl can't be written: No such file or directory");
  auto full = SamplesFile::create("/dev/full");
  ASSERT_TRUE(full);
  const auto added = full->add({{"kind", "launch"}});
  ASSERT_FALSE(added);
  EXPECT_THAT(added.error().text, HasSubstr("No space left on device"));
}

TEST(Record, OfAPointHoldsItsHistogram) {
  const Measurement measurement = {.name = "ping"};
  Found found;
  for (int i = 1; i <= 100; ++i) found.samples.add(i * 1e-6);
  found.visits = 2;
  found.batch = 1;
  const Json record = record_of({&measurement, "node", {0, 1}, 8}, found, Goal{}, 3);
  EXPECT_EQ(record["launch"], 3);
  EXPECT_NEAR(record["median"].get<double>(), 50.5e-6, 1e-6);
  EXPECT_LT(record["median_low"], record["median"]);
  EXPECT_EQ(record["narrow"], false);
  EXPECT_FALSE(record.contains("raw"));
  int64_t count = 0;
  for (const auto& each : record["counts"]) count += each.get<int64_t>();
  EXPECT_EQ(count, 100);
  EXPECT_EQ(record["bins"].size(), record["counts"].size());
}

TEST_F(SamplesFileTest, EachRepetitionMeasuresAll) {
  Json second = launch_;
  second["repetition"] = 2;
  write(head_ + point_ + second.dump() + "\n");
  const auto first = SamplesFile::resume(path_, what_must_be_alike(launch_), 1);
  ASSERT_TRUE(first) << first.error().text;
  EXPECT_THAT(first->measured(), ElementsAre("ping/node/4"));
  const auto other = SamplesFile::resume(path_, what_must_be_alike(launch_), 2);
  ASSERT_TRUE(other) << other.error().text;
  EXPECT_THAT(other->measured(), ElementsAre());
  EXPECT_EQ(other->launches(), 2);
}

}  // namespace
}  // namespace haichi::measure
