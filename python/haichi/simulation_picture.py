"""docs/guide/simulation.svg: paper 000, Fig. 8, as `haichi simulate` has it.

`python -m haichi.simulation_picture` writes it. The same haichi draws the same picture everywhere,
so a test compares the two.
"""

from __future__ import annotations

import json
from pathlib import Path

from haichi import chart, paths, programs

PICTURE = paths.ROOT / "docs" / "guide" / "simulation.svg"
NODES, PER_NODE = 64, 12
RANKS = NODES * PER_NODE
STROKES = {
    "rank": chart.stroke("#c0392b"),
    "pairwise": chart.stroke("#2471a3"),
    "nd_shift": chart.stroke("#d68910", "8 8"),
    "nd_rank_shift": chart.stroke("#1e8449", "2 6"),
}
TITLES = {"BK": "BK: node after node", "RR": "RR: dealt out"}
LEFT, TOP, WIDTH, HEIGHT, GAP = 50, 50, 330, 220, 50
MOST_MS = 6


def times(placement: str) -> dict[str, list[float]]:
    """Milliseconds of each rank, by order."""
    words = [
        *("simulate", "alltoall", "--json", "--per-rank"),
        *("--nodes", str(NODES), "--ppn", str(PER_NODE), "--placement", placement),
    ]
    out = programs.output(paths.program("haichi"), *words)
    results = json.loads(out)["results"]
    return {row["order"]: [us / 1000 for us in row["rank_us"]] for row in results}


def picture() -> str:
    """The whole SVG."""
    parts = [
        f'<text x="{LEFT}" y="18">All-to-all of 1 KB messages, {NODES} nodes x {PER_NODE} ranks: '
        "milliseconds of each rank (simulated)</text>",
    ]
    for column, placement in enumerate(TITLES):
        parts += _panel(placement, LEFT + column * (WIDTH + GAP))
    parts += chart.legend(STROKES, LEFT, 150, TOP + HEIGHT + 62)
    title = "Time of each rank in an all-to-all of 64 x 12 ranks"
    return chart.drawing(LEFT + 2 * WIDTH + GAP + 16, TOP + HEIGHT + 76, title, parts)


def _panel(placement: str, left: int) -> list[str]:
    """Axes and the four lines."""
    panel = chart.Panel(left, TOP, WIDTH, HEIGHT, MOST_MS)
    parts = [panel.heading(TITLES[placement]), *panel.levels()]
    for rank in range(0, RANKS + 1, 192):
        parts.append(chart.below(left + rank * WIDTH / RANKS, panel.bottom + 16, rank))
    parts.append(panel.across("rank"))
    for order, ranks in times(placement).items():
        every = 1 if order == "rank" else PER_NODE // 2
        points = [(left + rank * WIDTH / RANKS, ms) for rank, ms in enumerate(ranks)][::every]
        parts.append(panel.line(points, STROKES[order]))
    return parts


def main(target: Path = PICTURE) -> None:
    """Writes the picture."""
    target.write_text(picture())


if __name__ == "__main__":
    main()
