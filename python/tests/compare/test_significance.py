"""What is said of two samples: against textbooks, and how often it is right."""

from __future__ import annotations

import math

import numpy as np
import pytest

pytest.importorskip("scipy", reason="no SciPy: .venv/bin/pip install -r requirements/compare.txt")

from haichi.compare import significance


def test_p_values_are_those_of_the_exact_test() -> None:
    # Hollander and Wolfe, example 4.1: permeability of membranes, W = 30, one-sided P = 0.127.
    at_term = [0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46]
    early = [1.15, 0.88, 0.90, 0.74, 1.21]
    found = significance.p_values(np.array([at_term]), np.array([early]))
    assert found == pytest.approx([0.2544], abs=5e-4)


def test_samples_apart_have_the_smallest_p_that_there_is() -> None:
    for n, m in ((2, 2), (5, 5), (10, 10), (3, 8)):
        found = significance.p_values(np.arange(n) + 100.0, np.arange(m) + 1.0)
        assert float(found) == pytest.approx(significance.smallest_p(n, m))


def test_equal_medians_are_no_difference() -> None:
    same = np.full((1, 5), 3.0)
    assert significance.p_values(same, same) == pytest.approx([1.0])
    assert significance.ratio_interval(same[0], same[0]) == (1.0, 1.0)
    assert significance.superiority(same[0], same[0]) == 0.5


def test_launches_that_went_wrong_are_left_out_whosever_they_are() -> None:
    a = np.array([1.0, 1.1, 1.2, 1.3, 79.0, 1.05, 1.0, 1.1, 1.2, 1000.0])
    b = np.array([1.3, 1.4, 1.5, 1.3, 1.4, 1.5, 1.3, 1.4, 1.5, 9.0])
    near_a, near_b = significance.without_far(a, b)
    assert (len(near_a), len(near_b)) == (8, 10)  # a tenth of 20: the two farthest
    assert significance.without_far(b, a)[1].tolist() == near_a.tolist()
    slower = significance.without_far(a[:4], 5 * a[:4])
    assert [len(each) for each in slower] == [4, 4]
    lone = significance.without_far(a[:4], a[8:])
    assert [len(each) for each in lone] == [4, 2]


def test_launches_are_held_against_those_of_their_speed() -> None:
    a, b = np.array([1.0, 1.02, 4.0, 4.1, 90.0]), np.array([1.05, 1.07, 4.2, 4.3, 1.06])
    over_a, over_b, speeds = significance.within_speeds(a, b)
    assert speeds == 3
    assert over_a == pytest.approx([1 / 1.05, 1.02 / 1.05, 4.0 / 4.15, 4.1 / 4.15, 1.0])
    other_b, other_a, _ = significance.within_speeds(b, a)
    assert (other_a.tolist(), other_b.tolist()) == (over_a.tolist(), over_b.tolist())
    assert significance.within_speeds(a[:2], b[:2])[2] == 1


def test_speeds_keep_the_test_exact() -> None:
    draw = np.random.default_rng(12)
    found = 0
    for _ in range(3000):
        every = np.exp(draw.normal(0, 0.02, 20)) * np.where(draw.random(20) < 0.4, 4.3, 1)
        a, b, _ = significance.within_speeds(every[:10], every[10:])
        found += float(significance.p_values(a, b)) <= 0.05
    assert found / 3000 <= 0.058


def test_leaving_launches_out_keeps_the_test_exact() -> None:
    draw = np.random.default_rng(9)
    found = 0
    for _ in range(3000):
        every = np.exp(draw.normal(0, 0.02, 20)) * np.where(draw.random(20) < 0.1, 5, 1)
        a, b = significance.without_far(every[:10], every[10:])
        found += float(significance.p_values(a, b)) <= 0.05
    assert found / 3000 <= 0.058


def test_holm_is_as_printed() -> None:
    assert significance.holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert significance.holm([0.9, 0.8]) == [1.0, 1.0]
    assert significance.holm([]) == []


def test_the_interval_has_the_differences_that_the_tables_say() -> None:
    # Critical values of U at 5 %, two-sided: 2 for 5 and 5, 23 for 10 and 10, 3 for 4 and 7.
    for n, m, critical in ((5, 5, 2), (10, 10, 23), (4, 7, 3), (3, 3, 0)):
        assert significance._cut(n, m) == critical


def test_the_interval_holds_the_ratio_as_often_as_it_says() -> None:
    draw = np.random.default_rng(5)
    held = 0
    for _ in range(1000):
        a, b = draw.lognormal(0, 0.1, (2, 8))
        low, high = significance.ratio_interval(a, 1.3 * b)
        held += low <= 1.3 <= high
    assert 0.935 <= held / 1000 <= 0.985


def test_the_ratio_is_not_moved_by_one_bad_launch() -> None:
    a = np.array([1.0, 1.01, 0.99, 1.02, 1.0])
    b = np.array([1.05, 1.06, 1.04, 1.05, 6.29])
    assert significance.ratio(a, b) == pytest.approx(1.05, rel=0.01)


def test_the_band_of_noise_grows_with_the_noise() -> None:
    draw = np.random.default_rng(7)
    bands = [significance.noise_band(np.exp(draw.normal(0, s, 20))) for s in (0.01, 0.1)]
    assert bands[0] < 0.02 < bands[1] < 0.2
    two = significance.noise_band(np.array([1.0, 1.1]))
    assert two == pytest.approx(0.1)
    assert significance.noise_band(np.array([2.0] * 6)) == 0


def test_halves_are_all_of_a_few_and_some_of_many() -> None:
    assert len(significance._halves(6)) == math.comb(6, 3)
    many = significance._halves(30)
    assert len(many) == significance.SPLITS
    assert all(len(set(half)) == 15 for half in many)
