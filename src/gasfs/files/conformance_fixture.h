// What the tests of conformance.h have in common.
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/xattr.h>

#include <memory>
#include <random>
#include <set>
#include <thread>

#include "gasfs/files/node_files.h"

namespace haichi::gasfs {

/// Makes files with nothing in them; what they stand on goes with them.
using MakeFiles = std::shared_ptr<NodeFiles> (*)();

class NodeFilesConformance : public testing::TestWithParam<MakeFiles> {
 protected:
  static std::span<const std::byte> bytes(std::string_view text) {
    return std::as_bytes(std::span(text));
  }
  Opened create(std::string_view name, int flags = O_RDWR, Inode folder = kRoot) {
    const auto made = files->create(folder, name, {.mode = 0644, .uid = 5, .gid = 6}, flags);
    EXPECT_TRUE(made) << name << ": errno " << (made ? 0 : made.error());
    return made.value_or(Opened{});
  }
  Inode mkdir(std::string_view name, Inode folder = kRoot, mode_t mode = 0755) {
    const auto made = files->mkdir(folder, name, {.mode = mode, .uid = 5, .gid = 6});
    EXPECT_TRUE(made) << name;
    return made ? made->inode : 0;
  }
  void write(Handle handle, uint64_t offset, std::string_view text) {
    EXPECT_EQ(files->write(handle, offset, bytes(text), 1), text.size());
  }
  std::string read(Handle handle, uint64_t offset = 0, size_t size = 1 << 16) {
    std::string text(size, '\xee');
    const auto got = files->read(handle, offset, std::as_writable_bytes(std::span(text)));
    EXPECT_TRUE(got);
    text.resize(got.value_or(0));
    return text;
  }
  std::vector<std::string> names(Inode folder, uint64_t behind = kFirstCursor) {
    std::vector<std::string> found;
    EXPECT_TRUE(files->readdir(folder, behind, [&](const Entry& entry) {
      EXPECT_GT(entry.cursor, kFirstCursor);
      found.emplace_back(entry.name);
      return true;
    }));
    return found;
  }
  template <class T>
  static int errno_of(const Outcome<T>& outcome) {
    return outcome ? 0 : outcome.error();
  }

  std::shared_ptr<NodeFiles> files = GetParam()();
};

}  // namespace haichi::gasfs
