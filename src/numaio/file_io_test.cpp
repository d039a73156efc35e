#include "numaio/file_io.h"

#include <errno.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <random>
#include <string>
#include <vector>

#include "numaio/engine.h"
#include "numaio/host_nodes.h"

namespace haichi::numaio {
namespace {

constexpr int64_t kBytes = 3 << 20;

// A file of known bytes whose system calls go wrong as told.
class FaultyOs : public CacheOs {
 public:
  int64_t ends_at = kBytes;  ///< that reads see; fstat() says told_bytes
  int64_t told_bytes = kBytes;
  int64_t fails_at = -1;  ///< reads from here on fail
  int error = EIO;
  bool interrupted = false;                 ///< now and then
  int64_t most = kBytes;                    ///< of one read
  int64_t cold = kBytes, cold_to = kBytes;  ///< what is not in memory
  std::atomic<int> cold_reads = 0;          ///< that wait for some of that

  int64_t pread(int, void* data, size_t size, int64_t offset) override {
    if (interrupted && ++calls_ % 3 == 0) return -EINTR;
    if (fails_at >= 0 && offset >= fails_at) return -error;
    if (offset < cold_to && offset + int64_t(size) > cold) ++cold_reads;
    return give(data, std::min(int64_t(size), most), offset);
  }
  int64_t pread_cached(int, void* data, size_t size, int64_t offset) override {
    if (fails_at >= 0 && offset >= fails_at) return -error;
    if (offset >= cold && offset < cold_to) return -EAGAIN;
    const int64_t warm = offset < cold ? cold - offset : kBytes;
    return give(data, std::min({int64_t(size), most, warm}), offset);
  }
  int fstat(int, struct stat* out) override {
    *out = {};
    out->st_mode = S_IFREG;
    out->st_size = told_bytes;
    return 0;
  }
  static char byte_at(int64_t offset) { return char(offset * 7 + offset / 4096); }

 private:
  int64_t give(void* data, int64_t some, int64_t offset) const {
    some = std::min(some, ends_at - offset);
    if (fails_at >= 0) some = std::min(some, fails_at - offset);
    for (int64_t i = 0; i < some; ++i) static_cast<char*>(data)[i] = byte_at(offset + i);
    return std::max<int64_t>(some, 0);
  }
  std::atomic<int> calls_ = 0;
};

class FileIo : public testing::Test {
 protected:
  void SetUp() override {
    if (this_hosts_nodes().processors() < 2) GTEST_SKIP() << "one processor: nothing is split";
    set_options({0, 64 << 10, 64 << 10, true});
  }
  void TearDown() override { set_options({}); }

  int64_t read(FaultyOs& os, int64_t size = kBytes, int64_t offset = 0) {
    buffer_.assign(size_t(size), 0x55);
    const int64_t got = parallel_pread(os, -1, buffer_.data(), size, offset);
    for (int64_t i = 0; i < got; ++i)
      if (buffer_[size_t(i)] != FaultyOs::byte_at(offset + i)) return -1000000 - i;
    return got;
  }
  std::vector<char> buffer_;
};

TEST_F(FileIo, IsSplitAndWhole) {
  FaultyOs os;
  EXPECT_EQ(read(os), kBytes);
  EXPECT_GT(last().threads, 0);
  EXPECT_EQ(last().why, "split by the nodes of its pages");
  EXPECT_EQ(read(os, kBytes - 5000, 4777), kBytes - 5000);
}

TEST_F(FileIo, ShortReadsAndSignalsAreGoneOnFrom) {
  FaultyOs os;
  os.most = 10'000;
  os.interrupted = true;
  EXPECT_EQ(read(os), kBytes);
}

TEST_F(FileIo, AFailureAfterSomeBytesGivesThose) {
  FaultyOs os;
  for (const int64_t at : {int64_t{1}, int64_t{4096}, kBytes / 2 + 17, kBytes - 1}) {
    os.fails_at = at;
    EXPECT_EQ(read(os), at);
  }
  os.fails_at = 0;
  EXPECT_EQ(read(os), -EIO);
  os.error = EFAULT;
  EXPECT_EQ(read(os), -EFAULT);
}

TEST_F(FileIo, AFileThatIsCutOffMeanwhile) {
  FaultyOs os;
  for (const int64_t end : {int64_t{0}, int64_t{100}, kBytes / 3}) {
    os.ends_at = end;
    EXPECT_EQ(read(os), end);
  }
}

TEST_F(FileIo, AFileThatGrowsMeanwhile) {
  FaultyOs os;
  os.told_bytes = kBytes / 2;
  EXPECT_EQ(read(os), kBytes);
  os.ends_at = kBytes / 2 + 5;
  EXPECT_EQ(read(os), kBytes / 2 + 5);
}

// Of what no look has seen.
TEST_F(FileIo, FromTheFirstByteOnStorageOnTheCallIsPlain) {
  set_options({0, 64 << 10, 64 << 10, false});
  std::mt19937 draw(25);
  int split = 0;
  for (int i = 0; i < 100; ++i) {
    FaultyOs os;
    os.cold = int64_t(draw() % kBytes);
    os.cold_to = os.cold + 1 + int64_t(draw() % (kBytes - os.cold));
    if (draw() % 3 == 0) os.most = 50'000;
    ASSERT_EQ(read(os), kBytes);
    if (last().threads == 1) continue;  // by trial
    ++split;
    EXPECT_EQ(last().why, "split up to what is on storage, then the plain call");
    if (os.most == kBytes) {
      EXPECT_EQ(os.cold_reads, 1);
    }
    os.fails_at = int64_t(draw() % kBytes);
    EXPECT_EQ(read(os), os.fails_at == 0 ? -EIO : os.fails_at);
  }
  EXPECT_GT(split, 0);
}

// Whose first calls read a part plainly, to learn what that takes.
TEST_F(FileIo, LargeOnesAreWholeWhereverTheyEnd) {
  set_options({0, 64 << 10, 64 << 10, false});
  std::mt19937 draw(26);
  FaultyOs os;
  os.most = os.cold = os.cold_to = int64_t{1} << 40;
  for (int i = 0; i < 12; ++i) {
    const int64_t size = (32 << 20) + int64_t(draw() % (8 << 20));
    const int64_t offset = int64_t(draw() % 100'000);
    os.ends_at = os.told_bytes = offset + size;
    os.fails_at = -1;
    if (i % 4 == 1) os.fails_at = offset + int64_t(draw() % (1 << 20));  // in that part
    if (i % 4 == 2) os.fails_at = offset + int64_t(draw() % size);
    if (i % 4 == 3) os.ends_at = offset + int64_t(draw() % size);
    const int64_t there = (os.fails_at >= 0 ? os.fails_at : os.ends_at) - offset;
    EXPECT_EQ(read(os, size, offset), there == 0 && os.fails_at >= 0 ? -EIO : there) << i;
  }
}

TEST_F(FileIo, BehindTheEndIsNothing) {
  FaultyOs os;
  EXPECT_EQ(read(os, kBytes, kBytes), 0);
  EXPECT_EQ(read(os, kBytes, kBytes + 7), 0);
}

TEST_F(FileIo, SmallOnesAreNotSplit) {
  FaultyOs os;
  EXPECT_EQ(read(os, 1000), 1000);
  EXPECT_EQ(last().why, "too small to be split");
}

TEST_F(FileIo, TurnsGiveTheSameBytes) {
  FaultyOs os;
  for (int turn = 0; turn < 5; ++turn) {
    std::vector<char> buffer(static_cast<size_t>(kBytes));
    EXPECT_EQ(pread_turn(os, -1, buffer.data(), kBytes, 0, turn, 5), kBytes);
    for (int64_t i = 0; i < kBytes; ++i) ASSERT_EQ(buffer[size_t(i)], FaultyOs::byte_at(i)) << turn;
  }
  os.fails_at = kBytes / 2;
  std::vector<char> buffer(static_cast<size_t>(kBytes));
  for (int turn = 0; turn < 5; ++turn)
    EXPECT_EQ(pread_turn(os, -1, buffer.data(), kBytes, 0, turn, 5), kBytes / 2) << turn;
  os.fails_at = 0;
  EXPECT_EQ(pread_turn(os, -1, buffer.data(), kBytes, 0, 3, 5), -EIO);
}

TEST_F(FileIo, PartsGoIntoTheirFilesInOrder) {
  std::vector<int> files;
  for (int i = 0; i < 3; ++i) {
    char name[] = "/tmp/haichi-parts-XXXXXX";
    files.push_back(mkstemp(name));
    ASSERT_GE(files.back(), 0);
    unlink(name);
  }
  const std::string data(1 << 20, 'a'), over(1 << 10, 'b');
  std::vector<Part> parts;
  for (const int file : files) parts.push_back({file, data.data(), int64_t(data.size()), 0});
  parts.push_back({files[1], over.data(), int64_t(over.size()), 4096});
  EXPECT_EQ(write_parts(real_os(), parts), 0);
  std::string back(1 << 20, ' ');
  EXPECT_EQ(pread(files[1], back.data(), back.size(), 0), ssize_t(back.size()));
  EXPECT_EQ(back, data.substr(0, 4096) + over + data.substr(0, data.size() - 5120));
  parts.push_back({-1, data.data(), 1, 0});
  EXPECT_EQ(write_parts(real_os(), parts), -EBADF);
  for (const int file : files) close(file);
}

TEST_F(FileIo, CopiesAreWhole) {
  std::mt19937 draw(5);
  std::vector<char> from(3 << 20), to(from.size());
  for (char& each : from) each = char(draw());
  for (int i = 0; i < 20; ++i) {
    const size_t bytes = draw() % (from.size() - 100), begin = draw() % 100;
    std::fill(to.begin(), to.end(), 1);
    parallel_copy(to.data() + begin, from.data(), int64_t(bytes));
    ASSERT_TRUE(std::equal(from.begin(), from.begin() + long(bytes), to.begin() + long(begin)));
    ASSERT_EQ(to[begin + bytes], 1);
  }
}

}  // namespace
}  // namespace haichi::numaio
