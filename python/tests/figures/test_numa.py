"""The model of paper 003's machine: what the paper prints, and what its words say."""

from __future__ import annotations

import dataclasses

import pytest
from haichi.figures import numa

OF = numa.Parameters()


def test_the_peaks_are_where_the_paper_has_them() -> None:
    errors = {each.what: each.error for each in numa.claims(OF)}
    assert errors["on-each-node: threads at the peak"] == 0
    assert errors["on-one-node: threads at the peak"] == 0
    assert abs(errors["on-each-node: GiB/s there"]) < 1
    assert abs(errors["pull to local, 4 threads"]) < 3


def test_the_order_is_that_of_its_words() -> None:
    assert numa.order_holds(OF)


def test_curves_fall_behind_their_peaks() -> None:
    one = [numa.on_one_node(n, OF) for n in range(8, 33, 4)]
    each = [numa.on_each_node(n, OF) for n in range(24, 33, 4)]
    assert one == sorted(one, reverse=True)
    assert each == sorted(each, reverse=True)


def test_the_peaks_depend_on_what_is_fitted() -> None:
    """Where neither what a node serves nor its memory gets slower, more threads are better."""
    free = dataclasses.replace(OF, served=50.0, served_loss=0.0, controller_loss=0.0)
    assert numa.peak({n: numa.on_one_node(n, free) for n in numa.THREADS}) > 8
    slow = dataclasses.replace(OF, controller=60.0)
    assert numa.peak({n: numa.on_each_node(n, slow) for n in numa.THREADS}) == 32


def test_one_thread_alone_has_its_own_rate() -> None:
    assert numa.on_one_node(1, OF) == pytest.approx(OF.thread, rel=0.01)
