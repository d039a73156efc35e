"""Rules for Open MPI's component `tuned`: the classic file, and the JSON that 6.0 brought.

Formats: Open MPI's documentation, "The tuned Component" (docs/tuning-apps/collectives/tuned.rst),
tuned_dynamic_file_schema.json beside it, and ompi/mca/coll/tuned/coll_tuned_dynamic_file.c. The
size of an MPI_Alltoall there is that of all blocks of a rank, its own among them; MPI_Alltoallv has
none. See "Rules of MPI libraries" in docs/notes.md.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import groupby

from haichi.export.known import Kind
from haichi.export.rules import Candidate, Own, Range, Rule, ranges
from haichi.units import format_bytes

TITLE = "Open MPI"
LEAVE = "0 0 0 0"  # from 0 bytes on: algorithm 0, Open MPI's own rule

# Numbers that the classic file has for collectives and algorithms, the same in all releases.
COLLECTIVES = {"alltoall": 3, "alltoallv": 4}
ALGORITHMS = {
    "alltoall": {"linear": 1, "pairwise": 2, "modified_bruck": 3, "linear_sync": 4},
    "alltoallv": {"basic_linear": 1, "pairwise": 2},
}
_REQUESTS_SINCE = (5, 0, 7)  # a column for the messages at once: version 2 of the classic file


class Classic:
    """The file that every release reads. Releases before 5.0.7 can't be told how many messages
    shall be under way at once."""

    title = TITLE

    def __init__(self, library: str) -> None:
        """`library` is the first line of what MPI_Get_library_version says."""
        found = re.search(r"(\d+)\.(\d+)\.(\d+)", library)
        version = tuple(int(part) for part in found.groups()) if found else (0, 0, 0)
        self._requests = version >= _REQUESTS_SINCE

    def own(self, kind: Kind, candidate: Candidate) -> Own | None:
        """Open MPI's algorithm for a candidate."""
        return _own(kind, candidate, requests=self._requests)

    def text(self, rules: list[Rule]) -> str:
        """The file."""
        lines = ["rule-file-version-2"] if self._requests else []
        lines.append("# Rules of Open MPI's component tuned, by haichi export")
        functions = [(name, list(of)) for name, of in groupby(rules, lambda r: r.kind.function)]
        lines.append(f"{len(functions)} # collectives")
        for function, of_function in functions:
            sizes = [(n, list(of)) for n, of in groupby(of_function, lambda r: r.kind.ranks)]
            lines += self._collective(function, sizes)
        return "\n".join(lines) + "\n"

    def _collective(self, function: str, sizes: list[tuple[int, list[Rule]]]) -> Iterator[str]:
        """A rule for a number of ranks holds up to the next one: what is not ours is fenced off."""
        parts: list[tuple[int, list[str]]] = [(0, [LEAVE])]
        for ranks, of_ranks in sizes:
            if parts[-1][0] == ranks:
                parts.pop()
            parts.append((ranks, list(self._sizes(function, ranks, ranges(of_ranks)))))
            parts.append((ranks + 1, [LEAVE]))
        yield f"{COLLECTIVES[function]} # MPI_{function.capitalize()}"
        yield f"{len(parts)} # numbers of ranks"
        for ranks, lines in parts:
            yield f"{ranks} {len(lines)} # ranks or more, rules"
            yield from lines

    def _sizes(self, function: str, ranks: int, all_ranges: list[Range]) -> Iterator[str]:
        """A line for each size from which on another algorithm is taken; the first is for 0."""
        after = 0
        for each in all_ranges:
            if each.first > after or (after == 0 and each.first > 0):
                yield f"{after * ranks} 0 0 0"
            requests = f" {each.own.parameter or 0}" if self._requests else ""
            algorithm = ALGORITHMS[function][each.own.name]
            yield f"{each.first * ranks} {algorithm} 0 0{requests} # {_about(each)}"
            if each.last is None:
                return
            after = each.last + 1
        yield f"{after * ranks} 0 0 0"


class Json:
    """The file of Open MPI 6.0 and later."""

    title = TITLE

    def own(self, kind: Kind, candidate: Candidate) -> Own | None:
        """Open MPI's algorithm for a candidate."""
        return _own(kind, candidate, requests=True)

    def text(self, rules: list[Rule]) -> str:
        """The file. The first rule that fits is taken; where none does, Open MPI's own."""
        collectives: dict[str, list[object]] = {}
        for (function, ranks), of_ranks in groupby(
            rules, lambda rule: (rule.kind.function, rule.kind.ranks)
        ):
            sizes = [self._rule(each, ranks) for each in ranges(of_ranks)]
            collectives.setdefault(function, []).append(
                {"comm_size_min": ranks, "comm_size_max": ranks, "rules": sizes}
            )
        document = {"rule_file_version": 3, "module": "tuned", "collectives": collectives}
        return json.dumps(document, indent=2) + "\n"

    def _rule(self, each: Range, ranks: int) -> dict[str, object]:
        rule: dict[str, object] = {}
        if each.last is not None:
            rule = {
                "msg_size_min": each.first * ranks,
                "msg_size_max": (each.last + 1) * ranks - 1,
            }
        rule["alg"] = each.own.name
        if each.own.parameter is not None:
            rule["reqs"] = each.own.parameter
        return rule


def _about(each: Range) -> str:
    blocks = "" if each.last is None else f"blocks from {format_bytes(each.first)}: "
    return f"{blocks}{each.own.name}, for {each.why}"


def _own(kind: Kind, candidate: Candidate, *, requests: bool) -> Own | None:
    linear = "linear" if kind.function == "alltoall" else "basic_linear"
    if candidate.name == "spread":
        if candidate.window == 0:
            return Own(linear)
        if kind.function == "alltoall" and requests:
            return Own("linear_sync", candidate.window)
        return Own(linear, differs=f"all messages at once, not {candidate.window}")
    if candidate.name in ("ring", "pair"):
        return Own("pairwise")
    if candidate.name == "bruck" and kind.function == "alltoall":
        radix = candidate.radix
        return Own("modified_bruck", differs="" if radix == 2 else f"its radix is 2, not {radix}")
    return None
