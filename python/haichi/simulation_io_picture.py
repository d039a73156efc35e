"""docs/guide/simulation-io.svg: paper 000, Fig. 10, as `haichi simulate` has it.

`python -m haichi.simulation_io_picture` writes it, in a minute. The same haichi draws the same
picture everywhere, so a test compares the two.
"""

from __future__ import annotations

import json
from pathlib import Path

from haichi import chart, paths, programs
from haichi.simulation_picture import STROKES

PICTURE = paths.ROOT / "docs" / "guide" / "simulation-io.svg"
PER_NODE = (1, 2, 4, 6, 12)
# The paper's case, but for 1,048 regions a rank in place of 48,000: 4 cycles of 768 aggregators.
CASE = (
    *("--nodes", "64", "--ppn", "12", "--region-count", "1048", "--buffer", "16M"),
    *("--sweep", "per-node=" + ",".join(map(str, PER_NODE))),
)
# As ROMIO does it: no memory in common, no thread, everything posted at once, cycles in step.
ROMIO = ("--share", "off", "--thread", "off", "--window", "0", "--cycles", "in-step")
MACHINES = {
    "as far as the paper tells": (),
    "fitted at 12 a node": (
        *("--set", "out_gbs=0.66", "--set", "in_gbs=0.66"),
        *("--set", "server_gbs=0.31", "--set", "handover_us=3900"),
    ),
}
# The paper's names, and which layout and order they are.
LINES = {
    "orig": ("packed", "rank"),
    "normal": ("roundrobin", "rank"),
    "pairwise": ("roundrobin", "pairwise"),
    "nd_shift": ("roundrobin", "nd_shift"),
    "nd_rank_shift": ("roundrobin", "nd_rank_shift"),
}
LINE_STROKES = {"orig": chart.stroke("#222"), "normal": STROKES["rank"]} | {
    name: STROKES[name] for name in LINES if name in STROKES
}
LEFT, TOP, WIDTH, HEIGHT, GAP = 50, 50, 330, 220, 50
MOST_GBS = 8


def throughput(machine: tuple[str, ...], way: tuple[str, ...] = ROMIO) -> dict[str, list[float]]:
    """GB/s by line, at each number of aggregators a node."""
    found: dict[str, list[float]] = {name: [] for name in LINES}
    # One run for orig, one for the others, which share a layout.
    for layout, order in (("packed", "rank"), ("roundrobin", "all")):
        words = [
            *("simulate", "hpio", "--json"),
            *(*CASE, *way, *machine, "--layout", layout, "--order", order),
        ]
        out = programs.output(paths.program("haichi"), *words)
        for row in json.loads(out)["results"]:
            for name, line in LINES.items():
                if line == (row["layout"], row["order"]):
                    found[name].append(row["gbs"])
    return found


def picture(figures: dict[str, dict[str, list[float]]]) -> str:
    """The whole SVG: a panel for each machine in `figures`."""
    parts = [
        f'<text x="{LEFT}" y="18">Collective write of HPIO, 64 nodes x 12 ranks, 64 servers: GB/s '
        "by aggregators a node (simulated)</text>",
    ]
    for column, (machine, lines) in enumerate(figures.items()):
        parts += _panel(machine, lines, LEFT + column * (WIDTH + GAP))
    parts += chart.legend(LINE_STROKES, LEFT, 130, TOP + HEIGHT + 62)
    title = "Throughput of a collective write by 64 x 12 ranks"
    return chart.drawing(LEFT + 2 * WIDTH + GAP + 16, TOP + HEIGHT + 76, title, parts)


def _panel(machine: str, lines: dict[str, list[float]], left: int) -> list[str]:
    panel = chart.Panel(left, TOP, WIDTH, HEIGHT, MOST_GBS)
    parts = [panel.heading(f"Machine {machine}"), *panel.levels()]
    middles = [left + (place + 0.5) * WIDTH / len(PER_NODE) for place in range(len(PER_NODE))]
    for x, number in zip(middles, PER_NODE, strict=True):
        parts.append(chart.below(x, panel.bottom + 16, number))
    parts.append(panel.across("aggregators a node"))
    for name, values in lines.items():
        parts.append(panel.line(zip(middles, values, strict=False), LINE_STROKES[name]))
    return parts


def main(target: Path = PICTURE) -> None:
    """Writes the picture."""
    target.write_text(picture({name: throughput(words) for name, words in MACHINES.items()}))


if __name__ == "__main__":
    main()
