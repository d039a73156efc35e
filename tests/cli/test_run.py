"""`haichi run`: the right shim under the program, and nothing else about the program changed."""

from __future__ import annotations

import json
import os
import re
import signal
import stat
import subprocess
import sys
from pathlib import Path

import mpis
import pytest
from launch_prefix import (
    ABIS,
    SHOW,
    SHOW_PYTHON,
    Prefix,
    clean_environment,
    empty_library,
    lines,
    make_prefix,
    without_sanitizers,
)
from mpis import Mpi

USAGE, UNSUPPORTED, UNAVAILABLE, CONFIG, NOT_EXECUTABLE, NOT_FOUND = 64, 65, 69, 78, 126, 127

if not mpis.HAICHI.exists():
    pytest.skip(f"no {mpis.HAICHI}: ./haichi build", allow_module_level=True)


@pytest.fixture(scope="session")
def prefix(tmp_path_factory: pytest.TempPathFactory) -> Prefix:
    return make_prefix(tmp_path_factory.mktemp("installed") / "haichi")


@pytest.fixture(params=mpis.slow_but(["mpich-4.0.2"], ["mpich-4.0.2", "openmpi-4.1.4"]))
def debian(request: pytest.FixtureRequest) -> Mpi:
    """The distribution's two MPIs, for what does not differ between versions."""
    mpi = next(mpi for mpi in mpis.all_mpis() if mpi.name == request.param)
    if mpi.missing:
        pytest.skip(mpi.missing)
    return mpi


@pytest.fixture
def any_mpi() -> Mpi:
    """One MPI, for what does not differ between MPIs."""
    found = mpis.mpis("mpich") or mpis.mpis("openmpi")
    if not found:
        pytest.skip("no MPI here: ./haichi build")
    return found[0]


def script(path: Path, text: str) -> Path:
    path.write_text(text)
    path.chmod(path.stat().st_mode | stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH)
    return path


# --- what the program gets ------------------------------------------------------------------------


def test_finds_the_mpi_of_a_program_and_preloads_its_shim(mpi: Mpi, prefix: Prefix) -> None:
    done = mpi.run(2, [prefix.haichi, "run", mpi.compile(SHOW)], check=True)
    for rank in (0, 1):
        assert lines(done.stdout, rank, "preload") == [str(prefix.shim(mpi.abi))]
        assert lines(done.stdout, rank, "mapped") == [str(prefix.shim(mpi.abi))]


def test_finds_the_mpi_that_python_would_import(mpi: Mpi, prefix: Prefix) -> None:
    if mpi.python is None:
        pytest.skip(mpi.python_missing)
    words = [prefix.haichi, "run", mpi.python, SHOW_PYTHON, "a b"]
    done = mpi.run(2, words, env=dict(mpi.python_env), check=True)
    for rank in (0, 1):
        assert lines(done.stdout, rank, "preload") == [str(prefix.shim(mpi.abi))]
        assert lines(done.stdout, rank, "argument") == ["[a b]"]
        library = "Open" if mpi.abi == "openmpi" else "MPICH"
        assert lines(done.stdout, rank, "library") == [library]


def test_the_real_shim_runs_the_program(mpi: Mpi) -> None:
    if not mpi.shim.exists():
        pytest.skip(f"no {mpi.shim.name} in this build: no MPI of that ABI when built")
    done = mpi.run(2, [mpis.HAICHI, "run", mpi.compile(SHOW), "exit=0"], check=True)
    for rank in (0, 1):
        assert lines(done.stdout, rank, "mapped") == [str(mpi.shim.resolve())]


def test_arguments_arrive_as_they_are(debian: Mpi, prefix: Prefix) -> None:
    words = ["two words", "", "--mpi", "--", "--set=x", "*", "é", "-n"]
    for separator in ([], ["--"]):
        done = debian.run(
            2, [prefix.haichi, "run", *separator, debian.compile(SHOW), *words], check=True
        )
        assert lines(done.stdout, 1, "argument") == [f"[{word}]" for word in words]


def test_exit_codes_are_the_programs(debian: Mpi, prefix: Prefix) -> None:
    show = debian.compile(SHOW)
    for code in (0, 7):
        plain = debian.run(2, [show, f"exit={code}"])
        under = debian.run(2, [prefix.haichi, "run", show, f"exit={code}"])
        assert under.returncode == plain.returncode == code


def test_deaths_by_signal_are_the_programs(debian: Mpi, prefix: Prefix) -> None:
    show = debian.compile(SHOW)
    plain = debian.run(2, [show, f"kill={int(signal.SIGTERM)}"])
    words = [prefix.haichi, "run", show, f"kill={int(signal.SIGTERM)}"]
    under = [debian.run(2, words)]
    if under[0].returncode != plain.returncode:  # seen once in some hundred runs of a busy machine
        under += [debian.run(2, words) for _ in range(2)]
    codes = [each.returncode for each in under]
    assert codes.count(plain.returncode) >= min(2, len(codes)), (codes, plain.stdout, under)
    assert plain.returncode != 0


def test_the_program_is_the_process_that_was_started(any_mpi: Mpi, prefix: Prefix) -> None:
    alone = prefix.call("run", any_mpi.compile(SHOW), f"kill={int(signal.SIGTERM)}")
    assert alone.returncode == -signal.SIGTERM


def test_standard_input_reaches_rank_0(debian: Mpi, prefix: Prefix) -> None:
    text = "one\ntwo\n" * 2000
    done = debian.run(
        2, [prefix.haichi, "run", debian.compile(SHOW), "stdin"], stdin=text, check=True
    )
    assert lines(done.stdout, 0, "read") == [f"{len(text)} bytes, sum {sum(text.encode())}"]


def test_an_ld_preload_that_was_there_stays_behind_the_shim(debian: Mpi, prefix: Prefix) -> None:
    extra = empty_library("extra")
    done = debian.run(
        2,
        [prefix.haichi, "run", debian.compile(SHOW)],
        env={"LD_PRELOAD": str(extra)},
        check=True,
    )
    shim = prefix.shim(debian.abi)
    for rank in (0, 1):
        assert lines(done.stdout, rank, "preload") == [f"{shim}:{extra}"]
        assert set(lines(done.stdout, rank, "mapped")) == {str(shim), str(extra)}


# --- around scripts -------------------------------------------------------------------------------


def test_around_a_script_the_launcher_decides(debian: Mpi, prefix: Prefix, tmp_path: Path) -> None:
    job = script(tmp_path / "job.sh", '#!/bin/sh\nexec "$@"\n')
    done = debian.run(2, [prefix.haichi, "run", job, debian.compile(SHOW), "a b"], check=True)
    for rank in (0, 1):
        assert lines(done.stdout, rank, "preload") == [str(prefix.shim(debian.abi))]
        assert lines(done.stdout, rank, "argument") == ["[a b]"]


def test_a_script_without_a_first_line_is_run_by_sh(
    debian: Mpi, prefix: Prefix, tmp_path: Path
) -> None:
    job = script(tmp_path / "job", '"$@"; exit 5\n')
    done = debian.run(1, [prefix.haichi, "run", job, debian.compile(SHOW)])
    assert done.returncode == 5
    assert lines(done.stdout, 0, "preload") == [str(prefix.shim(debian.abi))]


def test_a_script_may_start_the_launcher_itself(
    debian: Mpi, prefix: Prefix, tmp_path: Path
) -> None:
    command = " ".join(debian.command(2, [debian.compile(SHOW)]))
    job = script(tmp_path / "job.sh", f"#!/bin/sh\n{command}\n")
    done = prefix.call("run", "--mpi", debian.abi, job, env=debian.launcher_env)
    assert done.returncode == 0, done.stderr
    for rank in (0, 1):
        assert lines(done.stdout, rank, "mapped") == [str(prefix.shim(debian.abi))]


def test_a_run_inside_a_run_has_one_shim(debian: Mpi, prefix: Prefix, tmp_path: Path) -> None:
    inner = f'#!/bin/sh\nexec "{prefix.haichi}" run "$@"\n'
    job = script(tmp_path / "job.sh", inner)
    done = debian.run(1, [prefix.haichi, "run", job, debian.compile(SHOW)], check=True)
    assert lines(done.stdout, 0, "preload") == [str(prefix.shim(debian.abi))]
    off = script(tmp_path / "off.sh", inner.replace("exec", "HAICHI_DISABLE=1 exec"))
    done = debian.run(1, [prefix.haichi, "run", off, debian.compile(SHOW)], check=True)
    assert lines(done.stdout, 0, "preload") == ["(none)"]


def test_a_run_may_be_given_another_run(debian: Mpi, prefix: Prefix, tmp_path: Path) -> None:
    link = tmp_path / "hc"
    link.symlink_to(prefix.haichi)
    outer = [prefix.haichi, "run", "--set", "io.window=3", "--set", "io.order=rank"]
    for haichi in (prefix.haichi, link):
        inner = [haichi, "run", "--set", "io.window=5", debian.compile(SHOW), "a b"]
        done = debian.run(2, [*outer, *inner], check=True)
        for rank in (0, 1):
            assert lines(done.stdout, rank, "preload") == [str(prefix.shim(debian.abi))]
            assert lines(done.stdout, rank, "argument") == ["[a b]"]
            settings = lines(done.stdout, rank, "setting")
            assert "HAICHI_IO_ORDER=rank" in settings, "what the outer one says holds"
            assert "HAICHI_IO_WINDOW=5" in settings, "the inner one has the last word"


def test_a_run_of_a_run_needs_no_launcher(any_mpi: Mpi, prefix: Prefix) -> None:
    again = [prefix.haichi, "run"] * 2
    done = prefix.call("run", *again, any_mpi.compile(SHOW), env=any_mpi.launcher_env)
    assert done.returncode == 0, done.stderr
    assert lines(done.stdout, 0, "preload") == [str(prefix.shim(any_mpi.abi))]


# --- settings -------------------------------------------------------------------------------------


def test_disable_leaves_everything_alone(debian: Mpi, prefix: Prefix, tmp_path: Path) -> None:
    (tmp_path / "haichi.toml").write_text("this is not TOML\n")
    extra = str(empty_library("extra"))
    for before in ({}, {"LD_PRELOAD": extra}):
        done = debian.run(
            2,
            [prefix.haichi, "run", debian.compile(SHOW), "exit=3"],
            env={"HAICHI_DISABLE": "1", "HAICHI_IO_ORDER": "wrong", **before},
            cwd=tmp_path,
        )
        assert done.returncode == 3
        assert "haichi: error" not in done.stderr
        assert lines(done.stdout, 1, "preload") == [before.get("LD_PRELOAD", "(none)")]


def test_disable_needs_no_mpi_program(prefix: Prefix) -> None:
    done = prefix.call("run", "echo", "hello", env={"HAICHI_DISABLE": "1"})
    assert (done.returncode, done.stdout) == (0, "hello\n")
    assert prefix.call("run", "no-such", env={"HAICHI_DISABLE": "1"}).returncode == NOT_FOUND


def test_haichi_toml_reaches_every_rank(debian: Mpi, prefix: Prefix, tmp_path: Path) -> None:
    (tmp_path / "haichi.toml").write_text(
        'report.file = "from-file.json"\n[io]\norder = "rank"\nwindow = 4\nlayout = "packed"\n'
    )
    done = debian.run(
        2,
        [prefix.haichi, "run", "--set", "io.layout=roundrobin", "--report", "r.json"]
        + ["--set=io.buffer=1M", debian.compile(SHOW)],
        env={"HAICHI_IO_WINDOW": "8"},
        cwd=tmp_path,
        check=True,
    )
    for rank in (0, 1):
        settings = set(lines(done.stdout, rank, "setting"))
        given = {**os.environ, **mpis.TESTED}  # HAICHI_BUILD of the tests
        ours = {f"{key}={value}" for key, value in given.items()}
        assert sorted(settings - ours) == [
            "HAICHI_IO_BUFFER=1M",
            "HAICHI_IO_LAYOUT=roundrobin",
            "HAICHI_IO_ORDER=rank",
            "HAICHI_IO_WINDOW=8",
            "HAICHI_REPORT=r.json",
        ]


@pytest.mark.parametrize("whose", ["file", "folder"])
def test_haichi_toml_of_another_user(
    debian: Mpi, prefix: Prefix, tmp_path: Path, whose: str
) -> None:
    """Settings name files that haichi writes: those of somebody else are not obeyed unasked."""
    if os.geteuid() != 0:
        pytest.skip("a file of another user needs root")
    folder = tmp_path / "theirs"
    folder.mkdir()
    file = folder / "haichi.toml"
    file.write_text('report.file = "/etc/passwd"\n')
    os.chown(file if whose == "file" else folder, 12345, 12345)
    command = [prefix.haichi, "run", debian.compile(SHOW)]
    done = debian.run(2, command, cwd=folder, check=True)
    for rank in (0, 1):
        assert "HAICHI_REPORT=/etc/passwd" not in lines(done.stdout, rank, "setting")
    assert done.stderr.count("warning: haichi.toml is ignored: ") == 1
    asked = debian.run(2, command, env={"HAICHI_CONFIG": "haichi.toml"}, cwd=folder, check=True)
    for rank in (0, 1):
        assert "HAICHI_REPORT=/etc/passwd" in lines(asked.stdout, rank, "setting")
    assert "is ignored" not in asked.stderr


def test_disable_in_haichi_toml(any_mpi: Mpi, prefix: Prefix, tmp_path: Path) -> None:
    file = tmp_path / "off.toml"
    file.write_text("disable = true\n")
    done = prefix.call("run", any_mpi.compile(SHOW), env={"HAICHI_CONFIG": str(file)})
    assert lines(done.stdout, 0, "preload") == ["(none)"]


def test_an_unknown_variable_is_a_warning_of_one_rank(debian: Mpi, prefix: Prefix) -> None:
    done = debian.run(
        2,
        [prefix.haichi, "run", debian.compile(SHOW)],
        env={"HAICHI_IO_ORDR": "rank"},
        check=True,
    )
    assert done.stderr.count("unknown setting HAICHI_IO_ORDR, did you mean HAICHI_IO_ORDER?") == 1


def test_verbose_says_what_was_found(any_mpi: Mpi, prefix: Prefix) -> None:
    done = prefix.call("run", "--verbose", any_mpi.compile(SHOW))
    assert f"MPI is {any_mpi.abi} (lib" in done.stderr
    (preload,) = re.findall(r"LD_PRELOAD=(\S+)", done.stderr)
    assert without_sanitizers(preload) == str(prefix.shim(any_mpi.abi))


# --- refusals: one line, nothing started ----------------------------------------------------------


def refused(done, code: int, *texts: str) -> None:
    """One line on standard error that holds all texts, no output, this exit code."""
    assert done.returncode == code, done
    assert done.stdout == ""
    assert done.stderr.startswith("haichi: error: ")
    assert done.stderr.count("\n") == 1, done.stderr
    for text in texts:
        assert text in done.stderr


def test_the_ranks_of_a_node_say_what_is_wrong_once(mpi: Mpi) -> None:
    argv = [mpis.HAICHI, "run", "--set", "io.order=sideways", "true"]
    done = mpi.run(4, argv, mpi.stock(), timeout=60)
    assert done.returncode != 0
    assert done.stderr.count("haichi: error: --set io.order=sideways: use one of") == 1, done.stderr


def test_a_rank_that_comes_late_does_not_say_it_again(mpi: Mpi) -> None:
    late = '[ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" = 3 ] && sleep 0.6; exec "$@"'
    refused_words = [mpis.HAICHI, "run", "--set", "io.order=sideways", "true"]
    done = mpi.run(4, ["sh", "-c", late, "late", *refused_words], mpi.stock(), timeout=60)
    assert done.returncode != 0
    assert done.stderr.count("haichi: error: --set io.order=sideways: use one of") == 1, done.stderr


def test_who_says_nothing_stays_until_the_one_that_spoke_goes(prefix: Prefix) -> None:
    # Else a launcher that ends a job when one rank fails ends the one that spoke, and late ranks
    # say it again. Three are expected, and the third never comes: the first waits two seconds.
    job = {"OMPI_COMM_WORLD_SIZE": "3", "OMPI_COMM_WORLD_LOCAL_SIZE": "3"}
    words = [prefix.haichi, "run", "--set", "io.order=sideways", "true"]

    def rank() -> subprocess.Popen[str]:
        env = clean_environment(job)
        return subprocess.Popen(words, env=env, stderr=subprocess.PIPE, text=True)

    with rank() as first:
        assert first.stderr and "io.order=sideways" in first.stderr.readline()
        with rank() as second:
            said = second.communicate()[1]
            assert second.returncode == CONFIG
        assert not said or first.poll() is not None  # it came too late, on a busy machine
        first.wait(timeout=1)
        assert first.returncode == CONFIG


def test_refuses_a_program_that_is_not_there(prefix: Prefix, tmp_path: Path) -> None:
    refused(prefix.call("run", "no-such-program"), NOT_FOUND, "no-such-program: not found in PATH")
    refused(prefix.call("run", "./nothing", cwd=tmp_path), NOT_FOUND, "./nothing: no such file")


def test_refuses_a_file_that_can_not_be_executed(prefix: Prefix, tmp_path: Path) -> None:
    (tmp_path / "data").write_text("x")
    refused(prefix.call("run", tmp_path / "data"), NOT_EXECUTABLE, "is not executable")
    refused(prefix.call("run", tmp_path), NOT_EXECUTABLE, "is a directory")
    job = script(tmp_path / "job", "#!/no/such/interpreter\n")
    refused(prefix.call("run", job), NOT_EXECUTABLE, "its interpreter /no/such/interpreter")


def test_refuses_a_program_of_another_machine(prefix: Prefix, tmp_path: Path) -> None:
    foreign = bytearray(Path("/bin/true").read_bytes())
    foreign[18:20] = (243).to_bytes(2, sys.byteorder)  # e_machine: RISC-V
    app = tmp_path / "app"
    app.write_bytes(foreign)
    app.chmod(0o755)
    refused(prefix.call("run", app), NOT_EXECUTABLE, "is built for RISC-V")


def test_refuses_what_is_no_mpi_program(prefix: Prefix) -> None:
    refused(
        prefix.call("run", "ls"),
        UNSUPPORTED,
        "is not an MPI program",
        "put --mpi mpich, --mpi openmpi or --mpi mpiabi before it",
    )


def test_refuses_a_script_whose_mpi_is_unknown(prefix: Prefix, tmp_path: Path) -> None:
    job = script(tmp_path / "job.sh", "#!/bin/sh\n./app\n")
    refused(prefix.call("run", job), UNSUPPORTED, "is a script", "--mpi mpich")
    srun = {"SLURM_STEP_ID": "0", "SLURM_PROCID": "0", "PMIX_RANK": "0"}
    refused(prefix.call("run", job, env=srun), UNSUPPORTED, "srun starts programs of any MPI")


def test_refuses_a_static_mpi_program(prefix: Prefix, tmp_path: Path) -> None:
    source = tmp_path / "app.c"
    source.write_text("int MPI_Init(void) { return 0; }\nint main(void) { return MPI_Init(); }\n")
    mpis.run_bounded(["cc", "-static", str(source), "-o", str(tmp_path / "app")], check=True)
    refused(prefix.call("run", tmp_path / "app"), UNSUPPORTED, "linked in statically")


def linked_with(tmp_path: Path, soname: str, source: str = "int MPI_Send_c;\n") -> Path:
    """A program linked with a library of this soname."""
    (tmp_path / "mpi.c").write_text(source)
    (tmp_path / "app.c").write_text("int main(void) { return 0; }\n")
    library = tmp_path / soname
    words = ["cc", "-shared", "-fPIC", "mpi.c", f"-Wl,-soname,{soname}", "-o", str(library)]
    mpis.run_bounded(words, cwd=tmp_path, check=True)
    words = ["cc", "app.c", "-Wl,--no-as-needed", str(library), f"-Wl,-rpath,{tmp_path}"]
    mpis.run_bounded([*words, "-o", "app"], cwd=tmp_path, check=True)
    return tmp_path / "app"


@pytest.mark.parametrize(
    ("soname", "source", "text"),
    [
        ("libmpi.so.20", "int MPI_Send_c;\n", "Open MPI 2 (libmpi.so.20) is not supported"),
        ("libmpi.so.12", "int MPI_Send;\n", "is an MPI older than version 4"),
        ("libmpi.so.77", "int MPI_Send;\n", "the MPI library libmpi.so.77 is not known"),
    ],
)
def test_refuses_an_mpi_without_a_shim(
    prefix: Prefix, tmp_path: Path, soname: str, source: str, text: str
) -> None:
    refused(prefix.call("run", linked_with(tmp_path, soname, source)), UNSUPPORTED, text)


def test_refuses_when_the_shim_is_not_built(any_mpi: Mpi, tmp_path: Path) -> None:
    bare = make_prefix(tmp_path / "bare", abis=())
    done = bare.call("run", any_mpi.compile(SHOW))
    refused(done, UNAVAILABLE, f"no shim for {any_mpi.abi}", "`./haichi build` makes it")


def test_refuses_an_mpi_that_contradicts_the_program(any_mpi: Mpi, prefix: Prefix) -> None:
    other = next(abi for abi in ABIS if abi != any_mpi.abi)
    done = prefix.call("run", "--mpi", other, any_mpi.compile(SHOW))
    refused(done, UNSUPPORTED, f"--mpi {other} does not fit")


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ((), "no program to run"),
        (("--",), "no program to run"),
        (("--bogus", "ls"), "unknown option --bogus"),
        (("--mpi", "lam", "ls"), "--mpi: lam not in {mpich,openmpi,mpiabi}"),
        (("--set",), "--set"),
    ],
)
def test_refuses_a_wrong_command_line(prefix: Prefix, words: tuple[str, ...], text: str) -> None:
    refused(prefix.call("run", *words), USAGE, text)


@pytest.mark.parametrize(
    ("words", "env", "text"),
    [
        ([], {"HAICHI_IO_ORDER": "up"}, "HAICHI_IO_ORDER=up: use one of rank|pairwise|nd_shift"),
        ([], {"HAICHI_IO_LAYOUT": "up"}, "HAICHI_IO_LAYOUT=up: use one of roundrobin|packed"),
        ([], {"HAICHI_IO_BUFFER": "16parsec"}, "unknown unit parsec"),
        ([], {"HAICHI_PLACEMENT": "/no/file"}, "HAICHI_PLACEMENT: cannot open /no/file"),
        ([], {"HAICHI_CONFIG": "/no/file"}, "cannot open /no/file"),
        (["--set", "io.order"], {}, "--set io.order: write it as key=value"),
        (["--set", "io.odrer=rank"], {}, "unknown key, did you mean io.order?"),
        (["--set", "io.order=up"], {}, "--set io.order=up: use one of rank"),
    ],
)
def test_refuses_a_wrong_setting(
    any_mpi: Mpi, prefix: Prefix, words: list[str], env: dict[str, str], text: str
) -> None:
    refused(prefix.call("run", *words, any_mpi.compile(SHOW), env=env), CONFIG, text)


@pytest.mark.parametrize(
    ("toml", "text"),
    [
        ("io.order = \n", "haichi.toml:1: not TOML: "),
        ('\nio.ordr = "rank"\n', "haichi.toml:2: unknown key io.ordr, did you mean io.order?"),
        ('[io]\norder = "up"\n', "haichi.toml:2: io.order=up: use one of rank"),
        ("[io]\norder = 3.5\n", "haichi.toml:2: io.order takes a string"),
    ],
)
def test_refuses_a_wrong_haichi_toml(
    any_mpi: Mpi, prefix: Prefix, tmp_path: Path, toml: str, text: str
) -> None:
    file = tmp_path / "haichi.toml"
    file.write_text(toml)
    done = prefix.call("run", any_mpi.compile(SHOW), env={"HAICHI_CONFIG": str(file)})
    refused(done, CONFIG, text)


def test_refuses_a_placement_that_does_not_fit_the_job(
    debian: Mpi, prefix: Prefix, tmp_path: Path
) -> None:
    three = {"schema": "haichi.placement/1", "nodes": [{"name": "n0", "ranks": "0-2"}]}
    file = tmp_path / "three.json"
    file.write_text(json.dumps(three))
    words = [prefix.haichi, "run", debian.compile(SHOW)]
    done = debian.run(2, words, env={"HAICHI_PLACEMENT": str(file)})
    assert done.returncode != 0
    assert done.stdout.count("preload") == 0
    assert f"haichi: error: HAICHI_PLACEMENT={file}: " in done.stderr
    debian.run(3, words, env={"HAICHI_PLACEMENT": str(file)}, check=True)


# --- the other commands ---------------------------------------------------------------------------


def test_where_becomes_the_program_of_the_launchers_mpi(debian: Mpi, tmp_path: Path) -> None:
    prefix = make_prefix(tmp_path / "p", abis=())
    for abi in ABIS:
        script(prefix.path / "bin" / f"haichi-where-{abi}", f'#!/bin/sh\necho {abi} "$@"\n')
    done = debian.run(1, [prefix.haichi, "where", "--json"], check=True)
    assert done.stdout == f"{debian.abi} --json\n"
    alone = prefix.call("where", "--json")
    assert alone.stdout == "mpich --json\n"
    assert prefix.call("where", "--mpi=mpiabi", "--json").stdout == "mpiabi --json\n"
    assert prefix.call("where", "--mpi", "openmpi", "--json").stdout == "openmpi --json\n"
    refused(prefix.call("where", "--mpi", "lam"), USAGE, "--mpi takes mpich, openmpi or mpiabi")
    refused(
        prefix.call("where", env={"SLURM_STEP_ID": "0"}), UNSUPPORTED, "srun starts programs of any"
    )
    bad = prefix.call("where", env={"HAICHI_PLACEMENT": "/no/file"})
    refused(bad, CONFIG, "cannot open /no/file")


def test_where_says_when_it_is_not_built(prefix: Prefix) -> None:
    refused(prefix.call("where"), UNAVAILABLE, "haichi-where-mpich is not there")


def test_other_commands_go_to_the_checkout(tmp_path: Path) -> None:
    prefix = make_prefix(tmp_path / "build" / "x", abis=())
    refused(prefix.call("demo"), USAGE, "demo is not a command of this program")
    script(tmp_path / "haichi", '#!/bin/sh\necho "checkout:" "$@"\nexit 9\n')
    done = prefix.call("demo", "--fast", "a b")
    assert (done.returncode, done.stdout) == (9, "checkout: demo --fast a b\n")


def test_help_and_version(prefix: Prefix) -> None:
    assert prefix.call("--version").stdout.startswith("haichi ")
    assert "haichi run ./app" in prefix.call("--help").stdout
    assert "--mpi ABI" in prefix.call("run", "--help").stdout
    refused(prefix.call(), USAGE, "no command")


def test_nothing_of_libstdcxx_is_loaded_per_rank() -> None:
    """Loading libstdc++ costs more than all that the launcher does."""
    mpis.not_with_sanitizers("sanitizers need libraries")
    done = mpis.run_bounded(["readelf", "-d", str(mpis.HAICHI)], check=True)
    needed = re.findall(r"\(NEEDED\).*\[(.*)\]", done.stdout)
    assert [name for name in needed if not name.startswith("ld-linux")] == ["libc.so.6"]


def test_shows_the_cost_of_a_start(prefix: Prefix, tmp_path: Path) -> None:
    """Not a timed test: prints what bench/overhead/launcher.py measures, and that it measures."""
    words = [sys.executable, str(mpis.ROOT / "bench/overhead/launcher.py"), "--starts", "20"]
    done = mpis.run_bounded(
        [*words, "--haichi", str(prefix.haichi), "--json"], env=clean_environment(), check=True
    )
    measured = json.loads(done.stdout)
    print(done.stdout)
    assert measured["starts"] == 20
    assert all(measured["wall"][way]["median_ms"] > 0 for way in ("plain", "preload", "haichi"))
    assert os.path.basename(measured["program"]) == "program"
