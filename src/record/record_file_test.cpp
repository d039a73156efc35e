#include "record/record_file.h"

#include <gmock/gmock.h>
#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>

#include "base/os.h"

namespace haichi::record {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

class RecordFileTest : public ::testing::Test {
 protected:
  RecordFileTest() {
    char name[] = "/tmp/haichi-record-file-XXXXXX";
    folder_ = mkdtemp(name);
  }
  ~RecordFileTest() override { std::filesystem::remove_all(folder_); }
  std::vector<std::string> names() const {
    std::vector<std::string> found;
    for (const auto& each : std::filesystem::directory_iterator(folder_))
      found.push_back(each.path().filename());
    return found;
  }
  std::string folder_;
};

TEST_F(RecordFileTest, IsThereWhenItIsWhole) {
  const std::string path = folder_ + "/record.jsonl";
  {
    auto file = RecordFile::create(path);
    ASSERT_TRUE(file) << file.error().text;
    EXPECT_TRUE(file->add("one\n"));
    EXPECT_FALSE(std::filesystem::exists(path));
    EXPECT_TRUE(file->add("two\n"));
    EXPECT_TRUE(file->finish());
  }
  EXPECT_EQ(*read_file(path), "one\ntwo\n");
  EXPECT_THAT(names(), ::testing::ElementsAre("record.jsonl"));
}

TEST_F(RecordFileTest, LeavesNothingWhenItIsGivenUp) {
  {
    auto file = RecordFile::create(folder_ + "/record.jsonl");
  }
  EXPECT_THAT(names(), IsEmpty());
}

TEST_F(RecordFileTest, RefusesWhatIsNoFile) {
  for (const std::string& path : {folder_, folder_ + "/", std::string("/dev/null")}) {
    const auto file = RecordFile::create(path);
    ASSERT_FALSE(file) << path;
    EXPECT_THAT(file.error().text, HasSubstr("cannot write " + path));
  }
  ASSERT_EQ(symlink("/etc/passwd", (folder_ + "/link").c_str()), 0);
  EXPECT_FALSE(RecordFile::create(folder_ + "/link"));
  EXPECT_FALSE(RecordFile::create(folder_ + "/nowhere/record.jsonl"));
}

TEST_F(RecordFileTest, WhatHasNoRoomIsToldAtTheEnd) {
  auto file = RecordFile::create(folder_ + "/record.jsonl");
  ASSERT_TRUE(file);
  rlimit before;
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit little = {10, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &little);
  EXPECT_TRUE(file->add("0123456789"));
  EXPECT_FALSE(file->add("x"));
  EXPECT_FALSE(file->add(""));
  setrlimit(RLIMIT_FSIZE, &before);
  const Status done = file->finish();
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, EFBIG);
}

}  // namespace
}  // namespace haichi::record
