#include "launch/preload.h"

#include <errno.h>
#include <gmock/gmock.h>

#include "launch/test_files.h"

namespace haichi::launch {
namespace {

using ::testing::HasSubstr;

constexpr std::string_view kShim = "/h/lib/libhaichi-mpich.so";

std::string with_shim(std::string_view before) { return with_shims(before, {std::string(kShim)}); }

TEST(WithShim, PutsTheShimBeforeWhatWasThere) {
  EXPECT_EQ(with_shim(""), kShim);
  EXPECT_EQ(with_shim("/opt/libdarshan.so"), "/h/lib/libhaichi-mpich.so:/opt/libdarshan.so");
  EXPECT_EQ(with_shim("a.so b.so::c.so"), "/h/lib/libhaichi-mpich.so:a.so:b.so:c.so");
}

TEST(WithShim, ReplacesAShimOfAnOuterRun) {
  EXPECT_EQ(with_shim("/other/libhaichi-openmpi.so:a.so"), "/h/lib/libhaichi-mpich.so:a.so");
  EXPECT_EQ(with_shim(kShim), kShim);
}

TEST(WithShim, PutsTheRecorderWhereItIsTold) {
  EXPECT_EQ(with_shims("a.so", {"/h/lib/libhaichi-record-mpich.so", "/h/lib/libhaichi-mpich.so"}),
            "/h/lib/libhaichi-record-mpich.so:/h/lib/libhaichi-mpich.so:a.so");
  EXPECT_EQ(with_shim("/h/lib/libhaichi-record-mpich.so:/h/lib/libhaichi-mpich.so:a.so"),
            "/h/lib/libhaichi-mpich.so:a.so");
}

TEST(WithShim, LeavesSanitizersInFront) {
  EXPECT_EQ(with_shim("/usr/lib/libasan.so.8:a.so"),
            "/usr/lib/libasan.so.8:/h/lib/libhaichi-mpich.so:a.so");
}

TEST(WithoutShims, RemovesOursAndNothingElse) {
  EXPECT_EQ(without_shims("/x/libhaichi-mpiabi.so"), "");
  EXPECT_EQ(without_shims("a.so:/x/libhaichi-mpiabi.so:libhaichi-other.so"),
            "a.so:libhaichi-other.so");
}

class FindShim : public TestFiles {};

TEST_F(FindShim, LooksBesideThePrograms) {
  write("lib/libhaichi-openmpi.so", "");
  std::filesystem::create_directories(path("bin"));
  const auto shim = find_shim(Abi::openmpi, path("bin"));
  ASSERT_TRUE(shim) << shim.error().text;
  EXPECT_EQ(*shim, path("lib/libhaichi-openmpi.so"));

  const auto missing = find_shim(Abi::mpich, path("bin"));
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ELIBACC);
  EXPECT_THAT(missing.error().text, HasSubstr("./haichi build"));
}

TEST_F(FindShim, RefusesAPathThatLdPreloadWouldSplit) {
  write("with blank/lib/libhaichi-mpich.so", "");
  std::filesystem::create_directories(path("with blank/bin"));
  const auto shim = find_shim(Abi::mpich, path("with blank/bin"));
  ASSERT_FALSE(shim);
  EXPECT_EQ(shim.error().code, EINVAL);
}

}  // namespace
}  // namespace haichi::launch
