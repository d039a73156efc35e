"""haichi stands between unmodified programs and their MPI: every language, every MPI, no more.

The raw LD_PRELOAD line is used throughout, so that what is proved does not lean on `haichi run`.
"""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import mpis
import pytest
from mpis import BUILD, ROOT, Mpi

PROGRAMS = {
    "c": ROOT / "tests/mpi/interpose_c.c",
    "c-large": ROOT / "tests/mpi/interpose_c.c",
    "mpif.h": ROOT / "tests/fortran/interpose_mpif.f90",
    "use mpi": ROOT / "tests/fortran/interpose_usempi.f90",
    "mpi_f08": ROOT / "tests/fortran/interpose_f08.f90",
    "mpi4py": ROOT / "tests/mpi/interpose_mpi4py.py",
}
ABIS = ("mpich", "openmpi", "mpiabi")
NAMES = {"mpich": "MPICH", "openmpi": "Open MPI", "mpiabi": "the MPI standard ABI"}


def shim(abi: str) -> Path:
    """The preload object of an ABI; a skip where this build has none."""
    path = BUILD / "lib" / f"libhaichi-{abi}.so"
    if not path.exists():
        pytest.skip(f"no {path.relative_to(BUILD)} in this build: no MPI of that ABI when built")
    return path


def program(mpi: Mpi, language: str) -> tuple[list[str | Path], dict[str, str]]:
    """Words and environment that start the test program of a language; a skip without it."""
    source = PROGRAMS[language]
    if language == "mpi4py":
        if mpi.python is None:
            pytest.skip(mpi.python_missing)
        return [mpi.python, source], dict(mpi.python_env)
    if source.suffix == ".f90":
        if mpi.mpif90 is None:
            pytest.skip(f"{mpi.name} has no Fortran compiler here")
        return [mpi.compile(source, fortran=True)], {}
    if language == "c-large":
        if "MPI_File_write_all_c" not in symbols(libmpi(mpi)):
            pytest.skip(f"{mpi.name} has no large-count functions")
        return [mpi.compile(source, "-DHAVE_LARGE_COUNTS")], {}
    return [mpi.compile(source)], {}


def options(mpi: Mpi, language: str) -> list[str]:
    """What follows the file's name on the program's command line."""
    if language == "c-large":
        return ["large"]
    return ["plain"] if (language, mpi.name) == ("mpi4py", "mpich-4.0.2") else []


def libmpi(mpi: Mpi) -> Path:
    """The C library that programs of this MPI load."""
    done = mpis.run_bounded(["ldd", mpi.compile(PROGRAMS["c"])], check=True)
    found = re.search(r"libmpi(?:ch|_abi)?\.so\S* => (\S+)", done.stdout)
    assert found, done.stdout
    return Path(found[1])


def symbols(library: Path) -> set[str]:
    """The names that a shared library defines for others."""
    words = ["nm", "-D", "--defined-only", "--format=posix", str(library)]
    done = mpis.run_bounded(words, check=True)
    return {line.split()[0].partition("@")[0] for line in done.stdout.splitlines()}


def hooks() -> set[str]:
    """The functions that functions.txt lists as intercepted."""
    text = (ROOT / "src/preload/functions.txt").read_text()
    listed = re.findall(r"^hook (\w+)(\[_c\])?", text, re.MULTILINE)
    return {name + form for name, large in listed for form in ("", "_c" if large else "")}


def haichi_lines(done: subprocess.CompletedProcess[str]) -> list[str]:
    """What haichi wrote to standard error."""
    return [line for line in done.stderr.splitlines() if "haichi" in line]


def handled(report: Path) -> list[str]:
    """The calls that the run report says haichi did itself, without the mark of large counts."""
    assert report.exists(), "no report was written: haichi saw nothing"
    calls = [call for file in json.loads(report.read_text())["files"] for call in file["calls"]]
    return [call["call"].removesuffix("_c") for call in calls if call["handled"]]


@pytest.mark.parametrize("language", PROGRAMS)
def test_sees_every_language(mpi: Mpi, language: str, tmp_path: Path) -> None:
    """The collective calls of a program in any language are done by haichi, and done right."""
    argv, env = program(mpi, language)
    env |= {"LD_PRELOAD": str(shim(mpi.abi)), "HAICHI_REPORT": str(tmp_path / "report.json")}
    command = [*argv, tmp_path / "data", *options(mpi, language)]
    done = mpi.run(2, command, env, check=True)
    assert "intact" in done.stdout
    assert haichi_lines(done) == []
    calls = handled(tmp_path / "report.json")
    assert "MPI_File_write_all" in calls
    assert {"MPI_File_read_all", "MPI_File_read_at_all"} & set(calls)


@pytest.mark.parametrize("language", ["c", "mpi4py"])
def test_disabled_is_stock(mpi: Mpi, language: str, tmp_path: Path) -> None:
    """With HAICHI_DISABLE=1 the program runs as without haichi and no report is written."""
    argv, env = program(mpi, language)
    report = tmp_path / "report.json"
    env |= mpi.preload(HAICHI_DISABLE="1", HAICHI_REPORT=str(report))
    done = mpi.run(2, [*argv, tmp_path / "data", *options(mpi, language)], env, check=True)
    assert "intact" in done.stdout
    assert haichi_lines(done) == []
    assert not report.exists()


def test_launcher_may_inherit_preload(mpi: Mpi, tmp_path: Path) -> None:
    """LD_PRELOAD on the launcher itself: it and its shells are left alone, the ranks are not."""
    argv, _ = program(mpi, "c")
    words = " ".join(str(word) for word in [*argv, tmp_path / "data"])
    env = mpi.preload(HAICHI_REPORT=str(tmp_path / "report.json"))
    shim(mpi.abi)
    done = mpi.run(2, ["sh", "-c", words], launcher_env=env, check=True)
    assert "intact" in done.stdout
    assert haichi_lines(done) == []
    assert "MPI_File_write_all" in handled(tmp_path / "report.json")


@pytest.mark.parametrize("abi", ABIS)
def test_no_mpi_no_word(abi: str) -> None:
    """A process without MPI runs as if the shim were not there."""
    mpis.not_with_sanitizers("a build with sanitizers needs their libraries")
    env = {"LD_PRELOAD": str(shim(abi)), "PATH": "/usr/bin:/bin"}
    done = mpis.run_bounded(["sh", "-c", "echo out; ls / >/dev/null; exit 3"], env=env)
    assert (done.returncode, done.stdout, done.stderr) == (3, "out\n", "")


@pytest.mark.parametrize("language", ["c", "mpi4py"])
@pytest.mark.parametrize(
    ("mpi", "abi"),
    [
        pytest.param(mpi, abi, marks=[] if mpi.name == "openmpi-4.1.4" else pytest.mark.slow)
        for mpi in mpis.all_mpis()
        for abi in ABIS
        if abi != mpi.abi
    ],
    indirect=["mpi"],
    ids=str,
)
@pytest.mark.parametrize("disable", ["", "1"], ids=["active", "disabled"])
def test_wrong_abi_steps_aside(
    mpi: Mpi, abi: str, language: str, disable: str, tmp_path: Path
) -> None:
    """A shim of another ABI says so in one line, and the program runs as without it."""
    argv, env = program(mpi, language)
    env |= mpi.stock(shim(abi), HAICHI_REPORT=str(tmp_path / "report.json"))
    if disable:
        env["HAICHI_DISABLE"] = "1"
    command = [*argv, tmp_path / "data", *options(mpi, language)]
    if language == "mpi4py" and mpi.name == "openmpi-5.0.11":
        pytest.skip("mpi4py 4 calls large-count functions that the shim has and this MPI has not")
    done = mpi.run(2, command, env, check=True)
    assert "intact" in done.stdout
    lines = haichi_lines(done)
    assert len(lines) == 2, done.stderr  # one a rank
    assert (
        f"libhaichi-{abi}.so is for {NAMES[abi]}, but this process has {NAMES[mpi.abi]}"
        in (lines[0])
    )
    assert '"haichi run" would choose the right library' in lines[0]
    assert not (tmp_path / "report.json").exists()


@pytest.mark.parametrize(
    ("soname", "has", "says"),
    [
        ("libmpi.so.12", "PMPI_Init", r"an older one \(libmpi.so.12 has no MPI_\w+\)"),
        ("libmpi.so.99", "PMPI_Init", r"an MPI that haichi does not know \(libmpi.so.99\)"),
    ],
    ids=["too old", "unknown"],
)
def test_unsupported_mpi_is_left_alone(soname: str, has: str, says: str, tmp_path: Path) -> None:
    """An MPI without a function that a shim exports, or of no known ABI: a line and its calls."""
    mpis.not_with_sanitizers("a build with sanitizers needs their libraries")
    version = "int PMPI_Get_version(int* major, int* minor) { return *major - *minor; }"
    (tmp_path / "old.c").write_text(f"int {has}(void) {{ return 5; }}\n{version}\n")
    (tmp_path / "main.c").write_text(f"int {has}(void); int main(void) {{ return {has}(); }}\n")
    library = tmp_path / soname
    words = ["cc", "-shared", "-fPIC", f"-Wl,-soname,{soname}", "-o", str(library)]
    mpis.run_bounded([*words, str(tmp_path / "old.c")], check=True)
    main = tmp_path / "main"
    words = ["cc", str(tmp_path / "main.c"), str(library), f"-Wl,-rpath,{tmp_path}", "-o"]
    mpis.run_bounded([*words, str(main)], check=True)
    assert mpis.run_bounded([str(main)]).returncode == 5
    done = mpis.run_bounded([str(main)], env={"LD_PRELOAD": str(shim("mpich"))})
    assert done.returncode == 5
    assert re.fullmatch(rf"haichi: libhaichi-mpich.so is for MPICH, .* {says}; .*\n", done.stderr)


@pytest.mark.parametrize("abi", ABIS)
def test_exports_what_the_mpi_has(abi: str) -> None:
    """A shim exports each hook under both names where the MPI has it, which build it is of, and
    nothing else."""
    usable = mpis.mpis(abi)
    if not usable:
        pytest.skip(f"no MPI of the ABI {abi} here")
    exports = symbols(shim(abi))
    (mark,) = (name for name in exports if name.startswith("haichi_build_"))
    exports.remove(mark)
    # The build takes the first of an ABI; under the others of that ABI it must not be too much.
    for number, mpi in enumerate(usable):
        has = symbols(libmpi(mpi))
        both = {name for name in hooks() if {name, "P" + name} <= has}
        wanted = both | {"P" + name for name in both}
        assert exports == wanted if number == 0 else exports <= wanted, mpi.name


@pytest.mark.parametrize("abi", ABIS)
def test_needs_libc_alone(abi: str) -> None:
    """A shim brings no library into the program, least of all a C++ runtime or an MPI."""
    mpis.not_with_sanitizers("a build with sanitizers needs their libraries")
    done = mpis.run_bounded(["readelf", "-dW", shim(abi)], check=True)
    needed = set(re.findall(r"NEEDED.*\[(.*)\]", done.stdout))
    assert "libc.so.6" in needed
    assert {name for name in needed if not re.match(r"(libc|libm|ld-linux.*)\.so", name)} == set()


@pytest.mark.parametrize("abi", ABIS)
def test_nothing_runs_before_main(abi: str) -> None:
    """No global of haichi's has a constructor or destructor; libstdc++'s own files end in .cc."""
    mpis.not_with_sanitizers("sanitizers add constructors of their own")
    done = mpis.run_bounded(["nm", shim(abi)], check=True)
    found = re.findall(r"_GLOBAL__sub_[ID]_\S+", done.stdout)
    assert "_GLOBAL__sub_I_locale_inst.cc" in found, "a stripped shim tells nothing"
    assert [name for name in found if not name.endswith(".cc")] == []


@pytest.mark.parametrize("first", ["haichi first", "tool first"])
@pytest.mark.parametrize("kind", ["both names", "textbook"])
def test_stacks_with_another_tool(mpi: Mpi, kind: str, first: str, tmp_path: Path) -> None:
    """Another tool under or over haichi: the program is right, and each sees what it can.

    Loaded first, the tool sees the program's calls. Loaded behind haichi it sees what haichi
    calls; a textbook tool, which has no PMPI_X for haichi to find, then sees no intercepted call.
    """
    flags = ["-shared", "-fPIC", *(["-DTEXTBOOK"] if kind == "textbook" else [])]
    tool = mpi.compile(ROOT / "tests/mpi/other_tool.c", *flags)
    objects = [shim(mpi.abi), tool]
    if first == "tool first":
        objects.reverse()
    report = tmp_path / "report.json"
    argv, _ = program(mpi, "c")
    env = mpi.stock(*objects, HAICHI_REPORT=str(report))
    done = mpi.run(2, [*argv, tmp_path / "data"], env, check=True)
    assert "intact" in done.stdout
    assert "MPI_File_write_all" in handled(report)
    said = [line for line in done.stderr.splitlines() if line.startswith("other tool")]
    if first == "tool first":
        assert said == 2 * ["other tool: 2 opened, 1 written"]
    elif kind == "both names":
        assert said == 2 * ["other tool: 2 opened, 0 written"]
    else:
        assert said == []


def test_settings_of_any_length_reach_all_ranks(mpi: Mpi, tmp_path: Path) -> None:
    """Rank 0's settings count for all, also where they are long and the others have none."""
    argv, _ = program(mpi, "c")
    report = tmp_path / "report.json"
    decisions = "/".join([str(tmp_path)] + 30 * ["x" * 200])
    long = mpi.preload(HAICHI_REPORT=str(report), HAICHI_COLLECTIVES_DECISIONS=decisions)
    plain = [f"{key}={value}" for key, value in mpi.preload().items()]
    words = [*argv, tmp_path / "data", ":", "-n", "1", "env", *plain, *argv, tmp_path / "data"]
    done = mpi.run(1, words, long, timeout=60, check=True)
    assert "intact" in done.stdout
    settings = {each["key"]: each["value"] for each in json.loads(report.read_text())["settings"]}
    assert settings["collectives.decisions"] == decisions
    assert "MPI_File_write_all" in handled(report)
