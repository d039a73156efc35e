"""Rules for MPICH: the JSON file of MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE.

Format: src/mpi/coll/src/csel.c and maint/tuning/coll/mpir/generic.json of MPICH 4 and 5, a tree of
tests. Such a file replaces the library's own as a whole, and a collective that is not in it ends
the program. So haichi's rules are put into a complete one: another file, or the one that every
libmpich has inside. The size of an MPI_Alltoall there is that of one block; MPI_Alltoallv has none.
See "Rules of MPI libraries" in docs/notes.md.
"""

from __future__ import annotations

import json
import re
from itertools import groupby
from pathlib import Path
from typing import TypeAlias

from haichi.export.known import Kind
from haichi.export.rules import Candidate, Own, Rule, ranges
from haichi.report.load import ReportError
from haichi.units import printable

TITLE = "MPICH"
THROTTLE = 32  # MPIR_CVAR_ALLTOALL_THROTTLE: messages that `scattered` has at once
PAGE = 4096
LARGEST = (1 << 31) - 1  # MPICH reads sizes as int

Tree: TypeAlias = "dict[str, Tree]"  # test: subtree, in the order in which they are made


class Selection:
    """A selection file: rules put into a complete one."""

    title = TITLE

    def __init__(self, base: Path) -> None:
        """`base` is such a file, or the MPI library (libmpich.so, libmpi.so).

        Raises:
            ReportError: it cannot be read, or is neither.
        """
        name = printable(str(base))
        try:
            data = base.read_bytes()
        except OSError as error:
            raise ReportError(f"{name}: {(error.strerror or str(error)).lower()}") from None
        found = next((tree for tree in map(_tree, _texts(data)) if tree), None)
        if found is None:
            raise ReportError(
                f"{name}: has no selection tree of MPICH 4 or later; give --base libmpich.so, "
                "libmpi.so or the file that MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE names today"
            )
        self._base = found
        self._any_radix = b"algorithm=MPIR_Alltoall_intra_k_brucks" in data

    def own(self, kind: Kind, candidate: Candidate) -> Own | None:
        """MPICH's algorithm for a candidate. Of those for MPI_Alltoallv only `scattered` is not for
        MPI_IN_PLACE."""
        if candidate.name == "spread":
            at_once = candidate.window or kind.ranks - 1
            fits = min(at_once, kind.ranks - 1) == min(THROTTLE, kind.ranks - 1)
            differs = f"MPIR_CVAR_ALLTOALL_THROTTLE messages at once, not {at_once}"
            return Own("scattered", differs="" if fits else differs)
        if kind.function != "alltoall":
            return None
        if candidate.name in ("ring", "pair"):
            return Own("pairwise")
        if candidate.name == "bruck":
            radix = candidate.radix
            if radix == 2:
                return Own("brucks")
            if self._any_radix:
                return Own("k_brucks", radix)
            return Own("brucks", differs=f"its radix is 2, not {radix}")
        return None

    def text(self, rules: list[Rule]) -> str:
        """The file. MPICH takes it for a text that ends with a zero byte, which a file that fills
        its last page has not."""
        tree = dict(self._base)
        for function, of_function in groupby(rules, lambda rule: rule.kind.function):
            key = f"collective={function}"
            tree[key] = _with(tree[key], function, list(of_function))
        text = json.dumps(tree, indent=2) + "\n"
        return text + "\n" if len(text) % PAGE == 0 else text


def _texts(data: bytes) -> list[bytes]:
    """What may be a selection tree: the whole, or the strings of a library that look like one."""
    if data.lstrip()[:1] == b"{":
        return [data]
    return re.findall(rb'\{"collective=[^\0]+', data)


def _tree(text: bytes) -> Tree | None:
    """The tree, if it is one of algorithms and has all that rules are made for. A library has
    others too, of compositions for each kind of network."""
    try:
        tree = json.loads(text)
    except ValueError:
        return None
    wanted = ("collective=alltoall", "collective=alltoallv")
    if not isinstance(tree, dict) or not all(isinstance(tree.get(each), dict) for each in wanted):
        return None
    return tree if "algorithm=MPIR_Alltoall" in json.dumps(tree[wanted[0]]) else None


def _with(stock: Tree, function: str, rules: list[Rule]) -> Tree:
    """The tests for one collective with ours before the stock ones. `<` is not used: below the test
    for MPI_IN_PLACE, MPICH takes it for `<=`."""
    intra = stock.get("comm_type=intra", stock)
    inter = stock.get("comm_type=inter", stock)
    moved = intra.get("is_sendbuf_inplace=no", intra)
    in_place = intra.get("is_sendbuf_inplace=yes", intra)
    sizes: Tree = {}
    for ranks, of_ranks in groupby(rules, lambda rule: rule.kind.ranks):
        sizes.setdefault(f"comm_size<={ranks - 1}", moved)
        sizes[f"comm_size<={ranks}"] = _blocks(moved, function, list(of_ranks))
    sizes["comm_size=any"] = moved
    return {
        "comm_type=intra": {"is_sendbuf_inplace=no": sizes, "is_sendbuf_inplace=yes": in_place},
        "comm_type=inter": inter,
    }


def _blocks(stock: Tree, function: str, rules: list[Rule]) -> Tree:
    """The tests of the size of blocks, from small to large."""
    tests: Tree = {}
    for each in ranges(rules):
        name = f"algorithm=MPIR_{function.capitalize()}_intra_{each.own.name}"
        parameters: Tree = {} if each.own.parameter is None else {f"k={each.own.parameter}": {}}
        if each.last is None:
            return {name: parameters}
        if each.first > LARGEST:
            break
        if each.first > 0:
            tests.setdefault(f"avg_msg_size<={each.first - 1}", stock)
        tests[f"avg_msg_size<={min(each.last, LARGEST)}"] = {name: parameters}
    tests["avg_msg_size=any"] = stock
    return tests
