#!/usr/bin/env python3
"""Measures what haichi costs a program that it does nothing for, beside the figures wanted.

Of a call that is passed through to the MPI library (wanted: under 100 ns more than without haichi),
of a wait (under 50 ns more), of a collective read of a file that haichi hands back (under 1 us
more), of MPI_Init on 4 ranks (wanted: at most 5 ms more), and of a send that is recorded (under 100
ns more, with the order of calls under 200). The variants run in turn,
repetition by repetition, so that what else the machine does falls on all of them. Figures are
medians with the quartiles; what a variant costs more is the median of the differences within each
repetition, and where their quartiles lie on both sides of the limit nothing is claimed. Exit code
0 if measured, whatever the figures; 1 if a program failed.
"""

from __future__ import annotations

import json
import statistics
import sys
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))

from haichi import mpi
from haichi.figures import script

CALL_LIMIT_NS = 100.0
WAIT_LIMIT_NS = 50.0
READ_LIMIT_NS = 1000.0
RECORD_LIMIT_NS = 100.0
SEQUENCE_LIMIT_NS = 200.0
INIT_LIMIT_S = 0.005
INIT_RANKS = 4

# Environment of the ranks for each variant; the shim's path is put in.
VARIANTS: dict[str, dict[str, str]] = {
    "stock": {},
    "haichi": {"LD_PRELOAD": "{shim}"},
    "HAICHI_DISABLE=1": {"LD_PRELOAD": "{shim}", "HAICHI_DISABLE": "1"},
}
# Of a program that is recorded; the recorder's path and the record's are put in.
RECORDED: dict[str, dict[str, str]] = {
    "stock": {},
    "--record": {"LD_PRELOAD": "{recorder}", "HAICHI_RECORD": "{record}"},
}
IN_ORDER: dict[str, dict[str, str]] = {
    "stock": {},
    "--sequence": {**RECORDED["--record"], "HAICHI_RECORD_SEQUENCE": "1"},
}


@dataclass
class Cost:
    """Raw samples of one cost under one MPI, by variant. `unit` is "ns" or "s"."""

    what: str
    mpi: str
    ranks: int
    unit: str
    limit: float
    samples: dict[str, list[float]]

    def more(self, variant: str, scale: float = 1) -> script.Quartiles:
        """What a variant took more than stock in the same repetition."""
        pairs = zip(self.samples[variant], self.samples["stock"], strict=True)
        return script.Quartiles.of((own - stock) * scale for own, stock in pairs)

    @property
    def verdict(self) -> str:
        """Whether haichi keeps the limit, as far as the samples tell."""
        judged = next(variant for variant in self.samples if variant != "stock")
        return self.more(judged).verdict(self.limit)


def numbers(
    found: mpi.Mpi,
    ranks: int,
    variant: str,
    words: list[str],
    settings: dict[str, str],
    record: str,
) -> list[float]:
    """Runs the program once and returns the numbers it printed."""
    paths = {"shim": script.shim(found), "recorder": script.recorder(found), "record": record}
    env = {key: value.format(**paths) for key, value in settings.items()}
    return script.numbers(found, ranks, "overhead", words, env, variant)


def measure(found: mpi.Mpi, repetitions: int) -> list[Cost]:
    """All costs under one MPI."""

    def cost(
        what: str,
        limit: float,
        words: list[str],
        variants: dict[str, dict[str, str]] = VARIANTS,
    ) -> Cost:
        ranks, unit = (INIT_RANKS, "s") if words == ["init"] else (1, "ns")
        samples = script.interleave(
            variants,
            repetitions,
            lambda variant: statistics.median(
                numbers(found, ranks, variant, words, variants[variant], f"{folder}/record")
            ),
        )
        return Cost(what, found.label, ranks, unit, limit, samples)

    with tempfile.TemporaryDirectory(prefix="haichi-overhead-") as folder:
        file = str(Path(folder) / "file")
        return [
            cost("a call that is passed through", CALL_LIMIT_NS, ["calls", file]),
            cost("a wait for a request", WAIT_LIMIT_NS, ["waits"]),
            cost("a read of a file handed back", READ_LIMIT_NS, ["reads", file]),
            cost("MPI_Init", INIT_LIMIT_S, ["init"]),
            cost("a send that is recorded", RECORD_LIMIT_NS, ["sends"], RECORDED),
            cost("and the order of calls", SEQUENCE_LIMIT_NS, ["sends"], IN_ORDER),
        ]


def show(cost: Cost) -> None:
    """One line for each variant, then the verdict."""
    scale, unit, digits = (1, "ns", 1) if cost.unit == "ns" else (1e3, "ms", 2)
    print(f"{cost.mpi}: {cost.what}, {cost.ranks} rank{'s' if cost.ranks > 1 else ''}")
    for variant, samples in cost.samples.items():
        own = script.Quartiles.of(value * scale for value in samples)
        line = f"  {variant:17} {own.middle:9.{digits}f} {unit} {own.spread(f'.{digits}f')}"
        if variant != "stock":
            more, form = cost.more(variant, scale), f"+.{digits}f"
            line += f"  {more.middle:{form}} {unit} {more.spread(form, ' to ')}"
        print(line)
    print(f"  wanted: at most {cost.limit * scale:g} {unit} more than stock: {cost.verdict}")


def main() -> int:
    """Command line."""
    parser = script.parser(__doc__, repetitions=9)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the raw samples there")
    options = parser.parse_args()
    crowded = script.cores() < INIT_RANKS
    costs: list[Cost] = []

    def measure_and_show(found: mpi.Mpi) -> None:
        new = measure(found, options.repetitions)
        for cost in new:
            show(cost)
        costs.extend(new)

    code = script.for_each_mpi(
        "overhead",
        options.repetitions,
        measure_and_show,
        f"; {INIT_RANKS} ranks are oversubscribed here" if crowded else "",
    )
    if code == 0 and options.json:
        record = {"schema": "haichi.overhead/1", "cores": script.cores()}
        record["costs"] = [asdict(cost) for cost in costs]
        options.json.write_text(json.dumps(record, indent=1) + "\n")
    return code


if __name__ == "__main__":
    sys.exit(main())
