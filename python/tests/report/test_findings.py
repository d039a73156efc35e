"""What a report says in words: each finding where it belongs, and none where it does not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import synthetic
from haichi.report.findings import findings
from haichi.report.model import Report
from haichi.report.summary import summarize


def found(document: dict[str, Any]) -> list[str]:
    report = Report.model_validate(document)
    (run,), _ = summarize([Path("run.json")], [report])
    return findings(run.report, run.facts)


def of_access(seconds: float, wall_s: float) -> list[str]:
    document = synthetic.report()
    document["program"]["wall_s"] = wall_s
    for rank in document["ranks"]:
        rank["collective_access"] = {"calls": 2, "seconds": seconds, "bytes": 1}
        rank["seconds"] = {"read": 0, "exchange": 0, "write": 0, "agree": 0}
    return found(document)


def test_the_share_of_the_run() -> None:
    assert of_access(6.0, 10.0) == ["collective file access takes 6.00 s of 10.0 s (60 %)"]
    (little,) = of_access(0.1, 10.0)
    assert little.endswith("there is little to gain by it")


def test_a_report_without_accesses_says_nothing_of_them() -> None:
    document = synthetic.report(calls=0)
    assert not any("collective file access takes" in line for line in found(document))


def test_many_calls_of_few_bytes() -> None:
    document = synthetic.report(calls=2)
    file = document["files"][0]
    for call in file["calls"]:
        call["bytes"] = 16 * 4096
    file["calls_not_listed"] = 2046
    assert (
        "out.dat: 2048 collective calls of 4.00 KiB a rank: combine them, in one datatype or in a "
        "buffer for several steps"
    ) in found(document)
    file["calls_not_listed"] = 10
    assert not any("combine" in line for line in found(document))


def test_a_file_opened_again_and_again() -> None:
    document = synthetic.report()
    document["files"][0]["opens"] = 512
    assert "out.dat: opened 512 times by the same ranks: keep it open" in found(document)


def test_ranks_that_wait_and_one_that_is_slow() -> None:
    document = synthetic.report(nodes=2, per_node=2)
    document["program"]["wall_s"] = 10.0
    for rank in document["ranks"]:
        slow = rank["rank"] == 3
        rank["seconds"] = {"read": 0, "exchange": 0, "write": 4.0 if slow else 0.1, "agree": 3.0}
        rank["collective_access"] = {"calls": 2, "seconds": 4.5, "bytes": 1}
    said = "\n".join(found(document))
    assert "the median rank waits 3.00 s for others" in said
    assert "rank 3 writes for 4.00 s, the median aggregator for 100 ms" in said


def test_a_run_that_was_cut_short_says_so_first() -> None:
    document = synthetic.report()
    document["cut"] = {"last_s": 2.5, "ranks_without_log": "3-5", "records_lost": 1}
    first = found(document)[0]
    assert first.startswith(
        "the run did not come to MPI_Finalize: it was killed, or goes on, 2.50 s"
    )
    assert "nothing is known of ranks 3-5" in first
    assert "1 record had no room in the logs, 0 were not whole" in first
    document["cut"] = {"last_s": 2.5, "by": "MPI_Abort", "code": 7, "rank": 1}
    assert found(document)[0].startswith("rank 1 ended the run by MPI_Abort, error code 7, 2.50 s")


def of_storage(**storage: int) -> list[str]:
    document = synthetic.report()
    document["storage"] = {"ranks": 4, "read": 0, "written": 0, "mpi_read": 0, "mpi_written": 0}
    document["storage"] |= storage
    return [line for line in found(document) if "storage" in line]


def test_what_is_read_and_written_beside_mpi() -> None:
    (read,) = of_storage(read=3 << 30, mpi_read=512 << 20, written=1 << 30, mpi_written=1 << 30)
    assert read.startswith(
        "4 ranks read 3.00 GiB from storage, and 512 MiB in collective file access"
    )
    (written,) = of_storage(written=100 << 20)
    assert written.startswith("4 ranks wrote 100 MiB to storage, and 0 B in collective")


def test_what_the_kernel_counts_more_than_was_asked_for_is_no_finding() -> None:
    assert of_storage(read=2 << 30, mpi_read=1 << 30) == []
    assert of_storage(read=60 << 20, written=60 << 20) == []
