"""A recorder beside a shim of another build: a line, no record, and the program as it is."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import mpis
from mpis import BUILD, HAICHI, ROOT, Mpi
from record_support import read, under

MARK = re.compile(rb"haichi_build_([0-9a-f]{16})")


def of_another_build(shim: Path, folder: Path) -> Path:
    """A copy of a shim that an older build could have made."""
    data = shim.read_bytes()
    assert MARK.search(data), "the shim has no mark"
    copy = folder / shim.name
    copy.write_bytes(MARK.sub(rb"haichi_build_" + b"0" * 16, data))
    copy.chmod(0o755)
    return copy


def lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if "haichi" in line]


def test_all_objects_have_the_mark_of_the_build(mpi: Mpi) -> None:
    recorder = BUILD / "lib" / f"libhaichi-record-{mpi.abi}.so"
    marks = {MARK.findall(each.read_bytes())[0] for each in (mpi.shim, recorder)}
    assert len(marks) == 1


def test_an_older_shim_is_told_and_nothing_is_recorded(mpi: Mpi, tmp_path: Path) -> None:
    program = mpi.compile(ROOT / "tests/mpi/record_files.c", *mpis.thread_flags())
    path = tmp_path / "record.jsonl"
    env = under(mpi, path, "the shim")
    # As it is, it works.
    mpi.run(2, [program, tmp_path / "data", "plain"], env, check=True)
    assert read(path)
    path.unlink()
    old = of_another_build(mpi.shim, tmp_path)
    env["LD_PRELOAD"] = env["LD_PRELOAD"].replace(str(mpi.shim), str(old))
    done = mpi.run(2, [program, tmp_path / "data", "plain"], env, check=True)
    assert "intact" in done.stdout
    (said,) = lines(done.stderr)
    assert "nothing is recorded" in said
    assert str(old) in said
    assert sorted(tmp_path.glob("record*")) == []


def test_haichi_run_leaves_such_a_recorder_out(mpi: Mpi, tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    for folder in ("bin", "lib"):
        (tree / folder).mkdir(parents=True)
    shutil.copy2(HAICHI, tree / "bin")
    recorder = BUILD / "lib" / f"libhaichi-record-{mpi.abi}.so"
    shutil.copy2(recorder, tree / "lib")
    of_another_build(mpi.shim, tree / "lib")
    program = mpi.compile(ROOT / "tests/mpi/record_files.c", *mpis.thread_flags())
    words = [tree / "bin" / "haichi", "run", f"--record={tmp_path / 'r.jsonl'}", "--", program]
    done = mpi.run(2, [*words, tmp_path / "data", "plain"], mpi.stock(), check=True)
    assert "intact" in done.stdout
    (said,) = lines(done.stderr)
    assert "nothing is recorded" in said
    assert "are not of one build" in said
    assert not (tmp_path / "r.jsonl").exists()
