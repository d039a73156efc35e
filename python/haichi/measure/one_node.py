"""`haichi measure one-node`: where haichi has nothing to gain, it must not cost much either."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from haichi import mpi
from haichi.measure import record, trial
from haichi.measure.cases import Plan, Trial, hpio_trials, program_of
from haichi.measure.hpio import Hpio
from haichi.measure.model import Case, Claim, Measurement
from haichi.measure.places import OnMachine
from haichi.measure.record import ratio
from haichi.measure.trial import DEFAULT, STOCK, Program

INSIDE = ("--repetitions", "3")  # per start of the program
REGIONS = 4000
ARRAYS = {
    "3-D block, 192³ doubles, ghost 2": ("--mode", "block"),
    "large blocks, 32 MiB a rank": ("--mode", "large"),
}
NEVER_SLOWER = 0.9


def measure(
    place: OnMachine,
    repetitions: int,
    names: Sequence[str],
    ranks: Sequence[int],
    yields: str,
    progress: Callable[[str], None],
) -> Measurement:
    """Runs everything; MPIs that are not here raise mpi.Missing."""
    mpis = [mpi.find(name) for name in names]
    environment = record.environment(place, yields)
    trials: list[Trial] = []
    for number in ranks:
        plan = Plan(place, number, 1, yields)
        trials += hpio_trials(plan, Hpio(number, REGIONS), mpis, (STOCK, DEFAULT), INSIDE)
        trials += array_trials(plan, mpis)
    trial.interleaved(trials, repetitions, progress)
    environment.load_after = record.load()
    cases = [case for case, _ in trials]
    return Measurement(
        what="one-node",
        repetitions=repetitions,
        environment=environment,
        cases=cases,
        claims=claims(cases),
    )


def array_trials(plan: Plan, mpis: Sequence[mpi.Mpi]) -> list[Trial]:
    """The arrays of bench/io/block3d.c, stock and haichi."""
    trials = []
    for which in mpis:
        binary = program_of("block3d", which)
        for title, options in ARRAYS.items():
            program = Program(title, which, partial(_argv, binary, options))
            trials += [plan.make(program, v, _remove, "block3d") for v in (STOCK, DEFAULT)]
    return trials


def _argv(binary: str, options: Sequence[str], file: Path) -> list[str]:
    return [binary, "--file", str(file), *options, *INSIDE]


def _remove(case: Case, file: Path) -> None:
    file.unlink(missing_ok=True)  # the program read it back and checked every byte


def claims(cases: Sequence[Case]) -> list[Claim]:
    """Per case and operation: haichi takes at most 1/0.9 of stock's time."""
    by = {(c.mpi, c.program, c.ranks, c.variant): c for c in cases}
    found = []
    for (name, program, ranks, variant), case in by.items():
        if variant != DEFAULT.name:
            continue
        stock = by.get((name, program, ranks, STOCK.name))
        for op in ("write", "read"):
            found.append(
                Claim(
                    what=f"{name}, {program}, {ranks} ranks, {op}: stock / haichi",
                    ratio=ratio(stock, case, op),
                    wanted=NEVER_SLOWER,
                )
            )
    return found
