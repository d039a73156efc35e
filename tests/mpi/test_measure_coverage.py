"""Every function of the MPI standard is measured by `haichi measure`, or there is a line that says
why not: src/measure/not_measured.txt.

The functions are those of the standard's own description, as the generator of the wrappers reads
it (src/preload/generate.py).
"""

from __future__ import annotations

import fnmatch
import json
from pathlib import Path

import mpis
import pympistandard
import pytest
from mpis import BUILD, ROOT

TABLE = ROOT / "src" / "measure" / "not_measured.txt"


def functions_of_the_standard() -> set[str]:
    """The C functions of MPI, those with large counts too."""
    pympistandard.use_api_version(1, force_bundled=True)
    found = set()
    for procedure in pympistandard.PROCEDURES.values():
        for express in (procedure.express, procedure.express.embiggen):
            if express and express.iso_c:
                found.add(express.iso_c.name)
    return found


def reasons() -> list[tuple[str, str]]:
    """Pattern and reason of each line of the table."""
    rows = []
    for line in TABLE.read_text().splitlines():
        if line and not line.startswith("#"):
            pattern, _, reason = line.partition(" ")
            rows.append((pattern, reason.strip()))
    return rows


def without_reason(functions: set[str], rows: list[tuple[str, str]]) -> list[str]:
    """Those that no line of the table is about."""
    return sorted(
        name
        for name in functions
        if not any(fnmatch.fnmatchcase(name, pattern) for pattern, _ in rows)
    )


@pytest.fixture(scope="module")
def measured() -> set[str]:
    """What the catalogues of all programs of this build measure: newer MPIs have more."""
    found: set[str] = set()
    for abi in ("mpich", "openmpi", "mpiabi"):
        program = BUILD / "bin" / f"haichi-measure-{abi}"
        if program.exists():
            done = mpis.run_bounded([str(program), "--list", "--json"], timeout=60, check=True)
            for each in json.loads(done.stdout):
                found.update(each["functions"])
    if "MPI_Psend_init" not in found:
        pytest.skip("no haichi-measure of an MPI 4 in this build")
    return found


def test_every_function_is_measured_or_has_a_reason(measured: set[str]) -> None:
    standard = functions_of_the_standard()
    assert len(standard) > 500
    assert measured - standard == set(), "measured, and not of the standard"
    assert without_reason(standard - measured, reasons()) == []


def test_the_table_says_nothing_that_is_not_so(measured: set[str]) -> None:
    """No line that is about nothing, about what is measured alone, or without a reason."""
    left = functions_of_the_standard() - measured
    for pattern, reason in reasons():
        assert reason, pattern
        assert fnmatch.filter(left, pattern), f"{pattern} is about no function that is left out"
        if "*" not in pattern:
            assert pattern not in measured


def test_a_function_without_reason_is_found() -> None:
    rows = [("MPI_T_*", "tools"), ("MPI_Foo", "a reason")]
    assert without_reason({"MPI_T_x", "MPI_Foo", "MPI_Bar"}, rows) == ["MPI_Bar"]


def test_the_catalogue_is_sound() -> None:
    """Names are unique, and each entry says what a reader needs."""
    program: Path | None = next(iter(sorted((BUILD / "bin").glob("haichi-measure-*"))), None)
    if program is None:
        pytest.skip("no haichi-measure in this build")
    done = mpis.run_bounded([str(program), "--list", "--json"], timeout=60)
    catalogue = json.loads(done.stdout)
    names = [each["name"] for each in catalogue]
    groups = {each["group"] for each in catalogue}
    assert len(set(names)) == len(names)
    assert not groups & set(names)
    for each in catalogue:
        for field in ("section", "timed", "sample", "formula", "buffers"):
            assert each[field], f"{each['name']} has no {field}"
        # What is no call of MPI has no section of its standard either.
        assert bool(each["functions"]) == (each["section"] != "-"), each["name"]
