"""`haichi record`: what it says of records that are known, and of what is wrong."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import recorded
from haichi.cli import app
from haichi.paths import ROOT
from haichi.record.handled import HANDLED
from haichi.record.model import Site
from haichi.record.read import ranks_of, read
from haichi.record.sites import name_sites
from haichi.record.view import View
from haichi.report.load import ReportError
from haichi.schema import schema_file
from haichi_processes import runner
from page_checker import Checker
from typer.testing import CliRunner


def run(*words: str | Path) -> tuple[int, str, str]:
    done = CliRunner().invoke(app, ["record", *map(str, words)])
    return done.exit_code, done.stdout, done.stderr


def usage(path: Path) -> Any:
    code, out, error = run(path, "--json")
    assert code == 0, error
    document = json.loads(out)
    schema = json.loads(schema_file("haichi.usage/1").read_text())
    jsonschema.Draft202012Validator(schema).validate(document)
    return document


@pytest.fixture
def small(tmp_path: Path) -> Path:
    return recorded.small(tmp_path / "r.jsonl")


def test_the_made_up_record_follows_the_schema(small: Path) -> None:
    first, *rest = [json.loads(line) for line in small.read_text().splitlines()]
    schema = json.loads(schema_file("haichi.record/1").read_text())
    jsonschema.Draft202012Validator(schema).validate({"head": first, "records": rest})


def test_says_why_more_than_all_time_is_in_mpi(small: Path, tmp_path: Path) -> None:
    """Threads that call MPI at once spend more than the time there is."""
    calls = recorded.call("0", "MPI_Recv", 10, 15.0, bytes=8, comm=0)
    path = recorded.write(
        tmp_path / "threads.jsonl",
        *(recorded.head(1, 1), recorded.world(1), recorded.rank(0), calls, recorded.end(1)),
    )
    assert "(150 %, of its threads together)" in run(path)[1]
    assert "threads together" not in run(small)[1]


def test_sums_by_function_and_size(small: Path) -> None:
    found = usage(small)
    times = {each["name"]: (each["calls"], each["seconds"]) for each in found["functions"]}
    assert times == {
        "Allreduce": (200, pytest.approx(9.5)),
        "Send": (400, pytest.approx(4.0)),
        "Alltoall": (40, pytest.approx(1.0)),
    }
    assert [each["name"] for each in found["functions"]] == ["Allreduce", "Send", "Alltoall"]
    assert [(each["name"], each["size"]) for each in found["sizes"]] == [
        ("Allreduce", 8),
        ("Send", 65536),
        ("Alltoall", 1024),
    ]
    assert found["mpi_s"] == pytest.approx(16)  # the ranks' own sums tell more than the calls
    assert found["functions"][1]["least_s"] == pytest.approx(2.0)
    assert found["functions"][0]["slowest_s"] == pytest.approx(3.0)


def test_who_comes_last_waits_for_nobody(small: Path) -> None:
    found = usage(small)
    assert found["functions"][0]["waiting_s"] == pytest.approx(3 * 2.5)
    assert found["waiting_s"] == pytest.approx(7.5)


def test_waiting_in_barriers_was_measured(tmp_path: Path) -> None:
    lines = [
        recorded.call("0", "MPI_Bcast", 5, 2.0, bytes=8, comm=0, wait_s=0.5),
        recorded.call("1-3", "MPI_Bcast", 5, 2.0, bytes=8, comm=0, wait_s=1.5),
    ]
    ranks = [recorded.rank(number) for number in range(4)]
    path = tmp_path / "r.jsonl"
    recorded.write(path, recorded.head(sync=True), recorded.world(), ranks, lines, recorded.end())
    assert usage(path)["waiting_s"] == pytest.approx(5.0)


def test_a_root_does_not_tell_what_others_wait(tmp_path: Path) -> None:
    lines = [
        recorded.call("0", "MPI_Bcast", 5, 0.1, bytes=8, comm=0),
        recorded.call("1-3", "MPI_Bcast", 5, 2.0, bytes=8, comm=0),
    ]
    ranks = [recorded.rank(number) for number in range(4)]
    path = recorded.write(
        tmp_path / "r.jsonl", recorded.head(), recorded.world(), ranks, lines, recorded.end()
    )
    assert usage(path)["waiting_s"] == 0
    assert "not told; record with --sync" in run(path)[1]


def test_traffic_by_node(small: Path) -> None:
    found = usage(small)
    assert found["node_bytes"] == [[6553600, 6553600], [6553600, 6553600]]
    out = run(small)[1]
    assert "25.0 MiB, of these 12.5 MiB between nodes (50 %)" in out
    assert "Rank to rank" in out


def test_what_haichi_can_take(small: Path) -> None:
    found = usage(small)
    assert (found["handled_calls"], found["handled_s"]) == (40, pytest.approx(1.0))
    assert [each["handled"] for each in found["functions"]] == [False, False, True]


def test_the_functions_that_haichi_takes_are_those_of_its_list() -> None:
    text = (ROOT / "src" / "preload" / "functions.txt").read_text()
    taken = re.findall(r"^hook MPI_(\w+)(?:\[_c\])? +by (\w+)$", text, re.M)
    assert {name for name, taker in taken if taker != "new_communicator"} == HANDLED


def test_the_page_is_whole_and_sufficient_to_itself(small: Path, tmp_path: Path) -> None:
    out = tmp_path / "page.html"
    code, _, error = run(small, "-o", out)
    assert code == 0, error
    checker = Checker(out.read_text())
    assert not checker.open
    assert [address for address in checker.addresses if address != "data:,"] == []
    assert checker.unscoped == 0 and not checker.handlers
    text = " ".join(checker.text)
    for words in ("Time by function", "Who sends to whom", "Rank to rank", "Who is where"):
        assert words in text
    assert "Bytes exchanged from rank to rank, 4 ranks: 25.0 MiB in all" in text


def test_the_page_has_what_is_predicted(small: Path, tmp_path: Path) -> None:
    out, machine = tmp_path / "page.html", ROOT / "machines" / "lab-4-nodes.json"
    code, _, error = run(small, "-o", out, "--machine", machine)
    assert code == 0, error
    checker = Checker(out.read_text())
    assert not checker.open and checker.unscoped == 0
    text = " ".join(checker.text)
    for words in (
        "What it would take on the lab",
        "ping-pong at node",
        "latency for 5 %",
        "What would make it faster",
    ):
        assert words in text
    code, _, error = run(small, "--machine", machine)
    assert code == 2 and "--machine is for the page of -o" in error


def test_a_place_is_named_by_debug_information(tmp_path: Path) -> None:
    compiler = shutil.which("cc")
    if compiler is None or shutil.which("addr2line") is None or shutil.which("nm") is None:
        pytest.skip("no cc, nm or addr2line here (apt-get install gcc binutils)")
    source = tmp_path / "app.c"
    source.write_text(
        "int other(void);\nint solve(void) {\n  return other() + 1;\n}\n"
        "int other(void) { return 2; }\nint main(void) { return solve(); }\n"
    )
    for name, flags in (("moved", ["-pie", "-fPIE"]), ("fixed", ["-no-pie"])):
        made = tmp_path / name
        runner.run([compiler, "-g", "-O0", *flags, source, "-o", made], timeout=60)
        listed = runner.run(["nm", str(made)], timeout=60).out
        (address,) = re.findall(r"^([0-9a-f]+) T solve$", listed, re.M)
        # Relative to where the object begins, as a linker's map of the process has it.
        offset = int(address, 16) % 0x400000 + 12
        named = name_sites([Site(kind="site", id=7, object=str(made), offset=offset)])
        assert named.words == {7: "solve (app.c:3)"}, name
        assert named.notes == []


def test_an_object_that_is_gone_is_an_offset(small: Path) -> None:
    found = usage(small)
    assert found["places"][0]["name"] == "app+0x1234: Allreduce"
    assert "places in app are offsets: 1 object of the program not here" in found["notes"]


def test_without_addr2line_places_are_offsets(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    assert any("binutils" in note for note in usage(small)["notes"])


def test_a_record_that_is_cut_off_says_what_it_can(small: Path) -> None:
    text = small.read_text().rstrip("\n")
    lines = text.split("\n")
    small.write_text("\n".join(lines[:-2]) + "\n" + lines[-2][:20])
    found = usage(small)
    assert found["functions"][0]["name"] == "Allreduce"
    assert any(note.startswith("the record is cut off") for note in found["notes"])


def test_ranks_that_are_missing_are_told(tmp_path: Path) -> None:
    path = recorded.write(
        tmp_path / "r.jsonl",
        recorded.head(),
        recorded.world(),
        [recorded.rank(0), recorded.rank(2, finalized=False)],
        recorded.end(3),
    )
    notes = read(path).notes
    assert notes[0] == "2 ranks of 4 left nothing (ranks 1, 3): sums are without them"
    assert notes[1].startswith("3 ranks wrote, and 2 are there")
    assert notes[2].startswith("rank 2 did not come to MPI_Finalize")


def test_ranks_that_disagree_are_told(tmp_path: Path) -> None:
    path = recorded.write(
        tmp_path / "r.jsonl",
        recorded.head(2, 1),
        recorded.world(2),
        [recorded.rank(0), recorded.rank(1)],
        recorded.call("0", "MPI_Barrier", 5, 1.0, comm=0),
        recorded.call("1", "MPI_Barrier", 4, 0.5, comm=0),
        recorded.end(2),
    )
    record = read(path)
    assert record.notes == [
        "ranks disagree about MPI_Barrier on communicator 0: rank 1 made 4, rank 0 5; its waiting "
        "is not told"
    ]
    assert View(record, name_sites([])).waiting == 0


HEAD = json.dumps(recorded.head())
BAD = {
    "": "is empty: the run ended before it wrote its record; repeat it",
    '{"kind":': "has no whole line",
    "not JSON\n": ":1: is no haichi.record/1: give a file that haichi run --record wrote",
    '{"schema":"haichi.record/2"}\n': "is haichi.record/2, and this haichi reads haichi.record/1",
    '{"schema":"haichi.report/1"}\n': "is haichi.report/1, not haichi.record/1",
    "{}\n": "is JSON without a schema, not haichi.record/1",
    HEAD + "\nx\n": ":2: is not JSON",
    HEAD + "\n{}\n": ":2: has no kind",
    HEAD + "\n" + HEAD + "\n": ":2: a second record begins",
    HEAD + '\n{"kind":"rank","rank":9,"wall_s":1}\n': ":2: names rank 9, and the job has 4",
    HEAD
    + '\n{"kind":"rank","rank":1,"wall_s":-1}\n': ":2: does not follow haichi.record/1: wall_s",
    HEAD + '\n{"kind":"communicator","id":0,"members":"3-1"}\n': ':2: "3-1" is not a list of ranks',
    json.dumps(recorded.head(4) | {"ranks": 5}) + "\n": "the placement has 4 ranks, the job 5",
}


@pytest.mark.parametrize("text", BAD, ids=range(len(BAD)))
def test_what_is_wrong_is_one_line(tmp_path: Path, text: str) -> None:
    path = tmp_path / "bad.jsonl"
    path.write_text(text)
    code, out, error = run(path)
    assert (code, out) == (2, "")
    assert error.startswith(f"haichi record: {path}")
    assert error.count("\n") == 1 and BAD[text] in error


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    code, _, error = run(tmp_path / "none.jsonl")
    assert code == 2 and "no such file or directory; give a file" in error


def test_lines_of_a_newer_haichi_are_passed_over(small: Path) -> None:
    text = small.read_text()
    small.write_text(text.replace("\n", '\n{"kind":"weather","sun":true}\n', 1))
    assert usage(small)["calls"] == 640


def test_members_are_in_the_order_of_the_communicator() -> None:
    assert ranks_of("4-6,0,2") == [4, 5, 6, 0, 2]
    with pytest.raises(ValueError, match="is not a list of ranks"):
        ranks_of("4,")


def test_two_lines_of_a_rank_are_refused(tmp_path: Path) -> None:
    path = recorded.write(tmp_path / "r.jsonl", recorded.head(), recorded.rank(1), recorded.rank(1))
    with pytest.raises(ReportError, match="rank 1 has a second line"):
        read(path)
