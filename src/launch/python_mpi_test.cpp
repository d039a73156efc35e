#include "launch/python_mpi.h"

#include <errno.h>
#include <gmock/gmock.h>

#include "launch/test_files.h"

namespace haichi::launch {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A Python 3.11 under base/ and a virtual environment of it under venv/, both without a single line
// of Python.
class PythonMpi : public TestFiles {
 protected:
  void SetUp() override {
    write("base/bin/python3.11", "", 0755);
    std::filesystem::create_directories(path("venv/bin"));
    std::filesystem::create_symlink(path("base/bin/python3.11"), path("venv/bin/python3"));
    configure("false");
    library("system/libmpich.so.12", "libmpich.so.12");
    library("system/libmpi.so.40", "libmpi.so.40");
  }

  void configure(const std::string& system_site) const {
    write("venv/pyvenv.cfg", "home = " + path("base/bin") + "\ninclude-system-site-packages = " +
                                 system_site + "\nversion = 3.11.7\n");
  }

  std::string site(const std::string& prefix, const std::string& file) const {
    return prefix + "/lib/python3.11/site-packages/" + file;
  }

  // An extension module that needs the MPI library of this soname, linked with a stand-in.
  void module(const std::string& file, const std::string& soname) const {
    const std::string stand_in = library("link/" + soname, soname);
    library(file, "", "int m(void) { return 0; }", "-Wl,--no-as-needed " + stand_in);
  }

  Result<std::optional<MpiLibrary>> find(const std::string& interpreter) const {
    return find_python_mpi(path(interpreter), environment_,
                           Loader(environment_, {path("cache"), {path("system")}}));
  }

  Environment environment_;
};

constexpr const char* kModule = "mpi4py/MPI.cpython-311-x86_64-linux-gnu.so";
constexpr const char* kMpichModule = "mpi4py/MPI.mpich.cpython-311-x86_64-linux-gnu.so";
constexpr const char* kOpenMpiModule = "mpi4py/MPI.openmpi.cpython-311-x86_64-linux-gnu.so";

TEST(IsPython, KnowsInterpretersByName) {
  for (const char* name : {"python", "python3", "python3.11", "pypy3"})
    EXPECT_TRUE(is_python(name));
  for (const char* name : {"python3-config", "ipython", "pythonw.py", "bash"})
    EXPECT_FALSE(is_python(name)) << name;
}

TEST_F(PythonMpi, PlacesOfAVirtualEnvironment) {
  environment_.set("PYTHONPATH", "/one:/two");
  environment_.set("HOME", "/home/u");
  const PythonPlaces alone = python_places(path("venv/bin/python3"), environment_);
  EXPECT_EQ(alone.version, "3.11");
  EXPECT_THAT(alone.module_path,
              ElementsAre("/one", "/two", path("venv/lib/python3.11/site-packages")));
  EXPECT_THAT(alone.library_path, ElementsAre(path("venv/lib")));
  configure("true");
  const PythonPlaces with = python_places(path("venv/bin/python3"), environment_);
  EXPECT_THAT(with.library_path,
              ElementsAre(path("venv/lib"), "/home/u/.local/lib", path("base/lib")));
  environment_.set("PYTHONNOUSERSITE", "1");
  EXPECT_THAT(python_places(path("venv/bin/python3"), environment_).library_path,
              ElementsAre(path("venv/lib"), path("base/lib")));
}

TEST_F(PythonMpi, VersionComesFromTheNameOrTheLibraries) {
  EXPECT_EQ(python_places(path("base/bin/python3.11"), environment_).version, "3.11");
  write("other/bin/python3", "", 0755);
  write("other/lib/python3.12/os.py", "");
  EXPECT_EQ(python_places(path("other/bin/python3"), environment_).version, "3.12");
}

TEST_F(PythonMpi, AModuleForOneMpiSaysWhichItIs) {
  module(site("base", kModule), "libmpi.so.40");
  const auto found = find("base/bin/python3.11");
  ASSERT_TRUE(found && *found);
  EXPECT_EQ((*found)->abi, Abi::openmpi);
  EXPECT_EQ((*found)->needed_by, path(site("base", kModule)));
  const auto hidden = find("venv/bin/python3");
  ASSERT_TRUE(hidden);
  EXPECT_FALSE(*hidden) << "a virtual environment does not see the packages of its base";
}

TEST_F(PythonMpi, DebiansDirectoriesAndTheUsersAreSearched) {
  module("base/lib/python3/dist-packages/" + std::string(kModule), "libmpi.so.40");
  auto found = find("base/bin/python3.11");
  ASSERT_TRUE(found && *found);
  EXPECT_EQ((*found)->abi, Abi::openmpi);
  environment_.set("HOME", path("home"));
  module(site("home/.local", kModule), "libmpich.so.12");
  found = find("base/bin/python3.11");
  ASSERT_TRUE(found && *found);
  EXPECT_EQ((*found)->abi, Abi::mpich);
}

TEST_F(PythonMpi, AModuleOfAnotherPythonVersionDoesNotCount) {
  module(site("base", "mpi4py/MPI.cpython-310-x86_64-linux-gnu.so"), "libmpi.so.40");
  const auto found = find("base/bin/python3.11");
  ASSERT_TRUE(found);
  EXPECT_FALSE(*found);
}

TEST_F(PythonMpi, AWheelTakesTheLibraryOfItsEnvironment) {
  module(site("venv", kMpichModule), "libmpi.so.12");
  module(site("venv", kOpenMpiModule), "libmpi.so.40");
  library("venv/lib/libmpi.so.12", "libmpi.so.12");
  write("venv/lib/libmpi.so", "INPUT(libmpi.so.12)\n");  // as the wheel of MPICH has it
  const auto found = find("venv/bin/python3");
  ASSERT_TRUE(found && *found) << (found ? "" : found.error().text);
  EXPECT_EQ((*found)->abi, Abi::mpich);
  EXPECT_EQ((*found)->needed_by, path(site("venv", kMpichModule)));
}

TEST_F(PythonMpi, AWheelFallsBackToTheLoadersSearch) {
  module(site("venv", kMpichModule), "libmpi.so.12");
  module(site("venv", kOpenMpiModule), "libmpi.so.40");
  const auto found = find("venv/bin/python3");
  ASSERT_TRUE(found && *found);
  EXPECT_EQ((*found)->abi, Abi::openmpi);
  EXPECT_EQ((*found)->path, path("system/libmpi.so.40"));
}

TEST_F(PythonMpi, AWheelObeysItsVariables) {
  module(site("venv", kMpichModule), "libmpi.so.12");
  module(site("venv", kOpenMpiModule), "libmpi.so.40");
  library("venv/lib/libmpi.so.12", "libmpi.so.12");
  environment_.set("MPI4PY_LIBMPI", path("system/libmpi.so.40"));
  auto found = find("venv/bin/python3");
  ASSERT_TRUE(found && *found);
  EXPECT_EQ((*found)->abi, Abi::openmpi);
  environment_.set("MPI4PY_LIBMPI", path("venv/lib"));
  found = find("venv/bin/python3");
  ASSERT_TRUE(found && *found);
  EXPECT_EQ((*found)->abi, Abi::mpich);
  environment_.set("MPI4PY_MPIABI", "Open MPI");
  found = find("venv/bin/python3");
  ASSERT_TRUE(found && *found);
  EXPECT_EQ((*found)->abi, Abi::openmpi);
  environment_.set("MPI4PY_MPIABI", "lam");
  found = find("venv/bin/python3");
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, ENOTSUP);
}

TEST_F(PythonMpi, AnUnsupportedMpiIsAnError) {
  library("system/libmpi.so.20", "libmpi.so.20");
  module(site("base", kModule), "libmpi.so.20");
  const auto found = find("base/bin/python3.11");
  ASSERT_FALSE(found);
  EXPECT_THAT(found.error().text, HasSubstr("Open MPI 2"));
}

TEST_F(PythonMpi, H5pyCountsWhereThereIsNoMpi4py) {
  module(site("base", "h5py/h5.cpython-311-x86_64-linux-gnu.so"), "libmpich.so.12");
  const auto found = find("base/bin/python3.11");
  ASSERT_TRUE(found && *found);
  EXPECT_EQ((*found)->abi, Abi::mpich);
}

TEST_F(PythonMpi, ASerialH5pyIsNoMpi) {
  library(site("base", "h5py/h5.cpython-311-x86_64-linux-gnu.so"), "");
  const auto found = find("base/bin/python3.11");
  ASSERT_TRUE(found);
  EXPECT_FALSE(*found);
}

}  // namespace
}  // namespace haichi::launch
