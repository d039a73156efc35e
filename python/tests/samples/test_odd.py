"""What is called odd: each kind from the figures that show it, and not from noise."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from haichi.samples.odd import cautions, findings
from haichi.samples.read import read
from haichi.samples.view import Job, jobs
from synthetic_samples import Record, launch, measurement, point, write

US = 1e-6
MIB = 1 << 20


def job(tmp_path: Path, *records: Record, **of_launch: Any) -> Job:
    """The job of these points; measurements are described as their points' names tell."""
    names = {record["name"] for record in records if record["kind"] == "point"}
    described = {record["name"] for record in records if record["kind"] == "measurement"}
    more = [measurement(name) for name in sorted(names - described)]
    file = write(tmp_path / "s.jsonl", [launch(**of_launch), *more, *records])
    (found,) = jobs([read(file)])
    return found


def of_group(group: str, name: str, function: str = "MPI_Send") -> Record:
    return measurement(name, group=group, functions=[function])


def words(found: Job) -> str:
    return "\n".join(f"{each.words} [{each.point}]" for each in findings(found))


def curve(name: str, times: dict[int, float], place: str = "all", **more: Any) -> list[Record]:
    return [point(time * US, name, size, place, **more) for size, time in times.items()]


def test_a_smooth_curve_has_nothing_odd(tmp_path: Path) -> None:
    smooth = {4: 1, 1024: 1.2, 4096: 2, 16384: 6, 65536: 20, 262144: 75}
    described = of_group("p2p", "ping-pong")
    assert words(job(tmp_path, described, *curve("ping-pong", smooth))) == ""


@pytest.mark.parametrize(
    ("times", "told"),
    [
        # Paper 001, Table 2: 1,024 and 1,028 bytes between nodes.
        ({1020: 6.11, 1024: 6.21, 1028: 11.50, 1032: 11.51}, "1.9× the time from 1.00 KiB"),
        ({1024: 1.0, 4096: 2.0, 16384: 20.0, 65536: 80.0}, "10× the time from 4.00 KiB"),
    ],
)
def test_a_switch_of_the_protocol_is_found(
    tmp_path: Path, times: dict[int, float], told: str
) -> None:
    found = words(job(tmp_path, of_group("p2p", "ping-pong"), *curve("ping-pong", times)))
    assert told in found
    assert f"[ping-pong, all, {sorted(times)[2]} bytes]" in found


def test_a_switch_that_was_searched_for_is_told_to_four_bytes(tmp_path: Path) -> None:
    switch = {
        "kind": "switch", "launch": 1, "name": "ping-pong", "place": "network", "buffers": "hot",
        "below": 1024, "above": 1028, "median_below": 6.21 * US, "median_above": 11.5 * US,
        "ratio": 11.5 / 6.21,
    }  # fmt: skip
    found = words(job(tmp_path, point(1 * US), switch))
    assert (
        "ping-pong (network): the library changes its way at 1028 bytes, from 6.21 µs to" in found
    )
    assert "(1.85×)" in found
    assert words(job(tmp_path, point(1 * US), switch | {"ratio": 1.01})) == ""


def test_one_size_alone_is_no_switch(tmp_path: Path) -> None:
    times = {1024: 1.0, 4096: 900.0, 16384: 4.0, 65536: 16.0}
    found = words(job(tmp_path, of_group("p2p", "ping-pong"), *curve("ping-pong", times)))
    assert "protocol" not in found
    assert "1 size alone take twice" in found and "ping-pong of 4.00 KiB 225×" in found


def test_intervals_that_touch_tell_nothing(tmp_path: Path) -> None:
    times = {1024: 1.0, 4096: 2.0, 16384: 20.0, 65536: 80.0}
    wide = curve("ping-pong", times, median_low=0.1 * US, median_high=100 * US)
    assert words(job(tmp_path, of_group("p2p", "ping-pong"), *wide)) == ""
    few = curve("ping-pong", times, median_low=None, median_high=None)
    assert words(job(tmp_path, of_group("p2p", "ping-pong"), *few)) == ""


def test_an_all_to_all_is_held_against_the_best_exchange(tmp_path: Path) -> None:
    records = [of_group("collective", "alltoall", "MPI_Alltoall")]
    records += [of_group("exchange", f"exchange-{way}") for way in ("isend", "put")]
    records += [point(50 * US, "alltoall", 64, "all"), point(10 * US, "exchange-isend", 64, "all")]
    records += [point(70 * US, "exchange-put", 64, "all")]
    found = words(job(tmp_path, *records))
    assert "MPI_Alltoall of 64 B takes 5.0× as long as the same exchange by exchange-isend" in found


def test_what_takes_the_whole_time_at_its_begin_or_issue_is_told(tmp_path: Path) -> None:
    split = "file-write-all"
    records = [
        of_group("file", f"{split}-begin", "MPI_File_write_all_begin"),
        of_group("file", f"{split}-split"),
        of_group("file", "file-iwrite-at", "MPI_File_iwrite_at"),
        of_group("file", "file-iwrite-at-issue", "MPI_File_iwrite_at"),
        point(140 * US, f"{split}-begin", MIB, "all"),
        point(142 * US, f"{split}-split", MIB, "all"),
        point(170 * US, "file-iwrite-at-issue", MIB, "all"),
        point(172 * US, "file-iwrite-at", MIB, "all"),
    ]
    found = words(job(tmp_path, *records))
    assert "MPI_File_write_all_begin takes 140 µs of the 142 µs that begin and end take" in found
    assert "issuing MPI_File_iwrite_at of 1.00 MiB takes 170 µs of 172 µs" in found
    records[4] = point(20 * US, f"{split}-begin", MIB, "all")
    records[6] = point(2 * US, "file-iwrite-at-issue", MIB, "all")
    assert words(job(tmp_path, *records)) == ""


def test_long_calls_windows_types_and_fences_are_told(tmp_path: Path) -> None:
    records = [
        of_group("file-handling", "file-preallocate", "MPI_File_preallocate"),
        point(0.98, "file-preallocate", 8 * MIB, "all"),
        of_group("window", "win-allocate"),
        of_group("window", "win-create"),
        point(1015 * US, "win-allocate", MIB, "all"),
        point(53 * US, "win-create", MIB, "all"),
        of_group("datatype", "ping-pong-vector"),
        of_group("datatype", "pack"),
        of_group("datatype", "unpack"),
        of_group("p2p", "ping-pong"),
        point(100 * US, "ping-pong-vector", 4096),
        point(2 * US, "pack", 4096, "all"),
        point(2 * US, "unpack", 4096, "all"),
        point(6 * US, "ping-pong", 4096),
        point(5 * US, "fence", 0, "all"),
        point(3 * US, "fence-all-assertions", 0, "all"),
    ]
    found = words(job(tmp_path, *records))
    assert "MPI_File_preallocate of 8.00 MiB takes 980 ms" in found
    assert "MPI_Win_allocate of 1.00 MiB takes 19× MPI_Win_create" in found
    assert "ping-pong-vector of 4.00 KiB takes 100 µs, 10× packing, sending and unpack" in found
    assert "all four together take it from 5.00 µs to 3.00 µs" in found


def test_a_slow_node_and_an_asymmetric_link_are_told(tmp_path: Path) -> None:
    described = of_group("p2p", "ping-pong")
    names = ["n0", "n1", "n2", "n3"]
    records = [described]
    for one in range(4):
        for other in range(4):
            if one != other:
                time = 30.0 if 2 in (one, other) else 10.0
                time = 16.0 if (one, other) == (1, 3) else time
                records.append(point(time * US, size=4096, place="network", ranks=[one, other]))
    made = job(tmp_path, *records, ranks=4, node_names=names, nodes_of_ranks=[0, 1, 2, 3])
    found = words(made)
    assert "Node n2 is slow: ping-pong of 4.00 KiB takes 30.0 µs or more with each peer, 3.0×" in (
        found
    )
    assert "Node n0" not in found and "Node n1" not in found
    assert "from rank 1 to rank 3 takes 1.6× the way back (16.0 µs, 10.0 µs)" in found


def test_pairs_of_different_classes_are_no_slow_rank(tmp_path: Path) -> None:
    """The suite measures one pair for each class: that of the smallest ranks."""
    pairs = {"numa": (0.3, [1, 2]), "node": (0.6, [0, 1]), "network": (2.0, [0, 3])}
    records = [
        point(time * US, size=4096, place=place, ranks=ranks)
        for place, (time, ranks) in pairs.items()
    ]
    made = job(tmp_path, *records, ranks=4, node_names=["n0", "n1"], nodes_of_ranks=[0, 0, 0, 1])
    assert words(made) == ""
    assert made.pairs == {}


def test_a_slow_rank_is_one_of_its_class(tmp_path: Path) -> None:
    records = [
        point((9.0 if 2 in (one, other) else 3.0) * US, size=64, ranks=[one, other])
        for one in range(4)
        for other in range(4)
        if one != other
    ]
    records += [point(20 * US, size=64, place="network", ranks=[0, rank]) for rank in (4, 5)]
    made = job(
        tmp_path, *records, ranks=6, node_names=["n0", "n1"], nodes_of_ranks=[0, 0, 0, 0, 1, 1]
    )
    found = words(made)
    assert "Rank 2 is slow: ping-pong of 64 B takes 9.00 µs or more with each peer, 3.0×" in found
    assert found.count("is slow") == 1


def test_cautions_come_before_the_figures(tmp_path: Path) -> None:
    records = curve("ping-pong", {8: 1.0, 64: 1.0}, narrow=False, mean=9 * US)
    told = "\n".join(cautions(job(tmp_path, *records, oversubscribed=True, load="15.00")))
    assert "more ranks than cores" in told
    assert "At 2 of 2 points the interval of the median is wider than 2 %" in told
    assert "At 2 points the mean, which other benchmarks print, is twice the median" in told
    assert "One launch" in told
