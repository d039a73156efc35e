"""`haichi figures loop`: what is made of times in the lab and of simulated ones."""

from __future__ import annotations

from pathlib import Path

import mpis
import pytest
from haichi.figures import loop
from haichi.figures.loop import DEFAULTS, PROFILE, Chosen, Found, Timed
from haichi.figures.truth import PAYLOAD

if not mpis.HAICHI.exists():
    pytest.skip(f"no {mpis.HAICHI}: ./haichi build", allow_module_level=True)

LAB = mpis.ROOT / "machines" / "lab-4-nodes.json"


@pytest.fixture(autouse=True)
def _our_build(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HAICHI_BUILD", str(mpis.BUILD))


def timed(measured: list[float], defaults: float, profile: float) -> Timed:
    return Timed("a case", "ring", measured, {DEFAULTS: defaults, PROFILE: profile})


def chosen(first: tuple[float, float], calls: tuple[float, float]) -> Chosen:
    by = (DEFAULTS, PROFILE)
    return Chosen(
        "a case",
        dict.fromkeys(by, "ring"),
        dict(zip(by, first, strict=True)),
        "ring",
        min(first),
        dict.fromkeys(by, 3),
        dict(zip(by, calls, strict=True)),
    )


def test_an_error_is_how_many_times_too_long_or_too_short() -> None:
    both = timed([3.0, 1.0, 2.0], 4.0, 1.0)
    assert both.measured == 2.0
    assert both.error(DEFAULTS) == pytest.approx(2)
    assert both.error(PROFILE) == pytest.approx(2)
    assert loop.error_of([both, timed([1.0], 8.0, 1.0)], DEFAULTS) == pytest.approx(4)


def test_what_is_claimed() -> None:
    found = Found(
        "an MPI",
        LAB,
        [timed([1.0], 100.0, 1.25)],
        [chosen((2.0, 1.0), (9.0, 8.0)), chosen((1.0, 1.1), (9.0, 12.0))],
    )
    error, better, first, calls, mean = loop.claims([found])
    assert error.ratio == pytest.approx(80)
    assert error.reached
    assert better.ratio == 1
    assert not better.reached
    assert first.ratio == pytest.approx(1 / 1.1)
    assert not first.reached
    assert calls.ratio == pytest.approx(0.75)
    assert not calls.reached
    assert mean.ratio == pytest.approx((9 / 8 * 0.75) ** 0.5)


def test_the_recorded_lab_is_simulated_nearer_to_its_links_than_the_defaults_are() -> None:
    """What the links need for the bytes that must cross them is what the lab takes, about."""
    words = ["alltoall", "--bytes", "65536", *loop.SHAPE, "--placement", "BK", "--sweep"]
    words += ["algorithm=spread(nd_rank_shift,0)"]
    by = {name: loop.simulated([*words, *more]) for name, more in loop.machines(LAB).items()}
    needed = 4 * 12 * 65536 / (12.5e6 * PAYLOAD)
    times = {name: each["spread(nd_rank_shift,0)"] for name, each in by.items()}
    both = timed([needed], times[DEFAULTS], times[PROFILE])
    assert both.error(PROFILE) < 1.2
    assert both.error(DEFAULTS) > 50


def test_what_is_saved_has_every_sample(tmp_path: Path) -> None:
    profile = tmp_path / "profile.json"
    profile.write_text('{"schema": "haichi.machine/2"}')
    found = Found("an MPI", profile, [timed([1.0, 2.0], 3.0, 4.0)], [chosen((1, 1), (1, 1))])
    about = loop.Environment(
        haichi="x", kernel="6", cores=2, load_before=0, started="now", place="a lab", yields="ucx"
    )
    (saved,) = loop.document([found], about)["libraries"]  # type: ignore[misc]
    assert saved["times"][0]["measured_s"] == [1.0, 2.0]
    assert saved["profile"] == {"schema": "haichi.machine/2"}
