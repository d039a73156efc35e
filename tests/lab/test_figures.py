"""What a run proves: a fake place plays jobs that go wrong, and every one must be seen."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from haichi import mpi
from haichi.figures import (
    cases,
    comparison,
    hpio_network,
    network,
    one_node,
    record,
    trial,
    tuned_io,
)
from haichi.figures.cases import Plan
from haichi.figures.model import Case, Claim, Environment, Measurement, Samples
from haichi.figures.patterns import Hpio
from haichi.figures.places import OnLab, OnMachine
from haichi.figures.trial import DEFAULT, LIMIT, STOCK, Program, choice
from haichi_processes.runner import TIMED_OUT, Outcome

OPENMPI = mpi.Mpi("openmpi", "openmpi", Path("/bin/true"))
SHAPE = Hpio(2, 3, 8, 4)


def line(seconds: float = 1.0, wrong: int = 0) -> str:
    """What a measurement program prints."""
    results = [
        {"op": "write", "seconds": seconds, "wrong_bytes": wrong},
        {"op": "read", "seconds": seconds / 2, "wrong_bytes": 0},
    ]
    return json.dumps({"program": "hpio", "mpi": "Some MPI 1.2", "results": results}) + "\n"


@dataclass
class Fake:
    """A place whose job does what `play` says."""

    shared: Path
    play: Callable[[Path, Mapping[str, str]], Outcome]
    description: str = "nowhere"
    rate: str | None = "100mbit"
    seen: list[tuple[list[str], dict[str, str]]] = field(default_factory=list)
    nodes: int = 1

    def node_of_rank(self, ranks: int) -> list[int]:
        """In blocks."""
        return [rank * self.nodes // ranks for rank in range(ranks)]

    def run(
        self,
        which: mpi.Mpi,
        ranks: int,
        argv: Sequence[str],
        env: Mapping[str, str],
        timeout: float,
    ) -> Outcome:
        """Records the call and plays."""
        self.seen.append((list(argv), dict(env)))
        return self.play(Path(argv[argv.index("--file") + 1]), env)


def writes(
    data: np.ndarray | None = None, out: str | None = None, code: int = 0, report: bool = True
) -> Callable[[Path, Mapping[str, str]], Outcome]:
    """A job that leaves `data` (what HPIO should) and prints `out` (a good result)."""

    def play(file: Path, env: Mapping[str, str]) -> Outcome:
        (good() if data is None else data).tofile(file)
        if report and "HAICHI_REPORT" in env:
            Path(env["HAICHI_REPORT"]).write_text("{}")
        return Outcome(
            code, line() if out is None else out, "some\nlast words\n", 1.0, code == TIMED_OUT
        )

    return play


def good(gap: int = 0) -> np.ndarray:
    """HPIO's file, with `gap` between the regions."""
    x = np.arange(SHAPE.file_bytes, dtype=np.uint64)
    data = (1 + ((x * 2654435761 % 2**32) >> 24) % 255).astype(np.uint8)
    data[x % SHAPE.stride >= SHAPE.size] = gap
    return data


@pytest.fixture(autouse=True)
def launcher(monkeypatch: pytest.MonkeyPatch) -> None:
    """A build with a launcher in it."""
    monkeypatch.setattr(trial, "haichi_program", lambda: Path("/build/bin/haichi"))


def run(tmp_path: Path, play, variant: trial.Variant = DEFAULT) -> tuple[Case, Fake]:
    """The case after one run."""
    place = Fake(tmp_path, play)
    plan = Plan(place, 2, reports=tmp_path)
    program = Program("HPIO", OPENMPI, lambda file: ["hpio", "--file", str(file)])
    case, once = plan.make(program, variant, partial(cases.check_content, SHAPE), "hpio")
    once()
    return case, place


def test_a_good_run(tmp_path: Path) -> None:
    case, place = run(tmp_path, writes(), choice("x", layout="packed", order="rank", aggregators=4))
    assert case.problems == case.notes == []
    assert {op: s.seconds for op, s in case.operations.items()} == {"write": [1], "read": [0.5]}
    assert case.library == "Some MPI 1.2"
    argv, env = place.seen[0]
    assert argv[:3] == ["/build/bin/haichi", "run", "hpio"]
    assert env["HAICHI_IO_LAYOUT"] == "packed"
    assert env["HAICHI_IO_AGGREGATORS"] == "4"
    assert list(tmp_path.glob("*.dat")) == []


def test_stock_has_nothing_of_haichi(tmp_path: Path) -> None:
    case, place = run(tmp_path, writes(), STOCK)
    assert case.problems == []
    argv, env = place.seen[0]
    assert argv[0] == "hpio"
    assert not [name for name in env if name.startswith("HAICHI")]


WRONG = good()
WRONG[SHAPE.stride] ^= 255


@pytest.mark.parametrize(
    ("play", "problem"),
    [
        (writes(out="", code=9), "exit code 9: last words"),
        (writes(out="", code=TIMED_OUT), "no result after"),
        (writes(out='{"program": "hp'), "exit code 0"),
        (writes(out=line(wrong=3)), "3 wrong bytes in write"),
        (writes(code=1), "exit code 1: last words"),
        (writes(data=WRONG), "the file has 1 wrong bytes"),
        (writes(data=good()[:-1]), "the file has 1 wrong bytes"),
        (writes(data=good(gap=7)), "20 bytes that no rank gave were written"),
        (writes(report=False), "no run report: haichi did not act under the program"),
    ],
)
def test_a_bad_run_is_a_problem(tmp_path: Path, play, problem: str) -> None:
    case, _ = run(tmp_path, play)
    assert len(case.problems) == 1
    assert problem in case.problems[0]


def test_an_old_report_is_not_taken_for_this_runs(tmp_path: Path) -> None:
    (tmp_path / "hpio-openmpi-haichi.json").write_text("{}")
    case, _ = run(tmp_path, writes(report=False))
    assert case.problems


def test_what_stock_leaves_in_gaps_is_a_note(tmp_path: Path) -> None:
    case, _ = run(tmp_path, writes(data=good(gap=7)), STOCK)
    assert case.problems == []
    assert case.notes == ["wrote 20 bytes between the pieces that no rank gave"]


def test_a_library_that_hangs_after_the_result_is_a_note(tmp_path: Path) -> None:
    case, _ = run(tmp_path, writes(code=TIMED_OUT))
    assert case.problems == []
    assert case.notes == ["did not end by itself after its result was out"]


def test_files_are_compared_with_stocks(tmp_path: Path) -> None:
    reference, file = tmp_path / "reference", tmp_path / "file"

    def look(variant: str, content: bytes) -> list[str]:
        case = Case(mpi="m", library="", program="p", ranks=1, variant=variant, settings={})
        file.write_bytes(content)
        cases.check_same(reference, case, file)
        return case.problems

    assert look("haichi", b"a") == ["stock left no file to compare with"]
    assert look("stock", b"a") == []
    assert look("haichi", b"a") == []
    assert look("haichi", b"b") == ["the file differs from stock's"]
    assert look("stock", b"b") == ["the file differs from stock's"]


def test_cases_take_turns_and_a_broken_one_stops() -> None:
    order: list[str] = []

    def once(case: Case) -> None:
        order.append(case.variant)
        if case.variant == "b" and order.count("b") == 2:
            case.problems.append("broken")

    made = [Case(mpi="m", library="", program="p", ranks=1, variant=v, settings={}) for v in "abc"]
    trial.interleaved([(c, partial(once, c)) for c in made], 3, lambda text: None)
    assert "".join(order) == "abcabcac"


def sampled(name: str, variant: str, write: list[float], read: list[float], **more) -> Case:
    """A case with samples."""
    return Case(
        mpi=name,
        library="",
        ranks=more.get("ranks", 16),
        program=more.get("program", "p"),
        variant=variant,
        settings={},
        limit_s=more.get("limit_s"),
        operations={"write": Samples(seconds=write), "read": Samples(seconds=read)},
    )


def test_claims_of_the_hpio_network_measurement() -> None:
    made = [
        sampled("openmpi", "stock", [6, 7, 20], [4, 4, 4]),
        sampled("openmpi", "haichi", [3.5, 1, 9], [5, 5, 5], limit_s=1.4),
        sampled("openmpi", hpio_network.PACKED.name, [8], [8]),
        sampled("openmpi", hpio_network.SPREAD.name, [2], [2]),
    ]
    found = {c.what: c for c in hpio_network.claims(made)}
    write = found["openmpi: stock / haichi, write"]
    assert (write.ratio, write.reached) == (2.0, True)
    read = found["openmpi: stock / haichi, read"]
    assert (read.ratio, read.reached) == (0.8, False)
    limit = found["openmpi: haichi / wire limit, write"]
    assert (limit.ratio, limit.reached) == (pytest.approx(2.5), False)
    assert found["openmpi: packed / round robin, 4 aggregators, write"].ratio == 4.0
    window = found["openmpi: rank order / nd_rank_shift, 4 sends outstanding, write"]
    assert (window.ratio, window.reached) == (None, False)


def compared(
    name: str, times: tuple[float, float, float], ranks: int = 4, program: str = "p"
) -> list[Case]:
    """Stock, haichi and the limit."""
    variants = (STOCK.name, DEFAULT.name, LIMIT.name)
    return [
        sampled(name, variant, [t], [2 * t], ranks=ranks, program=program)
        for variant, t in zip(variants, times, strict=True)
    ]


def test_rows_compare_with_the_better_stock_and_the_own_limit() -> None:
    found = comparison.rows(compared("openmpi", (8, 4, 2)) + compared("mpich5", (6, 3, 1)))
    assert [(r.mpi, r.op) for r in found] == [
        ("openmpi", "write"),
        ("openmpi", "read"),
        ("mpich5", "write"),
        ("mpich5", "read"),
    ]
    assert [r.against_own for r in found] == [2, 2, 2, 2]
    assert [r.against_better for r in found] == [1.5, 1.5, 2, 2]
    assert [r.above_limit for r in found] == [2, 2, 3, 3]
    assert comparison.geometric_mean(found) == pytest.approx(3**0.5)


def test_rows_compare_like_with_like() -> None:
    made = compared("openmpi", (8, 4, 2)) + compared("mpich5", (1, 1, 1), ranks=2)
    made += compared("mpich5", (1, 1, 1), program="q")
    assert [r.better for r in comparison.rows(made) if r.mpi == "openmpi"] == [8, 16]


def test_a_row_without_stock_or_limit_has_no_ratio() -> None:
    (row, _) = comparison.rows([sampled("m", "haichi", [1], [1])])
    assert row.against_own is row.against_better is row.above_limit is None
    (row, _) = comparison.rows([sampled("m", "haichi", [3], [1], limit_s=2.0)])
    assert row.above_limit == 1.5
    (row, _) = comparison.rows([sampled("m", "haichi", [3], [1], limit_s=0.0)])
    assert row.above_limit is None
    assert comparison.geometric_mean([row]) is None


def test_claims_on_one_node() -> None:
    made = compared("openmpi", (8, 2, 1)) + compared("openmpi", (9, 10, 2), program="tiny")
    found = one_node.claims(comparison.rows(made), ["tiny"])
    assert [(c.ratio, c.reached) for c in found] == [
        (pytest.approx((4 * 0.9) ** 0.5), False),  # 3 is wanted of 4 ranks
        (0.9, False),
        (2, True),
        (5, True),
    ]
    assert "tiny" in found[1].what
    assert [c.direction for c in found] == ["at least", "at least", "at most", "at most"]


def test_claims_of_the_network_measurement() -> None:
    made = [
        sampled("openmpi", "stock", [6], [4], limit_s=1.0),
        sampled("openmpi", "haichi", [1.1], [5], limit_s=1.0),
        sampled("openmpi", "stock", [6], [6], program="free", limit_s=0.0),
        sampled("openmpi", "haichi", [2], [2], program="free", limit_s=0.0),
    ]
    limit, own, better = network.claims(comparison.rows(made))
    assert (limit.ratio, limit.reached) == (5.0, False)
    assert (own.ratio, own.reached) == (0.8, False)
    assert (better.ratio, better.reached) == (0.8, False)
    assert limit.what.endswith("(worst: openmpi, p, 16 ranks, read)")


def test_nothing_measured_reaches_nothing() -> None:
    assert not any(claim.reached for claim in network.claims([]))


def test_the_limit_runs_the_same_program_without_haichi(tmp_path: Path) -> None:
    case, place = run(tmp_path, writes(report=False), LIMIT)
    assert case.problems == []
    argv, _ = place.seen[0]
    assert argv == ["hpio", "--file", str(tmp_path / "openmpi-limit.dat"), *LIMIT.arguments]


def test_trials_of_a_pattern(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cases, "program_of", lambda name, which: f"{name}-{which.name}")
    place = Fake(tmp_path, writes(), nodes=2)
    plan = Plan(place, 2)
    made = cases.pattern_trials(
        plan, SHAPE, [OPENMPI], (STOCK, DEFAULT, LIMIT), title="t", limit=cases.limit_of_best
    )
    for case, once in made:
        once()
        assert (case.program, case.problems) == ("t", [])
        # One piece of the file, of which each node has half: 24 bytes cross, in or out.
        assert case.limit_s == pytest.approx(12 / 12.5e6, rel=0.05)
    assert [argv[0] for argv, _ in place.seen] == ["hpio-openmpi", "/build/bin/haichi"] + [
        "hpio-openmpi"
    ]
    assert not list(tmp_path.glob("*.dat"))


def test_where_ranks_are() -> None:
    class Four:
        nodes = tuple(SimpleNamespace(name=f"node{number}") for number in range(4))

    assert OnLab(Four()).node_of_rank(6) == [0, 0, 1, 1, 2, 2]  # type: ignore[arg-type]
    assert OnLab(Four(), "RR").node_of_rank(6) == [0, 1, 2, 3, 0, 1]  # type: ignore[arg-type]
    uneven = OnLab(Four(), "RR", (1, 3, 1, 2))  # type: ignore[arg-type]
    assert uneven.node_of_rank(7) == [0, 1, 2, 3, 1, 3, 1]
    assert replace(uneven, mapping="BK").node_of_rank(7) == [0, 1, 1, 1, 2, 3, 3]
    listed = replace(uneven, hosts=("node2", "node0", "node2"))
    assert listed.node_of_rank(3) == [2, 0, 2]
    assert OnMachine(Path("/dev/shm/x")).node_of_rank(3) == [0, 0, 0]


def test_the_table_has_every_row() -> None:
    console = record.console(stderr=True)
    with console.capture() as captured:
        console.print(comparison.table(comparison.rows(compared("openmpi", (8, 4, 2)))))
    lines = [line for line in captured.get().splitlines() if "openmpi" in line]
    assert len(lines) == 2
    assert all(word in lines[0] for word in ("write", "8.0000", "4.0000", "2.00"))


def test_claim_at_most() -> None:
    assert Claim(what="", ratio=1.3, wanted=1.3, direction="at most").reached
    assert not Claim(what="", ratio=1.31, wanted=1.3, direction="at most").reached


def test_measurement_is_saved_with_its_samples(tmp_path: Path) -> None:
    about = Environment(
        haichi="0", kernel="6", cores=2, load_before=0, started="", place="", yields=""
    )
    made = Measurement(
        what="w", repetitions=1, environment=about, cases=[sampled("m", "stock", [2, 1, 4], [1])]
    )
    made.save(tmp_path / "new" / "file.json")
    saved = json.loads((tmp_path / "new" / "file.json").read_text())
    assert saved["schema"] == "haichi.measure/1"
    assert saved["cases"][0]["operations"]["write"] == {
        "seconds": [2, 1, 4],
        "median": 2,
        "spread": [1, 4],
    }
    assert made.valid
    made.cases[0].problems.append("broken")
    assert not made.valid


def test_a_choice_is_held_against_what_is_set_and_the_best_fixed_pair() -> None:
    made = [
        sampled("openmpi", DEFAULT.name, [2.0, 2.2, 2.4], [1.0]),
        sampled("openmpi", tuned_io.TRIALS, [3.3, 1.1], [1.2, 1.0]),
        sampled("openmpi", tuned_io.TUNED, [1.1], [1.0]),
        sampled("openmpi", "pairwise,4", [1.0], [1.5]),
        sampled("openmpi", "rank,32", [4.0], [4.0]),
    ]
    found = tuned_io.claims("HPIO", made)
    assert [claim.ratio for claim in found] == pytest.approx([2.0, 1 / 1.1, 1.0, 1.0, 1.0, 1.1])
    assert "HPIO, write: best fixed (pairwise,4) / tuned" in found[1].what
    assert f"HPIO, read: best fixed ({DEFAULT.name}) / tuned" in found[4].what


def test_all_pairs_of_a_cell_have_its_settings(tmp_path: Path) -> None:
    for exchange in tuned_io.EXCHANGES:
        made = tuned_io.variants(exchange, tmp_path)
        assert [each.name for each in made[:2]] == [DEFAULT.name, tuned_io.TUNED]
        assert len({each.name for each in made}) == 2 + len(tuned_io.PAIRS)
        assert all(exchange.settings.items() <= each.settings.items() for each in made)
        assert ["HAICHI_IO_TUNE" in each.settings for each in made[:3]] == [False, True, False]
