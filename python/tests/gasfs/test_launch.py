"""Which process of a launcher's job this is, which servers it starts, and where they listen."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest
from haichi.gasfs.daemons import GasfsError, host
from haichi.gasfs.job import Job
from haichi.gasfs.launch import Launch
from haichi.gasfs.starting import make


@pytest.mark.parametrize(
    ("variables", "launch"),
    [
        ({}, Launch()),
        (
            {
                "OMPI_COMM_WORLD_RANK": "3",
                "OMPI_COMM_WORLD_SIZE": "8",
                "OMPI_COMM_WORLD_LOCAL_RANK": "1",
                "OMPI_COMM_WORLD_LOCAL_SIZE": "2",
                "SLURM_PROCID": "0",
                "SLURM_STEP_NUM_TASKS": "4",
            },
            Launch(3, 8, 1, 2),
        ),
        ({"PMI_RANK": "1", "PMI_SIZE": "2"}, Launch(1, 2, 0)),
        ({"PMI_RANK": "1", "PMI_SIZE": "2", "MPI_LOCALRANKID": "1"}, Launch(1, 2, 1)),
        ({"SLURM_PROCID": "0", "SLURM_NTASKS": "4"}, Launch()),  # a batch script is one process
        ({"SLURM_PROCID": "2", "SLURM_STEP_NUM_TASKS": "4"}, Launch(2, 4, 0)),
    ],
)
def test_what_launchers_tell(variables: dict[str, str], launch: Launch) -> None:
    assert Launch.of(variables) == launch


def test_what_is_no_number_is_refused() -> None:
    with pytest.raises(
        GasfsError, match="PMI_RANK, PMI_SIZE, MPI_LOCALRANKID, MPI_LOCALNRANKS are no numbers"
    ):
        Launch.of({"PMI_RANK": "one", "PMI_SIZE": "2"})


@pytest.mark.parametrize("servers", [1, 4, 7])
@pytest.mark.parametrize("size", [1, 3, 4, 9])
def test_each_server_is_started_by_one(servers: int, size: int) -> None:
    shares = [Launch(rank, size).numbers(servers) for rank in range(size)]
    assert sorted(number for share in shares for number in share) == list(range(servers))


def test_where_they_listen(monkeypatch: pytest.MonkeyPatch) -> None:
    assert Launch().address("") == "127.0.0.1"
    assert Launch(0, 2, on_node=2).address("") == "127.0.0.1"
    assert Launch(0, 2).address("10.1.2.3") == "10.1.2.3"
    assert Launch(0, 2).address("lo") == "127.0.0.1"
    monkeypatch.setattr(socket, "gethostbyname", lambda _: "10.1.2.4")
    assert Launch(0, 2).address("") == "10.1.2.4"
    monkeypatch.setattr(socket, "gethostbyname", lambda _: "127.0.1.1")
    with pytest.raises(GasfsError, match=r"127\.0\.1\.1, by which other nodes do not reach it"):
        Launch(0, 2).address("")


def test_the_first_makes_the_job_and_the_others_wait_for_it(tmp_path: Path) -> None:
    folder = tmp_path / "job"
    with pytest.raises(GasfsError, match="do all nodes see it"):
        make(Launch(1, 3), folder, 0, 65536, 0.05)
    assert make(Launch(0, 3), folder, 0, 65536, 1).description.servers == 3
    assert make(Launch(1, 3), folder, 0, 65536, 1).description.servers == 3
    assert make(Launch(0, 5), folder, 0, 65536, 1).description.servers == 3  # as it has
    with pytest.raises(GasfsError, match="has 3 servers"):
        make(Launch(1, 3), folder, 4, 65536, 1)


def test_a_store_stays_where_it_began(tmp_path: Path) -> None:
    job = Job.make(tmp_path / "job", 2, 65536)
    assert job.store(0) == tmp_path / "job" / "server0"
    assert job.store(0, tmp_path / "own") == tmp_path / "own" / "server0"
    assert job.store(0) == tmp_path / "own" / "server0"
    with pytest.raises(GasfsError, match="and stays there"):
        job.store(0, tmp_path / "other")
    assert job.servers_of(Launch(0, 2)) == range(0, 2, 2)  # server1 has no place of its own yet
    elsewhere = (job.folder / "run" / "server0.store").read_text().replace(host(), "elsewhere")
    (job.folder / "run" / "server1.store").write_text(elsewhere)
    assert job.servers_of(Launch(1, 2)) == [0]  # whatever its rank
    assert job.servers_of(Launch(1, 2, local=1)) == []
    with pytest.raises(GasfsError, match="the store of server1 is on elsewhere"):
        job.store(1)
