// A folder of a test's own, and in it a placement of four ranks on two nodes.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace haichi::test {

class TwoNodes {
 public:
  explicit TwoNodes(const char* name)
      : folder_(testing::TempDir() + fmt::format("{}-{}", name, getpid())) {
    std::filesystem::create_directories(folder_);
    std::ofstream(placement()) << R"({"schema": "haichi.placement/1", "nodes": )"
                               << R"([{"ranks": "0-1"}, {"ranks": "2-3"}]})";
  }
  ~TwoNodes() { std::filesystem::remove_all(folder_); }
  TwoNodes(const TwoNodes&) = delete;
  TwoNodes& operator=(const TwoNodes&) = delete;

  const std::string& folder() const { return folder_; }
  /// For haichi in this process, before MPI_Init.
  void tell() const {
    setenv("HAICHI_PLACEMENT", placement().c_str(), 1);
    setenv("HAICHI_LOG", "error", 1);
  }

 private:
  std::string placement() const { return folder_ + "/placement.json"; }

  const std::string folder_;
};

}  // namespace haichi::test
