"""Reading reports: the form, its limits, and one clear line for whatever is wrong."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import synthetic
from haichi import paths
from haichi.report.load import ReportError, load
from haichi.report.logs import logs_for
from haichi.report.placement import Placement
from haichi.report.rank_list import parse_rank_list


def test_reads_what_a_run_writes(write: Callable[..., Path]) -> None:
    report = load(write(nodes=4, per_node=4, passed_through=True))
    assert report.program.ranks == 16
    assert report.placement.node_of_rank() == [r // 4 for r in range(16)]
    assert [call.handled for call in report.calls()] == [True, True, False]
    event = report.ranks[0].events[0]
    assert (event.call, event.cycle, event.phase) == (0, 0, "agree")


def test_fields_of_a_later_release_are_ignored(write: Callable[..., Path]) -> None:
    document = synthetic.report()
    document["power"] = {"watts": 5}
    document["files"][0]["calls"][0]["compressed"] = True
    assert load(write(document=document)).program.ranks == 16


def refused(path: Path) -> str:
    with pytest.raises(ReportError) as error:
        load(path)
    line = str(error.value)
    assert "\n" not in line
    assert str(path) in line
    return line


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "is empty"),
        (b"hello", "is not JSON"),
        (b"\x7fELF\x02\x01", "is not JSON"),
        (b'{"schema": "haichi.report/1", "ran', "is cut off"),
        (b"[1, 2]", "is JSON without a schema"),
        (b'{"schema": 5}', "is JSON without a schema"),
        (b'{"schema": "haichi.placement/1"}', "is haichi.placement/1, not haichi.report/1"),
        (b'{"schema": "haichi.report/2"}', "is haichi.report/2, and this haichi reads version 1"),
        (b'{"schema": "haichi.report/1"}', "haichi: field required (and "),
        (b"[" * 100_000, "is "),
    ],
)
def test_what_is_no_report_is_refused(tmp_path: Path, data: bytes, says: str) -> None:
    path = tmp_path / "x.json"
    path.write_bytes(data)
    assert says in refused(path)


def test_a_report_cut_off_anywhere_is_refused(tmp_path: Path) -> None:
    whole = json.dumps(synthetic.report(nodes=2, per_node=1, cycles=1, calls=1)).encode()
    path = tmp_path / "x.json"
    for length in range(1, len(whole), 97):
        path.write_bytes(whole[:length])
        assert "is cut off" in refused(path)


def test_a_missing_file_and_a_directory_are_refused(tmp_path: Path) -> None:
    assert "no such file" in refused(tmp_path / "none.json")
    assert "is a directory" in refused(tmp_path)


def change(document: dict[str, Any], where: str, value: Any) -> None:
    *parents, last = [int(part) if part.isdigit() else part for part in where.split(".")]
    for part in parents:
        document = document[part]
    document[last] = value


@pytest.mark.parametrize(
    ("where", "value", "says"),
    [
        ("files.0.calls.1.bytes", -5, "files[0].calls[1].bytes: "),
        ("files.0.calls.0.seconds", "soon", "files[0].calls[0].seconds: "),
        ("ranks.3.events.2", [0, 1], "ranks[3].events[2]"),
        ("ranks.3.events.2.2", "sleep", "ranks[3].events[2][2]: "),
        ("ranks.3.node", 2, "rank 3 on node 2: not so in the placement"),
        ("program.ranks", 12, "the placement has 16 ranks, the program 12"),
        ("placement.nodes.0.ranks", "0-4", "rank 4 is on two nodes"),
        ("placement.nodes.0.ranks", "0-2", "no node has rank 3"),
        ("placement.nodes.0.ranks", "all", '"all" is not a list of ranks'),
        ("placement.nodes.0.ranks", "0-99999999999", "names more than"),
        ("placement.places", [{}], "1 places for 16 ranks"),
        ("traffic.bytes", [[1]], "the matrix is not 4 x 4"),
        ("traffic", {"nodes": ["a"], "bytes": [[1]]}, "traffic of 1 nodes, 4 in the placement"),
        ("files.0.calls.0.aggregators", [99], "call 0: an aggregator is not a rank"),
    ],
)
def test_a_contradiction_is_named(
    write: Callable[..., Path], where: str, value: Any, says: str
) -> None:
    document = synthetic.report()
    change(document, where, value)
    line = refused(write(document=document))
    assert says in line
    assert "does not follow haichi.report/1" in line


def test_terminal_codes_in_a_message_are_made_harmless(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text(json.dumps({"schema": "\x1b[31mred\n"}))
    assert "\\x1b[31mred\\n" in refused(path)


@pytest.mark.parametrize(
    ("text", "ranks"),
    [("0", [0]), ("0-3", [0, 1, 2, 3]), ("0-1,8", [0, 1, 8]), ("1,3,5-6", [1, 3, 5, 6])],
)
def test_rank_lists_are_read(text: str, ranks: list[int]) -> None:
    assert parse_rank_list(text) == ranks


@pytest.mark.parametrize("text", ["", "-1", "3-1", "1,1", "2,1", "1-", "a", "0-3,3", "1 ,2"])
def test_bad_rank_lists_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="rank"):
        parse_rank_list(text)


def test_a_placement_alone_is_read() -> None:
    nodes = [{"name": "a", "ranks": "0,2"}, {"name": "b", "ranks": "1,3"}]
    placement = Placement.model_validate({"schema": "haichi.placement/1", "nodes": nodes})
    assert placement.node_of_rank() == [0, 1, 0, 1]


LOG = "run.json.log-0123456789abcdef-"


def test_logs_of_one_job_are_found_in_order_of_node(tmp_path: Path) -> None:
    for name in (f"{LOG}10", f"{LOG}9", "other.json.log-0123456789abcdef-0", "run.json.log-1-0"):
        (tmp_path / name).touch()
    both = [tmp_path / f"{LOG}9", tmp_path / f"{LOG}10"]
    assert logs_for(tmp_path / "run.json") == both
    assert logs_for(tmp_path / f"{LOG}10") == both
    assert logs_for(tmp_path / f"{LOG}11") == [], "it is not there"
    (tmp_path / "run.json").touch()
    assert logs_for(tmp_path / "run.json") == [], "there is a report"


def test_of_several_jobs_the_last_one_counts(tmp_path: Path) -> None:
    old, new = tmp_path / "run.json.log-ffffffffffffffff-0", tmp_path / f"{LOG}0"
    for age, log in ((100, old), (1, new)):
        log.touch()
        os.utime(log, (time.time() - age, time.time() - age))
    assert logs_for(tmp_path / "run.json") == [new]
    assert logs_for(old) == [old]


def test_what_is_no_log_is_refused_in_one_line(tmp_path: Path) -> None:
    if not paths.program("haichi").exists():
        pytest.skip("the native program is not built: ./haichi build")
    (tmp_path / f"{LOG}0").write_bytes(b"hello\n")
    assert "is no log of a run" in refused(tmp_path / "run.json")
