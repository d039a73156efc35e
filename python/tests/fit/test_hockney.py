"""A piecewise machine is found again from its curve, also with noise and disturbed points."""

from __future__ import annotations

import random

import mpis
import pytest
from haichi.fit.hockney import Line, pieces, residual
from known import POWERS, PROTOCOLS, Noise, Piece, Time, hockney

# Powers of four, and the sizes about both switches that a refined curve has.
REFINED = sorted({*POWERS, 512, 1020, 1028, 2048, 8192, 131072, 204796, 204800, 300000, 1 << 21})


def ends(lines: list[Line], sizes: list[int]) -> list[tuple[int, int]]:
    return [(sizes[line.first], sizes[line.last]) for line in lines]


def test_protocols_are_found_to_four_bytes() -> None:
    lines = pieces(REFINED, [hockney()(size) for size in REFINED])
    assert ends(lines, REFINED) == [(4, 1024), (1028, 204796), (204800, 4 << 20)]
    for line, true in zip(lines, PROTOCOLS, strict=True):
        assert line.latency == pytest.approx(true.latency, rel=1e-6)
        assert line.per_byte == pytest.approx(true.per_byte, rel=1e-6)


def test_powers_of_four_bracket_the_switches() -> None:
    lines = pieces(POWERS, [hockney()(size) for size in POWERS])
    assert ends(lines, POWERS)[0] == (4, 1024)
    assert lines[-1].latency == pytest.approx(PROTOCOLS[-1].latency, rel=0.01)


@pytest.mark.parametrize("seed", range(10))
def test_noise_moves_parameters_no_more_than_it_must(seed: int) -> None:
    true = [hockney()(size) for size in REFINED]
    lines = pieces(REFINED, Noise(spread=0.01, seed=seed).measured(true))
    assert ends(lines, REFINED) == [(4, 1024), (1028, 204796), (204800, 4 << 20)]
    for line, known in zip(lines, PROTOCOLS, strict=True):
        assert line.latency == pytest.approx(known.latency, rel=0.02)
    assert lines[-1].per_byte == pytest.approx(PROTOCOLS[-1].per_byte, rel=0.03)


@pytest.mark.parametrize("seed", range(10))
def test_a_disturbed_point_makes_no_line_and_bends_none(seed: int) -> None:
    true = [hockney()(size) for size in REFINED]
    measured = Noise(spread=0.01, disturbed=1, seed=seed).measured(true)
    lines = pieces(REFINED, measured)
    assert len(lines) == 3
    within = [
        abs(line.at(REFINED[i]) - true[i]) / true[i]
        for line in lines
        for i in range(line.first, line.last + 1)
    ]
    # A disturbed point beside a switch may be told to the other side, and no other point.
    assert sorted(within)[-2] < 0.06
    assert sum(within) / len(within) < 0.03


def test_one_protocol_is_one_line() -> None:
    lines = pieces(POWERS, [hockney([Piece(1 << 26, 1e-6, 1e-10)])(size) for size in POWERS])
    assert ends(lines, POWERS) == [(4, 4 << 20)]


def test_what_is_known_less_well_counts_less() -> None:
    time = hockney([Piece(1 << 26, 1e-6, 1e-10)])
    measured = [time(size) * (1.5 if size >= 1 << 20 else 1) for size in POWERS]
    widths = [0.5 if size >= 1 << 20 else 0.001 for size in POWERS]
    (line,) = pieces(POWERS, measured, widths)
    assert line.per_byte == pytest.approx(1e-10, rel=0.1)


def test_a_byte_never_saves_time() -> None:
    (line,) = pieces([4, 16, 64, 256], [1e-6, 0.99e-6, 0.98e-6, 0.97e-6])
    assert line.per_byte == 0


def test_nothing_takes_less_than_no_time() -> None:
    """A line for 0 bytes on may not be below 0 there; one that begins later may."""
    steep = [1e-9 * size**1.3 for size in POWERS]
    lines = pieces(POWERS, steep)
    assert lines[0].latency >= 0
    assert all(line.at(POWERS[line.first]) >= 0 for line in lines)


def test_too_few_points() -> None:
    assert pieces([8], [1e-6]) == []
    (line,) = pieces([8, 1024], [1e-6, 2e-6])
    assert line.at(8) == pytest.approx(1e-6)
    assert line.at(1024) == pytest.approx(2e-6)


def test_the_residual_is_relative() -> None:
    lines = [Line(0, 1, 1e-6, 0)]
    assert residual(lines, [1, 2], [1e-6, 2e-6]) == [pytest.approx(0.25)]


@pytest.mark.parametrize("noise", [0.0, 0.02])
@pytest.mark.parametrize("seed", mpis.slow_but(range(2), range(8)))
def test_machines_drawn_at_random(seed: int, noise: float) -> None:
    """One to three protocols anywhere, each 1.3 to 3 times dearer where it begins; one point of
    38 is five times too high. Beside a switch that one may be told to the other side."""
    draw = random.Random(seed)
    sizes = sorted({2**k for k in range(2, 23)} | {3 * 2**k for k in range(3, 20)})
    time, cuts = drawn_machine(draw, sizes)
    true = [time(size) for size in sizes]
    lines = pieces(sizes, Noise(noise, disturbed=1, seed=seed).measured(true))
    assert len(lines) == len(cuts) + 1
    for line, cut in zip(lines, cuts, strict=False):
        assert abs(line.last - sizes.index(cut)) <= 1
    off = sorted(
        abs(line.at(sizes[i]) - true[i]) / true[i]
        for line in lines
        for i in range(line.first, line.last + 1)
    )
    assert sum(off[:-1]) / len(off) < 0.01
    assert off[-2] < 0.04


def drawn_machine(draw: random.Random, sizes: list[int]) -> tuple[Time, list[int]]:
    """Its times, and the largest size of each protocol but the last."""
    cuts: list[int] = []
    for _ in range(draw.choice([0, 1, 2])):
        cut = draw.choice(sizes[4:-5])
        if all(abs(sizes.index(cut) - sizes.index(other)) >= 4 for other in cuts):
            cuts = sorted([*cuts, cut])
    latency, per_byte = draw.uniform(0.3e-6, 5e-6), draw.uniform(0.05e-9, 1e-9)
    protocols = []
    for cut in [*cuts, 1 << 30]:
        protocols.append(Piece(cut, latency, per_byte))
        begin = latency + cut * per_byte
        per_byte *= draw.uniform(0.3, 0.9)
        latency = begin * draw.uniform(1.3, 3) - cut * per_byte
    return hockney(protocols), cuts
