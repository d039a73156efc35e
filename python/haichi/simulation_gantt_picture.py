"""docs/guide/simulation-gantt.svg: paper 000, Fig. 11, as `haichi simulate` has it.

`python -m haichi.simulation_gantt_picture` writes it, in half a minute. The same haichi draws the
same picture everywhere, so a test compares the two.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from haichi import chart, paths, programs
from haichi.report.load import load
from haichi.report.model import Event
from haichi.simulation_io_picture import LINES, MACHINES, ROMIO

PICTURE = paths.ROOT / "docs" / "guide" / "simulation-gantt.svg"
RANKS, CYCLES = 6, 6  # the paper's: the first of each, all on one node
# As Fig. 10 at 12 aggregators a node, on the fitted machine; just so many cycles.
CASE = (
    *("--nodes", "64", "--ppn", "12", "--region-count", str(262 * CYCLES), "--per-node", "12"),
    *("--buffer", "16M"),
    *ROMIO,
    *MACHINES["fitted at 12 a node"],
)
COLOURS = {"read": "#2471a3", "exchange": "#c0392b", "write": "#1e8449"}
LEFT, TOP, WIDTH, ROW, GAP = 110, 44, 640, 9, 26
LEAST_US = 100  # shorter intervals are not seen


def events(layout: str, order: str) -> list[list[Event]]:
    """Those of the first ranks."""
    with tempfile.TemporaryDirectory() as folder:
        trace = Path(folder) / "trace.json"
        words = [
            *("simulate", "hpio", *CASE),
            *("--layout", layout, "--order", order, "--trace", str(trace)),
        ]
        programs.output(paths.program("haichi"), *words)
        return [rank.events for rank in load(trace).ranks[:RANKS]]


def shares(ranks: list[list[Event]]) -> dict[str, float]:
    """Milliseconds of each phase, mean over the ranks."""
    return {
        phase: sum(e.end_us - e.begin_us for each in ranks for e in each if e.phase == phase)
        / (1000 * len(ranks))
        for phase in COLOURS
    }


def picture(found: dict[str, list[list[Event]]]) -> str:
    """The whole SVG: a panel for each line of Fig. 10."""
    most = max(event.end_us for ranks in found.values() for each in ranks for event in each)
    panel = RANKS * (ROW + 1) + GAP
    parts = [
        f'<text x="{LEFT}" y="18">Ranks 0 to {RANKS - 1} of 64 x 12, {CYCLES} cycles: milliseconds '
        "(simulated)</text>",
    ]
    for place, (name, ranks) in enumerate(found.items()):
        parts += _panel(name, ranks, TOP + place * panel, WIDTH / most)
    bottom = TOP + len(found) * panel - GAP + 16
    for ms in range(0, int(most / 1000) + 1, 200):
        x = LEFT + ms * 1000 * WIDTH / most
        parts.append(f'<path d="M{x:.1f} {TOP}V{bottom - 14}" stroke="#bbb"/>')
        parts.append(chart.below(x, bottom, ms))
    for place, (phase, colour) in enumerate(COLOURS.items()):
        x = LEFT + place * 120
        parts.append(f'<rect x="{x}" y="{bottom + 13}" width="22" height="9" fill="{colour}"/>')
        parts.append(f'<text x="{x + 28}" y="{bottom + 22}">{phase.capitalize()}</text>')
    title = "Read, Exchange and Write of six ranks in a collective write"
    return chart.drawing(LEFT + WIDTH + 16, TOP + len(found) * panel + 34, title, parts)


def _panel(name: str, ranks: list[list[Event]], top: int, scale: float) -> list[str]:
    middle = top + RANKS * (ROW + 1) / 2 + 4
    parts = [
        f'<text x="{LEFT - 10}" y="{middle:.0f}" text-anchor="end" font-weight="bold">{name}</text>'
    ]
    for row, each in enumerate(ranks):
        for event in each:
            if event.phase not in COLOURS or event.end_us - event.begin_us < LEAST_US:
                continue
            parts.append(
                f'<rect x="{LEFT + event.begin_us * scale:.2f}" y="{top + row * (ROW + 1)}" '
                f'width="{(event.end_us - event.begin_us) * scale:.2f}" height="{ROW}" '
                f'fill="{COLOURS[event.phase]}"/>'
            )
    return parts


def main(target: Path = PICTURE) -> None:
    """Writes the picture."""
    target.write_text(picture({name: events(*line) for name, line in LINES.items()}))


if __name__ == "__main__":
    main()
