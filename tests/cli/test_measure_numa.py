"""`haichi measure --numa`: the path matrix of this machine, into a profile."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import mpis
import pytest
from haichi.fit.model import Profile
from split_io import NUMAIO, needs

USAGE, BAD_INPUT = 64, 78
SHORT = ["--seconds", "0.001", "--mebibytes", "2"]


@pytest.fixture(scope="module", autouse=True)
def _built() -> None:
    needs(NUMAIO)


def measure(*words: str | Path) -> tuple[int, str, str]:
    done = mpis.run_bounded([mpis.HAICHI, "measure", "--numa", *words], timeout=60)
    return done.returncode, done.stdout, done.stderr


def test_a_new_profile_has_the_matrix(tmp_path: Path) -> None:
    file = tmp_path / "m.json"
    code, out, _ = measure(*SHORT, "-o", file)
    assert (code, out) == (0, f"{file}\n")
    profile = Profile.model_validate(json.loads(file.read_text()))
    assert profile.numa is not None
    assert sum(profile.numa.cores) == len(os.sched_getaffinity(0))
    assert profile.source == "measured"
    code, out, _ = measure(*SHORT)
    Profile.model_validate(json.loads(out))


def test_what_a_profile_has_stays(tmp_path: Path) -> None:
    file = tmp_path / "m.json"
    shutil.copy(mpis.ROOT / "machines" / "two-cores.json", file)
    before = json.loads(file.read_text())
    assert measure(*SHORT, "-o", file)[0] == 0
    after = json.loads(file.read_text())
    assert after.pop("numa")["write_weight"] == 2
    assert after == before


@pytest.mark.parametrize(
    ("text", "said"),
    [("{", "not JSON"), ('{"schema": "haichi.machine/1"}', "only haichi.machine/2")],
)
def test_what_is_no_profile_is_left_as_it_is(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "m.json"
    file.write_text(text)
    code, out, error = measure(*SHORT, "-o", file)
    assert (code, out, error.count("\n")) == (BAD_INPUT, "", 1)
    assert said in error
    assert file.read_text() == text


def test_wrong_words_are_one_line() -> None:
    code, out, error = measure("--seconds", "-1")
    assert (code, out, error.count("\n")) == (USAGE, "", 1)


def test_plans_use_a_profile(tmp_path: Path) -> None:
    """A matrix by which one thread is as fast as two: then nothing is split."""
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("one processor: nothing is split")
    file = tmp_path / "m.json"
    assert measure(*SHORT, "-o", file)[0] == 0
    profile = json.loads(file.read_text())
    if len(profile["numa"]["cores"]) > 1:
        pytest.skip("several NUMA nodes: what one thread is enough for depends on the memory")
    profile["numa"] |= {"thread_gbs": [[[10]]], "memory_gbs": [30], "served_gbs": [10]}
    told = {}
    for most in (30, 60):
        profile["numa"]["memory_gbs"] = [most]
        file.write_text(json.dumps(profile))
        bench = [NUMAIO, "bench", tmp_path, "--only", "read"]
        words = [*bench, "--size", "64m", "--rounds", "1", "--patience", "0"]
        env = {**os.environ, "HAICHI_MACHINE": str(file)}
        done = mpis.run_bounded(words, timeout=60, env=env)
        assert done.returncode == 0, done.stderr
        told[most] = [json.loads(line)["how"] for line in done.stdout.splitlines()]
    assert set(told[30]) == {"one thread is as fast"}
    # Whether it pays here and now is found out by trial.
    assert set(told[60]) <= {"split by the nodes of its pages", "one thread is as fast, by trial"}
