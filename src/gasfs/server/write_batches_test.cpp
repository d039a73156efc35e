// What several nodes write to one object at the same time.
#include "gasfs/server/write_batches.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <filesystem>
#include <optional>
#include <random>
#include <thread>

#include "base/clock.h"

namespace haichi::gasfs {
namespace {

constexpr Inode kFile = 7;

class WriteBatchesTest : public ::testing::Test {
 protected:
  WriteBatchesTest() {
    std::string pattern = (::access("/dev/shm", W_OK) == 0 ? "/dev/shm/" : ::testing::TempDir()) +
                          "gasfs_batches_XXXXXX";
    folder_ = ::mkdtemp(pattern.data());
    objects_ = std::move(*Objects::open(folder_));
  }
  ~WriteBatchesTest() override { std::filesystem::remove_all(folder_); }

  static Done write(WriteBatches& batches, uint64_t session, std::vector<Extent> extents,
                    std::string_view text) {
    return batches.write(session, {kFile, std::move(extents), std::as_bytes(std::span(text))});
  }
  std::string read(size_t length) {
    std::string text(length, '?');
    const Extent whole{0, static_cast<uint32_t>(length)};
    EXPECT_TRUE(objects_->read(kFile, {&whole, 1}, std::as_writable_bytes(std::span(text))));
    return text;
  }

  std::string folder_;
  std::unique_ptr<Objects> objects_;
};

/// Records of two nodes in turns: with both known, the second turn is one request to the kernel.
TEST_F(WriteBatchesTest, NeighboursOfTwoNodesAreOneRequest) {
  WriteBatches batches(*objects_, 1'000'000);
  const auto both = [&](uint64_t at, std::string_view one, std::string_view two) {
    std::thread other([&] { EXPECT_TRUE(write(batches, 2, {{at + 2, 2}, {at + 6, 2}}, two)); });
    EXPECT_TRUE(write(batches, 1, {{at, 2}, {at + 4, 2}}, one));
    other.join();
  };
  both(0, "aabb", "AABB");
  const uint64_t before = objects_->writes();
  both(8, "ccdd", "CCDD");
  EXPECT_EQ(objects_->writes() - before, 1u);
  EXPECT_GE(batches.together(), 2u);
  EXPECT_EQ(read(16), "aaAAbbBBccCCddDD");
}

/// Nobody else writes to the object: there is nothing to wait for.
TEST_F(WriteBatchesTest, OneNodeAloneDoesNotWait) {
  WriteBatches batches(*objects_, 1'000'000);
  const int64_t began = now_ns();
  for (uint64_t i = 0; i < 50; ++i) ASSERT_TRUE(write(batches, 1, {{2 * i, 2}}, "ab"));
  EXPECT_LT(now_ns() - began, 25'000'000'000) << "half of what waiting would take";
  EXPECT_EQ(batches.together(), 0u);
}

/// Many nodes write their records in turns, over and over: the last of each stands.
TEST_F(WriteBatchesTest, EachByteIsWhatItsNodeWroteLast) {
  for (const int gather_us : {0, 200}) {
    WriteBatches batches(*objects_, gather_us);
    constexpr size_t kNodes = 6, kRecords = 40, kRounds = 60;
    std::vector<std::thread> nodes;
    for (size_t node = 0; node < kNodes; ++node)
      nodes.emplace_back([&, node] {
        std::mt19937_64 random(node + 1);
        for (size_t round = 1; round <= kRounds; ++round) {
          std::vector<Extent> extents;
          std::string text;
          for (size_t record = 0; record < kRecords; ++record) {
            if (round < kRounds && random() % 2) continue;
            const auto length = static_cast<uint32_t>(1 + (node + record) % 5);
            extents.push_back({(record * kNodes + node) * 5, length});
            text.append(length, static_cast<char>('A' + (node + round) % 26));
          }
          EXPECT_TRUE(write(batches, node, extents, text));
        }
      });
    for (std::thread& node : nodes) node.join();
    const std::string seen = read(kNodes * kRecords * 5);
    for (size_t node = 0; node < kNodes; ++node)
      for (size_t record = 0; record < kRecords; ++record) {
        const size_t length = 1 + (node + record) % 5;
        const std::string wanted(length, static_cast<char>('A' + (node + kRounds) % 26));
        EXPECT_EQ(seen.substr((record * kNodes + node) * 5, length), wanted);
      }
  }
}

/// Two nodes write the same bytes at once: all are the one's or all the other's.
TEST_F(WriteBatchesTest, OverlappingRequestsAreNotMixed) {
  WriteBatches batches(*objects_, 100'000);
  for (int i = 0; i < 20; ++i) {
    std::thread other([&] { EXPECT_TRUE(write(batches, 2, {{0, 6}}, "BBBBBB")); });
    EXPECT_TRUE(write(batches, 1, {{0, 6}}, "aaaaaa"));
    other.join();
    const std::string seen = read(6);
    EXPECT_TRUE(seen == "aaaaaa" || seen == "BBBBBB") << seen;
  }
}

/// The kernel refuses the bytes of one of them: the other is answered as if alone.
TEST_F(WriteBatchesTest, EachIsToldOfItsOwnErrorOnly) {
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit small{4096, before.rlim_max};
  WriteBatches batches(*objects_, 1'000'000);
  for (const bool limited : {false, true}) {
    if (limited) {
      ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
    }
    std::optional<Done> far;
    std::thread other([&] { far = write(batches, 2, {{4096, 2}}, "zz"); });
    const Done near = write(batches, 1, {{4094, 2}}, limited ? "yy" : "xx");
    other.join();
    ::setrlimit(RLIMIT_FSIZE, &before);
    EXPECT_TRUE(near);
    EXPECT_EQ(far->has_value(), !limited);
    if (!*far) {
      EXPECT_EQ(far->error(), EFBIG);
    }
  }
  EXPECT_EQ(read(4098).substr(4094), "yyzz");
}

}  // namespace
}  // namespace haichi::gasfs
