#include "gasfs/arena/name_leases.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include "gasfs/arena/program.h"

namespace haichi::gasfs::arena {
namespace {

/// A program, and what it sees of its arena.
struct Seen {
  Seen() : program(Program::make(::getpid()).value()) {
    const int memory = program->release_memory_fd();
    void* const at = ::mmap(nullptr, sizeof(Arena), PROT_READ, MAP_SHARED, memory, 0);
    ::close(memory);
    arena = at == MAP_FAILED ? nullptr : static_cast<const Arena*>(at);
  }
  ~Seen() { ::munmap(const_cast<Arena*>(arena), sizeof(Arena)); }
  Seen(const Seen&) = delete;
  Seen& operator=(const Seen&) = delete;
  uint32_t name(size_t number) const { return arena->names[number]; }

  std::shared_ptr<Program> program;
  const Arena* arena;
};

const std::vector<Inode> kPath{1, 2, 3};

TEST(NameLeases, AChangeOfAnyStepEndsIt) {
  NameLeases leases;
  const Seen seen;
  for (const Inode inode : kPath) {
    const uint32_t lease = leases.begin(seen.program, 5, kPath);
    EXPECT_EQ(seen.name(5), lease);
    EXPECT_TRUE(leases.lasts(seen.program, 5, lease));
    leases.changing(Inode{9});
    EXPECT_EQ(seen.name(5), lease) << "of another file";
    leases.changing(inode);
    EXPECT_NE(seen.name(5), lease) << "before the change";
    EXPECT_FALSE(leases.lasts(seen.program, 5, lease));
    leases.changed(inode);
    leases.changed(Inode{9});
  }
}

TEST(NameLeases, NoneLastsThatBeginsWhileSomethingChanges) {
  NameLeases leases;
  const Seen seen;
  leases.changing(Inode{2});
  const uint32_t lease = leases.begin(seen.program, 0, kPath);
  EXPECT_FALSE(leases.lasts(seen.program, 0, lease));
  leases.changed(Inode{2});
  EXPECT_TRUE(leases.lasts(seen.program, 0, leases.begin(seen.program, 0, kPath)));
  leases.changing(std::span<const Inode>());
  EXPECT_FALSE(leases.lasts(seen.program, 0, leases.begin(seen.program, 0, kPath)));
  leases.changed(std::span<const Inode>());
}

TEST(NameLeases, AChangeOfAnythingEndsAllOfAllPrograms) {
  NameLeases leases;
  const Seen one, other;
  const uint32_t first = leases.begin(one.program, 1, {1, 7});
  const uint32_t second = leases.begin(other.program, 2, {1, 8});
  leases.changing(std::span<const Inode>());
  EXPECT_NE(one.name(1), first);
  EXPECT_NE(other.name(2), second);
  leases.changed(std::span<const Inode>());
}

TEST(NameLeases, ANumberThatIsUsedAgainIsAnotherLease) {
  NameLeases leases;
  const Seen seen;
  const uint32_t before = leases.begin(seen.program, 3, {1, 7});
  const uint32_t now = leases.begin(seen.program, 3, {1, 8});
  EXPECT_NE(before, now);
  leases.changing(Inode{7});
  EXPECT_EQ(seen.name(3), now) << "7 is not on the way any more";
  leases.changed(Inode{7});
  EXPECT_TRUE(leases.lasts(seen.program, 3, now));
}

TEST(NameLeases, AProgramThatIsGoneHoldsNothingUp) {
  NameLeases leases;
  {
    const Seen gone;
    leases.begin(gone.program, 3, kPath);
  }
  leases.changing(Inode{2});
  leases.changed(Inode{2});
}

}  // namespace
}  // namespace haichi::gasfs::arena
