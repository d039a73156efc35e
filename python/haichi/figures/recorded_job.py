"""Jobs that are recorded, and the profile of what they need: what predictions are held against.

The recorder is loaded alone, without haichi's shim: what is predicted is the program as it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from haichi import mpi, paths, programs
from haichi.figures import suite
from haichi.figures.places import OnLab, Place
from haichi.predict.curves import PING_PONG
from haichi.predict.measure_for import Needs, catalogue, needs_of, shared_out
from haichi.record.read import Record, read
from haichi.report.load import ReportError

LONGEST_S = 300.0
LEAST_S = 1.0  # of a run of the suite
LITTLE = 0.01  # of the time in MPI: what takes less is not measured
LAUNCHES = 3  # of each measurement: fewer don't tell how far launches are apart


@dataclass(frozen=True)
class Jobs:
    """Where jobs run, by which MPI, and of how many ranks."""

    place: Place
    library: mpi.Mpi
    ranks: int

    def record(self, argv: Sequence[str], file: Path, *, sequence: bool) -> Record:
        """A run's record.

        Raises:
            mpi.Missing: the program fails, or leaves no record.
        """
        file.unlink(missing_ok=True)
        name = f"libhaichi-record-{self.library.family}.so"
        env = {
            "LD_PRELOAD": str(programs.built(paths.build() / "lib" / name)),
            "HAICHI_RECORD": str(file),
            "HAICHI_RECORD_SEQUENCE": "on" if sequence else "off",
        }
        done = self.place.run(self.library, self.ranks, argv, env, LONGEST_S)
        try:
            return read(file)
        except ReportError as error:
            what = Path(argv[0]).name
            raise mpi.Missing(f"{what}: {done.how}: {error}: {done.last_error}") from None

    def profile(self, needed: Iterable[Record], folder: Path, seconds: float) -> Path:
        """A profile of what records need, measured with as many ranks at the same places, three
        launches of each; and with jobs as large as their communicators where the place has room.

        Raises:
            mpi.Missing, ReportError: the suite is not built, or fails.
        """
        known = catalogue()
        needs = [_worth_while(each, needs_of(each, known)) for each in needed]
        parts = [(self, _joined(needs, None))]
        for shape in dict.fromkeys(shape for each in needs for shape in each.of_shapes):
            if job := self._of_shape(shape):
                parts.append((job, _joined(needs, shape)))
        samples = []
        for launch in range(LAUNCHES):
            for part, (job, groups) in enumerate(parts):
                budget = seconds / LAUNCHES / len(parts)
                for number, (what, share) in enumerate(shared_out(groups, budget, LEAST_S)):
                    file = folder / f"samples-{launch}-{part}-{number}.jsonl"
                    words = [*what, "--buffers", "both", "--directory", str(folder)]
                    suite.measure(
                        *(job.library, job.ranks, words, share, file),
                        beyond=seconds + 120,
                        partial=True,
                        run=job.place.run,
                    )
                    samples.append(file)
        made = folder / "machine.json"
        suite.profile(samples, "measured", made)
        return made

    def _of_shape(self, shape: tuple[int, int]) -> Jobs | None:
        """Jobs of so many ranks on so many nodes; None if they do not fit evenly."""
        ranks, nodes = shape
        if not isinstance(self.place, OnLab) or ranks % nodes:
            return None
        room = (ranks // nodes,) * len(self.place.lab.nodes)
        return replace(self, place=OnLab(self.place.lab, "BK", room), ranks=ranks)


def _worth_while(record: Record, needs: Needs) -> Needs:
    """Without what takes next to nothing."""
    least = LITTLE * sum(line.mpi_s for line in record.ranks.values())
    for of in (needs.sizes, *needs.of_shapes.values()):
        for name in [name for name, sizes in of.items() if sum(sizes.values()) < least]:
            if name != PING_PONG:
                del of[name]
    return needs


def _joined(
    needs: Sequence[Needs], shape: tuple[int, int] | None
) -> dict[tuple[int, ...], list[str]]:
    """What any of them needs, each measurement once at all sizes that are wanted of it."""
    sizes: dict[str, set[int]] = {}
    for each in needs:
        for of, names in each.chosen(shape).items():
            for name in names:
                sizes.setdefault(name, set()).update(of)
    groups: dict[tuple[int, ...], list[str]] = {}
    for name, wanted in sizes.items():
        groups.setdefault(tuple(sorted(wanted)), []).append(name)
    return groups
