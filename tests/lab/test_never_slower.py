"""What is drawn is legal and the same each time, ratios say what samples say, and a start that goes
wrong is a result."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import mpis
import pytest
from haichi import mpi
from haichi.figures import never_slower, never_slower_draw, never_slower_figures, trial
from haichi.figures import never_slower_picture as picture
from haichi.figures import never_slower_start as start
from haichi.figures.never_slower_draw import LAB, MPIS, ONE, Pattern, Where, pattern_of
from haichi.figures.never_slower_figures import Ratio
from haichi.figures.never_slower_start import AGAIN, HAICHI, STOCK, Row
from haichi_processes.runner import TIMED_OUT, Outcome
from test_figures_cli import figures

OPENMPI = mpi.Mpi("openmpi", "openmpi", Path("/bin/true"))
EVERYWHERE = (*ONE, *LAB)
TINY = pattern_of("tiny", "call=at_all shape=segmented view=no piece=64")


# What is drawn


def test_named_patterns_are_many_and_legal() -> None:
    named = never_slower_draw.named()
    assert len({p.name for p in named}) == len(named) >= 60
    assert [
        (p.name, never_slower_draw.problem(p)) for p in named if never_slower_draw.problem(p)
    ] == []


@pytest.mark.parametrize("seed", [1, 2])
def test_draws_are_legal_and_bounded(seed: int) -> None:
    for number in range(1000):
        drawn = never_slower_draw.draw(seed, number, EVERYWHERE, MPIS)
        assert never_slower_draw.problem(drawn.pattern) is None, drawn
        limits = never_slower_draw.NETWORK if drawn.where.lab else never_slower_draw.ONE_NODE
        assert never_slower_draw.volume(drawn.pattern, drawn.where.ranks) <= limits.bytes, drawn


def test_a_draw_is_the_same_alone() -> None:
    for number in range(200):
        drawn = never_slower_draw.draw(7, number, EVERYWHERE, MPIS)
        assert drawn == never_slower_draw.draw(7, number, (drawn.where,), (drawn.mpi,))
    seen = {str(never_slower_draw.draw(s, 3, EVERYWHERE, MPIS).pattern) for s in range(20)}
    assert len(seen) == 20


@pytest.mark.parametrize("seed", [1, 2])
def test_sparse_draws_are_legal_and_bounded_and_have_large_holes(seed: int) -> None:
    drawn = [never_slower_draw.draw_sparse(seed, n, EVERYWHERE, MPIS) for n in range(500)]
    for each in drawn:
        assert never_slower_draw.problem(each.pattern) is None, each
        limits = never_slower_draw.NETWORK if each.where.lab else never_slower_draw.ONE_NODE
        assert never_slower_draw.volume(each.pattern, each.where.ranks) <= limits.bytes, each
    assert {d.where.ranks for d in drawn if not d.where.lab} == {*never_slower_draw.SPARSE_RANKS}
    assert {d.pattern.words["shape"] for d in drawn} == {"sparse", "strided", "irregular"}
    gaps = [d.pattern.number("gap") for d in drawn]
    assert min(gaps) < 64
    assert max(gaps) > 512 << 20
    assert sum(gap > 64 << 10 for gap in gaps) > 150


def test_a_sparse_draw_is_the_same_alone() -> None:
    for number in range(200):
        drawn = never_slower_draw.draw_sparse(7, number, EVERYWHERE, MPIS)
        places = (drawn.where,) if drawn.where.lab else ONE
        assert drawn == never_slower_draw.draw_sparse(7, number, places, (drawn.mpi,))


def test_draws_are_of_all_kinds() -> None:
    drawn = [never_slower_draw.draw(1, number, EVERYWHERE, MPIS) for number in range(500)]
    assert {str(d.where) for d in drawn} == {"1x2", "1x4", "4x4", "8x2"}
    assert {d.pattern.words.get("call") for d in drawn} == {*never_slower_draw.CALLS, None}
    assert {d.pattern.words.get("shape") for d in drawn} == {*never_slower_draw.SHAPES, None}
    assert {d.pattern.words.get("op") for d in drawn} == {*never_slower_draw.OPS, None}


@pytest.mark.parametrize(
    "text",
    [
        "call=all shape=segmented view=no piece=8",
        "call=at_all shape=irregular view=no piece=8",
        "call=ordered shape=segmented piece=8",
        "call=iat_all shape=strided views=each depth=2 piece=8",
        "call=all shape=block array=8x8 unknowns=3,1 piece=8",
        "op=dance",
    ],
)
def test_what_is_not_legal_is_known(text: str) -> None:
    assert never_slower_draw.problem(pattern_of("x", text))


def test_bounds_leave_what_is_small() -> None:
    assert never_slower_draw.bounded(TINY, LAB[0]) == TINY
    huge = pattern_of(
        "huge", "call=all shape=strided piece=4194304 pieces=1000 calls=1000 opens=50"
    )
    for where in EVERYWHERE:
        made = never_slower_draw.bounded(huge, where)
        assert made.number("piece") <= 4194304
        limits = never_slower_draw.NETWORK if where.lab else never_slower_draw.ONE_NODE
        assert never_slower_draw.volume(made, where.ranks) <= limits.bytes


# What samples say


def row_of(stock: list[float], again: list[float], haichi: list[float]) -> Row:
    """A row with seconds of writes."""
    row = Row(TINY, ONE[1], OPENMPI)
    for variant, seconds in ((STOCK, stock), (AGAIN, again), (HAICHI, haichi)):
        for each in seconds:
            start.add(row.cases[variant], {"results": [{"op": "write", "seconds": each}]})
        row.starts = max(row.starts, len(seconds))
    return row


def ratio_of(*samples: list[float]) -> Ratio:
    """The only one."""
    (ratio,) = never_slower_figures.ratios([row_of(*samples)])
    return ratio


def test_ratios_are_of_medians() -> None:
    ratio = ratio_of([2, 4, 3], [3, 3, 6], [1, 2, 1.5])
    assert ratio.value == 2
    assert ratio.noise == 1
    assert never_slower_figures.fastest(ratio) == 2


def test_slower_is_said_where_no_start_contradicts() -> None:
    assert ratio_of([1, 1, 1], [1, 1, 1], [2, 2, 2]).surely_below(0.9)
    assert not ratio_of([1, 1, 2], [1, 2, 1], [2, 1, 2]).surely_below(0.9)
    # One outlier of stock's is not looked at, two are.
    assert ratio_of([1, 1, 9], [1, 1, 1], [2, 2, 2]).surely_below(0.9)
    assert not ratio_of([1, 1, 9], [9, 1, 1], [2, 2, 2]).surely_below(0.9)
    # Two starts are not enough to be sure.
    assert not ratio_of([1, 1], [1, 1], [2, 2]).surely_below(0.9)


def test_a_start_counts_by_the_mean_of_its_rounds() -> None:
    row = row_of([], [], [])
    rounds = [{"op": "write", "seconds": s, "calls_s": s / 2} for s in (3.0, 1.0, 2.0)]
    start.add(row.cases[STOCK], {"results": rounds})
    medians = {op: samples.median for op, samples in row.cases[STOCK].operations.items()}
    assert medians == {
        "write": 2,
        "write fastest": 1,
        "write calls": 1,
        "write calls fastest": 0.5,
    }


def test_claims_and_suspects() -> None:
    good = [row_of([1, 1, 1], [1, 1, 1], [1, 1, 1]) for _ in range(99)]
    found = never_slower_figures.claims(never_slower_figures.ratios(good), 0)
    assert [claim.reached for claim in found] == [True, True, True]
    slow = row_of([1, 1, 1], [1, 1, 1], [2, 2, 2])
    assert never_slower_figures.suspects([*good, slow]) == [slow]
    share, below, failed = never_slower_figures.claims(
        never_slower_figures.ratios([*good, slow, slow]), 1
    )
    assert (share.ratio, share.reached) == (pytest.approx(99 / 101), False)
    assert (below.ratio, below.reached) == (2, False)
    assert not failed.reached


def test_no_more_is_asked_than_stock_reaches_against_itself() -> None:
    # Half of the ratios stock / stock are below: 0.5, less two standard errors of 0.05.
    noisy = [row_of([1], [2], [1.4]), row_of([2], [1], [1.6])] * 100
    share = never_slower_figures.claims(never_slower_figures.ratios(noisy), 0)[0]
    assert (share.wanted, share.ratio) == (pytest.approx(0.4), 0.5)
    assert share.reached


def test_memory_is_compared_at_its_peak() -> None:
    rows = [row_of([1], [1], [1]) for _ in range(3)]
    for row, more in zip(rows, (500, 100, 7000), strict=True):
        row.peaks = {STOCK: 900, AGAIN: 1000, HAICHI: 1000 + more}
    assert [kib for kib, _ in never_slower_figures.more_memory(rows)] == [100, 500, 7000]


def test_an_interrupt_ends_with_what_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []

    def once(row: Row, place: object, repetitions: int, yields: str) -> None:
        if len(done) == 2:
            raise KeyboardInterrupt
        done.append(row.pattern.name)
        row.starts += 1

    monkeypatch.setattr(mpi, "find", lambda name: OPENMPI)
    monkeypatch.setattr(start, "measure", once)
    asked = never_slower.Asked(mpis=["openmpi"], places=ONE[:1])
    measurement, rows = never_slower.measure(asked, lambda text: None)
    assert [row.pattern.name for row in rows] == done
    assert len(measurement.cases) == 6


def test_nothing_measured_reaches_nothing() -> None:
    assert not all(claim.reached for claim in never_slower_figures.claims([], 0))


def test_the_picture_has_both_distributions() -> None:
    text = picture.picture("Stock ÷ haichi", [0.01, 1, 4, 100], [0.98, 1.02])
    root = ET.fromstring(text)
    words = " ".join(node.text or "" for node in root.iter())
    assert "stock ÷ haichi: 4 ratios, median 2.50" in words
    assert "worst 0.01, 75.0 % at least 0.97" in words
    assert "stock ÷ stock: 2 ratios" in words


# Starts


@dataclass
class Fake:
    """A place that answers as told."""

    shared: Path
    answers: Mapping[bool, tuple[int, str]]  # by whether it is under haichi
    seen: list[list[str]] = field(default_factory=list)

    def run(
        self,
        which: mpi.Mpi,
        ranks: int,
        argv: Sequence[str],
        env: Mapping[str, str],
        timeout: float,
    ) -> Outcome:
        """Records and answers."""
        self.seen.append(list(argv))
        code, out = self.answers["run" in argv]
        return Outcome(code, out, "first\nlast words\n", 1.0, code == TIMED_OUT)


def result(rounds: int = 2) -> str:
    """What io-pattern prints."""
    entry = [{"op": op, "seconds": 1.0, "calls_s": 0.5} for op in ["write"] * rounds + ["read"]]
    return json.dumps({"program": "io-pattern", "mpi": "Some MPI", "results": entry}) + "\n"


@pytest.fixture
def built(monkeypatch: pytest.MonkeyPatch) -> None:
    """A build with all programs."""
    monkeypatch.setattr(trial, "haichi_program", lambda: Path("/build/bin/haichi"))
    monkeypatch.setattr(start, "program_of", lambda name, which: f"{name}-{which.name}")


@pytest.mark.usefixtures("built")
def test_all_variants_make_as_many_rounds_in_turns(tmp_path: Path) -> None:
    place = Fake(tmp_path, {False: (0, result()), True: (0, result())})
    row = Row(TINY, ONE[0], OPENMPI)
    start.measure(row, place, 3, "ucx")  # type: ignore[arg-type]
    assert ["h" if "run" in argv else "s" for argv in place.seen] == list("shshssssh")
    file = str(tmp_path / "pattern")
    assert place.seen[0] == ["io-pattern-openmpi", file, "10", "0.1", *TINY.text()]
    assert all("2,1" in argv for argv in place.seen[1:])
    assert [len(row.cases[v].operations["write"].seconds) for v in start.VARIANTS] == [3, 3, 3]


@pytest.mark.usefixtures("built")
@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ((3, ""), "exit code 3: last words"),
        ((TIMED_OUT, ""), "no result after 30 s: last words"),
        ((3, result()), "exit code 3 after its result was out"),
    ],
)
def test_what_fails_under_haichi_is_a_result(
    tmp_path: Path, answer: tuple[int, str], text: str
) -> None:
    place = Fake(tmp_path, {False: (0, result()), True: answer})
    row = Row(TINY, ONE[0], OPENMPI)
    start.measure(row, place, 3, "ucx")  # type: ignore[arg-type]
    failed = never_slower_figures.failures([row])
    assert len(failed) == 2  # it is not tried for ever
    assert text in failed[0][1]
    assert not never_slower_figures.claims([], len(failed))[2].reached


@pytest.mark.usefixtures("built")
def test_what_stock_cannot_do_is_not_held_against_haichi(tmp_path: Path) -> None:
    place = Fake(tmp_path, {False: (1, ""), True: (1, "")})
    row = Row(TINY, ONE[0], OPENMPI)
    start.measure(row, place, 1, "ucx")  # type: ignore[arg-type]
    assert never_slower_figures.failures([row]) == []
    assert never_slower_figures.ratios([row]) == []


# The command


def test_what_runs_one_alone() -> None:
    asked = never_slower.Asked(mpis=MPIS, places=EVERYWHERE, draws=500, seed=9)
    row = Row(Pattern("draw-17", {"op": "none"}), Where(4, 16), OPENMPI)
    assert never_slower.alone(row, asked) == (
        "./haichi figures never-slower --only draw-17 --random --seed 9 --nodes 4x4 --mpi openmpi"
    )
    assert [str(w) for w in never_slower.places_of(["one", "4x4"], [4])] == ["1x4", "4x4"]


def test_what_is_asked_for_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mpi, "find", lambda name: mpi.Mpi(name, name, Path("/bin/true")))

    def names(*only: str, draws: int = 0) -> list[str]:
        asked = never_slower.Asked(
            mpis=["openmpi"], places=ONE[:1], named=not draws, draws=draws, only=only
        )
        return [row.pattern.name for row in never_slower.rows_of(asked)]

    # A whole name is that one alone, a part all that have it.
    assert names("bytes-64") == ["bytes-64"]
    assert names("btio-s", "ior-hard") == ["btio-steps", "btio-small", "ior-hard"]
    assert len(names()) == len(never_slower_draw.named())
    # The only draw need not be among the first.
    assert names("draw-1000", draws=5) == ["draw-1000"]
    assert names(draws=3) == ["draw-0", "draw-1", "draw-2"]


@pytest.mark.parametrize(
    ("words", "text"),
    mpis.slow_after(
        1,
        [
            (["--nodes", "3x3"], "--nodes 3x3: use one of 1x2, 1x4, 4x4, 8x2, one, lab"),
            (["--ranks", "3"], "--ranks 3: use 2 or 4"),
            (["--only", "nonsense"], "--only nonsense: no pattern has that in its name"),
        ],
    ),
)
def test_what_is_not_known_is_refused_in_one_line(words: list[str], text: str) -> None:
    done = figures("never-slower", "--list", *words)
    assert done.returncode == 2
    assert done.stderr.startswith(f"haichi figures: {text}")


@pytest.mark.slow
def test_the_programs_know_every_word(mpi: mpis.Mpi, tmp_path: Path) -> None:
    """Each named pattern of one part of the table, made small, and some draws run on stock."""
    patterns = [never_slower_draw.bounded(p, LAB[0]) for p in never_slower_draw.named()[::4]]
    patterns += [never_slower_draw.draw(5, n, LAB, MPIS).pattern for n in range(15)]
    for pattern in patterns:
        name = "comm-pattern" if pattern.communicates else "io-pattern"
        first = "0" if pattern.communicates else str(tmp_path / "file")
        argv = [mpi.bench(name), first, "1", "1", *pattern.text()]
        done = mpi.run(2, argv, mpi.stock(), timeout=60)
        assert done.returncode == 0, f"{pattern}\n{done.stderr}"
        found = json.loads(done.stdout.splitlines()[-1])
        assert [e["op"] for e in found["results"]] in (["write", "read"], ["run"], [])
        assert all(e["seconds"] > 0 for e in found["results"])
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("words", ["sendrecv grid=open", "cube", "graph", "fft rows=2", "btio"])
def test_what_advice_is_checked_with_ends(mpi: mpis.Mpi, tmp_path: Path, words: str) -> None:
    asked = [f"op={word}" if n == 0 else word for n, word in enumerate(words.split())]
    file = tmp_path / "written"
    asked += [f"file={file}"] if words == "btio" else []
    argv = [mpi.bench("comm-pattern"), "0", "2", "5", "size=1000", "calls=3", *asked]
    done = mpi.run(4, argv, mpi.stock(), timeout=60)
    assert done.returncode == 0, done.stderr
    assert len(json.loads(done.stdout.splitlines()[-1])["results"]) == 2
    # Two rounds of 64 KiB of each of four ranks.
    assert not file.exists() or file.stat().st_size == 2 * 4 * 65536


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["calls=many"], "calls=many: use a whole number, 0 or more"),
        (["colour=red"], "colour=red: not a word of a pattern"),
        (["shape=round"], "round: use one of segmented|"),
        (["view=no", "call=all"], "without a view and an offset all ranks write the same bytes"),
    ],
)
def test_bad_words_are_refused(mpi: mpis.Mpi, tmp_path: Path, words: list[str], text: str) -> None:
    argv = [mpi.bench("io-pattern"), str(tmp_path / "file"), "1", "1", *words]
    done = mpi.run(1, argv, timeout=60)
    assert done.returncode == 2
    assert text in done.stderr


@pytest.mark.slow
def test_two_patterns_on_one_node(tmp_path: Path) -> None:
    if not mpis.HAICHI.exists():
        pytest.skip(f"{mpis.HAICHI} is not built: ./haichi build")
    found = mpi.available("openmpi", "mpich5")
    if not found:
        pytest.skip("neither Open MPI nor MPICH 5 is here: ./haichi build")
    out = tmp_path / "out.json"
    words = ["--named", "--only", "btio-s", "--nodes", "1x2", "--repetitions", "1"]
    words += ["--looks", "0", "--mpi", found[0].name, "--out", str(out)]
    done = figures("never-slower", *words)
    assert done.returncode in (0, 1), done.stderr
    saved = json.loads(out.read_text())
    assert saved["schema"] == "haichi.measure/1"
    variants = [(c["program"].split(":")[0], c["variant"]) for c in saved["cases"]]
    assert variants == [(p, v) for p in ("btio-steps", "btio-small") for v in start.VARIANTS]
    assert all(len(c["operations"]["read"]["seconds"]) == 1 for c in saved["cases"])
    assert (done.returncode == 0) == all(claim["reached"] for claim in saved["claims"])
    assert "stock / stock" in done.stdout
    ET.fromstring(out.with_suffix(".svg").read_text())
