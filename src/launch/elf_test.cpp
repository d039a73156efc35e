#include "launch/elf.h"

#include <elf.h>
#include <errno.h>
#include <gmock/gmock.h>

#include "launch/test_files.h"

namespace haichi::launch {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

class Elf : public TestFiles {
 protected:
  int error_code(const std::string& file) const {
    const auto elf = ElfFile::open(file);
    return elf ? 0 : elf.error().code;
  }
};

TEST_F(Elf, ReadsWhatALibrarySays) {
  const std::string file =
      library("libx.so", "libx.so.7", "int f(void) { return 1; }",
              "-Wl,-rpath,/a:/b -Wl,--enable-new-dtags -Wl,--no-as-needed -lm");
  const auto elf = ElfFile::open(file);
  ASSERT_TRUE(elf) << elf.error().text;
  EXPECT_EQ(elf->soname(), "libx.so.7");
  EXPECT_EQ(elf->runpath(), "/a:/b");
  EXPECT_EQ(elf->rpath(), "");
  EXPECT_THAT(elf->needed(), Contains("libm.so.6"));
  EXPECT_TRUE(elf->defines("f"));
  EXPECT_FALSE(elf->defines("g"));
}

TEST_F(Elf, TellsRpathFromRunpath) {
  const auto elf = ElfFile::open(program("old", "-Wl,-rpath,/old -Wl,--disable-new-dtags"));
  ASSERT_TRUE(elf);
  EXPECT_EQ(elf->rpath(), "/old");
  EXPECT_EQ(elf->runpath(), "");
}

TEST_F(Elf, DefinesDoesNotCountWhatIsOnlyCalled) {
  const std::string mpi =
      library("libmpi.so.12", "libmpi.so.12", "int MPI_Init(void) { return 0; }");
  const auto elf = ElfFile::open(
      program("app", mpi, "int MPI_Init(void); int main(void) { return MPI_Init(); }"));
  ASSERT_TRUE(elf);
  EXPECT_FALSE(elf->defines("MPI_Init"));
  EXPECT_TRUE(elf->defines("main"));
}

TEST_F(Elf, KnowsStaticPrograms) {
  const auto dynamic = ElfFile::open(program("dynamic")),
             fixed = ElfFile::open(program("static", "-static"));
  const auto pie = ElfFile::open(program("static-pie", "-static-pie"));
  ASSERT_TRUE(dynamic && fixed && pie);
  EXPECT_TRUE(dynamic->has_interpreter());
  EXPECT_FALSE(fixed->has_interpreter());
  EXPECT_FALSE(pie->has_interpreter());
}

TEST_F(Elf, RefusesWhatIsNoElfFile) {
  EXPECT_EQ(error_code(path("missing")), ENOENT);
  EXPECT_EQ(error_code(path("")), ENOEXEC);  // a directory
  EXPECT_EQ(error_code(write("empty", "")), ENOEXEC);
  EXPECT_EQ(error_code(write("text", "just some text, longer than a header")), ENOEXEC);
}

TEST_F(Elf, NamesTheMachineOfAForeignFile) {
  std::string bytes = read(program("app"));
  const uint16_t arm = EM_AARCH64;
  bytes.replace(offsetof(Elf64_Ehdr, e_machine), sizeof arm, reinterpret_cast<const char*>(&arm),
                sizeof arm);
  const auto foreign = ElfFile::open(write("foreign", bytes));
  ASSERT_FALSE(foreign);
  EXPECT_EQ(foreign.error().code, ENOEXEC);
  EXPECT_THAT(foreign.error().text, HasSubstr("is built for Arm64"));

  const uint16_t i386 = EM_386;
  bytes[EI_CLASS] = ELFCLASS32;
  bytes.replace(offsetof(Elf64_Ehdr, e_machine), sizeof i386, reinterpret_cast<const char*>(&i386),
                sizeof i386);
  const auto narrow = ElfFile::open(write("narrow", bytes));
  ASSERT_FALSE(narrow);
  EXPECT_THAT(narrow.error().text, HasSubstr("is built for 32-bit x86"));
}

// Every prefix of a real file, and every file with one field made huge, is refused or read: never a
// crash (run under AddressSanitizer this checks the bounds).
TEST_F(Elf, SurvivesDamage) {
  const std::string bytes = read(library("lib.so", "lib.so.1"));
  for (size_t size = 0; size < bytes.size(); size += size < 2000 ? 13 : 997) {
    const auto elf = ElfFile::open(write("cut", bytes.substr(0, size)));
    if (elf) elf->defines("nothing");
  }
  for (size_t at = 16; at + 8 < 1200; at += 4) {
    std::string bad = bytes;
    bad.replace(at, 8, "\xff\xff\xff\xff\xff\xff\xff\x7f", 8);
    const auto elf = ElfFile::open(write("bad", bad));
    if (elf) elf->defines("nothing");
  }
  std::string no_segments = bytes;
  no_segments.replace(offsetof(Elf64_Ehdr, e_phoff), 8, 8, '\x7f');
  EXPECT_EQ(error_code(write("no_segments", no_segments)), ENOEXEC);
}

}  // namespace
}  // namespace haichi::launch
