"""The HTML page: self-contained, well formed, bounded, honest, and legible for everyone."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from importlib import resources
from pathlib import Path
from typing import Any

import mpis
import numpy as np
import pytest
import synthetic
from haichi.report import html
from haichi.report.gantt import CallEvents, busy, choose_ranks, gantt, ticks
from haichi.report.load import load
from haichi.report.model import Event, Traffic
from haichi.report.summary import Run, Summary, events_by_call, summarize
from haichi.report.svg import matrix
from page_checker import Checker

Load = Callable[..., tuple[list[Run], Summary]]
MEGABYTE = 1_000_000


def page_of(path: Path, *more: Path) -> str:
    paths = [path, *more]
    return html.page(*summarize(paths, [load(one) for one in paths]))


@pytest.mark.parametrize(
    "shape",
    [
        {"nodes": 1, "per_node": 1, "cycles": 1, "calls": 1},
        {"nodes": 4, "per_node": 4, "passed_through": True},
        {"nodes": 3, "per_node": 1, "calls": 0},
        {"nodes": 20, "per_node": 2},
    ],
    ids=["one rank", "16 on 4", "no calls", "20 nodes"],
)
def test_page_is_well_formed_and_fetches_nothing(
    write: Callable[..., Path], shape: dict[str, Any]
) -> None:
    page = page_of(write(**shape))
    found = Checker(page)
    assert found.open == []
    assert found.addresses == ["data:,"]
    assert found.handlers == []
    assert found.unscoped == 0
    assert len(set(found.ids)) == len(found.ids)
    assert not re.search(r"@import|url\(", page)


def test_links_of_a_comparison_lead_somewhere(write: Callable[..., Path]) -> None:
    found = Checker(page_of(write("a"), write("b", order="rank"), write("a b", seed=5)))
    assert found.links
    assert set(found.links) <= set(found.ids)


def test_every_picture_has_a_name(write: Callable[..., Path]) -> None:
    page = page_of(write("a"), write("b"))
    pictures = re.findall(r"<svg [^>]*role=\"img\"[^>]*>(<title>)?", page)
    assert len(pictures) > 5
    assert all(pictures)


def test_the_page_shows_figures_reasons_and_hints(write: Callable[..., Path]) -> None:
    text = "".join(Checker(page_of(write(passed_through=True))).text)
    for words in (
        "2 of 3 calls",
        "75 %",
        "4 aggregators: one per node (4 nodes), cb_nodes not given",
        "passed through: atomic mode is on",
        "cb_buffer_size = 1048576",
        "romio_ds_write",
        "MPI_File_iwrite_all is passed through to the MPI library (3 times)",
        "rank 4, cycle 2: Exchange ",
        "Open MPI v4.1.4",
    ):
        assert words in text


def test_what_a_program_names_cannot_become_markup(write: Callable[..., Path]) -> None:
    document = synthetic.report()
    evil = "</script><script>alert(1)</script><img src=x onerror=alert(1)>\"'"
    document["program"]["command"] = evil
    document["files"][0]["path"] = evil
    document["files"][0]["hints"] = {evil: evil}
    document["files"][0]["calls"][0]["why"] = [evil]
    document["placement"]["nodes"][0]["name"] = evil
    document["traffic"]["nodes"][0] = evil
    page = page_of(write(document=document))
    found = Checker(page)
    assert found.addresses == ["data:,"]
    assert found.handlers == []
    assert page.count("<script") == 1
    assert evil in "".join(found.text)


@pytest.mark.parametrize(
    ("nodes", "per_node", "cycles"), mpis.slow_after(1, [(64, 12, 6), (128, 32, 10), (600, 1, 4)])
)
def test_a_large_job_stays_readable_and_small(
    write: Callable[..., Path], nodes: int, per_node: int, cycles: int
) -> None:
    page = page_of(write(nodes=nodes, per_node=per_node, cycles=cycles, calls=1))
    assert len(page.encode()) < 5 * MEGABYTE
    text = "".join(Checker(page).text)
    assert f"Drawn are 40 of {nodes * per_node} ranks" in text
    assert f"all {nodes * per_node} ranks:" in text


def test_many_cycles_are_drawn_at_a_resolution_that_is_said(write: Callable[..., Path]) -> None:
    page = page_of(write(nodes=4, per_node=4, cycles=800, calls=2))
    assert len(page.encode()) < 5 * MEGABYTE
    assert "are drawn at a resolution of" in page


@pytest.mark.slow
def test_many_runs_calls_files_and_notes_stay_bounded(write: Callable[..., Path]) -> None:
    document = synthetic.report(cycles=60, calls=60)
    template = document["files"][0]
    document["files"] += [dict(template, path=f"f{n}", calls=[]) for n in range(3000)]
    document["notes"] = [f"note {n}" for n in range(9000)]
    path = write(document=document)
    page = html.page(*summarize([path] * 20, [load(path)] * 20))
    assert len(page.encode()) < 5 * MEGABYTE
    text = "".join(Checker(page).text)
    assert "the first 12 of 20 runs" in text
    assert "The first 50 of 3001 files." in text
    assert "and 8900 more notes" in text
    assert "the 25 slowest of 30 calls" in text


def test_dropped_events_are_said_where_they_are_missed(write: Callable[..., Path]) -> None:
    document = synthetic.report()
    document["ranks"][0]["events_dropped"] = 41
    page = page_of(write(document=document))
    assert "41 events of this run were not kept and are missing here" in page
    assert "41 of " in page


def test_bars_stand_where_the_events_were(runs: Load) -> None:
    (run,), _ = runs({"nodes": 2, "per_node": 1, "cycles": 1, "calls": 1})
    call = run.report.calls()[0]
    events = CallEvents.of(events_by_call(run.report)[0])
    figure = gantt(run.report, call, events)
    bars = re.findall(
        r'<rect x="([\d.]+)" y="[\d.]+" width="([\d.]+)" height="[\d.]+" class="(\w+)"><title>'
        r"rank (\d+), cycle", figure,
    )  # fmt: skip
    expected = [
        (str(rank), event.phase, event.begin_us, event.end_us)
        for rank, of_rank in sorted(events.ranks.items())
        for event in of_rank
    ]
    assert len(bars) == len(expected)
    for (x, width, phase, rank), (of_rank, of_phase, begin, end) in zip(
        bars, expected, strict=True
    ):
        assert (rank, phase) == (of_rank, of_phase)
        first = (begin - events.begin_us) / events.span_us * 40000
        last = (end - events.begin_us) / events.span_us * 40000
        assert float(x) == pytest.approx(first, abs=1)
        assert float(x) + float(width) == pytest.approx(last, abs=2)


def test_what_goes_on_at_the_same_time_is_drawn_one_above_the_other(runs: Load) -> None:
    (run,), _ = runs({"nodes": 2, "per_node": 1, "cycles": 3, "calls": 1})
    call = run.report.calls()[0]
    own = events_by_call(run.report)[0][0]
    events = CallEvents.of({0: own})
    assert "Upper half" not in gantt(run.report, call, events)
    first = min(event.begin_us for event in own)  # exchange goes on while the file is accessed
    events = CallEvents.of(
        {0: [e._replace(begin_us=first) if e.phase == "exchange" else e for e in own]}
    )
    for detail in (2000, 1):
        figure = gantt(run.report, call, events, detail=detail)
        assert "Upper half of a row: the file" in figure
    bars = re.findall(r'y="([\d.]+)" width="[\d.]+" height="([\d.]+)" class="(\w+)"',
                      gantt(run.report, call, events))  # fmt: skip
    bottom = max(float(y) + float(h) for y, h, phase in bars if phase in ("read", "write"))
    top = max(float(y) for y, _, phase in bars if phase == "exchange")
    assert bottom <= top


def test_chosen_ranks_cover_nodes_and_aggregators_first() -> None:
    node_of = [rank // 8 for rank in range(64)]
    chosen = choose_ranks(range(64), node_of, always=[63], first=[5, 13, 21], limit=16)
    assert len(chosen) == 16
    assert {node_of[rank] for rank in chosen} == set(range(8))
    assert {5, 13, 21, 63} <= set(chosen)
    assert chosen == sorted(chosen)
    assert choose_ranks(range(5), node_of, [], [], 16) == [0, 1, 2, 3, 4]
    assert len(choose_ranks(range(4096), range(4096), [7], [], 40)) == 40


def test_last_and_first_rank_are_always_drawn(runs: Load) -> None:
    (run,), _ = runs({"nodes": 64, "per_node": 12, "cycles": 2, "calls": 1})
    events = CallEvents.of(events_by_call(run.report)[0])
    figure = gantt(run.report, run.report.calls()[0], events)
    labels = {int(rank) for rank in re.findall(r">(?:◆ )?rank (\d+)</text>", figure)}
    assert {events.first_rank(), events.last_rank()} <= labels
    assert len(labels) == 40


def test_busy_time_is_exact_for_overlapping_intervals() -> None:
    begin, end = np.array([0.0, 1.0, 2.5]), np.array([2.0, 3.0, 2.75])
    edges = np.array([0.0, 1.0, 2.0, 3.0, 4.0])
    assert busy(begin, end, edges) == pytest.approx([1.0, 2.0, 1.25, 0.0])


@pytest.mark.parametrize("span", [1e-7, 0.003, 0.7, 1, 9.99, 128, 5e6])
def test_ticks_are_few_and_round(span: float) -> None:
    found = ticks(span, 10)
    assert 4 <= len(found) <= 12
    assert found[0] == 0
    assert found[-1] <= span * (1 + 1e-9)


def test_matrix_says_where_the_links_are_busiest() -> None:
    traffic = Traffic(nodes=["a", "b", "c"], bytes=[[9, 1, 2], [5, 9, 4], [1, 1, 9]])
    figure = matrix(traffic)
    assert "Most leaves b (9 B), most arrives at a (6 B)." in figure
    assert "b to c: 4 B" in figure


def test_a_large_matrix_sums_blocks_and_keeps_the_total() -> None:
    count = 100
    traffic = Traffic(nodes=[f"n{n}" for n in range(count)], bytes=[[2**20] * count] * count)
    figure = matrix(traffic)
    assert "A cell sums 4 x 4 nodes" in figure
    assert "n0 … n3 to n4 … n7: 16.0 MiB" in figure
    assert figure.count("<g>") == 25 * 25


def test_overlapping_events_never_make_a_bar_longer_than_the_call(runs: Load) -> None:
    (run,), _ = runs({"nodes": 1, "per_node": 2, "cycles": 1, "calls": 1})
    events = CallEvents.of({0: [Event(0, 0, "read", 5.0, 5.0, 0)]})
    figure = gantt(run.report, run.report.calls()[0], events)
    assert "nan" not in figure
    assert "inf" not in figure


def _style() -> str:
    return resources.files("haichi.report").joinpath("page.css").read_text("utf-8")


def _palettes() -> dict[str, dict[str, str]]:
    light, dark = re.findall(r":root \{(.*?)\}", _style(), re.S)[:2]
    colours = [dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", text)) for text in (light, dark)]
    return {"light": colours[0], "dark": colours[0] | colours[1]}


def _linear(colour: str) -> np.ndarray:
    channels = np.array([int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)])
    return np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)


def _contrast(one: str, other: str) -> float:
    """Contrast ratio of WCAG 2.2."""
    light, dark = sorted(
        (_linear(c) @ [0.2126, 0.7152, 0.0722] for c in (one, other)), reverse=True
    )
    return (light + 0.05) / (dark + 0.05)


# What is left of linear RGB without the cones for long, middle or short waves (Machado 2009).
VISION = {
    "full": np.eye(3),
    "protanopia": [[0.152, 1.053, -0.205], [0.115, 0.786, 0.099], [-0.004, -0.048, 1.052]],
    "deuteranopia": [[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]],
    "tritanopia": [[1.256, -0.077, -0.179], [-0.078, 0.931, 0.148], [0.005, 0.691, 0.304]],
}


def _lab(linear: np.ndarray) -> np.ndarray:
    """CIE L*a*b* of linear sRGB; a distance of 2.3 can just be seen."""
    to_xyz = np.array(
        [[0.4125, 0.3576, 0.1804], [0.2127, 0.7152, 0.0722], [0.0193, 0.1192, 0.9503]]
    )
    xyz = to_xyz @ np.clip(linear, 0, 1) / np.array([0.9505, 1, 1.089])
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


@pytest.mark.parametrize("vision", VISION)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_phases_are_told_apart_with_any_eyes(scheme: str, vision: str) -> None:
    colours = _palettes()[scheme]
    seen = [
        _lab(np.array(VISION[vision]) @ _linear(colours[phase]))
        for phase in ("read", "exchange", "write", "agree")
    ]
    for one, other in itertools.combinations(seen, 2):
        assert np.linalg.norm(one - other) > 20


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_contrast_is_enough_to_read(scheme: str) -> None:
    colours = _palettes()[scheme]
    for ink, paper, least in (
        ("ink", "paper", 7), ("ink", "raised", 7), ("soft", "paper", 4.5), ("soft", "raised", 4.5),
        ("soft", "band", 4.5), ("accent", "paper", 4.5), ("good", "paper", 4.5),
        ("warn", "warn-paper", 4.5), ("ink", "warn-paper", 7), ("on-exchange", "exchange", 4.5),
        *((phase, "paper", 3) for phase in ("read", "exchange", "write", "agree")),
        *((("on-low" if step < 4 else "on-high"), f"h{step}", 4.5) for step in range(7)),
    ):  # fmt: skip
        assert _contrast(colours[ink], colours[paper]) >= least, (ink, paper)
