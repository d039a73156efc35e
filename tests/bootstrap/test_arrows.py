"""The checker of the arrows finds what is planted, and nothing in our own sources."""

from __future__ import annotations

import graphlib
from pathlib import Path

import pytest
from haichi_bootstrap import arrows, paths


def found(src: Path, name: str, text: str) -> list[str]:
    file = src / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return list(arrows.violations(src, [file]))


@pytest.mark.parametrize(
    ("name", "line", "says"),
    [
        ("base/x.h", '#include "plan/schedule.h"', "it may include from: nothing"),
        (
            "plan/x.cpp",
            '#include "mpiio/regions/access.h"',
            "it may include from: base, machine, placement",
        ),
        ("placement/x.cpp", '#  include "trace/recorder.h"', "it may include from: base"),
        (
            "mpiio/ways/x.cpp",
            "#include <mpi.h>",
            "only measure, mpi, preload, recorder, replay may",
        ),
        ("plan/x.cpp", "#include <unistd.h>", "is pure"),
        ("plan/x.cpp", "#include <chrono>", "is pure"),
        ("plan/x.cpp", '#include "base/os.h"', "is pure"),
        ("plan/x.cpp", 'auto v = getenv("HOME");', "may not use getenv"),
        ("placement/formats.cpp", '#include "base/os.h"', "is pure"),
        ("nowhere/x.cpp", "", "add its line"),
        ("mpi/x.cpp", "", "add it in its place"),
        ("mpi/nowhere/x.cpp", "", "add it in its place"),
        (
            "mpi/job/x.cpp",
            '#include "mpi/files/file_state.h"',
            "of mpi/ it may include from: compat, types",
        ),
        ("mpi/compat/x.cpp", '#include "mpi/job/runtime.h"', "it may include from: no other"),
    ],
)
def test_a_planted_violation_is_found(tmp_path: Path, name: str, line: str, says: str) -> None:
    problems = found(tmp_path, name, f"// head\n{line}\n")
    assert len(problems) == 1
    assert says in problems[0]
    assert str(tmp_path / name) in problems[0]


def test_a_module_that_says_that_it_is_pure_is_held_to_it(tmp_path: Path) -> None:
    (tmp_path / "mpiio/ways").mkdir(parents=True)
    (tmp_path / "mpiio/ways/x.h").write_text("// Decides.\n//\n// PURE: no clock.\n")
    (problem,) = found(tmp_path, "mpiio/ways/x.cpp", '#include "base/clock.h"\n')
    assert "this module is pure by the words of its header" in problem
    assert found(tmp_path, "mpiio/ways/y.cpp", '#include "base/clock.h"\n') == []


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("plan/x.cpp", '#include "placement/placement.h"'),
        ("plan/x.cpp", '#include "plan/schedule.h"'),
        ("plan/x.cpp", "// getenv is not for us"),
        ("plan/x_test.cpp", "#include <gtest/gtest.h>"),
        ("plan/x_test.cpp", '#include "support/random_placement.h"'),
        ("plan/x_test.cpp", "#include <chrono>"),
        ("placement/host.cpp", '#include "base/os.h"'),
        ("placement/hwloc/x.cpp", "#include <hwloc.h>"),
        ("mpi/job/x.cpp", "#include <mpi.h>"),
        ("mpi/files/x.cpp", '#include "mpi/job/runtime.h"'),
        ("mpi/files/x.cpp", '#include "mpi/files/y.h"'),
        ("base/x.cpp", "#include <unistd.h>"),
    ],
)
def test_what_the_arrows_allow_is_silent(tmp_path: Path, name: str, line: str) -> None:
    assert found(tmp_path, name, line + "\n") == []


def test_our_own_sources_follow_the_arrows() -> None:
    src = paths.ROOT / "src"
    files = [f for f in src.rglob("*") if f.suffix in {".h", ".cpp"}]
    assert len(files) > 20
    assert list(arrows.violations(src, files)) == []


def test_the_arrows_go_in_no_circle() -> None:
    assert set(graphlib.TopologicalSorter(arrows.ARROWS).static_order()) == set(arrows.ARROWS)
