"""The wrapper generator and what it makes: signatures, exports, and hooks that throw."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import mpis
import pytest
from mpis import ROOT, Mpi

GENERATOR = ROOT / "src/preload/generate.py"

FUNCTIONS = """
hook MPI_Init      done MPI_Initialized
hook MPI_Finalize  done MPI_Finalized
hook MPI_Comm_size
hook MPI_Comm_rank
hook MPI_Wtime
hook MPI_Topo_test  after look_at
hook MPI_Type_contiguous[_c]  by doubled
hook MPI_Group_union       by only_common
hook MPI_Group_range_incl  by left_alone
hook MPI_Dims_create       by left_alone
use MPI_Group_intersection
use MPI_Barrier
use MPI_Bcast_c
"""

# Hooks that fail before or after the real call, as the names of the environment variables say.
HOOKS = """
#include "generated/by_doubled.h"
#include "generated/by_left_alone.h"
#include "generated/by_only_common.h"
#include "generated/hooks.h"
#include "generated/real.h"
#include "preload/guard.h"
#include <stdlib.h>
#include <stdexcept>
#include <string>
#include <tuple>

namespace haichi::mpi {
bool active() { return true; }

template <class Call>
auto fail(const char* name, Call call) {
  const char* before = getenv("FAIL_BEFORE");
  const char* after = getenv("FAIL_AFTER");
  if (before && std::string(before) == name) throw std::runtime_error("before");
  auto result = call();
  if (after && std::string(after) == name) throw std::runtime_error("after");
  return result;
}

int on_Init(int* argc, char*** argv) {
  return fail("Init", [&] { return real().Init(argc, argv); });
}
int on_Finalize() {
  return fail("Finalize", [&] { return real().Finalize(); });
}
int on_Comm_size(MPI_Comm comm, int* size) {
  return fail("Comm_size", [&] { return real().Comm_size(comm, size); });
}
int on_Comm_rank(MPI_Comm comm, int* rank) {
  return fail("Comm_rank", [&] { return real().Barrier(comm), real().Comm_rank(comm, rank); });
}
double on_Wtime() {
  return fail("Wtime", [&] { return real().Wtime() + (real().Bcast_c ? 2e9 : 1e9); });
}
void look_at(MPI_Comm comm) {
  int size;
  fail("look_at", [&] { return real().Comm_size(comm, &size) || setenv("LOOKED", "yes", 1); });
}

namespace {
template <class Call>
int doubled(const Call& call) {
  return fail(Call::kPlainName, [&] {
    Call larger = call;
    larger.count *= 2;
    if (std::string(Call::kName) != Call::kPlainName) ++larger.count;
    return larger.real_call();
  });
}

template <class Call>
int only_common(const Call& call) {
  const int result = call.made_by(real().Group_intersection);
  return std::get<MPI_Group*>(call.arguments()) == call.newgroup ? result : MPI_ERR_OTHER;
}

template <class Call>
int left_alone(const Call& call) {
  return call.real_call();
}
}  // namespace
}  // namespace haichi::mpi
"""

PROGRAM = """
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char** argv) {
  int rank = -1, size = -1, kind = -1;
  int began = MPI_Init(&argc, &argv);
  int asked = MPI_Comm_size(MPI_COMM_WORLD, &size);
  int who = MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int tested = MPI_Topo_test(MPI_COMM_WORLD, &kind);
  int billions = (int)(MPI_Wtime() / 1e9);
  int ended = MPI_Finalize();
  printf("began %d size %d %d rank %d %d", began != 0, asked == MPI_ERR_INTERN, size, who, rank);
  printf(" topology %d %d", tested == MPI_ERR_INTERN, kind == MPI_UNDEFINED);
  printf(" looked %d billions %d ended %d\\n", getenv("LOOKED") != NULL, billions, ended != 0);
  return 0;
}
"""

# Calls that the hooks get as structs: counts of both kinds, and arrays of one and two dimensions.
TAKEN = """
#include <mpi.h>
#include <stdio.h>
int main(int argc, char** argv) {
  MPI_Datatype type;
  int size = -1, large = -1, both = -1, first = -1, dims[2] = {0, 1}, ranges[1][3] = {{0, 0, 1}};
  MPI_Group world, made;
  MPI_Init(&argc, &argv);
  int failed = MPI_Type_contiguous(3, MPI_BYTE, &type) != MPI_SUCCESS;
  if (!failed) MPI_Type_size(type, &size);
#if MPI_VERSION >= 4
  if (!failed) MPI_Type_contiguous_c(3, MPI_BYTE, &type);
  if (!failed) MPI_Type_size(type, &large);
#endif
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_union(world, MPI_GROUP_EMPTY, &made);
  MPI_Group_size(made, &both);
  MPI_Group_range_incl(world, 1, ranges, &made);
  MPI_Group_size(made, &first);
  MPI_Dims_create(5, 2, dims);
  printf("failed %d sizes %d %d groups %d %d", failed, size, large, both, first);
  printf(" dims %d %d\\n", dims[0], dims[1]);
  return MPI_Finalize();
}
"""


def generate(functions: str, library: Path, out: Path) -> subprocess.CompletedProcess[str]:
    """Runs the generator on a list of functions."""
    listing = out.parent / "functions.txt"
    listing.write_text(functions)
    words = [sys.executable, str(GENERATOR), "--functions", str(listing)]
    return mpis.run_bounded([*words, "--library", str(library), "--out", str(out)])


def libmpi(mpi: Mpi, tmp_path: Path) -> Path:
    """What the compiler wrapper links: a library, or the linker script that stands for it."""
    (tmp_path / "m.c").write_text("#include <mpi.h>\nint main(void) { return MPI_Finalize(); }")
    words = [str(mpi.mpicc), str(tmp_path / "m.c"), "-o", str(tmp_path / "m"), "-Wl,-t"]
    traced = mpis.run_bounded(words, check=True).stdout.split()
    return next(Path(name) for name in traced if Path(name).name.startswith("libmpi"))


# Slow, for it is compiled: what is thrown has a unit test too.
@pytest.fixture(scope="module", params=mpis.slow_but([], ["mpich", "openmpi", "mpiabi"]))
def small(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple:
    """A shim of a few functions with hooks that can be made to throw, and a program to run."""
    abi = request.param
    usable = mpis.mpis(abi)
    if not usable:
        pytest.skip(f"no MPI of the ABI {abi} here")
    mpi, folder = usable[0], tmp_path_factory.mktemp(abi)
    done = generate(FUNCTIONS, libmpi(mpi, folder), folder / "generated")
    assert done.returncode == 0, done.stderr
    (folder / "hooks.cpp").write_text(HOOKS)
    (folder / "program.c").write_text(PROGRAM)
    preload = ROOT / "src/preload"
    sources = [preload / name for name in ("entries.cpp", "guard.cpp", "library.cpp")]
    sources.append(ROOT / "src/base/log.cpp")
    generated = [folder / "generated/real.cpp", folder / "generated/wrappers.cpp"]
    words = ["env", f"OMPI_CXX={shutil.which('g++')}", f"MPICH_CC={shutil.which('g++')}"]
    words += [f"OMPI_CC={shutil.which('g++')}", str(mpi.mpicc), "-shared", "-fPIC", "-std=c++20"]
    words += ["-DOMPI_SKIP_MPICXX", "-DMPICH_SKIP_MPICXX", "-DFMT_HEADER_ONLY"]
    words += [f"-DHAICHI_FLAVOUR={abi}", f'-DHAICHI_FLAVOUR_NAME="{abi}"']
    words += ["-static-libstdc++", "-static-libgcc"]
    words += ["-fvisibility=hidden", f"-I{ROOT / 'src'}", f"-I{folder}"]
    words += ["-isystem", str(ROOT / ".deps/usr/include")]  # where a plain user's packages are
    words += [str(path) for path in [*sources, *generated, folder / "hooks.cpp"]]
    words += [f"-Wl,--version-script={folder / 'generated/export.map'}"]
    mpis.run_bounded([*words, "-o", str(folder / "small.so")], timeout=200, check=True)
    return mpi, folder / "small.so", mpi.compile(folder / "program.c", into=folder)


REST = "topology 0 1 looked 1 billions {} ended 0"
STOCK = f"began 0 size 0 1 rank 0 0 {REST}"


@pytest.mark.parametrize(
    ("env", "expected"),
    [
        ({}, STOCK),
        # Init and Finalize are done once, whether the hook failed before or after doing them.
        ({"FAIL_BEFORE": "Init"}, STOCK),
        ({"FAIL_AFTER": "Init"}, STOCK),
        ({"FAIL_BEFORE": "Finalize"}, STOCK),
        ({"FAIL_AFTER": "Finalize"}, STOCK),
        # Another function is not called again: the program gets an error code.
        ({"FAIL_BEFORE": "Comm_size"}, f"began 0 size 1 -1 rank 0 0 {REST}"),
        ({"FAIL_AFTER": "Comm_size"}, f"began 0 size 1 1 rank 0 0 {REST}"),
        # What comes before a call that is the library's: if it fails, so does the call.
        (
            {"FAIL_BEFORE": "look_at"},
            STOCK.replace("topology 0 1 looked 1", "topology 1 0 looked 0"),
        ),
        ({"FAIL_AFTER": "look_at"}, STOCK.replace("topology 0 1", "topology 1 0")),
    ],
    ids=lambda value: (
        "-".join(f"{k}={v}" for k, v in value.items()) if isinstance(value, dict) else None
    ),
)
def test_hooks_that_throw(small: tuple, env: dict[str, str], expected: str) -> None:
    """Nothing crosses the C edge and no function is done twice."""
    mpi, shim, program = small
    done = mpi.run(1, [program], {"LD_PRELOAD": str(shim), **env}, check=True)
    # The hook of MPI_Wtime adds two billions if the MPI has a large-count function, else one.
    large = 1 if mpi.abi == "openmpi" else 2
    assert done.stdout.strip() == expected.format(large)
    assert ("haichi failed inside" in done.stderr) == bool(env)


@pytest.mark.parametrize(
    ("env", "sizes"),
    [({}, "failed 0 sizes 6 7"), ({"FAIL_BEFORE": "MPI_Type_contiguous"}, "failed 1 sizes -1 -1")],
    ids=["takes", "throws"],
)
def test_calls_as_structs(small: tuple, env: dict[str, str], sizes: str, tmp_path: Path) -> None:
    """A generated hook gives each form of a call to its taker, which may change and replace it."""
    mpi, shim, _ = small
    (tmp_path / "taken.c").write_text(TAKEN)
    program = mpi.compile(tmp_path / "taken.c", into=tmp_path)
    done = mpi.run(1, [program], {"LD_PRELOAD": str(shim), **env}, check=True)
    sizes = sizes.replace("7", "-1") if mpi.abi == "openmpi" else sizes  # has no large counts
    assert done.stdout.strip() == f"{sizes} groups 0 1 dims 5 1"
    plain = mpi.run(1, [program], check=True)
    assert "failed 0 sizes 3 " in plain.stdout
    assert "groups 1 1 dims 5 1" in plain.stdout


def test_a_clock_that_throws_is_asked_again(small: tuple) -> None:
    """A function without an error code is local: the real one answers."""
    mpi, shim, program = small
    env = {"LD_PRELOAD": str(shim), "FAIL_BEFORE": "Wtime"}
    done = mpi.run(1, [program], env, check=True)
    billions = int(done.stdout.split()[done.stdout.split().index("billions") + 1])
    plain = mpi.run(1, [program], check=True)
    assert f"billions {billions} " in plain.stdout


@pytest.mark.parametrize(
    ("line", "says"),
    mpis.slow_after(
        3,
        [
            ("hook MPI_File_opne", "the MPI standard has no MPI_File_opne"),
            ("hook MPI_File_open_c", "the MPI standard has no C function MPI_File_open_c"),
            ("hook MPI_Get_version", "must not be exported"),
            ("use MPI_Pcontrol", "variable list of arguments"),
            ("hook", 'expected "hook NAME"'),
            ("hook MPI_Barrier after", 'expected "hook NAME"'),
            ("hook MPI_Barrier[_c]", "the MPI standard has no C function MPI_Barrier_c"),
            ("hook MPI_Barrier by", 'expected "hook NAME"'),
            ("hook MPI_Barrier by mpi/barrier", '"mpi/barrier" is no name of a function'),
            ("hook MPI_Init done MPI_Initialised", "the MPI standard has no MPI_Initialised"),
            ("hook MPI_Wtime by barrier", "MPI_Wtime gives a double, and barrier an int"),
            ("use MPI_Bcast[_c]\nuse MPI_Bcast_c", "MPI_Bcast_c is listed twice"),
            ("hook MPI_Finalize after look_at", "MPI_Finalize has no argument to give to look_at"),
            ("grab MPI_Init", 'expected "hook NAME"'),
            ("use MPI_Init\nuse MPI_Init", "MPI_Init is listed twice"),
        ],
    ),
)
def test_bad_lists_are_named(line: str, says: str, tmp_path: Path) -> None:
    """A wrong line is one message with the file, the line and the reason; nothing is written."""
    done = generate(f"# a list\n{line}\n", Path("/nowhere"), tmp_path / "generated")
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert f"functions.txt:{1 + line.count(chr(10)) + 1}: " in done.stderr
    assert says in done.stderr
    assert not (tmp_path / "generated").exists()


def test_a_library_without_mpi_is_named(tmp_path: Path) -> None:
    """A library that is no MPI, and one that is not there, are said to be so."""
    (tmp_path / "none.c").write_text("int nothing;\n")
    library = tmp_path / "libnone.so"
    words = ["cc", "-shared", "-o", str(library), str(tmp_path / "none.c")]
    mpis.run_bounded(words, check=True)
    done = generate(FUNCTIONS, library, tmp_path / "generated")
    assert (done.returncode, "none of the hooked functions" in done.stderr) == (1, True)
    done = generate(FUNCTIONS, tmp_path / "absent.so", tmp_path / "generated")
    assert (done.returncode, "absent.so" in done.stderr) == (1, True)
