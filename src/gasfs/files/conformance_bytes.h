// The tests of conformance.h that are of what stands in files.
#pragma once

#include "gasfs/files/conformance_fixture.h"

namespace haichi::gasfs {

TEST_P(NodeFilesConformance, ReadsWhatWasWritten) {
  const Opened a = create("a");
  write(a.handle, 0, "hello world");
  EXPECT_EQ(read(a.handle), "hello world");
  write(a.handle, 6, "there");
  write(a.handle, 11, "!");
  EXPECT_EQ(read(a.handle), "hello there!");
  EXPECT_EQ(read(a.handle, 6, 3), "the");
  EXPECT_EQ(read(a.handle, 12, 3), "");
  EXPECT_EQ(read(a.handle, 1000, 3), "");
  EXPECT_EQ(files->getattr(a.attributes.inode)->size, 12u);
  EXPECT_TRUE(files->flush(a.handle));
  EXPECT_EQ(read(a.handle), "hello there!");
  files->release(a.handle);
  const auto again = files->open(a.attributes.inode, O_RDONLY);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->attributes.size, 12u);
  EXPECT_EQ(read(again->handle), "hello there!");
}

TEST_P(NodeFilesConformance, AnotherHandleSeesWhatIsNotFlushed) {
  const Opened a = create("a");
  const auto other = files->open(a.attributes.inode, O_RDWR);
  ASSERT_TRUE(other);
  write(a.handle, 0, "aaaa");
  write(other->handle, 2, "bbbb");
  write(a.handle, 4, "c");
  EXPECT_EQ(read(a.handle), "aabbcb");
  EXPECT_EQ(read(other->handle), "aabbcb");
}

TEST_P(NodeFilesConformance, HolesAreZero) {
  const Opened a = create("a");
  write(a.handle, 100000, "end");
  const std::string text = read(a.handle, 99990, 100);
  EXPECT_EQ(text, std::string(10, '\0') + "end");
  ASSERT_TRUE(files->setattr(a.attributes.inode, {.size = 100001}));
  ASSERT_TRUE(files->setattr(a.attributes.inode, {.size = 100010}));
  EXPECT_EQ(read(a.handle, 100000, 100), std::string("e") + std::string(9, '\0'));
  EXPECT_EQ(files->getattr(a.attributes.inode)->size, 100010u);
}

TEST_P(NodeFilesConformance, AppendsWhereTheFileEnds) {
  const Opened a = create("a", O_WRONLY | O_APPEND);
  const auto other = files->open(a.attributes.inode, O_RDWR | O_APPEND);
  ASSERT_TRUE(other);
  write(a.handle, 0, "one");
  write(other->handle, 0, "two");
  write(a.handle, 99, "three");
  EXPECT_EQ(read(other->handle), "onetwothree");
}

TEST_P(NodeFilesConformance, CutsAtOpen) {
  const Opened a = create("a");
  write(a.handle, 0, "before");
  const auto cut = files->open(a.attributes.inode, O_WRONLY | O_TRUNC);
  ASSERT_TRUE(cut);
  EXPECT_EQ(cut->attributes.size, 0u);
  EXPECT_EQ(read(a.handle), "");
}

TEST_P(NodeFilesConformance, RandomWritesAndCutsLeaveTheBytesOfAModel) {
  std::mt19937_64 random(20026);
  const Opened a = create("a");
  const auto other = files->open(a.attributes.inode, O_RDWR);
  std::string model;
  for (int i = 0; i < 2000; ++i) {
    const size_t offset = random() % 300000, size = random() % (i % 10 == 0 ? 70000 : 100);
    const uint64_t what = random() % 50;
    const Handle handle = random() % 2 ? a.handle : other->handle;
    if (what == 0) {
      model.resize(offset, '\0');
      ASSERT_TRUE(files->setattr(a.attributes.inode, {.size = offset}));
    } else if (what == 1) {
      ASSERT_TRUE(files->flush(handle));
    } else if (what < 10) {
      const size_t there = offset < model.size() ? std::min(size, model.size() - offset) : 0;
      ASSERT_EQ(read(handle, offset, size), there ? model.substr(offset, there) : "") << i;
    } else if (size > 0) {
      std::string text(size, '\0');
      for (char& c : text) c = char(random());
      model.resize(std::max(model.size(), offset + size), '\0');
      model.replace(offset, size, text);
      write(handle, offset, text);
    }
  }
  EXPECT_TRUE(read(a.handle, 0, 400000) == model);
}

TEST_P(NodeFilesConformance, ThreadsWriteSideBySide) {
  const Opened a = create("a");
  constexpr int kThreads = 4, kRecords = 500;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kRecords; ++i) {
        write(a.handle, uint64_t(i * kThreads + t) * 40, std::string(40, char('a' + t)));
      }
    });
  }
  for (auto& thread : threads) thread.join();
  const std::string text = read(a.handle, 0, 100000);
  ASSERT_EQ(text.size(), size_t(kThreads * kRecords * 40));
  for (size_t i = 0; i < text.size(); ++i) ASSERT_EQ(text[i], char('a' + i / 40 % kThreads)) << i;
}

TEST_P(NodeFilesConformance, WritingMovesTheTimeOfChange) {
  const Opened a = create("a");
  ASSERT_TRUE(files->setattr(a.attributes.inode, {.modified = timespec{1, 0}}));
  write(a.handle, 0, "x");
  EXPECT_GT(files->getattr(a.attributes.inode)->modified.tv_sec, 1);
}

TEST_P(NodeFilesConformance, FallocateGrowsOrSaysThatItIsNotServed) {
  const Opened a = create("a");
  write(a.handle, 0, "abc");
  const int refused = errno_of(files->fallocate(a.handle, 0, 0, 10000));
  if (refused == EOPNOTSUPP) return;
  ASSERT_EQ(refused, 0);
  EXPECT_EQ(files->getattr(a.attributes.inode)->size, 10000u);
  EXPECT_EQ(read(a.handle, 0, 5), std::string("abc\0\0", 5));
}

TEST_P(NodeFilesConformance, SeeksDataAndHoles) {
  const Opened a = create("a");
  write(a.handle, 0, "abc");
  EXPECT_EQ(files->seek(a.handle, 1, Part::data), 1u);
  const auto hole = files->seek(a.handle, 0, Part::hole);
  EXPECT_EQ(hole, 3u);
  EXPECT_EQ(errno_of(files->seek(a.handle, 3, Part::data)), ENXIO);
  EXPECT_EQ(errno_of(files->seek(a.handle, 3, Part::hole)), ENXIO);
}

TEST_P(NodeFilesConformance, RefusesHandlesThatNobodyHas) {
  std::byte byte{};
  EXPECT_EQ(errno_of(files->write(4242424242, 0, {&byte, 1}, 1)), EBADF);
  EXPECT_EQ(errno_of(files->read(4242424242, 0, {&byte, 1})), EBADF);
  EXPECT_EQ(errno_of(files->flush(4242424242)), EBADF);
  const Opened a = create("a", O_RDONLY);
  EXPECT_EQ(errno_of(files->write(a.handle, 0, {&byte, 1}, 1)), EBADF);
  EXPECT_EQ(errno_of(files->write(create("b").handle, uint64_t(INT64_MAX), {&byte, 1}, 1)), EFBIG);
}

}  // namespace haichi::gasfs
