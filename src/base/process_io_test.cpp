#include "base/process_io.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <stdlib.h>
#include <unistd.h>

#include <string>

namespace haichi {
namespace {

constexpr const char* kText =
    "rchar: 5966807\nwchar: 4205999\nsyscr: 679\nsyscw: 31\nread_bytes: 106496\n"
    "write_bytes: 4214784\ncancelled_write_bytes: 7\n";

TEST(ProcessIo, ReadsWhatTheKernelSays) {
  const auto io = parse_process_io(kText);
  ASSERT_TRUE(io);
  EXPECT_EQ(io->read_bytes, 106496);
  EXPECT_EQ(io->written_bytes, 4214784);
}

TEST(ProcessIo, TakesNothingElse) {
  EXPECT_FALSE(parse_process_io(""));
  EXPECT_FALSE(parse_process_io("read_bytes: 1\n"));
  EXPECT_FALSE(parse_process_io("read_bytes: 1\nwrite_bytes: many\n"));
  EXPECT_FALSE(parse_process_io("read_bytes: 1\ncancelled_write_bytes: 2\n"));
}

TEST(ProcessIo, CountsWhatIsWrittenToAFileOnADisk) {
  char name[] = "/var/tmp/haichi-io-XXXXXX";
  const int fd = mkstemp(name);
  ASSERT_GE(fd, 0);
  unlink(name);
  const auto before = process_io();
  const std::string data(1 << 20, 'x');
  ASSERT_EQ(write(fd, data.data(), data.size()), ssize_t(data.size()));
  const auto after = process_io();
  close(fd);
  if (!before || !after) GTEST_SKIP() << "no /proc/self/io: the kernel lacks task I/O accounting";
  if (after->written_bytes == before->written_bytes) GTEST_SKIP() << "/var/tmp is in memory";
  EXPECT_GE(after->written_bytes - before->written_bytes, int64_t(data.size()));
  EXPECT_LT(after->written_bytes - before->written_bytes, int64_t(2 * data.size()));
}

}  // namespace
}  // namespace haichi
