#include "launch/mpi_library.h"

#include <errno.h>
#include <gmock/gmock.h>

#include "launch/test_files.h"

namespace haichi::launch {
namespace {

using ::testing::HasSubstr;

class FindMpi : public TestFiles {
 protected:
  Result<std::optional<MpiLibrary>> find(const std::string& file) const {
    const auto elf = ElfFile::open(file);
    if (!elf) return tl::unexpected(elf.error());
    return find_mpi(file, *elf, Loader(Environment(), {path("cache"), {path("lib")}}));
  }

  // A program linked with a library of this soname.
  std::string app_with(const std::string& soname,
                       std::string_view source = "int MPI_Send_c(void) { return 0; }") const {
    return program("app", library("lib/" + soname, soname, source));
  }
};

TEST(AbiNames, GoBothWays) {
  for (const Abi abi : kAbis) EXPECT_EQ(abi_from_name(abi_name(abi)), abi);
  EXPECT_FALSE(abi_from_name("lam"));
  EXPECT_FALSE(abi_from_name(""));
}

TEST(IsMpiLibrary, KnowsFamiliesAndNotTheirNeighbours) {
  for (const char* name :
       {"libmpi.so.12", "libmpich.so.12", "libmpi.so.40", "libmpi_abi.so.1", "libmpi_gnu_123.so.12",
        "libmpi.so.99", "libmpi.so", "/opt/libmpi.so.20"})
    EXPECT_TRUE(is_mpi_library(name)) << name;
  for (const char* name : {"libmpi_cxx.so.40", "libmpichcxx.so.12", "libmpichfort.so.12",
                           "libmpi_mpifh.so.40", "libm.so.6", "libmpicalc.so", "libmpi_gnu.txt"})
    EXPECT_FALSE(is_mpi_library(name)) << name;
}

TEST_F(FindMpi, TellsTheAbiBySoname) {
  for (const auto& [soname, abi] : {std::pair{"libmpi.so.12", Abi::mpich},
                                    {"libmpich.so.12", Abi::mpich},
                                    {"libmpi_gnu_91.so.12", Abi::mpich},
                                    {"libmpi.so.40", Abi::openmpi},
                                    {"libmpi_abi.so.1", Abi::mpiabi}}) {
    const auto found = find(app_with(soname));
    ASSERT_TRUE(found && *found) << soname << (found ? "" : found.error().text);
    EXPECT_EQ((*found)->abi, abi) << soname;
    EXPECT_EQ((*found)->soname, soname);
    EXPECT_EQ((*found)->path, path("lib/") + soname);
    EXPECT_EQ((*found)->needed_by, path("app"));
  }
}

TEST_F(FindMpi, FindsItBehindAnotherLibrary) {
  const std::string mpi = library("lib/libmpi.so.40", "libmpi.so.40");
  const std::string hdf5 = library("lib/libhdf5.so", "libhdf5.so", "int h(void) { return 0; }",
                                   "-Wl,--no-as-needed " + mpi);
  const auto found = find(program("app", "-Wl,-rpath-link," + path("lib") + " " + hdf5));
  ASSERT_TRUE(found && *found);
  EXPECT_EQ((*found)->abi, Abi::openmpi);
  EXPECT_EQ((*found)->needed_by, hdf5);
}

TEST_F(FindMpi, SaysNothingOfAProgramWithoutMpi) {
  const auto found = find(program("app", library("lib/liba.so", "liba.so")));
  ASSERT_TRUE(found);
  EXPECT_FALSE(*found);
}

TEST_F(FindMpi, LeavesAMissingLibraryToTheLoader) {
  const std::string app = app_with("libmpi.so.12");
  std::filesystem::remove(path("lib/libmpi.so.12"));
  const auto found = find(app);
  ASSERT_TRUE(found && *found);
  EXPECT_EQ((*found)->abi, Abi::mpich);
  EXPECT_EQ((*found)->path, "");
}

TEST_F(FindMpi, RefusesOtherMpisByName) {
  for (const auto& [soname, product] : {std::pair{"libmpi.so.20", "Open MPI 2"},
                                        {"libmpich.so.10", "MPICH 3.0"},
                                        {"libmpi_abi.so.0", "a draft of the MPI ABI"},
                                        {"libmpi.so.99", "libmpi.so.99 is not known"}}) {
    const auto found = find(app_with(soname));
    ASSERT_FALSE(found) << soname;
    EXPECT_EQ(found.error().code, ENOTSUP);
    EXPECT_THAT(found.error().text, HasSubstr(product));
    EXPECT_THAT(found.error().text, HasSubstr(path("app")));
  }
}

// Open MPI 1.10 and MPICH 3 have the soname of MPICH 4.
TEST_F(FindMpi, TellsApartWhatSharesMpichsSoname) {
  const auto old = find(app_with("libmpi.so.12", "int MPI_Send(void) { return 0; }"));
  ASSERT_FALSE(old);
  EXPECT_THAT(old.error().text, HasSubstr("older than version 4"));

  const std::string rte =
      library("lib/libopen-rte.so.12", "libopen-rte.so.12", "int r(void) { return 0; }");
  const std::string mpi =
      library("lib/libmpi.so.12", "libmpi.so.12", "int MPI_Send_c(void) { return 0; }",
              "-Wl,--no-as-needed " + rte);
  const auto open = find(program("app", "-Wl,-rpath-link," + path("lib") + " " + mpi));
  ASSERT_FALSE(open);
  EXPECT_THAT(open.error().text, HasSubstr("Open MPI 1.10"));
}

}  // namespace
}  // namespace haichi::launch
