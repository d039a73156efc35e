"""`haichi compare A B`: what it finds, what it doesn't, and what it refuses."""

from __future__ import annotations

import json
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest
from haichi.cli import app
from haichi.figures import a_a
from haichi.schema import schema_file
from synthetic_samples import launch, measurement, point, write
from typer.testing import CliRunner, Result

pytest.importorskip("scipy", reason="no SciPy: .venv/bin/pip install -r requirements/compare.txt")

from haichi.compare.samples import compare_sets
from haichi.compare.sets import read_set

SIZES = (8, 1024, 65536)
SLOWER, BAD_INPUT = 1, 2
Draw = Callable[..., Path]


@pytest.fixture
def draw(tmp_path: Path) -> Draw:
    """A folder of launches whose medians spread by 1.5 per cent; a share `bad` of them, drawn
    anew for each point, take three times as long."""
    noise = np.random.default_rng(11)

    def one(
        name: str,
        launches: int = 10,
        factor: dict[int, float] | None = None,
        spread: float = 0.015,
        bad: float = 0,
        **more: Any,
    ) -> Path:
        folder = tmp_path / name
        folder.mkdir()
        for number in range(launches):
            records = [launch(**more), measurement()]
            for size in SIZES:
                far = 3 if noise.random() < bad else 1
                median = 1e-6 * (1 + size / 1000) * float(np.exp(noise.normal(0, spread))) * far
                records.append(point(median * (factor or {}).get(size, 1), size=size))
            write(folder / f"{number}.jsonl", records)
        return folder

    return one


def compare(*words: str | Path) -> Result:
    return CliRunner().invoke(app, ["compare", *map(str, words)])


def found_in(*words: str | Path) -> dict[str, Any]:
    done = compare(*words, "--json")
    assert done.exit_code in (0, SLOWER), done.output
    document: dict[str, Any] = json.loads(done.stdout)
    return document


def verdicts(document: dict[str, Any]) -> dict[int, str]:
    return {each["bytes"]: each["verdict"] for each in document["points"]}


def test_nothing_is_found_where_nothing_differs(draw: Draw) -> None:
    done = compare(draw("a"), draw("b"))
    assert done.exit_code == 0
    assert "B against A at 3 points: 0 slower" in done.stdout


def test_what_is_slower_and_what_is_faster_are_found(draw: Draw, tmp_path: Path) -> None:
    a, b = draw("a"), draw("b", factor={1024: 1.2, 65536: 0.7})
    svg = tmp_path / "c.svg"
    done = compare(a, b, "--svg", svg)
    assert done.exit_code == SLOWER
    assert "1 slower (up to 1.2" in done.stdout
    document = found_in(a, b)
    jsonschema.validate(document, json.loads(schema_file("haichi.comparison/1").read_text()))
    assert verdicts(document) == {8: verdicts(document)[8], 1024: "slower", 65536: "faster"}
    assert verdicts(document)[8] in ("same", "unclear")
    slower = document["points"][1]
    assert slower["low"] <= slower["ratio"] <= slower["high"]
    assert slower["ratio"] == pytest.approx(1.2, rel=0.05)
    assert slower["superiority"] > 0.8
    assert slower["p"] < slower["p_corrected"] <= 0.01
    ElementTree.fromstring(svg.read_text())
    assert svg.read_text().count("<circle") >= 3


def test_the_other_way_round_it_is_faster_and_no_failure(draw: Draw) -> None:
    done = compare(draw("a", factor={8: 1.2}), draw("b"))
    assert done.exit_code == 0
    assert "1 faster" in done.stdout


def test_one_launch_on_a_side_is_said_and_nothing_is_significant(draw: Draw) -> None:
    a, b = draw("a", 1), draw("b", 1, factor=dict.fromkeys(SIZES, 5))
    done = compare(a, b)
    assert done.exit_code == 0
    assert "3 with one launch only" in done.stdout
    assert "3 points with one launch in a set: nothing of them is significant" in done.stdout
    assert {each["p"] for each in found_in(a, b)["points"]} == {None}


def test_launches_of_one_file_count_each(tmp_path: Path) -> None:
    def file(name: str, base: float) -> Path:
        records = [launch(), measurement()]
        for number in range(1, 11):
            records += [launch(number)] if number > 1 else []
            records.append(point(base * (1 + 0.001 * number), number=number))
        return write(tmp_path / name, records)

    document = found_in(file("a.jsonl", 1e-6), file("b.jsonl", 1.1e-6))
    assert document["a"]["launches"] == document["points"][0]["a_launches"] == 10
    assert verdicts(document) == {8: "slower"}


def test_too_few_launches_for_so_many_points_are_told(draw: Draw) -> None:
    done = compare(draw("a", 3), draw("b", 3, factor=dict.fromkeys(SIZES, 2)))
    assert done.exit_code == 0
    assert "too few launches: of 3 points at once none can come out significant; 6" in done.stdout


def test_noise_of_the_machine_widens_the_band(draw: Draw, tmp_path: Path) -> None:
    a, b = draw("a", spread=0.001), draw("b", factor={8: 1.06}, spread=0.001)
    noise = draw("noise", 20, spread=0.15)
    assert verdicts(found_in(a, b))[8] == "slower"
    document = found_in(a, b, "--noise", noise)
    assert verdicts(document)[8] != "slower"
    assert document["points"][0]["band"] > 0.06
    assert document["noise"]["launches"] == 20


def test_several_files_on_a_side_stand_around_a_colon(draw: Draw) -> None:
    a, b = sorted(draw("a").iterdir()), sorted(draw("b").iterdir())
    document = found_in(*a, ":", *b)
    assert document["a"]["launches"] == document["b"]["launches"] == 10


def test_what_differs_between_the_launches_is_told(draw: Draw) -> None:
    a = draw("a", started="2026-01-01T00:00:00Z")
    b = draw("b", started="2026-01-02T00:00:00Z", under=True, library="Open MPI v5.0.2")
    notes = "\n".join(found_in(a, b)["notes"])
    assert "MPI library: A has MPICH Version: 4.0.2, B Open MPI v5.0.2" in notes
    assert "haichi underneath: A has False, B True" in notes
    assert "did not take turns" in notes


def test_another_quantity_of_the_same_name_is_left_out(tmp_path: Path) -> None:
    files = [
        write(tmp_path / f"{formula}.jsonl", [
            launch(), measurement(formula=formula), measurement("barrier"),
            point(1e-6), point(1e-6, "barrier", 0, "all"),
        ])
        for formula in ("sample", "half")
    ]  # fmt: skip
    document = found_in(*files)
    assert [each["name"] for each in document["points"]] == ["barrier"]
    assert any("what a sample is differs: ping-pong" in note for note in document["notes"])


def test_cold_is_not_compared_with_hot(tmp_path: Path) -> None:
    files = [
        write(tmp_path / f"{name}.jsonl", [launch(), measurement(), point(1e-6), more])
        for name, more in (
            ("a", point(2e-6, buffers="cold", start="barrier", usual=False)),
            ("b", point(3e-6, buffers="cold", start="window", usual=False)),
        )
    ]
    document = found_in(*files)
    assert [each["name"] for each in document["points"]] == ["ping-pong"]
    assert "1 point of A alone" in document["notes"]
    other = write(tmp_path / "c.jsonl", [
        launch(), measurement(), point(4e-6, buffers="cold", start="barrier", usual=False),
    ])  # fmt: skip
    (made,) = found_in(files[0], other)["points"]
    assert (made["name"], made["ratio"]) == ("ping-pong (cold, barrier)", pytest.approx(2))


def test_points_of_all_ranks_need_as_many_ranks(tmp_path: Path) -> None:
    files = [
        write(tmp_path / f"{ranks}.jsonl", [
            launch(ranks=ranks), measurement(), measurement("barrier"),
            point(1e-6), point(1e-6, "barrier", 0, "all"),
        ])
        for ranks in (2, 4)
    ]  # fmt: skip
    assert [each["name"] for each in found_in(*files)["points"]] == ["ping-pong"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["a"], "1 files: give two files or folders"),
        (["a", "b", "c"], "3 files: give two files or folders"),
        (["a", ":", "b", ":", "c"], "in more than two sets"),
        ([":", "a"], "a set is empty"),
        (["a", "a"], "is in both sets"),
        (["a", "a", ":", "b"], "is named twice"),
        (["a", "none"], "none: no such file"),
        (["a", "empty"], "is a folder without"),
        (["a", "b", "--only", "moon"], "no such measurement or group"),
        (["a", "other"], "no point in common"),
        (["mpiexec", "-n", "2"], "a program stands behind --"),
        (["a", "b", "--repetitions", "2"], "--repetitions is for a program"),
        (["--json", "--", "true"], "--json is for samples"),
        (["a", "--", "true"], "not both"),
    ],
)
def test_bad_input_is_refused(
    draw: Draw, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], message: str
) -> None:
    draw("a", 1)
    draw("b", 1)
    (tmp_path / "empty").mkdir()
    write(tmp_path / "other", [launch(), measurement("barrier"), point(1e-6, "barrier", 0, "all")])
    monkeypatch.chdir(tmp_path)
    done = compare(*words)
    assert done.exit_code == BAD_INPUT
    assert message in " ".join(done.output.replace("│", " ").split())


def test_without_scipy_one_line_says_what_to_install(
    draw: Draw, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "scipy.stats", None)
    done = compare(draw("a", 2), draw("b", 2))
    assert done.exit_code == BAD_INPUT
    assert "needs SciPy: " in done.stderr and "-m pip install scipy" in done.stderr
    assert done.stderr.count("\n") == 1


def test_false_alarms_are_rare_and_five_per_cent_are_found(draw: Draw) -> None:
    """With one launch in twenty at three times its time."""
    found = a_a.measure(read_set([draw("pool", 60, bad=0.05)]), trials=200, slower=0.05, seed=3)
    assert found["false_alarms"] <= 0.01
    assert found["found"] >= 0.95


def test_five_per_cent_are_found_on_a_machine_that_runs_at_two_speeds(draw: Draw) -> None:
    """As its host moves its cores: two launches in five take 4.3 times as long."""
    pool = read_set([draw("pool", 60, spread=0.012)])
    slow = np.random.default_rng(4).random(60) < 0.4
    for row in pool.medians.values():
        row[:] = [value * (4.3 if late else 1) for value, late in zip(row, slow, strict=True)]
    found = a_a.measure(pool, trials=200, slower=0.05, seed=3)
    assert found["false_alarms"] <= 0.01
    assert found["found"] >= 0.95


def test_a_comparison_does_not_depend_on_its_other_points(draw: Draw) -> None:
    a, b = read_set([draw("a")]), read_set([draw("b", factor={8: 1.3})])
    whole = compare_sets(a, b).points[0]
    for each in (a, b):
        each.medians = {key: row for key, row in each.medians.items() if key[2] == 8}
    alone = compare_sets(a, b).points[0]
    assert (whole.ratio, whole.p) == (alone.ratio, alone.p)
    assert whole.p_corrected is not None and alone.p_corrected is not None
    assert whole.p_corrected > alone.p_corrected
