"""`haichi import` and `haichi export --to csv|osu|imb`: what other benchmarks print, in the
forms of their versions. What mpi4py's ports print was recorded from them."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import jsonschema
import pytest
from haichi.cli import app
from haichi.samples.imports.cli import BENCHMARKS
from haichi.samples.model import Point
from haichi.samples.page import page
from haichi.samples.read import SamplesFile, read
from haichi.samples.view import jobs
from haichi.schema import schema_file
from page_checker import Checker
from synthetic_samples import launch, measurement, point, write
from typer.testing import CliRunner

OUTPUTS = Path(__file__).parent / "outputs"
BAD_INPUT = 2
US = 1e-6


def imported(tmp_path: Path, file: Path, *words: str) -> SamplesFile:
    out = tmp_path / "imported.jsonl"
    done = CliRunner().invoke(app, ["import", str(file), "-o", str(out), *words])
    assert done.exit_code == 0, done.output
    lines = [json.loads(line) for line in out.read_text().splitlines()]
    schema = json.loads(schema_file("haichi.samples/1").read_text())
    jsonschema.validate({"head": lines[0], "records": lines[1:]}, schema)
    return read(out)


def figures(found: SamplesFile, name: str) -> dict[int, float]:
    return {each.bytes: each.median for each in found.points if each.name == name}


def one(found: SamplesFile, name: str, size: int) -> Point:
    (made,) = (each for each in found.points if (each.name, each.bytes) == (name, size))
    return made


def test_osu_of_version_7(tmp_path: Path) -> None:
    found = imported(tmp_path, OUTPUTS / "osu-7.4.txt", "--ranks", "4", "--library", "MPICH 4.2")
    (of,) = found.launches
    assert (of.source, of.library, of.job_ranks) == ("OSU micro-benchmarks 7.4", "MPICH 4.2", 4)
    assert figures(found, "osu-latency") == pytest.approx(
        {1: 0.17 * US, 64: 0.21 * US, 65536: 6.72 * US}
    )
    assert figures(found, "osu-barrier-latency") == pytest.approx({0: 0.42 * US})
    assert figures(found, "osu-put-latency-flush")[65536] == pytest.approx(2.33 * US)
    assert found.descriptions["osu-put-latency-flush"].functions == ["MPI_Put"]
    rates = figures(found, "osu-multiple-bandwidth-message-rate")
    assert rates[4194304] == pytest.approx(4194304 / 26903.29e6)
    gather = one(found, "osu-allgather-latency", 1048576)
    assert (gather.samples, gather.statistic) == (10, "mean")
    assert gather.median == pytest.approx(104.30 * US)
    assert found.descriptions["osu-allgather-latency"].over == "mean of the ranks"
    assert gather.place == "all" and one(found, "osu-latency", 1).place == "pair"


def test_osu_of_version_5(tmp_path: Path) -> None:
    found = imported(tmp_path, OUTPUTS / "osu-5.6.3.txt")
    assert found.launches[0].source == "OSU micro-benchmarks 5.6.3"
    assert figures(found, "osu-latency") == pytest.approx({0: 0.15 * US, 8: 0.16 * US})
    assert figures(found, "osu-bandwidth")[1] == pytest.approx(1 / 5.93e6)
    name = "osu-non-blocking-all-to-all-latency"
    assert figures(found, name) == pytest.approx({1: 11.09 * US, 4: 9.98 * US})
    assert figures(found, f"{name}-pure") == pytest.approx({1: 5.18 * US, 4: 4.93 * US})


def test_mpi4pys_ports(tmp_path: Path) -> None:
    file = OUTPUTS / "mpi4py-osu_latency.txt"
    found = imported(tmp_path, file)
    rows = [line.split() for line in file.read_text().splitlines() if not line.startswith("#")]
    assert figures(found, "osu-latency") == pytest.approx(
        {int(size): float(time) * US for size, time in rows if float(time) > 0}
    )
    # Its header says "Latency [us]", and below it stand MB/s.
    rates = figures(imported(tmp_path, OUTPUTS / "mpi4py-osu_bw.txt"), "osu-bandwidth")
    line = (OUTPUTS / "mpi4py-osu_bw.txt").read_text().split()[-2:]
    assert rates[int(line[0])] == pytest.approx(int(line[0]) / (float(line[1]) * 1e6))


def test_imb(tmp_path: Path) -> None:
    found = imported(tmp_path, OUTPUTS / "imb-2018.txt")
    (of,) = found.launches
    assert (of.source, of.job_ranks) == ("Intel MPI Benchmarks 2018", 4)
    assert (of.kernel, of.started) == ("Linux 5.15.0-138-generic", "Fri Jun 27 02:00:00 2025")
    assert figures(found, "imb-pingpong") == pytest.approx(
        {0: 0.26 * US, 1: 0.33 * US, 65536: 10.27 * US}
    )
    assert one(found, "imb-pingpong", 65536).samples == 640
    assert figures(found, "imb-sendrecv") == pytest.approx({1: 4.22 * US, 64: 4.71 * US})
    assert figures(found, "imb-alltoall-4")[32768] == pytest.approx(10.02 * US)
    assert figures(found, "imb-barrier-4") == pytest.approx({0: 22.94 * US})


def test_ior_has_each_repetition(tmp_path: Path) -> None:
    found = imported(tmp_path, OUTPUTS / "ior-4.0.json")
    (of,) = found.launches
    assert (of.source, of.job_ranks, of.nodes_of_ranks) == ("IOR 4.0.0", 4, [0, 0, 1, 1])
    made = one(found, "ior-mpiio-write-collective", 1 << 20)
    assert made.statistic == "median"
    assert made.raw == pytest.approx([4 / 400, 4 / 200, 4 / 320])
    assert (made.least, made.median, made.most) == pytest.approx((4 / 400, 4 / 320, 4 / 200))
    assert one(found, "ior-mpiio-read-collective", 1 << 20).median == pytest.approx(4 / 800)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is no output of an OSU micro-benchmark"),
        ("hello\n1 2\n", "is no output of an OSU micro-benchmark"),
        ("# OSU MPI Latency Test v7.4\n# Size  Avg Latency(us)\n", "has no figures"),
        ("IOR-4.0.0: MPI Coordinated Test of Parallel I/O\n", "run it with -O summaryFormat=JSON"),
        ('{"Command line": "ior", "tests": [', "is no whole JSON of IOR"),
        ('{"Command line": "ior", "tests": []}', "has no results"),
    ],
)
def test_bad_input_is_one_line(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "printed.txt"
    file.write_text(text)
    done = CliRunner().invoke(app, ["import", str(file), "-o", str(tmp_path / "s.jsonl")])
    assert done.exit_code == BAD_INPUT
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "s.jsonl").exists()


@pytest.mark.parametrize("name", ["osu-7.4.txt", "osu-5.6.3.txt", "imb-2018.txt"])
def test_blanks_and_returns_at_the_ends_of_lines_change_nothing(tmp_path: Path, name: str) -> None:
    plain = imported(tmp_path, OUTPUTS / name)
    other = tmp_path / name
    other.write_bytes((OUTPUTS / name).read_bytes().replace(b"\n", b"  \r\n"))
    assert imported(tmp_path, other).points == plain.points


@pytest.mark.parametrize("name", sorted(each.name for each in OUTPUTS.iterdir()))
def test_any_cut_of_an_output_is_read_or_refused(name: str) -> None:
    """Nothing but a ReportError or a ValueError, which the command makes one line of."""
    whole = (OUTPUTS / name).read_text()
    for end in range(0, len(whole), 7):
        for is_output, read_text in BENCHMARKS:
            if is_output(whole[:end]):
                try:
                    read_text(whole[:end])
                except Exception as error:
                    assert type(error).__name__ in ("ReportError", "ValueError")


def test_imported_samples_have_a_page(tmp_path: Path) -> None:
    text = "".join(Checker(page(jobs([imported(tmp_path, OUTPUTS / "imb-2018.txt")]))).text)
    assert "Imported: as Intel MPI Benchmarks 2018 printed it" in text
    assert "imb-alltoall-4" in text


def test_csv_has_a_line_for_each_point(tmp_path: Path) -> None:
    records = [launch(), measurement(), point(1e-6, ranks=[0, 1]), point(2e-6, size=64)]
    file = write(tmp_path / "s.jsonl", records)
    done = CliRunner().invoke(app, ["export", str(file), "--to", "csv"])
    assert done.exit_code == 0
    rows = list(csv.DictReader(done.stdout.splitlines()))
    assert [float(row["median"]) for row in rows] == [1e-6, 2e-6]
    first = rows[0]
    assert (first["name"], first["bytes"], first["ranks"]) == ("ping-pong", "8", "0 1")
    assert (first["library"], first["under"], first["group"]) == (
        "MPICH Version: 4.0.2",
        "false",
        "point-to-point",
    )


@pytest.mark.parametrize(("form", "name"), [("osu", "osu-ping-pong-node-latency"),
                                           ("imb", "imb-ping-pong-node")])  # fmt: skip
def test_columns_of_others_can_be_read_as_theirs(tmp_path: Path, form: str, name: str) -> None:
    records = [
        *(launch(), measurement(), measurement("barrier")),
        *(point(1.25e-6, mean=1.5e-6), point(20e-6, size=65536, mean=25e-6)),
        point(3e-6, "barrier", 0, "all", mean=4e-6),
    ]
    file = write(tmp_path / "s.jsonl", records)
    printed = tmp_path / "printed.txt"
    done = CliRunner().invoke(app, ["export", str(file), "--to", form, "--out", str(printed)])
    assert done.exit_code == 0, done.output
    found = imported(tmp_path, printed)
    assert figures(found, name) == pytest.approx({8: 1.5e-6, 65536: 25e-6})
    assert len(found.points) == 3


def test_tables_are_of_samples_alone(tmp_path: Path) -> None:
    file = tmp_path / "report.json"
    file.write_text('{"schema": "haichi.report/1"}\n')
    done = CliRunner().invoke(app, ["export", str(file), "--to", "csv"])
    assert done.exit_code == BAD_INPUT
    assert "is haichi.report/1, not haichi.samples/1" in done.stderr
