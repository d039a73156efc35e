"""Programs that nobody changed, whose large reads are split: they see what the plain calls give."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import mpis
import numpy as np
import pytest
from split_io import LIBRARY, POSIX, compiled, needs, split

SIZE = 4 << 20  # of the file
SEEDS = (*range(8), 333, 2087)  # these two have a put-back and a getc at the first large fread


@pytest.fixture(scope="module")
def calls(tmp_path_factory: pytest.TempPathFactory) -> Path:
    needs(LIBRARY, POSIX)
    source = Path(__file__).with_name("split_calls.c")
    return compiled(source, tmp_path_factory.mktemp("split-calls"), "-pthread")


@pytest.fixture(params=["memory", "disk"])
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Path]:
    if request.param == "disk":
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(dir="/dev/shm") as made:
        yield Path(made)


def numbers(folder: Path, size: int = SIZE) -> Path:
    """A file of numbers of 8 bytes, each that of its place."""
    made = folder / "numbers"
    np.arange(size // 8, dtype=np.uint64).tofile(made)
    return made


def random_calls(calls: Path, folder: Path, seed: int) -> None:
    seen = []
    for environment in (None, split()):
        file = numbers(folder, SIZE + seed % 3 * 1111 * 8)
        words = [calls, file, "random", str(seed)]
        seen.append(mpis.run_bounded(words, timeout=60, env=environment, check=True).stdout)
    plain, preloaded = (text.splitlines() for text in seen)
    assert plain[-1] == "right"
    for mine, theirs in zip(preloaded, plain, strict=True):
        assert mine == theirs, f"seed {seed}"


@pytest.mark.parametrize("seed", SEEDS)
def test_random_calls_give_what_plain_ones_give(calls: Path, folder: Path, seed: int) -> None:
    random_calls(calls, folder, seed)


@pytest.mark.long
@pytest.mark.parametrize("first", range(100, 2100, 100))
def test_many_random_calls_give_what_plain_ones_give(calls: Path, folder: Path, first: int) -> None:
    for seed in range(first, first + 100):
        random_calls(calls, folder, seed)


@pytest.mark.parametrize(
    "case",
    ["shared", "signals", "jumps", "forks", "shrinks", "cancelled"] + mpis.slow_but([], ["first"]),
)
def test_what_goes_on_beside_a_read(calls: Path, folder: Path, case: str) -> None:
    size = 64 << 20 if case == "shared" else SIZE
    done = mpis.run_bounded([calls, numbers(folder, size), case], timeout=60, env=split())
    assert (done.returncode, done.stdout) == (0, "right\n"), done.stdout + done.stderr


PYTHON = """
import hashlib, sys
import numpy
file = sys.argv[1]
def shown(what): print(hashlib.sha256(what).hexdigest())
shown(open(file, "rb").read())
shown(open(file, "rb", buffering=0).read(3 << 20))
shown(numpy.fromfile(file, dtype=numpy.uint8).tobytes())
with open(file, "rb") as opened:
    opened.seek(1234567)
    shown(opened.read(2000000))
    shown(opened.read())
"""

TOOLS = {
    "dd": 'dd if="$1" bs=1500k status=none | sha256sum',
    "dd-skip": 'dd if="$1" bs=1M skip=1 count=2 iflag=fullblock status=none | sha256sum',
    "cat": 'cat "$1" | sha256sum; cat < "$1" | sha256sum',
    "cp": 'cp "$1" "$1.copy" && cmp "$1" "$1.copy" && sha256sum < "$1.copy"',
    "tar": 'tar -C "$(dirname "$1")" --sort=name --mtime=@0 -b 4096 -cf - numbers | sha256sum',
    "sha256sum": 'sha256sum < "$1"; sha256sum - < "$1"',
    "missing": 'dd if="$1.missing" bs=1M of=/dev/null; dd if="$(dirname "$1")" bs=1M status=none',
    "rest": '{ dd bs=1M count=1 status=none; cat; } < "$1" | sha256sum',
    "pipe": 'cat "$1" | dd bs=2M iflag=fullblock status=none | sha256sum',
    "python": f'{sys.executable} -c "$PROGRAM" "$1"',
}


@pytest.mark.parametrize("tool", TOOLS)
def test_tools_say_what_they_say(folder: Path, tool: str) -> None:
    needs(LIBRARY, POSIX)
    file = numbers(folder)
    words = ["sh", "-c", TOOLS[tool], "sh", file]
    seen = []
    for environment in (dict(os.environ), split()):
        done = mpis.run_bounded(words, timeout=60, env={**environment, "PROGRAM": PYTHON})
        seen.append((done.returncode, done.stdout, done.stderr))
    assert seen[0] == seen[1]
    assert seen[0][0] == (1 if tool == "missing" else 0)


def traced(folder: Path, *command: str | Path, **settings: str) -> int:
    """In how many preads a program of one large read of the numbers was carried out."""
    if shutil.which("strace") is None:
        pytest.skip("no strace here")
    kept = folder / "trace"
    environment = split(**settings)
    given = [f"-E{key}={environment[key]}" for key in environment if key == "LD_PRELOAD"]
    del environment["LD_PRELOAD"]
    only = ["-e", "trace=pread64", "-P", folder / "numbers"]
    words = ["strace", "-f", "-o", kept, *only, *given, *command]
    done = mpis.run_bounded(words, timeout=60, env=environment)
    if "ptrace" in done.stderr:
        pytest.skip("strace may not trace here")
    assert done.returncode == 0, done.stderr
    return kept.read_text().count("pread64(")


def test_a_read_is_split_where_that_may_be(folder: Path) -> None:
    needs(LIBRARY, POSIX)
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("one processor only")
    read = ["dd", f"if={numbers(folder)}", "of=/dev/null", "bs=4M", "status=none"]
    assert traced(folder, *read) >= 4
    assert traced(folder, *read, HAICHI_IO_SPLIT="off") == 0
    assert traced(folder, *read, HAICHI_DISABLE="1") == 0
    assert traced(folder, *read, HAICHI_IO_SPLIT_FROM="8M") == 0
    assert traced(folder, *read, HAICHI_IO_SPLIT_THREADS="1") == 1
    assert traced(folder, "taskset", "-c", "0", *read) == 1
    code = "import numpy, sys; numpy.fromfile(sys.argv[1])"
    assert traced(folder, sys.executable, "-c", code, folder / "numbers") >= 4


def test_a_program_may_have_no_threads_or_memory(folder: Path) -> None:
    needs(LIBRARY, POSIX)
    file = numbers(folder)
    few = f"ulimit -v 40000; dd if={file} bs=4M status=none | sha256sum"
    done = mpis.run_bounded(["sh", "-c", few], timeout=60, env=split(), check=True)
    assert done.stdout == mpis.run_bounded(["sh", "-c", few], timeout=60, check=True).stdout


def test_haichi_run_starts_any_program(folder: Path) -> None:
    needs(LIBRARY, POSIX)
    file = numbers(folder)
    read = f'dd if={file} bs=4M status=none | sha256sum; echo "$LD_PRELOAD"'
    started = [mpis.HAICHI, "run", "--set", "io.split=on", "sh", "-c", read]
    done = mpis.run_bounded(started, timeout=60, check=True)
    digest, preload = done.stdout.splitlines()
    plain = mpis.run_bounded(["sha256sum", file], timeout=60, check=True).stdout
    assert digest.split()[0] == plain.split()[0]
    assert preload.endswith("libhaichi-posix.so")


def test_haichi_run_says_what_it_does_not_get_under(folder: Path) -> None:
    needs(LIBRARY, POSIX)
    source = folder / "program.c"
    source.write_text("int main(void) { return 7; }")
    run = [mpis.HAICHI, "run", "--set", "io.split=on"]
    for flags, silent in ((("-static",), False), (("-static-pie",), False), ((), True)):
        program = compiled(source, folder, *flags)
        done = mpis.run_bounded([*run, program], timeout=60, env=mpis.plain_environment())
        assert done.returncode == 7
        said = done.stderr.splitlines()
        assert len(said) == (0 if silent else 1), said
        assert silent or f"{program} is statically linked: nothing of haichi gets" in said[0]
    loader = next(Path("/").glob("lib64/ld-linux-*.so.*"), None)
    if loader is not None:
        done = mpis.run_bounded([*run, loader, program], timeout=60, env=mpis.plain_environment())
        assert (done.returncode, done.stderr) == (7, "")
