#include "base/os.h"

#include <errno.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <thread>

namespace haichi {
namespace {

namespace fs = std::filesystem;

constexpr uid_t kAnother = 12345;

/// A folder of its own, in which a hanging call ends the test.
class Files : public ::testing::Test {
 protected:
  Files() {
    char name[] = "/tmp/haichi-os-XXXXXX";
    root_ = mkdtemp(name);
    alarm(60);
  }
  ~Files() override {
    alarm(0);
    fs::remove_all(root_);
  }

  std::string path(const std::string& name) const { return root_ + "/" + name; }
  std::string text_of(const std::string& name) const {
    return read_file(path(name)).value_or("(none)");
  }
  std::string fifo(const std::string& name) const {
    EXPECT_EQ(mkfifo(path(name).c_str(), 0600), 0);
    return path(name);
  }
  size_t entries() const {
    return size_t(std::distance(fs::directory_iterator(root_), fs::directory_iterator()));
  }

  std::string root_;
};

int code_of(const Status& status) { return status ? 0 : status.error().code; }

TEST_F(Files, AreReplacedAndNothingElseIsLeft) {
  const mode_t mask = umask(022);
  ASSERT_TRUE(write_file_atomically(path("x"), "one"));
  umask(mask);
  ASSERT_TRUE(write_file_atomically(path("x"), "two"));
  EXPECT_EQ(text_of("x"), "two");
  EXPECT_EQ(entries(), 1u);
  EXPECT_EQ(fs::status(path("x")).permissions(), fs::perms(0666 & ~mask));
  fs::create_directory(path("folder"));
  EXPECT_EQ(code_of(write_file_atomically(path("folder"), "x")), EISDIR);
  EXPECT_EQ(code_of(write_file_atomically(path("none/x"), "x")), ENOENT);
  EXPECT_EQ(code_of(write_file_atomically(path(""), "x")), ENOENT);
  EXPECT_EQ(entries(), 2u);
}

TEST_F(Files, ALongNameIsNoObstacle) {
  const std::string name(255, 'n');
  ASSERT_TRUE(write_file_atomically(path(name), "text"));
  EXPECT_EQ(text_of(name), "text");
}

TEST_F(Files, NoNameThatCanBeGuessedIsOpened) {
  ASSERT_TRUE(write_file_atomically(path("victim"), "precious"));
  fs::create_symlink("victim", path("x." + std::to_string(getpid()) + ".tmp"));
  ASSERT_TRUE(write_file_atomically(path("x"), "text"));
  EXPECT_EQ(text_of("victim"), "precious");
  EXPECT_EQ(text_of("x"), "text");
}

TEST_F(Files, ALinkOfTheCallersIsWrittenThrough) {
  fs::create_symlink("target", path("x"));
  ASSERT_TRUE(write_file_atomically(path("x"), "a longer text"));
  ASSERT_TRUE(write_file_atomically(path("x"), "text"));
  EXPECT_TRUE(fs::is_symlink(path("x")));
  EXPECT_EQ(text_of("target"), "text");
}

TEST_F(Files, ALinkOrFifoOfAnotherUserIsRefused) {
  if (geteuid() != 0) GTEST_SKIP() << "files of another user need root";
  ASSERT_TRUE(write_file_atomically(path("target"), "precious"));
  fs::create_symlink("target", path("x"));
  ASSERT_EQ(lchown(path("x").c_str(), kAnother, kAnother), 0);
  EXPECT_EQ(code_of(write_file_atomically(path("x"), "text")), EPERM);
  EXPECT_EQ(text_of("target"), "precious");
  ASSERT_EQ(chown(fifo("pipe").c_str(), kAnother, kAnother), 0);
  const int reader = ::open(path("pipe").c_str(), O_RDONLY | O_NONBLOCK);
  EXPECT_EQ(code_of(write_file_atomically(path("pipe"), "text")), EPERM);
  ::close(reader);
}

TEST_F(Files, DevicesStayWhatTheyAre) {
  ASSERT_TRUE(write_file_atomically("/dev/null", "text"));
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  EXPECT_EQ(read_file("/dev/null").value_or("(none)"), "");
  EXPECT_EQ(code_of(write_file_atomically("/dev/full", "text")), ENOSPC);
  const auto endless = read_file("/dev/zero");
  ASSERT_FALSE(endless);
  EXPECT_EQ(endless.error().code, EFBIG);
}

TEST_F(Files, AFifoWithoutAReaderIsAnErrorAtOnce) {
  EXPECT_EQ(code_of(write_file_atomically(fifo("pipe"), "text")), ENXIO);
  EXPECT_TRUE(fs::is_fifo(path("pipe")));
}

TEST_F(Files, AFifoWithAReaderGetsTheText) {
  const std::string text(1 << 20, 't'), name = fifo("pipe");
  const int reader = ::open(name.c_str(), O_RDONLY | O_NONBLOCK);
  std::string got;
  std::thread thread([&] {
    char chunk[1000];
    while (got.size() < text.size())
      if (const ssize_t n = ::read(reader, chunk, sizeof chunk); n > 0)
        got.append(chunk, size_t(n));
  });
  EXPECT_TRUE(write_file_atomically(name, text));
  thread.join();
  ::close(reader);
  EXPECT_EQ(got, text);
  EXPECT_TRUE(fs::is_fifo(name));
}

TEST_F(Files, AReaderThatGoesAwayIsAnErrorAndNoSignal) {
  const std::string name = fifo("pipe");
  const int reader = ::open(name.c_str(), O_RDONLY | O_NONBLOCK);
  std::thread thread([&] {
    usleep(50000);
    ::close(reader);
  });
  EXPECT_EQ(code_of(write_file_atomically(name, std::string(1 << 20, 't'))), EPIPE);
  thread.join();
  sigset_t pending;
  sigpending(&pending);
  EXPECT_FALSE(sigismember(&pending, SIGPIPE));
}

TEST_F(Files, WhatHasNoTextIsNotRead) {
  for (const std::string& name : {fifo("pipe"), root_}) {
    const auto text = read_file(name);
    ASSERT_FALSE(text) << name;
    EXPECT_EQ(text.error().code, EINVAL) << name;
  }
  ASSERT_TRUE(write_file_atomically(path("x"), "12345"));
  EXPECT_EQ(read_file(path("x"), 5).value_or("(none)"), "12345");
  EXPECT_EQ(read_file(path("x"), 4).error().code, EFBIG);
}

TEST_F(Files, AcceptSeesTheFileThatIsRead) {
  ASSERT_TRUE(write_file_atomically(path("x"), "12345"));
  int64_t seen = 0;
  const auto look = [&](const struct stat& facts) -> Status {
    seen = facts.st_size;
    return fail(EACCES, "not this one");
  };
  EXPECT_EQ(read_file(path("x"), 100, O_NOFOLLOW, look).error().text, "not this one");
  EXPECT_EQ(seen, 5);
}

TEST_F(Files, ALockIsForOneAndIsWaitedForSoLong) {
  auto mine = FolderLock::take(root_, 0);
  ASSERT_TRUE(mine) << mine.error().text;
  const auto other = FolderLock::take(root_, 20);
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code, ETIMEDOUT);
  std::thread thread([held = std::move(*mine)]() mutable {
    usleep(50000);
    const FolderLock gone = std::move(held);
  });
  EXPECT_TRUE(FolderLock::take(root_, 30000));
  thread.join();
  EXPECT_FALSE(FolderLock::take(fifo("pipe"), 0));
}

}  // namespace
}  // namespace haichi
