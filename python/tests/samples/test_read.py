"""Reading samples files: whole ones, cut ones, and damaged ones."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from haichi.report.load import ReportError
from haichi.samples.read import is_samples, read
from synthetic_samples import launch, measurement, point, write

WHOLE = [
    launch(),
    measurement(),
    point(1e-6, size=8),
    point(2e-6, size=64),
    {"kind": "left", "launch": 1, "name": "send-partitioned", "reason": "MPI 4 is needed"},
    launch(2, library="another"),
    point(1.1e-6, size=8, number=2),
]


def test_a_whole_file_is_told_apart_by_kind(tmp_path: Path) -> None:
    found = read(write(tmp_path / "s.jsonl", WHOLE))
    assert [each.launch for each in found.launches] == [1, 2]
    assert found.descriptions["ping-pong"].functions == ["MPI_Send", "MPI_Recv"]
    assert [each.bytes for each in found.points] == [8, 64, 8]
    assert [each.reason for each in found.left] == ["MPI 4 is needed"]
    assert not found.cut
    assert found.launch_of(found.points[2]).library == "another"
    assert [each.launch for each in found.curves()["ping-pong", "node"]] == [1, 1, 2]


def test_every_cut_of_a_file_can_be_read_behind_its_first_line(tmp_path: Path) -> None:
    file = write(tmp_path / "s.jsonl", WHOLE)
    data = file.read_bytes()
    first = data.index(b"\n") + 1
    for end in range(first, len(data)):
        file.write_bytes(data[:end])
        found = read(file)
        whole = data[:end].count(b"\n")
        records = len(found.launches) + len(found.descriptions)
        assert records + len(found.points) + len(found.left) == whole
        assert found.cut == (data[end - 1 : end] != b"\n")
    file.write_bytes(data[: first - 1])
    with pytest.raises(ReportError, match="has no whole line"):
        read(file)


def test_what_a_newer_haichi_adds_is_passed_over(tmp_path: Path) -> None:
    newer = [WHOLE[0] | {"moon": "full"}, {"kind": "tide", "height": 3}, WHOLE[2] | {"warm": True}]
    found = read(write(tmp_path / "s.jsonl", newer))
    assert len(found.points) == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"s\.jsonl: is empty"),
        ('{"schema": "haichi.samples/2", "kind": "launch"}\n', r"is haichi\.samples/2, and this"),
        ('{"schema": "haichi.report/1"}\n', r"is haichi\.report/1, not haichi\.samples/1"),
        ("[1, 2]\n", r"s\.jsonl:1: is no JSON object"),
        ("# Size  Latency\n8 0.2\n", r"s\.jsonl:1: is not JSON"),
    ],
)
def test_other_files_are_refused(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "s.jsonl"
    file.write_text(text)
    with pytest.raises(ReportError, match=message) as caught:
        read(file)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"kind": "point", "launch": 1', r"s\.jsonl:3: is not JSON"),
        ('{"launch": 1}', r"s\.jsonl:3: has no kind"),
        ("7", r"s\.jsonl:3: is no JSON object"),
        (json.dumps(point(1e-6) | {"bytes": -1}), r"s\.jsonl:3: does not follow .*: bytes: "),
        (json.dumps(point(1e-6) | {"median": "fast"}), r":3: .* median: .* not 'fast'"),
        (json.dumps(point(1e-6)).replace("1e-06", "NaN"), r":3: is not JSON"),
    ],
)
def test_damage_is_told_with_its_line(tmp_path: Path, line: str, message: str) -> None:
    file = write(tmp_path / "s.jsonl", WHOLE)
    lines = file.read_text().splitlines()
    lines[2] = line
    file.write_text("\n".join(lines) + "\n")
    with pytest.raises(ReportError, match=message):
        read(file)


def test_a_point_of_no_launch_is_refused_when_its_launch_is_asked_for(tmp_path: Path) -> None:
    found = read(write(tmp_path / "s.jsonl", [launch(), point(1e-6, number=3)]))
    with pytest.raises(ReportError, match="is of launch 3, which the file does not have"):
        found.launch_of(found.points[0])


def test_samples_are_told_from_other_files(tmp_path: Path) -> None:
    assert is_samples(write(tmp_path / "s.jsonl", WHOLE))
    other = tmp_path / "r.json"
    other.write_text('{"schema": "haichi.report/1"}')
    assert not is_samples(other)
    assert not is_samples(tmp_path / "none")
    assert not is_samples(tmp_path)
