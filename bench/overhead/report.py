#!/usr/bin/env python3
"""Measures what a report costs: collective writes on 2 ranks, 64 KiB each, without and with it.

Both are under haichi, which does the writes; wanted is at most 1 % more. Of each start the first
200 writes are listed and logged one by one, and of the 2,000 that follow totals are logged. The
variants run in turn. Exit code 0 if measured, whatever the figures; 1 if a program failed.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))

from haichi import mpi
from haichi.figures import script

RANKS = 2
LIMIT = 0.01
VARIANTS = {"without": "", "with": "run.json"}


def measure_and_show(found: mpi.Mpi, repetitions: int) -> None:
    """Both variants in turn: medians, and the median of the ratios within each repetition."""
    firsts: dict[str, list[float]] = {variant: [] for variant in VARIANTS}

    def once(variant: str, folder: Path) -> float:
        env = {"LD_PRELOAD": str(script.shim(found)), "HAICHI_IO_LIBRARY": "off"}
        if VARIANTS[variant]:
            env["HAICHI_REPORT"] = str(folder / VARIANTS[variant])
        first, *later = script.numbers(
            found, RANKS, "overhead", ["writes", folder / "file"], env, variant
        )
        firsts[variant].append(first)
        return statistics.median(later)

    with tempfile.TemporaryDirectory(prefix="haichi-report-") as name:
        later = script.interleave(VARIANTS, repetitions, lambda way: once(way, Path(name)))
    for what, samples in (("the first 200 writes", firsts), ("later writes", later)):
        pairs = zip(samples["with"], samples["without"], strict=True)
        ratios = script.Quartiles.of(on / off for on, off in pairs)
        off, on = (statistics.median(samples[way]) / 1e3 for way in ("without", "with"))
        print(f"{found.label}: {what}: {off:.1f} us without a report, {on:.1f} us with it")
        verdict = ratios.verdict(1 + LIMIT)
        print(f"  ratio {ratios.middle:.3f} {ratios.spread('.3f')}; at most {1 + LIMIT}: {verdict}")


def main() -> int:
    """Command line."""
    options = script.parser(__doc__ or "", repetitions=15).parse_args()
    repetitions = options.repetitions
    return script.for_each_mpi(
        "report", repetitions, lambda found: measure_and_show(found, repetitions)
    )


if __name__ == "__main__":
    sys.exit(main())
