"""docs/guide/simulation.svg: paper 000, Fig. 8, as `haichi simulate` has it.

`python -m haichi.simulation_picture` writes it. The same haichi draws the same picture everywhere,
so a test compares the two.
"""

from __future__ import annotations

import json
from pathlib import Path

from haichi import paths, programs

PICTURE = paths.ROOT / "docs" / "guide" / "simulation.svg"
NODES, PER_NODE = 64, 12
RANKS = NODES * PER_NODE
COLOURS = {
    "rank": "#c0392b",
    "pairwise": "#2471a3",
    "nd_shift": "#d68910",
    "nd_rank_shift": "#1e8449",
}
DASHES = {"rank": "", "pairwise": "", "nd_shift": "8 8", "nd_rank_shift": "2 6"}
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
    width, height = LEFT + 2 * WIDTH + GAP + 16, TOP + HEIGHT + 76
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
        f'height="{height}" font-family="sans-serif" font-size="12" fill="#222">',
        "<title>Time of each rank in an all-to-all of 64 x 12 ranks</title>",
        f'<rect width="{width}" height="{height}" fill="#fff"/>',
        f'<text x="{LEFT}" y="18">All-to-all of 1 KB messages, {NODES} nodes x {PER_NODE} ranks: '
        "milliseconds of each rank (simulated)</text>",
    ]
    for column, placement in enumerate(TITLES):
        parts += _panel(placement, LEFT + column * (WIDTH + GAP))
    parts += _legend(TOP + HEIGHT + 62)
    return "\n".join([*parts, "</svg>", ""])


def _panel(placement: str, left: int) -> list[str]:
    """Axes and the four lines."""
    bottom = TOP + HEIGHT
    parts = [f'<text x="{left + 6}" y="{TOP - 8}" font-weight="bold">{TITLES[placement]}</text>']
    for ms in range(MOST_MS + 1):
        y = bottom - ms * HEIGHT / MOST_MS
        parts.append(f'<path d="M{left} {y:.1f}h{WIDTH}" stroke="#ddd"/>')
        parts.append(f'<text x="{left - 6}" y="{y + 4:.1f}" text-anchor="end">{ms}</text>')
    for rank in range(0, RANKS + 1, 192):
        x = left + rank * WIDTH / RANKS
        parts.append(f'<text x="{x:.1f}" y="{bottom + 16}" text-anchor="middle">{rank}</text>')
    parts.append(f'<text x="{left + WIDTH / 2:.0f}" y="{bottom + 34}">rank</text>')
    for order, ranks in times(placement).items():
        every = 1 if order == "rank" else PER_NODE // 2
        points = " ".join(
            f"{left + rank * WIDTH / RANKS:.1f},{bottom - ms * HEIGHT / MOST_MS:.1f}"
            for rank, ms in list(enumerate(ranks))[::every]
        )
        parts.append(f'<polyline points="{points}" {_stroke(order)}/>')
    return parts


def _legend(y: int) -> list[str]:
    parts = []
    for place, order in enumerate(COLOURS):
        x = LEFT + place * 150
        parts.append(f'<path d="M{x} {y - 4}h28" {_stroke(order)}/>')
        parts.append(f'<text x="{x + 34}" y="{y}">{order}</text>')
    return parts


def _stroke(order: str) -> str:
    dash = f' stroke-dasharray="{DASHES[order]}"' if DASHES[order] else ""
    return f'fill="none" stroke="{COLOURS[order]}" stroke-width="1.6"{dash}'


def main(target: Path = PICTURE) -> None:
    """Writes the picture."""
    target.write_text(picture())


if __name__ == "__main__":
    main()
