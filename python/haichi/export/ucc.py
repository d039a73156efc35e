"""Rules for UCC: a value of UCC_TL_UCP_TUNE, for the environment or for ucc.conf.

Format: UCC's user guide (docs/user_guide.md), "CLs and TLs", and src/coll_score/ucc_coll_score.c:
tokens divided by '#', each COLLECTIVE:SIZES:MEMORY:RANKS:@ALGORITHM. The size of an alltoall is
that of all blocks of a rank; of an alltoallv none is known. A range ends before its second number.
"""

from __future__ import annotations

from itertools import groupby

from haichi.export.known import Kind
from haichi.export.rules import Candidate, Own, Rule, ranges

TITLE = "UCC"


class Tune:
    """One line for the environment."""

    title = TITLE

    def own(self, kind: Kind, candidate: Candidate) -> Own | None:
        """UCC's algorithm for a candidate. How many messages `pairwise` has at once, from one (as
        the ring) to all (as spread), is UCC_TL_UCP_ALLTOALL_PAIRWISE_NUM_POSTS for all sizes."""
        if candidate.name in ("spread", "ring", "pair"):
            return Own("pairwise")
        if candidate.name == "bruck" and kind.function == "alltoall":
            radix = candidate.radix
            return Own("bruck", differs="" if radix == 2 else f"its radix is 2, not {radix}")
        return None

    def text(self, rules: list[Rule]) -> str:
        """The assignment, as a shell and ucc.conf take it."""
        tokens = []
        for (function, ranks), of_ranks in groupby(
            rules, lambda rule: (rule.kind.function, rule.kind.ranks)
        ):
            for each in ranges(of_ranks):
                words = [function]
                if each.last is not None:
                    words.append(f"{each.first * ranks}-{(each.last + 1) * ranks}")
                words += ["host", f"[{ranks}-{ranks}]", f"@{each.own.name}"]
                tokens.append(":".join(words))
        return f"UCC_TL_UCP_TUNE={'#'.join(tokens)}\n"
