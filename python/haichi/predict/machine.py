"""The profile that a prediction is made by: one that is named, or that of this machine.

`haichi run` finds a machine's profile by src/mpi/job/machine_search.cpp and
src/machine/match.cpp; the folders and the rules here are theirs, with the record's machine in the
place of this one.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from haichi.fit.model import Profile, Signature
from haichi.paths import ROOT
from haichi.record.model import RecordedMachine
from haichi.record.read import Record
from haichi.report.load import ReportError, load_form
from haichi.units import printable

MOST_FILES = 64  # of a folder
ADVICE = (
    "measure it: haichi measure --for RECORD --out s.jsonl -- mpiexec -n N, then haichi fit "
    "s.jsonl -o machine.json, and name that by --machine"
)


@dataclass(frozen=True)
class FoundProfile:
    """A profile, where it is, and whether it is of the record's machine."""

    path: Path
    profile: Profile
    same: bool
    difference: str = ""
    """If it is not: the first thing that differs."""


@dataclass(frozen=True)
class Match:
    """How a profile's signature and a machine compare."""

    agreements: int
    telling: bool
    exact: bool
    difference: str


def profile_for(record: Record, named: Path | None) -> FoundProfile:
    """The named profile, or of those that `haichi run` would find the one that fits best.

    Raises:
        ReportError: it cannot be read, has no curve, or none is found.
    """
    if named is not None:
        return _of(record, named)
    if chosen := os.environ.get("HAICHI_MACHINE"):
        return _of(record, Path(chosen))
    best: tuple[tuple[int, int, str], FoundProfile] | None = None
    other = ""
    for number, (folder, must_be_exact) in enumerate(folders()):
        for path in sorted(folder.glob("*.json"))[:MOST_FILES]:
            try:
                found, match = _read(record, path)
            except ReportError:
                continue
            if match.difference:
                other = other or f"{printable(str(path))}: {match.difference}"
            elif match.telling and (match.exact or not must_be_exact):
                rank = (match.agreements, -number, found.profile.made.when)
                if best is None or rank > best[0]:
                    best = (rank, found)
    if best:
        return best[1]
    why = f"none that was found is of it ({other})" if other else "none was found"
    raise ReportError(f"no profile of the record's machine: {why}; {ADVICE}")


def folders() -> Iterator[tuple[Path, bool]]:
    """Where profiles lie, and whether one there has to be of these very nodes."""
    home, data = os.environ.get("HOME", ""), os.environ.get("XDG_DATA_HOME", "")
    if data.startswith("/"):
        yield Path(data) / "haichi" / "machines", False
    elif home.startswith("/"):
        yield Path(home) / ".local" / "share" / "haichi" / "machines", False
    yield Path("/etc/haichi/machines"), False
    installed = ROOT.parents[1] / "share" / "haichi" / "machines"
    if ROOT.parts[-2:] == ("lib", "haichi"):
        yield installed, True


def _of(record: Record, path: Path) -> FoundProfile:
    found, _ = _read(record, path)
    if not found.profile.curves and not found.profile.collectives:
        raise ReportError(
            f"{printable(str(path))}: has no curve, only numbers: nothing can be predicted by it; "
            f"{ADVICE}"
        )
    return found


def _read(record: Record, path: Path) -> tuple[FoundProfile, Match]:
    profile = load_form(path, Profile)
    match = compare(profile.signature, record)
    same = not match.difference and match.telling
    return FoundProfile(path, profile, same, match.difference), match


def compare(signature: Signature, record: Record) -> Match:
    """As src/machine/match.cpp compares: what is absent on either side fits."""
    here = record.head.signature or RecordedMachine()
    pairs = (
        ("MPI library", signature.library, here.library),
        ("processor", signature.processor, here.processor),
        ("cores of a node", signature.cores, here.cores),
    )
    agreements, difference, known = 0, "", {}
    for what, theirs, ours in pairs:
        known[what] = bool(theirs) and bool(ours)
        if not known[what]:
            continue
        if theirs == ours:
            agreements += 1
        else:
            difference = difference or f"{what} “{theirs}”, the record's “{ours}”"
    names, ours_named = signature.node_names or [], here.node_names or []
    all_measured = bool(names) and bool(ours_named)
    if all_measured:
        stems = {_stem(name) for name in names}
        strangers = [name for name in ours_named if name not in names]
        foreign = next((name for name in strangers if _stem(name) not in stems), None)
        all_measured = not strangers
        if foreign is None:
            agreements += 2 if all_measured else 1
        else:
            difference = difference or f"node “{names[0]}”, the record's “{foreign}”"
    several = len(record.node_names) > 1
    if signature.network is not None and record.head.placement is not None:
        if several and not signature.network:
            difference = difference or (
                "messages between nodes were not measured, and the job has several"
            )
        elif several == signature.network:
            agreements += 1
    telling = known["MPI library"] and (known["processor"] or bool(names))
    exact = not difference and all(known.values()) and all_measured
    return Match(agreements, telling, exact, printable(difference))


def _stem(name: str) -> str:
    """A node's name without digits: what those of a cluster have in common."""
    return "".join(letter for letter in name if not letter.isdigit())
