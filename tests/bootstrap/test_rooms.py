"""The table of rooms: what is counted, and circles among modules."""

from __future__ import annotations

from pathlib import Path

from haichi_bootstrap import rooms


def tree(root: Path, **files: str) -> Path:
    for name, text in files.items():
        path = root / name.replace("__", "/").replace("_dot_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def test_files_lines_and_arrows(tmp_path: Path) -> None:
    src = tree(
        tmp_path,
        base__clock_dot_h="#pragma once\n",
        base__clock_dot_cpp='#include "base/clock.h"\n\nint x;\n',
        base__clock_test_dot_cpp='#include "base/clock.h"\n',
        mpi__hook_dot_cpp='#include "base/clock.h"\n#include "generated/real.h"\n',
    )
    found = rooms.rooms(src)
    assert (found["base"].files, found["base"].lines, found["base"].tests) == (2, 4, 1)
    assert (found["mpi"].uses, found["base"].used_by) == ({"base"}, {"mpi"})
    assert rooms.table(src)[-1] == "circles: none"


def test_a_circle_around_a_corner_is_named(tmp_path: Path) -> None:
    """The arrow back is in a source, not in a header."""
    src = tree(
        tmp_path,
        mpi__a_dot_h='#include "mpi/b.h"\n',
        mpi__b_dot_h='#include "mpi/c.h"\n',
        mpi__c_dot_h="",
        mpi__c_dot_cpp='#include "mpi/a.h"\n',
        mpi__d_dot_h='#include "mpi/a.h"\n',
    )
    assert rooms.table(src)[-1] == "circle of 3: mpi/a mpi/b mpi/c"
