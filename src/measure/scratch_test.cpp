#include "measure/scratch.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace haichi::measure {
namespace {

class Scratch : public testing::Test {
 protected:
  void SetUp() override {
    char folder[] = "/tmp/haichi-scratch-XXXXXX";
    ASSERT_NE(mkdtemp(folder), nullptr);
    folder_ = folder;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  static void make(const std::string& path) { std::ofstream(path) << "x"; }
  static bool there(const std::string& path) { return access(path.c_str(), F_OK) == 0; }

  std::string folder_;
};

TEST_F(Scratch, FilesOfAProcessThatIsGoneAreRemoved) {
  const pid_t child = fork();
  if (child == 0) {
    make(scratch_path(folder_) + ".1");
    _exit(0);
  }
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
  EXPECT_EQ(remove_left_over_scratch(folder_), 1);
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
}

TEST_F(Scratch, AllOthersStay) {
  const std::string own = scratch_path(folder_);
  const std::string of_another_host = folder_ + "/haichi-measure-elsewhere.example-1-2";
  const std::string users = folder_ + "/haichi-measure-notes";
  for (const auto& path : {own, of_another_host, users}) make(path);
  EXPECT_EQ(remove_left_over_scratch(folder_), 0);
  for (const auto& path : {own, of_another_host, users}) EXPECT_TRUE(there(path)) << path;
  EXPECT_EQ(remove_left_over_scratch(folder_ + "/nowhere"), 0);
}

TEST_F(Scratch, AllThatAFailedPointLeavesIsRemovedAndItsSpaceGivenBack) {
  const std::string own = scratch_path(folder_), other = scratch_path(folder_);
  const std::string pointer = folder_ + "/." + own.substr(folder_.size() + 1) + ".shfp.7";
  for (const auto& path : {own, own + ".0.15", own + ".locks.1", pointer, other}) make(path);
  const int open_still = open(own.c_str(), O_RDONLY);
  EXPECT_EQ(remove_scratch(own), 4);
  EXPECT_FALSE(there(own));
  EXPECT_FALSE(there(pointer));
  EXPECT_TRUE(there(other));
  EXPECT_EQ(lseek(open_still, 0, SEEK_END), 0);
  close(open_still);
  EXPECT_EQ(remove_scratch(own), 0);
  EXPECT_EQ(remove_scratch(folder_ + "/nowhere/file"), 0);
}

}  // namespace
}  // namespace haichi::measure
