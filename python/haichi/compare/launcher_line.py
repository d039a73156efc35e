"""Where the program begins in a command line of mpiexec, mpirun or srun.

`haichi run` has to stand before the program, and what stands before that are options of the
launcher, whose values look like programs. The options known here are those of MPICH's Hydra
(mpiexec(1)), Open MPI 4 and 5 (mpirun(1), prterun(1)) and Slurm (srun(1)). An option that is not
known is not guessed at.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

LAUNCHER = re.compile(r"(mpiexec|mpirun|orterun|prterun|srun)(\.\w+)*")

# By the number of values behind them; with one dash or two, a value after "=" counts as none.
_TWO = "env genv mca gmca prtemca pmixmca"
_ONE = """
    n np c N npernode npersocket ppn perhost host hosts H hostfile machinefile f x wd wdir dir path
    iface rmk launcher bootstrap bind-to map-by rank-by membind genvlist envlist rankfile rf prefix
    output-filename output stdin am cpu-set cpu-list tune dvm timeout personality runtime-options
    display outfile-pattern errfile-pattern usize
    p A t J w o e i m D C L r T W ntasks nodes ntasks-per-node cpus-per-task partition account time
    job-name nodelist distribution mem mpi cpu-bind mem-bind exclude constraint
"""
_NONE = """
    q v V l u O s K verbose quiet oversubscribe nooversubscribe allow-run-as-root report-bindings
    use-hwthread-cpus tag-output timestamp-output nolocal bynode byslot bycore bysocket pernode
    bind-to-core bind-to-none display-map display-allocation prepend-rank genvall genvnone envall
    envnone disable-auto-cleanup order-nodes exclusive overlap label unbuffered
"""
_VALUES = dict.fromkeys(_TWO.split(), 2)
_VALUES |= dict.fromkeys(_ONE.split(), 1)
_VALUES |= dict.fromkeys(_NONE.split(), 0)
_JOINED = re.compile(r"-[nNcptAJw]\d\S*")  # srun -n16
LAB = ["lab", "run"]
HELP = "write ./haichi run before the program"


class Unclear(Exception):
    """It cannot be told where the program begins; the message says why and what to do."""


def with_haichi(command: Sequence[str], haichi: str, options: Sequence[str]) -> list[str]:
    """The command with `haichi run OPTIONS` before each of its programs: one, or several of
    mpiexec's between colons. Where `haichi run` stands already, the options are put behind it.

    Raises:
        Unclear: an option of the launcher is not known, or no program follows.
    """
    words = list(command)
    if runs := haichi_runs(words):
        for at in reversed(runs):
            words[at + 1 : at + 1] = options
        return words
    for at in reversed(programs(words)):
        words[at:at] = [haichi, "run", *options]
    return words


def haichi_runs(words: Sequence[str]) -> list[int]:
    """Where each `run` of a `haichi run` is."""
    return [
        at
        for at, (word, behind) in enumerate(pairwise(words), 1)
        if Path(word).name == "haichi" and behind == "run"
    ]


def is_lab(words: Sequence[str]) -> bool:
    """Whether the command is `haichi lab run`."""
    return len(words) > 2 and Path(words[0]).name == "haichi" and list(words[1:3]) == LAB


def programs(words: Sequence[str]) -> list[int]:
    """Where in the command each program is.

    Raises:
        Unclear: an option of the launcher is not known, or no program follows.
    """
    if not words:
        raise Unclear("no command; give one behind --, as you start the program without haichi")
    if is_lab(words):
        return [_behind_lab(words)]
    if not LAUNCHER.fullmatch(Path(words[0]).name):
        return [0]
    colons = [at for at, word in enumerate(words) if word == ":"]
    begins = [0, *colons]
    ends = [*colons, len(words)]
    return [_program(words, begin + 1, end) for begin, end in zip(begins, ends, strict=True)]


def options(words: Sequence[str], begin: int, end: int) -> list[list[str]]:
    """A launcher's words between two places, each option with its values."""
    found, at = [], begin
    values = _values_of_lab if is_lab(words) else _values
    while at < end:
        behind = at + 1 + (values(words[at]) or 0)
        found.append(list(words[at : min(behind, end)]))
        at = behind
    return found


def _values(word: str) -> int | None:
    """How many values stand behind an option; None if it is not known."""
    if "=" in word or _JOINED.fullmatch(word):
        return 0
    return _VALUES.get(word.lstrip("-"))


def _values_of_lab(word: str) -> int:
    """The same of `haichi lab run`, whose options all have a value."""
    return int(word.startswith("--") and "=" not in word)


def _behind_lab(words: Sequence[str]) -> int:
    """Behind MPI and NP, and all options."""
    at, left = 3, 2
    while at < len(words) and (left > 0 or words[at].startswith("--")):
        left -= not words[at].startswith("--")
        at += 1 + _values_of_lab(words[at])
    if at >= len(words):
        raise Unclear(f"no program in {' '.join(words)}; give one")
    return at


def _program(words: Sequence[str], begin: int, end: int) -> int:
    at = begin
    while at < end and words[at].startswith("-"):
        word = words[at]
        at += 1
        if word == "--":
            break
        count = _values(word)
        if count is None:
            raise Unclear(f"{words[0]}'s option {word} is not known here; {HELP}")
        at += count
    if at >= end:
        raise Unclear(f"no program in {' '.join(words)}; {HELP}")
    return at
