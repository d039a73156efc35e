#include "launch/resolve.h"

#include <errno.h>
#include <gmock/gmock.h>

#include "launch/test_files.h"

namespace haichi::launch {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class Resolve : public TestFiles {
 protected:
  Resolve() { environment_.set("PATH", path("first") + ":" + path("second")); }

  Result<Choice> choose(const std::string& file, std::optional<Abi> forced = {},
                        const Job& job = {}) const {
    return choose_abi(file, forced, job, environment_,
                      Loader(environment_, {path("cache"), {path("lib")}}));
  }

  std::string mpi_program(const std::string& name, const std::string& soname) const {
    return program(name, library("lib/" + soname, soname));
  }

  static Job hydra() { return {Abi::mpich, "MPICH's mpiexec", 2, 0}; }
  static Job srun() { return {std::nullopt, "srun", 2, 0}; }

  Environment environment_;
};

TEST_F(Resolve, FindsProgramsAsExecvpDoes) {
  write("first/data", "", 0644);
  const std::string second = write("second/data", "", 0755);
  EXPECT_EQ(find_program("data", environment_).value_or(""), second);
  EXPECT_EQ(find_program(second, environment_).value_or(""), second);

  const auto missing = find_program("nothing", environment_);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ENOENT);
  write("first/only", "", 0644);
  const auto not_executable = find_program("only", environment_);
  ASSERT_FALSE(not_executable);
  EXPECT_EQ(not_executable.error().code, EACCES);
  EXPECT_EQ(find_program(path("first"), environment_).error().code, EACCES);
  EXPECT_EQ(find_program(path("first/data/x"), environment_).error().code, ENOENT);
  EXPECT_EQ(find_program("", environment_).error().code, ENOENT);
}

TEST_F(Resolve, ReadsShebangs) {
  EXPECT_FALSE(parse_shebang("echo hello"));
  EXPECT_FALSE(parse_shebang(""));
  EXPECT_EQ(parse_shebang("#!/bin/sh\nx")->interpreter, "/bin/sh");
  EXPECT_EQ(parse_shebang("#! /bin/sh -e")->interpreter, "/bin/sh");
  for (const char* line : {"#!/usr/bin/env python3", "#!/usr/bin/env -S python3 -u",
                           "#!/usr/bin/env -Spython3 -u", "#!/usr/bin/env -i A=1 python3"}) {
    const auto shebang = parse_shebang(line);
    ASSERT_TRUE(shebang) << line;
    EXPECT_EQ(shebang->interpreter, "python3") << line;
    EXPECT_TRUE(shebang->by_env) << line;
  }
}

TEST_F(Resolve, AProgramsOwnMpiWinsOverTheLauncher) {
  const std::string app = mpi_program("app", "libmpi.so.40");
  const auto choice = choose(app, {}, hydra());
  ASSERT_TRUE(choice) << choice.error().text;
  EXPECT_EQ(choice->abi, Abi::openmpi);
  EXPECT_EQ(choice->why, "libmpi.so.40 of " + app);
  const auto contradiction = choose(app, Abi::mpich);
  ASSERT_FALSE(contradiction);
  EXPECT_EQ(contradiction.error().code, EINVAL);
  EXPECT_THAT(contradiction.error().text, HasSubstr("--mpi mpich does not fit"));
}

TEST_F(Resolve, AroundAScriptTheLauncherDecidesOrMpi) {
  const std::string script = write("job", "#!/bin/sh\n./app\n", 0755);
  EXPECT_EQ(choose(script, {}, hydra())->abi, Abi::mpich);
  EXPECT_EQ(choose(script, Abi::mpiabi, hydra())->abi, Abi::mpiabi);
  EXPECT_EQ(choose(script, Abi::openmpi)->abi, Abi::openmpi);
  const auto bare = choose(script), ambiguous = choose(script, {}, srun());
  ASSERT_FALSE(bare);
  ASSERT_FALSE(ambiguous);
  EXPECT_EQ(bare.error().code, EINVAL);
  EXPECT_THAT(bare.error().text, AllOf(HasSubstr("is a script"), HasSubstr("--mpi mpich")));
  EXPECT_THAT(ambiguous.error().text, HasSubstr("srun starts programs of any MPI"));
}

TEST_F(Resolve, AScriptNeedsNoFirstLineAndItsInterpreterNoName) {
  EXPECT_EQ(choose(write("bare", "./app\n", 0755), {}, hydra())->abi, Abi::mpich);
  const std::string tool = program("second/mytool");
  EXPECT_EQ(choose(write("a", "#!" + tool + "\n", 0755), {}, hydra())->abi, Abi::mpich);
  EXPECT_EQ(choose(write("b", "#!/usr/bin/env mytool\n", 0755), {}, hydra())->abi, Abi::mpich);
}

TEST_F(Resolve, AnInterpreterLinkedWithMpiDecides) {
  const std::string lua = mpi_program("mpilua", "libmpi.so.40");
  EXPECT_EQ(choose(write("x.lua", "#!" + lua + "\n", 0755), {}, hydra())->abi, Abi::openmpi);
}

TEST_F(Resolve, AMissingOrEndlessInterpreterIsAnError) {
  const auto missing = choose(write("job", "#!/nowhere/sh\n", 0755), {}, hydra());
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ENOEXEC);
  EXPECT_THAT(missing.error().text, HasSubstr("its interpreter /nowhere/sh"));
  const auto endless = choose(write("self", "#!" + path("self") + "\n", 0755), {}, hydra());
  ASSERT_FALSE(endless);
  EXPECT_EQ(endless.error().code, ENOEXEC);
}

TEST_F(Resolve, ShellsAndWrappersCountAsStarters) {
  for (const char* name : {"second/bash", "second/numactl", "second/env"})
    EXPECT_EQ(choose(program(name), {}, hydra())->abi, Abi::mpich) << name;
  EXPECT_EQ(choose(program("second/timeout", "-static"), {}, hydra())->abi, Abi::mpich);
}

TEST_F(Resolve, OtherProgramsAreRefusedUnlessForced) {
  const std::string app = program("solver");
  const auto choice = choose(app, {}, hydra());
  ASSERT_FALSE(choice);
  EXPECT_EQ(choice.error().code, EINVAL);
  EXPECT_THAT(choice.error().text, AllOf(HasSubstr("is not an MPI program"), HasSubstr("--mpi")));
  EXPECT_EQ(choose(app, Abi::openmpi)->abi, Abi::openmpi);
  EXPECT_THAT(choose(program("fixed", "-static")).error().text, HasSubstr("statically linked"));
}

TEST_F(Resolve, AStaticMpiCanNotBeHelped) {
  constexpr std::string_view kSource =
      "int MPI_Init(void) { return 0; }\n"
      "int main(void) { return MPI_Init(); }";
  for (const char* flags : {"-static", ""}) {
    const auto choice = choose(program("app", flags, kSource), Abi::mpich, hydra());
    ASSERT_FALSE(choice);
    EXPECT_EQ(choice.error().code, ENOTSUP);
    EXPECT_THAT(choice.error().text, HasSubstr("linked in statically"));
  }
}

TEST_F(Resolve, PythonUsesItsModuleThenTheLauncher) {
  const std::string python = program("second/python3");
  EXPECT_THAT(choose(python).error().text, HasSubstr("has no mpi4py"));
  EXPECT_EQ(choose(python, {}, hydra())->abi, Abi::mpich);
  const std::string mpi = library("lib/libmpi.so.40", "libmpi.so.40");
  const std::string site = path("site");
  environment_.set("PYTHONPATH", site);
  library("site/mpi4py/MPI.abi3.so", "", "int m(void) { return 0; }", "-Wl,--no-as-needed " + mpi);
  EXPECT_EQ(choose(python, {}, hydra())->abi, Abi::openmpi);
  EXPECT_EQ(choose(write("x.py", "#!/usr/bin/env python3\n", 0755))->abi, Abi::openmpi);
}

}  // namespace
}  // namespace haichi::launch
