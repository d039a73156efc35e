"""Figures that follow from reports, and the text that shows them."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import synthetic
from haichi.report import perfetto
from haichi.report.html import page
from haichi.report.load import load
from haichi.report.summary import Run, Summary, group_calls, joined_files, summarize
from haichi.report.text import print_runs
from haichi.units import format_bytes, format_seconds, printable, shortened
from rich.console import Console

Load = Callable[..., tuple[list[Run], Summary]]


def test_sums_are_over_the_listed_calls(runs: Load) -> None:
    (run,), _ = runs({"passed_through": True})
    calls = run.report.calls()
    assert run.facts.calls == 3
    assert run.facts.calls_handled == 2
    assert run.facts.seconds == pytest.approx(sum(call.seconds for call in calls))
    assert run.facts.bytes == 2 * 16 * 1500 * 3744 + 65536
    assert run.facts.bytes_between == 3 * run.facts.bytes_inside
    assert run.facts.settings == {"io.buffer": "1M"}


def test_spreads_are_over_the_ranks_that_took_part(runs: Load) -> None:
    (run,), _ = runs({})
    times = {rank.rank: rank.seconds.write for rank in run.report.ranks if rank.seconds.write > 0}
    assert sorted(times) == [0, 4, 8, 12]
    write = run.facts.phases["write"]
    assert (write.ranks, write.min, write.max) == (4, min(times.values()), max(times.values()))
    assert times[write.rank_of_max] == write.max
    ordered = sorted(times.values())
    assert write.median == pytest.approx((ordered[1] + ordered[2]) / 2)


def test_ratios_are_to_the_first_run(runs: Load) -> None:
    (first, second), summary = runs({"order": "rank"}, {"order": "nd_rank_shift"})
    assert summary.runs[0].ratio_to_first == 1
    assert summary.runs[1].ratio_to_first == pytest.approx(
        second.facts.seconds / first.facts.seconds
    )
    assert summary.warnings == []


def test_runs_of_different_work_are_warned_of(runs: Load) -> None:
    _, summary = runs({}, {"nodes": 2})
    assert [line.split(":")[0] for line in summary.warnings] == [
        "the runs differ in ranks (16, 8)",
        "the runs differ in nodes (4, 2)",
        "the runs differ in bytes (179712000, 89856000)",
    ]


def test_a_run_without_time_gives_no_ratio(write: Callable[..., Path]) -> None:
    document = synthetic.report(calls=0)
    path = write(document=document)
    runs, summary = summarize([path, path], [load(path), load(path)])
    assert summary.runs[1].ratio_to_first is None
    assert [run.facts.label for run in runs] == [f"{path} (1)", f"{path} (2)"]


def test_calls_are_grouped_by_what_was_decided(runs: Load) -> None:
    (run,), _ = runs({"calls": 6})
    groups = group_calls(run.report.files[0])
    assert [[call.index for call in group.calls] for group in groups] == [[0, 2, 4], [1, 3, 5]]


def test_calls_whose_reasons_differ_in_numbers_alone_stand_together(
    write: Callable[..., Path],
) -> None:
    document = synthetic.report(calls=5)
    for call in document["files"][0]["calls"]:
        call["why"].append(f"4 cycles: bytes {call['index'] * 100} to 5000 in even domains")
    report = load(write(document=document))
    (writes, reads) = group_calls(report.files[0])
    assert [call.index for call in writes.calls] == [0, 2, 4]
    assert writes.reasons()[:-1] == writes.first.why[:-1]
    assert writes.reasons()[-1] == (
        "4 cycles: bytes 0 to 5000 in even domains (call 0; numbers vary)"
    )
    assert len(reads.calls) == 2


def test_openings_of_one_file_are_joined(write: Callable[..., Path]) -> None:
    document = synthetic.report(calls=2)
    first = document["files"][0]
    second = dict(first, opens=1, calls=[dict(first["calls"][0], index=7)], calls_not_listed=3)
    second["flattening"] = {"view_blocks": 9000, "memory_bytes": 7}
    other = dict(first, path="other.dat", calls=[])
    document["files"] = [first, second, other]
    joined, alone = joined_files(load(write(document=document)))
    assert (joined.opens, joined.calls_not_listed, alone.path) == (3, 3, "other.dat")
    assert [call.index for call in joined.calls] == [0, 1, 7]
    kept = joined.flattening
    assert (kept.view_blocks, kept.view_bytes, kept.memory_bytes) == (9000, 224, 512)


def shown(runs: list[Run], summary: Summary, width: int = 200) -> str:
    out = io.StringIO()
    print_runs(Console(file=out, width=width, highlight=False), runs, summary)
    return out.getvalue()


def test_the_text_says_what_was_done_and_why(runs: Load) -> None:
    text = shown(*runs({"passed_through": True}))
    for words in (
        "16 ranks on 4 nodes",
        "out.dat  collective, opened 2 times",
        "hints in force  cb_buffer_size=1048576  cb_nodes=4",
        "hints ignored   romio_ds_write",
        "datatypes kept  view of 1500 blocks in 224 B, memory of 3 blocks in 512 B, other ranks' "
        "views in 8.00 KiB on an aggregator",
        "call 0  MPI_File_write_all  handled by haichi",
        "4 aggregators (roundrobin, ranks 0, 4, 8, 12), order nd_rank_shift, window 32, holes rmw",
        "exchanged 21.4 MiB inside nodes, 64.3 MiB between nodes (75 % between; 32.1 MiB "
        "had to be) in 1200 messages",
        "why  4 aggregators: one per node (4 nodes), cb_nodes not given",
        "call 2  MPI_File_write_at_all  passed through",
        "why  passed through: atomic mode is on",
        "- MPI_File_iwrite_all is passed through to the MPI library (3 times)",
        "io.buffer = 1M  (hint)",
    ):
        assert words in text


def test_what_a_thread_did_is_told(write: Callable[..., Path]) -> None:
    """On the page too."""
    document = synthetic.report()
    call = document["files"][0]["calls"][0]
    path = write(document=document)
    words = (
        f"a thread accessed the file for {format_seconds(2.5)} behind the program, which waited "
        f"for it for {format_seconds(0.5)}"
    )
    assert words not in shown(*summarize([path], [load(path)]))
    call |= {"call": "MPI_File_iwrite_all", "thread_seconds": 2.5, "waited_seconds": 0.5}
    path = write(document=document)
    assert words in shown(*summarize([path], [load(path)]))
    assert words in page(*summarize([path], [load(path)]))


def test_reasons_are_not_broken_or_read_as_markup(write: Callable[..., Path]) -> None:
    document = synthetic.report()
    reason = "[bold]order[/] " + "very " * 60 + "long"
    document["files"][0]["calls"][0]["why"] = [reason]
    path = write(document=document)
    text = shown(*summarize([path], [load(path)]), width=80)
    assert f"why  {reason}\n" in text


def test_terminal_codes_in_a_report_are_made_harmless(write: Callable[..., Path]) -> None:
    document = synthetic.report()
    document["files"][0]["path"] = "a\x1b]0;owned\x07.dat"
    document["files"][0]["hints"] = {"key": "b\x1b[2J"}
    path = write(document=document)
    text = shown(*summarize([path], [load(path)]))
    assert "\x1b" not in text
    assert "a\\x1b]0;owned\\x07.dat" in text


def test_dropped_events_and_calls_are_said(write: Callable[..., Path]) -> None:
    document = synthetic.report()
    document["ranks"][2]["events_dropped"] = 7
    document["files"][0]["calls_not_listed"] = 12
    path = write(document=document)
    text = shown(*summarize([path], [load(path)]))
    assert "7 of " in text
    assert "events were not kept" in text
    assert "12 further calls not listed" in text


def test_several_runs_end_in_a_table(runs: Load) -> None:
    text = shown(*runs({"order": "rank"}, {"order": "nd_rank_shift"}))
    table = text[text.index("2 runs: ") :].splitlines()
    assert table[1].split() == [
        "run", "ranks", "calls", "bytes", "time", "÷", "first", "rate", "between"
    ]  # fmt: skip
    assert "1.00" in table[2]
    assert "run0: io.order=rank" in text
    assert "run1: io.order=default" in text


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0 B"), (1023, "1023 B"), (1000, "1000 B"), (1536, "1.50 KiB"), (2**20, "1.00 MiB"),
     (1023.9 * 2**20, "1.00 GiB"), (10**12, "931 GiB"), (2**70, "1024 EiB")],
)  # fmt: skip
def test_bytes_for_people(value: float, text: str) -> None:
    assert format_bytes(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0, "0 s"), (1.0, "1.00 s"), (0.9999, "1.00 s"), (0.0123, "12.3 ms"), (4e-7, "0.400 µs"),
     (125.4, "125 s"), (99.97, "100 s")],
)  # fmt: skip
def test_seconds_for_people(value: float, text: str) -> None:
    assert format_seconds(value) == text


def test_printable_keeps_letters_and_escapes_the_rest() -> None:
    assert printable("配置 é\t\n\x9b\udc80") == "配置 é\\t\\n\\x9b\\udc80"


def test_a_job_without_files_is_said(write: Callable[..., Path]) -> None:
    document: dict[str, Any] = synthetic.report(calls=0)
    document["files"] = []
    path = write(document=document)
    text = shown(*summarize([path], [load(path)]))
    assert "no file was opened through MPI-IO" in text
    assert "no rank spent time" in text


def test_ranks_that_are_not_listed_count(write: Callable[..., Path]) -> None:
    document = synthetic.report()
    slowest = max(document["ranks"], key=lambda rank: rank["seconds"]["exchange"])
    document["ranks"] = [document["ranks"][0], slowest]
    of_all = {"ranks": 16, "min": 0.001, "max": slowest["seconds"]["exchange"]}
    document["others"] = {
        "ranks": 14,
        "phases": {"exchange": {**of_all, "rank_of_max": slowest["rank"]}},
        "collective_access": {"calls": 9, "seconds": 2.5, "bytes": 1234},
        "nodes": [],
    }
    report = load(write(document=document))
    (run,), summary = summarize([Path("run.json")], [report])
    exchange = run.facts.phases["exchange"]
    assert (exchange.ranks, exchange.min) == (16, 0.001)
    assert exchange.rank_of_max == slowest["rank"]
    assert (run.facts.access_calls, run.facts.access_s) == (9, 2.5)
    assert report.access_bytes() == 1234
    assert "<svg" in page([run], summary)
    assert perfetto.trace([run])


def test_a_name_is_cut_where_it_is_too_long() -> None:
    assert shortened("node0", 5) == "node0"
    assert shortened("node01", 5) == "node…"
