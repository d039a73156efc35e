"""`haichi measure`: real measurements under real MPIs, what its file holds, and what it refuses."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import jsonschema
import mpis
import pytest
from measure_support import (
    CANT_WRITE,
    INCOMPLETE,
    USAGE,
    complaints,
    lines,
    measurable,
    measurable_openmpi,
    measure,
    points,
    program,
)
from mpis import HAICHI, ROOT, Mpi

SCHEMA = ROOT / "python" / "haichi" / "schema" / "haichi.samples.1.schema.json"
# What needs more than two ranks.
THREE_RANKS = {f"queue-search-{posted}" for posted in (0, 16, 64, 256, 1024)}
FOUR_RANKS = {"barrier-halves", "allreduce-halves", "alltoall-halves"}


@pytest.fixture(params=mpis.slow_but(["mpich-4.0.2"], mpis.all_mpis()[:2]), ids=str)
def stock(request: pytest.FixtureRequest) -> Mpi:
    """The distribution's MPIs."""
    return measurable(request.param)


@pytest.fixture
def openmpi() -> Mpi:
    return measurable_openmpi()


def test_a_file_holds_what_was_measured_and_how(stock: Mpi, tmp_path: Path) -> None:
    out = tmp_path / "s.jsonl"
    done = measure(
        stock,
        2,
        *("ping-pong", "barrier", "--size", "8", "--size", "64k", "--budget", "2"),
        *("--out", out, "--raw"),
        check=True,
    )
    records = lines(out)
    schema = json.loads(SCHEMA.read_text())
    jsonschema.validate({"head": records[0], "records": records[1:]}, schema)
    launch = records[0]
    assert launch["job_ranks"] == 2
    assert launch["nodes_of_ranks"] == [0, 0]
    assert 0 < launch["clock_cost"] < 1e-5
    found = points(out)
    (place,) = {place for name, place, _ in found if name == "ping-pong"}
    assert set(found) == {
        ("ping-pong", place, 8),
        ("ping-pong", place, 65536),
        ("barrier", "all", 0),
    }
    for record in found.values():
        assert record["least"] <= record["p5"] <= record["median"] <= record["p95"]
        assert record["median_low"] <= record["median"] <= record["median_high"]
        assert sum(record["counts"]) == record["samples"] == len(record["raw"])
    # What no machine changes: 64 KiB take longer than 8 bytes, and nothing takes no time.
    assert found["ping-pong", place, 8]["least"] > 1e-8
    assert found["ping-pong", place, 65536]["least"] > found["ping-pong", place, 8]["least"]
    assert re.search(r"# ping-pong: Send, Recv; the other Recv, Send\n# sample / 2;", done.stdout)
    assert re.search(rf"^ +65536 +{place} +\d+\.\d+ ", done.stdout, re.M)


def test_histogram_and_raw_samples_say_the_same(openmpi: Mpi, tmp_path: Path) -> None:
    out = tmp_path / "s.jsonl"
    measure(openmpi, 2, "allreduce", "--size", "8", "--budget", "1", "--out", out, "--raw")
    (record,) = points(out).values()
    raw = sorted(record["raw"])
    middle = raw[round((len(raw) - 1) / 2)]
    assert record["median"] == pytest.approx(middle, rel=0.006)
    assert record["mean"] == pytest.approx(sum(raw) / len(raw), rel=1e-9)
    # The bins are what the form says: 128 to an octave, of picoseconds.
    low = 2 ** (record["bins"][0] / 128) * 1e-12
    assert low <= raw[0] * 1.000001 <= low * 2 ** (1 / 128) * 1.00001


@pytest.mark.slow
@pytest.mark.parametrize("ranks", [2, 4])
def test_every_measurement_can_be_made(tmp_path: Path, ranks: int) -> None:
    """One small visit to each: nothing hangs, nothing fails, and nothing is left in the folder."""
    for mpi in mpis.all_mpis()[:2]:
        if mpi.missing or (ranks > 2 and mpi.abi != "openmpi"):
            continue  # MPICH spins: with more ranks than cores this would take minutes
        out = tmp_path / f"{mpi}.jsonl"
        folder = tmp_path / mpi.name
        folder.mkdir()
        words = ["--size", "64", "--budget", "0.01", "--out", out, "--directory", folder]
        # Without it Open MPI 4.1 has no windows of a program's own memory within a node.
        env = {"OMPI_MCA_btl_vader_single_copy_mechanism": "cma"}
        done = measure(mpi, ranks, *words, launcher_env=env, timeout=500)
        assert done.returncode == 0, done.stderr
        left = {record["name"] for record in lines(out) if record["kind"] == "left"}
        assert left == (THREE_RANKS | FOUR_RANKS if ranks == 2 else set())
        listed = mpis.run_bounded([str(program(mpi)), "--list", "--json"], timeout=60)
        assert {each["name"] for each in json.loads(listed.stdout)} - left == {
            name for name, _, _ in points(out)
        }
        assert list(folder.iterdir()) == []


@pytest.mark.slow
def test_four_ranks_on_fewer_cores_end_in_time_and_are_labelled(
    openmpi: Mpi, tmp_path: Path
) -> None:
    ranks = (os.cpu_count() or 1) + 2
    out = tmp_path / "s.jsonl"
    begin = time.monotonic()
    words = ["bcast", "allreduce", "alltoall", "--budget", "8", "--out", out]
    done = measure(openmpi, ranks, *words, check=True)
    assert time.monotonic() - begin < 8 * 1.2 + 10
    assert "more ranks than cores" in done.stderr
    assert lines(out)[0]["oversubscribed"] is True
    assert lines(out)[0]["reference"] is False
    other = tmp_path / "r.jsonl"
    words = ["barrier", "--budget", "0.1", "--reference", "--out", other]
    measure(openmpi, ranks, *words, check=True)
    assert lines(other)[0]["reference"] is True


def test_what_one_rank_does_alone_is_measured_by_all(stock: Mpi, tmp_path: Path) -> None:
    """The others have nothing to do behind each call, and yet must not repeat it in a sample."""
    out = tmp_path / "s.jsonl"
    words = ["file-preallocate", "--size", "64k", "--budget", "0.3", "--patience", "10"]
    measure(stock, 2, *words, "--out", out, "--directory", tmp_path, check=True)
    ((name, _, _),) = points(out)
    assert name == "file-preallocate"


def end_of(file: Path) -> dict:
    """The record of a launch that came to its end."""
    (end,) = [record for record in lines(file) if record["kind"] == "end"]
    return end


@pytest.mark.slow
def test_the_quick_part_is_whole_and_takes_what_it_states(openmpi: Mpi, tmp_path: Path) -> None:
    out = tmp_path / "q.jsonl"
    words = ["--quick", "--budget", "12", "--out", out, "--directory", tmp_path]
    done = measure(openmpi, 4, *words, check=True)
    assert "this will take about" in done.stderr
    records = lines(out)
    schema = json.loads(SCHEMA.read_text())
    jsonschema.validate({"head": records[0], "records": records[1:]}, schema)
    end = end_of(out)
    assert end["seconds"] < 1.3 * 12 + 5
    assert end["points"] == len(points(out)) + end["failed"]
    # All that it names is in the catalogue: a name that is not would be left out silently.
    listed = mpis.run_bounded([str(program(openmpi)), "--quick", "--list", "--json"], timeout=60)
    names = {each["name"] for each in json.loads(listed.stdout)}
    source = (ROOT / "src" / "measure" / "quick.cpp").read_text()
    assert names == set(re.findall(r'^      \{"([a-z-]+)", ', source, re.M))
    assert end["failed"] or names == {name for name, _, _ in points(out)}


@pytest.mark.long
def test_the_quick_part_takes_less_than_a_minute(openmpi: Mpi, tmp_path: Path) -> None:
    begin = time.monotonic()
    measure(openmpi, 4, "--quick", "--out", tmp_path / "q.jsonl", "--directory", tmp_path)
    assert time.monotonic() - begin < 60
    end = end_of(tmp_path / "q.jsonl")
    assert end["seconds"] == pytest.approx(end["stated_seconds"], rel=0.2)


def test_what_is_not_in_the_quick_part_is_refused(openmpi: Mpi) -> None:
    done = measure(openmpi, 2, "--quick", "file-preallocate")
    assert done.returncode == USAGE
    assert "nothing of what was asked for is in the quick part" in complaints(done)[0]


@pytest.mark.slow
def test_too_small_a_budget_is_told_with_what_would_be_enough(openmpi: Mpi, tmp_path: Path) -> None:
    out = tmp_path / "s.jsonl"
    words = ["bcast", "allgather", "alltoall", "--out", out]
    done = measure(openmpi, 2, *words, "--budget", "0.02", check=True)
    assert re.search(
        r"0\.02 s are little for 27 points here: .*, 3 visits .* \(--budget \d+\)", done.stderr
    )
    enough = tmp_path / "e.jsonl"
    done = measure(openmpi, 2, "wtime", "--budget", "3", "--out", enough, check=True)
    assert "are little for" not in done.stderr
    assert end_of(enough)["stated_seconds"] == pytest.approx(3)


def launch(mpi: Mpi, *words: str | Path, launcher: list[str] | None = None, timeout: float = 120):
    """`haichi measure` that starts a launcher itself, on 2 ranks."""
    command = mpi.command(2, []) if launcher is None else launcher
    return mpis.run_bounded(
        [str(HAICHI), "measure", *map(str, words), "--", *command],
        env={**os.environ, **mpi.launcher_env},
        timeout=timeout,
    )


def test_several_launches_are_one_command(stock: Mpi, tmp_path: Path) -> None:
    out = tmp_path / "s.jsonl"
    words = ["--launches", "3", "barrier", "ping-pong", "--size", "8", "--out", out]
    done = launch(stock, *words, "--budget", "0.6")
    assert done.returncode == 0, done.stderr
    records = lines(out)
    heads = [record for record in records if record["kind"] == "launch"]
    assert [head["repetition"] for head in heads] == [1, 2, 3]
    assert len({head["seed"] for head in heads}) == 3
    library = {"mpich": "MPICH", "openmpi": "Open MPI"}[stock.abi]
    assert all(head["library"].startswith(library) for head in heads)
    ends = [record for record in records if record["kind"] == "end"]
    assert [end["points"] for end in ends] == [2, 2, 2]
    assert all(end["stated_seconds"] < 1 for end in ends) or "are little for" in done.stderr
    medians = [
        r["median"] * 1e6 for r in records if r["kind"] == "point" and r["name"] == "barrier"
    ]
    row = re.search(r"# barrier: medians of launches\n.*\n +0 +all +3 +(.*)\n", done.stdout)
    assert row
    shown = [float(number) for number in row[1].split()]
    middle, least, most = sorted(medians)[1], min(medians), max(medians)
    assert shown == pytest.approx([middle, least, most], abs=0.001)
    again = launch(stock, *words)
    assert again.returncode == CANT_WRITE
    assert "is there already" in complaints(again)[0]


@pytest.mark.slow
def test_a_launch_that_dies_leaves_what_it_has_and_is_gone_on_with(
    openmpi: Mpi, tmp_path: Path
) -> None:
    out = tmp_path / "s.jsonl"
    # The second launch is killed when the file has its launch record.
    script = tmp_path / "launcher.sh"
    script.write_text(
        "#!/bin/bash\n"
        f"if [ -e {tmp_path}/die ] && grep -q repetition.:1 {out}\n"
        f"then rm {tmp_path}/die; exit 137; fi\n"
        f'exec {" ".join(openmpi.command(2, []))} "$@"\n'
    )
    script.chmod(0o755)
    (tmp_path / "die").touch()
    words = ["--launches", "3", "barrier", "--budget", "0.6", "--out", out]
    done = launch(openmpi, *words, launcher=[str(script)])
    assert done.returncode == INCOMPLETE
    assert "launch 2 of 3 ended with exit code 137" in done.stderr
    assert [r["repetition"] for r in lines(out) if r["kind"] == "launch"] == [1, 3]
    done = launch(openmpi, *words, "--resume", launcher=[str(script)])
    assert done.returncode == 0, done.stderr
    repetition = {r["launch"]: r["repetition"] for r in lines(out) if r["kind"] == "launch"}
    measured = [repetition[r["launch"]] for r in lines(out) if r["kind"] == "point"]
    assert sorted(measured) == [1, 2, 3]


def test_launches_want_a_launcher_that_is_there(openmpi: Mpi, tmp_path: Path) -> None:
    command = [str(HAICHI), "measure", "--mpi", "openmpi", "--launches", "2", "barrier"]
    done = mpis.run_bounded(command, timeout=60)
    assert done.returncode == USAGE
    assert "--launches wants the launcher behind --" in done.stderr
    done = launch(openmpi, "--out", tmp_path / "s", launcher=["/nowhere/mpiexec", "-n", "2"])
    assert done.returncode == 127
    assert "/nowhere/mpiexec can't be started: No such file" in done.stderr


@pytest.fixture
def killed(openmpi: Mpi, tmp_path: Path) -> Iterator[tuple[Mpi, Path, list[str]]]:
    """A run that was killed when it had written some points, and the words it was started with."""
    out = tmp_path / "s.jsonl"
    words = ["ping-pong", "bcast", "allgather", "--out", str(out)]
    command = openmpi.command(2, [program(openmpi), *words, "--budget", "25"])
    job = subprocess.Popen(
        command,
        env={**os.environ, **openmpi.launcher_env},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        limit = time.monotonic() + 60
        while not (out.exists() and '"kind":"point"' in out.read_text()):
            assert time.monotonic() < limit and job.poll() is None
            time.sleep(0.05)
    finally:
        os.killpg(job.pid, signal.SIGKILL)
        job.wait()
    yield openmpi, out, words


@pytest.mark.slow
def test_a_killed_run_can_be_read_and_gone_on_with(killed: tuple[Mpi, Path, list[str]]) -> None:
    mpi, out, words = killed
    before = points(out)
    assert before
    with out.open("a") as file:
        file.write('{"kind":"point","name":"ping-po')  # as a kill in the middle of a line leaves it
    measure(mpi, 2, *words, "--resume", "--budget", "3", check=True)
    after = points(out)
    assert all(after[key] == record for key, record in before.items())
    assert {record["launch"] for record in after.values()} == {1, 2}
    fresh = out.with_name("fresh.jsonl")
    measure(mpi, 2, *words[:-1], str(fresh), "--budget", "1", check=True)
    assert set(after) == set(points(fresh))
    # All is there: another one measures nothing.
    done = measure(mpi, 2, *words, "--resume", check=True)
    assert "0 points" in done.stderr
    assert points(out) == after


def test_a_file_of_another_job_is_not_gone_on_with(openmpi: Mpi, tmp_path: Path) -> None:
    out = tmp_path / "s.jsonl"
    measure(openmpi, 2, "barrier", "--budget", "0.1", "--out", out, check=True)
    before = out.read_bytes()
    done = measure(openmpi, 3, "barrier", "--resume", "--out", out)
    assert done.returncode == CANT_WRITE
    (line,) = complaints(done)
    assert line.endswith("is of another job: job_ranks is 2 there and 3 here")
    assert out.read_bytes() == before
    done = measure(openmpi, 2, "barrier", "--out", out)
    assert done.returncode == CANT_WRITE
    assert "is there already" in complaints(done)[0]
    assert out.read_bytes() == before


@pytest.mark.parametrize(
    ("words", "code", "text"),
    mpis.slow_after(
        2,
        [
            (["pong"], USAGE, "'pong' is no measurement, group or measured MPI function"),
            (["--size", "4 apples"], USAGE, "--size: '4 apples' is no size up to 64 GiB"),
            (["--budget", "0"], USAGE, "--budget"),
            (["barrier", "--resume"], USAGE, "--resume requires --out"),
            (
                ["barrier", "--out", "/nowhere/s"],
                CANT_WRITE,
                "/nowhere/s can't be written: No such",
            ),
            (["barrier", "--out", "/dev/full"], CANT_WRITE, "No space left on device"),
        ],
    ),
)
def test_bad_input_is_one_line(openmpi: Mpi, words: list[str], code: int, text: str) -> None:
    done = measure(openmpi, 2, *words)
    assert done.returncode == code
    (line,) = complaints(done)
    assert text in line


@pytest.mark.slow
def test_a_full_disk_keeps_what_was_measured(openmpi: Mpi, tmp_path: Path) -> None:
    """The file may not grow beyond a few KiB: as a quota or a full disk has it."""
    out = tmp_path / "s.jsonl"
    script = tmp_path / "limited.sh"
    script.write_text(f'#!/bin/bash\ntrap "" XFSZ\nulimit -f 8\nexec {program(openmpi)} "$@"\n')
    script.chmod(0o755)
    words = ["bcast", "alltoall", "ping-pong", "--budget", "4", "--out", out]
    env = {"OMPI_MCA_btl": "self,tcp", "OMPI_MCA_osc": "rdma,pt2pt"}  # no files in /dev/shm
    done = openmpi.run(2, [script, *words], launcher_env=env)
    assert done.returncode == CANT_WRITE, done.stderr
    (line,) = complaints(done)
    assert "File too large; what is in it is kept" in line
    assert out.stat().st_size <= 8 * 1024
    assert points(out)  # every line of it can be read


def test_too_few_ranks_are_said_and_the_rest_is_measured(openmpi: Mpi, tmp_path: Path) -> None:
    out = tmp_path / "s.jsonl"
    words = ["wtime", "ping-pong", "--budget", "0.1", "--out", out]
    done = measure(openmpi, 1, *words)
    assert done.returncode == INCOMPLETE
    assert "ping-pong needs 2 ranks or more, and there is 1" in done.stderr
    assert [name for name, _, _ in points(out)] == ["wtime"]
    assert [each["reason"] for each in lines(out) if each["kind"] == "left"] == [
        "ping-pong needs 2 ranks or more, and there is 1"
    ]
    # Of a group, what can't be made is left out, and that is no failure.
    other = tmp_path / "g.jsonl"
    done = measure(openmpi, 1, "exchange", "wtime", "--budget", "0.1", "--out", other)
    assert done.returncode == 0
    assert "shift-isend needs 2 ranks or more" in done.stderr


def test_two_gigabytes_are_for_large_counts(openmpi: Mpi, tmp_path: Path) -> None:
    out = tmp_path / "s.jsonl"
    words = ["ping-pong", "--size", "8", "--size", "2g", "--budget", "0.1", "--out", out]
    done = measure(openmpi, 2, *words)
    assert done.returncode == INCOMPLETE
    assert "ping-pong takes sizes below 2 GiB" in done.stderr
    assert [bytes_ for _, _, bytes_ in points(out)] == [8]


@pytest.mark.long
def test_more_than_two_gigabytes_in_a_call(tmp_path: Path) -> None:
    found = next(each for each in mpis.all_mpis() if each.abi == "mpich")
    if found.missing:
        pytest.skip(found.missing)
    out = tmp_path / "s.jsonl"
    words = ["ping-pong-large-count", "--size", "2200m", "--budget", "1", "--out", out]
    measure(found, 2, *words, check=True, timeout=300)
    ((_, _, bytes_),) = points(out)
    assert bytes_ == 2200 << 20


@pytest.mark.slow
def test_what_computing_hides_can_be_read_from_the_file(openmpi: Mpi, tmp_path: Path) -> None:
    """With a computation as long as it, an operation takes between once and twice its time."""
    out = tmp_path / "s.jsonl"
    words = ["file-iwrite-at-computing-full", "--size", "1m", "--budget", "2", "--out", out]
    measure(openmpi, 2, *words, check=True)
    (described,) = (each for each in lines(out) if each["kind"] == "measurement")
    formula = "hidden is the share (2 x file-iwrite-at - sample) / (1 x file-iwrite-at)"
    assert described["sample"].endswith(formula)
    (point,) = points(out).values()
    assert point["batch"] >= 1
    assert point["median"] > 1e-5


def test_a_folder_without_files_fails_those_points_alone(openmpi: Mpi, tmp_path: Path) -> None:
    out = tmp_path / "s.jsonl"
    words = ["file-write-at", "barrier", "--size", "1k", "--budget", "0.2", "--out", out]
    done = measure(openmpi, 2, *words, "--directory", "/nowhere")
    assert done.returncode == INCOMPLETE
    assert (
        "file-write-at of 1024 bytes (all) can't be measured: MPI_File_open: MPI_ERR_"
        in done.stderr
    )
    assert [name for name, _, _ in points(out)] == ["barrier"]


def test_the_launcher_starts_the_program_of_its_mpi(stock: Mpi, tmp_path: Path) -> None:
    out = tmp_path / "s.jsonl"
    words = [HAICHI, "measure", "barrier", "--budget", "0.1", "--out", out]
    stock.run(2, words, check=True)
    library = {"mpich": "MPICH", "openmpi": "Open MPI"}[stock.abi]
    assert lines(out)[0]["library"].startswith(library)
    assert lines(out)[0]["under"] is False
    under = tmp_path / "u.jsonl"
    stock.run(2, [*words[:-1], under, "--under"], check=True)
    assert lines(under)[0]["under"] is True


def test_the_list_needs_no_launcher(stock: Mpi) -> None:
    command = [str(HAICHI), "measure", "--mpi", stock.abi, "--list", "p2p"]
    done = mpis.run_bounded(command, timeout=60)
    assert done.returncode == 0
    assert "  ping-pong " in done.stdout
    assert "barrier" not in done.stdout
