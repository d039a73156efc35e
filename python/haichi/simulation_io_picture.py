"""docs/guide/simulation-io.svg: paper 000, Fig. 10, as `haichi simulate` has it.

`python -m haichi.simulation_io_picture` writes it, in a minute. The same haichi draws the same
picture everywhere, so a test compares the two.
"""

from __future__ import annotations

import json
from pathlib import Path

from haichi import paths, programs
from haichi.simulation_picture import COLOURS, DASHES

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
LINE_COLOURS = {"orig": "#222", "normal": COLOURS["rank"]} | {
    name: COLOURS[name] for name in LINES if name in COLOURS
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
    width, height = LEFT + 2 * WIDTH + GAP + 16, TOP + HEIGHT + 76
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
        f'height="{height}" font-family="sans-serif" font-size="12" fill="#222">',
        "<title>Throughput of a collective write by 64 x 12 ranks</title>",
        f'<rect width="{width}" height="{height}" fill="#fff"/>',
        f'<text x="{LEFT}" y="18">Collective write of HPIO, 64 nodes x 12 ranks, 64 servers: GB/s '
        "by aggregators a node (simulated)</text>",
    ]
    for column, (machine, lines) in enumerate(figures.items()):
        parts += _panel(machine, lines, LEFT + column * (WIDTH + GAP))
    parts += _legend(TOP + HEIGHT + 62)
    return "\n".join([*parts, "</svg>", ""])


def _panel(machine: str, lines: dict[str, list[float]], left: int) -> list[str]:
    bottom, step = TOP + HEIGHT, WIDTH / len(PER_NODE)
    parts = [f'<text x="{left + 6}" y="{TOP - 8}" font-weight="bold">Machine {machine}</text>']
    for gbs in range(MOST_GBS + 1):
        y = bottom - gbs * HEIGHT / MOST_GBS
        parts.append(f'<path d="M{left} {y:.1f}h{WIDTH}" stroke="#ddd"/>')
        parts.append(f'<text x="{left - 6}" y="{y + 4:.1f}" text-anchor="end">{gbs}</text>')
    for place, number in enumerate(PER_NODE):
        x = left + (place + 0.5) * step
        parts.append(f'<text x="{x:.1f}" y="{bottom + 16}" text-anchor="middle">{number}</text>')
    parts.append(f'<text x="{left + WIDTH / 2:.0f}" y="{bottom + 34}">aggregators a node</text>')
    for name, values in lines.items():
        points = " ".join(
            f"{left + (place + 0.5) * step:.1f},{bottom - gbs * HEIGHT / MOST_GBS:.1f}"
            for place, gbs in enumerate(values)
        )
        parts.append(f'<polyline points="{points}" {_stroke(name)}/>')
    return parts


def _legend(y: int) -> list[str]:
    parts = []
    for place, name in enumerate(LINES):
        x = LEFT + place * 130
        parts.append(f'<path d="M{x} {y - 4}h28" {_stroke(name)}/>')
        parts.append(f'<text x="{x + 34}" y="{y}">{name}</text>')
    return parts


def _stroke(name: str) -> str:
    dash = DASHES.get(name)
    dashes = f' stroke-dasharray="{dash}"' if dash else ""
    return f'fill="none" stroke="{LINE_COLOURS[name]}" stroke-width="1.6"{dashes}'


def main(target: Path = PICTURE) -> None:
    """Writes the picture."""
    target.write_text(picture({name: throughput(words) for name, words in MACHINES.items()}))


if __name__ == "__main__":
    main()
