"""The plan of a split read or write against the linear programme that it stands for.

The programme is solved by SciPy's HiGHS over all threads, paths and loads; the plan is made by
haichi's own rule, and its time is counted here anew from its shares, by the machine's matrix.
"""

from __future__ import annotations

import json
import random
from collections.abc import Sequence

import mpis
import numpy as np
import pytest
from split_io import NUMAIO, needs

FOLLOWS = -1
CASES, MOST_NODES = 300, 16
WITHIN = 1.03
GIGA = 1e9
NO_SCIPY = "no SciPy: .venv/bin/pip install -r requirements/compare.txt"

Loads = list[tuple[int, int, float]]
Row = tuple[dict[int, float], float]


def machine(draw: random.Random, nodes: int) -> dict[str, object]:
    """A random machine: rates fall with distance, and a thread that writes far is slower still."""
    place = [(draw.random(), draw.random()) for _ in range(nodes)]
    local = draw.uniform(2, 20)
    slope = draw.uniform(0.3, 2)

    def far(a: int, b: int) -> float:
        return abs(place[a][0] - place[b][0]) + abs(place[a][1] - place[b][1])

    def rate(source: int, thread: int, target: int) -> float:
        return local / (1 + slope * (far(source, thread) + 1.5 * far(target, thread)))

    cores = [draw.choice([0, 1, 4, 8, 16]) for _ in range(nodes)]
    cores[draw.randrange(nodes)] = 8
    return {
        "cores": cores,
        "distance": [[10 + int(40 * far(a, b)) for b in range(nodes)] for a in range(nodes)],
        "thread_gbs": [
            [[rate(s, t, d) for d in range(nodes)] for s in range(nodes)] for t in range(nodes)
        ],
        "memory_gbs": [local * draw.uniform(3, 16) for _ in range(nodes)],
        "served_gbs": [local * draw.uniform(0.5, 6) for _ in range(nodes)],
        "write_weight": draw.choice([1, 2]),
    }


def loads(draw: random.Random, nodes: int) -> Loads:
    """Fresh writes (nothing decides where they go), overwrites, cold reads, or all in one."""
    kind = draw.choice(["write", "overwrite", "read", "mixed"])
    made: dict[tuple[int, int], float] = {}
    holders = draw.sample(range(nodes), draw.randint(1, nodes))
    for holder in holders:
        other = draw.choice(holders)
        ends = {
            "write": (holder, FOLLOWS),
            "read": (FOLLOWS, holder),
            "overwrite": (holder, other),
        }
        pair = ends[kind if kind != "mixed" else draw.choice(list(ends))]
        made[pair] = made.get(pair, 0) + draw.uniform(0.05, 1) * GIGA
    return [(source, target, amount) for (source, target), amount in made.items()]


def rows_of(numa: dict[str, object], kinds: Loads) -> tuple[list[Row], list[Row], int]:
    """The programme's rows: those that are equal to 0 x T + b, and those that are at most c x T;
    and the number of variables. Variable k * nodes + t is what t moves of load k, in GB."""
    cores: list[int] = numa["cores"]  # type: ignore[assignment]
    nodes = len(cores)
    weight = float(numa["write_weight"])  # type: ignore[arg-type]
    equal: list[Row] = []
    time = [dict[int, float]() for _ in range(nodes)]
    memory = [dict[int, float]() for _ in range(nodes)]
    served = [dict[int, float]() for _ in range(nodes)]
    for k, (source, target, amount) in enumerate(kinds):
        equal.append(({k * nodes + t: 1.0 for t in range(nodes)}, amount / GIGA))
        for t in range(nodes):
            variable = k * nodes + t
            s, d = (t if source == FOLLOWS else source), (t if target == FOLLOWS else target)
            time[t][variable] = 1 / numa["thread_gbs"][t][s][d]  # type: ignore[index]
            for m, used in ((s, 1.0), (d, weight)):
                memory[m][variable] = memory[m].get(variable, 0) + used
                if m != t:
                    served[m][variable] = served[m].get(variable, 0) + used
    most: list[Row] = []
    for m in range(nodes):
        most.append((time[m], float(cores[m])))
        most.append((memory[m], numa["memory_gbs"][m]))  # type: ignore[index]
        most.append((served[m], numa["served_gbs"][m]))  # type: ignore[index]
    return equal, most, nodes * len(kinds)


def matrix(rows: Sequence[Row], variables: int) -> np.ndarray:
    made = np.zeros((len(rows), variables))
    for i, (entries, _) in enumerate(rows):
        for variable, value in entries.items():
            made[i, variable] = value
    return made


def optimum(numa: dict[str, object], kinds: Loads) -> float:
    """Seconds of the programme's solution."""
    optimize = pytest.importorskip("scipy.optimize", reason=NO_SCIPY)
    equal, most, variables = rows_of(numa, kinds)
    upper = np.hstack([matrix(most, variables), -np.array([[limit] for _, limit in most])])
    exact = np.hstack([matrix(equal, variables), np.zeros((len(equal), 1))])
    done = optimize.linprog(
        np.eye(variables + 1)[-1],
        A_ub=upper,
        b_ub=np.zeros(len(most)),
        A_eq=exact,
        b_eq=[amount for _, amount in equal],
        method="highs",
    )
    assert done.status == 0, done.message
    return float(done.fun)


def seconds_of(numa: dict[str, object], kinds: Loads, shares: list[list[float]]) -> float:
    """What the shares take, and that they are all of the loads."""
    equal, most, variables = rows_of(numa, kinds)
    moved = np.zeros(variables)
    nodes = variables // len(kinds)
    for k, node, amount in shares:
        moved[int(k) * nodes + int(node)] += amount / GIGA
    for entries, amount in equal:
        assert sum(moved[variable] for variable in entries) == pytest.approx(amount, abs=2 / GIGA)
    needs = [sum(moved[v] * value for v, value in entries.items()) for entries, _ in most]
    limits = [limit for _, limit in most]
    assert all(need == 0 for need, limit in zip(needs, limits, strict=True) if limit == 0)
    return max(need / limit for need, limit in zip(needs, limits, strict=True) if limit)


def answers(questions: list[dict[str, object]]) -> list[dict[str, object]]:
    text = "".join(json.dumps(each) + "\n" for each in questions)
    done = mpis.run_bounded([NUMAIO, "plan"], stdin=text, timeout=60)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.fixture(scope="module", autouse=True)
def _built() -> None:
    needs(NUMAIO)


def test_plans_are_within_3_per_cent_of_the_linear_programme() -> None:
    draw = random.Random(25)
    questions: list[dict[str, object]] = []
    for _ in range(CASES):
        nodes = draw.randint(1, MOST_NODES)
        questions.append({"numa": machine(draw, nodes), "loads": loads(draw, nodes)})
    ratios = []
    for question, answer in zip(questions, answers(questions), strict=True):
        numa, kinds = question["numa"], question["loads"]
        taken = seconds_of(numa, kinds, answer["shares"])  # type: ignore[arg-type]
        assert taken <= answer["seconds"] * 1.0001  # type: ignore[operator]
        ratios.append(taken / optimum(numa, kinds))  # type: ignore[arg-type]
    assert min(ratios) > 0.9999  # nothing is faster than the optimum
    assert max(ratios) <= WITHIN, sorted(ratios)[-10:]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("[]", "not an object"),
        ('{"loads": []}', "numa takes an object"),
        ('{"numa": {"cores": []}, "loads": []}', "numa.cores takes a list"),
        ('{"numa": {"cores": [0]}, "loads": []}', "no node has a core"),
    ],
)
def test_wrong_questions_are_one_line(line: str, said: str) -> None:
    done = mpis.run_bounded([NUMAIO, "plan"], stdin=line + "\n", timeout=20)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (78, "", 1)
    assert said in done.stderr
