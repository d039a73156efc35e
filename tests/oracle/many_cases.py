"""Many random cases or programs: the oracle of test_oracle.py and test_programs_lose_nothing.py,
thousands of them, by number.

    ./haichi test --cases 20000                       # builds, then this
    .venv/bin/python tests/oracle/many_cases.py --cases 20000
    .venv/bin/python tests/oracle/many_cases.py --programs 20000 --mpi openmpi-5.0.11

Case K of seed S is always the same case on the same MPI, ranks and placement: the numbers are cut
into chunks of CHUNK, and the chunk decides these (see `job_of`), so that any range of numbers can
be run alone, on another machine or again. With --mpi all cases run on that one, and the chunk
decides the rest. What is done is kept in the folder: with --resume, what
this build has passed is not run again. A program that loses bytes or does not end is run again
without haichi, up to BESIDE times: what the MPI library fails alone in the same way is counted
apart, and is no failure of haichi's.
Ends with one line of counts; the exit code is 0 if all passed, 1 if a case failed, 3 if none failed
and the time was over before all had run. Times are in
seconds.
"""

from __future__ import annotations

import argparse
import dataclasses
import hashlib
import json
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import mpis
from oracle_support import (
    SEED,
    STOCK,
    SUMMARY,
    Job,
    calls_of,
    distribution_mpi,
    fast_base,
    mpi_named,
)

CHUNK = 125
MOST_RANKS = 16
ABIS = ("mpich", "openmpi")
PLACEMENTS = ("each", "block2", "uneven", "deal2", "block4", "one", "deal3")
FAILED = re.compile(r"seed \d+, numbers((?: \d+)+)")
DONE = re.compile(r"^oracle: (?:case|program) (\d+) done$", re.MULTILINE)
WRONG = "wrong"
HANGS = re.compile(r"no end of (?:case|program) (\d+) of seed")
# A case may take a minute (oracle_cases --limit); a chunk of good ones takes seconds.
CHUNK_LIMIT = 900
# What a library fails by itself, it fails in every second run, or in one of thousands (444 of
# seed 11 on MPICH 5.0.2 loses bytes, 9286 of seed 12 on Open MPI 4.1.4 does not end).
BESIDE = 30000
BESIDE_LIMIT = 240


def place_of(number: int, on: str) -> tuple[str, int, int]:
    """The ABI of a number's chunk, which of that ABI's chunks it is, and the place of the ABI among
    those that take turns. An MPI that is named has all chunks."""
    chunk = number // CHUNK
    if on:
        return mpi_named(on).abi, chunk, 0
    return ABIS[chunk % len(ABIS)], chunk // len(ABIS), chunk % len(ABIS)


def job_of(number: int, seed: int, on: str = "") -> Job:
    """The job that case `number` belongs to, from that case to the end of its chunk. MPIs take
    turns, ranks go from 1 to 16, and each round of these deals the placements out anew. Half of the
    jobs tune their exchanges, and a third agree node by node."""
    abi, turn, place = place_of(number, on)
    ranks = 1 + turn % MOST_RANKS
    nodes = PLACEMENTS[(turn + turn // MOST_RANKS + 3 * place) % len(PLACEMENTS)]
    # One rank alone is the library's: there the model is held against what that gets right.
    options = ("--stock", *STOCK[abi]) if ranks == 1 else ()
    tuned = (turn + turn // MOST_RANKS) % 2 == 1
    by_nodes = (turn + turn // MOST_RANKS) % 3 == 0
    left = CHUNK - number % CHUNK
    return Job(abi, ranks, left, nodes, seed, number, options, tuned, by_nodes, on=on)


# Ranks wait for each other in programs all the time, so mostly there are few.
PROGRAM_RANKS = (2, 2, 3, 2, 4, 2, 3, 8)


def program_job_of(number: int, seed: int, on: str = "") -> Job:
    """The same for program `number`. Every other turn has MPI_THREAD_MULTIPLE."""
    abi, turn, _ = place_of(number, on)
    ranks = PROGRAM_RANKS[turn % len(PROGRAM_RANKS)]
    # On one node ranks go their own ways most often.
    nodes = PLACEMENTS[turn % len(PLACEMENTS)] if turn % 2 else "one"
    options = () if (turn // 2) % 2 else ("--single",)
    left = CHUNK - number % CHUNK
    return Job(abi, ranks, left, nodes, seed, number, options, what="programs", on=on)


JOB_OF = {"cases": job_of, "programs": program_job_of}


def jobs(first: int, cases: int, seed: int, what: str = "cases", on: str = "") -> Iterator[Job]:
    """The jobs of the cases (or programs) `first` to `first + cases - 1`."""
    end = first + cases
    while first < end:
        job = JOB_OF[what](first, seed, on)
        job = dataclasses.replace(job, cases=min(job.cases, end - first))
        yield job
        first += job.cases


@dataclasses.dataclass
class Result:
    """What became of a job. Cases that are neither passed nor failed did not run."""

    passed: int = 0
    failed: dict[int, str] = dataclasses.field(default_factory=dict)
    """Number of a case, and what was wrong."""
    stock_too: dict[int, str] = dataclasses.field(default_factory=dict)
    """The same of programs that the MPI library alone fails in the same way."""
    wrong: list[str] = dataclasses.field(default_factory=list)
    """What is wrong with the job as a whole."""
    seen: Counter[str] = dataclasses.field(default_factory=Counter)
    """What the run report says of the calls, counted."""

    def add(self, other: Result) -> None:
        self.passed += other.passed
        self.failed |= other.failed
        self.stock_too |= other.stock_too
        self.wrong += other.wrong
        self.seen += other.seen


def judge(job: Job, status: int | None, out: str, err: str) -> tuple[Result, int]:
    """What one run of oracle_cases with --verbose says (`status` is None if it had to be killed),
    and how many cases of the job have been dealt with: less than all if one ended the job."""
    result = Result()
    summary = SUMMARY.search(out)
    if status in (0, 1) and summary and int(summary[1]) == job.cases:
        found = FAILED.search(out)
        for number in map(int, found[1].split() if found else []):
            result.failed[number] = WRONG
        result.passed = job.cases - len(result.failed)
        return result, job.cases
    done = max((int(number) for number in DONE.findall(err)), default=job.first - 1)
    hanging = HANGS.search(err)
    culprit = int(hanging[1]) if hanging else done + 1
    if culprit >= job.first + job.cases:  # after the last case: no case's fault
        result.passed = job.cases
        result.wrong.append(f"{job} from {job.first}: exit code {status} after its last case")
        return result, job.cases
    why = "did not end" if hanging or status is None else f"ended the job, exit code {status}"
    result.failed[culprit] = why
    # Those before it may have failed too, which the summary would have told.
    for number in map(int, re.findall(r"^(?:case|program) (\d+) of seed", err, re.MULTILINE)):
        if job.first <= number < culprit:
            result.failed[number] = WRONG
    result.passed = culprit + 1 - job.first - len(result.failed)
    return result, culprit + 1 - job.first


def features(calls: Sequence[dict]) -> Counter[str]:
    """What the calls of a report went through."""
    seen: Counter[str] = Counter()
    for call in calls:
        seen["calls"] += 1
        seen[call["call"].removeprefix("MPI_File_")] += 1
        seen["of more than one cycle"] += call["cycles"] > 1
        seen["of more than ten cycles"] += call["cycles"] > 10
        seen["behind the program"] += "thread_seconds" in call
        seen["with streams of nodes"] += any("one message per node" in why for why in call["why"])
        seen["agreed node by node"] += any("node by node" in why for why in call["why"])
        seen["on trial"] += any(": trial " in why for why in call["why"])
        for key in ("layout", "order", "holes"):
            if call[key] not in ("", "none"):
                seen[f"{key} {call[key]}"] += 1
    return seen


def check_report(job: Job, report: Path, result: Result) -> None:
    """The calls must all have been haichi's: others prove nothing of it. One rank has none.
    Programs have handles of one rank, and what is left to the library may be lost beside it."""
    if not report.exists():
        result.wrong.append(f"{job} from {job.first}: no run report")
        return
    calls = calls_of(report)
    left = [call for call in calls if not call["handled"]]
    if (left and job.what == "cases") or (not calls and job.ranks > 1 and job.cases > 5):
        what = f"passed through: {left[0]}" if left else "not one call in the report"
        result.wrong.append(f"{job} from {job.first}: {what}")
    result.seen += features(calls)


def run(job: Job, folder: Path, keep: Path) -> Result:
    """Runs a job, to its end even if cases break it off. Failures are printed and kept."""
    mpi = job.mpi()
    total = Result()
    while job.cases > 0:
        words = [*job.words(mpi, folder), "--keep-going", "--verbose"]
        environment = job.environment(mpi, folder)
        try:
            done = mpi.run(job.ranks, words, environment, timeout=CHUNK_LIMIT)
            status, out, err = done.returncode, done.stdout, done.stderr
        except subprocess.TimeoutExpired as late:
            status, out, err = None, str(late.stdout), str(late.stderr)
        result, dealt_with = judge(job, status, out, err)
        if dealt_with == job.cases and status in (0, 1):
            check_report(job, job.report(folder), result)
        for number, why in list(result.failed.items()):
            again = dataclasses.replace(job, first=number, cases=1)
            if job.what == "programs" and stock_fails(again, why, mpi):
                result.stock_too[number] = result.failed.pop(number)
            else:
                show_failure(again, why, mpi, keep)
        if result.failed or result.wrong:
            log = keep / f"{job.seed}-{job.first}.log"
            log.write_text(out + "\n" + DONE.sub("", err))
        total.add(result)
        job = dataclasses.replace(job, first=job.first + dealt_with, cases=job.cases - dealt_with)
    return total


def stock_fails(job: Job, why: str, mpi: mpis.Mpi) -> bool:
    """Whether a program fails without haichi, too, and in the same way: by what is in the file, or
    by its end. One that goes on and on tells nothing."""
    words = [*job.words(mpi, fast_base()), "--stock", "--repeat", str(BESIDE)]
    try:
        done = mpi.run(job.ranks, words, mpi.stock(), timeout=BESIDE_LIMIT)
    except subprocess.TimeoutExpired:
        return False
    if why == WRONG:
        return re.search(rf"^program {job.first} of seed", done.stderr, re.MULTILINE) is not None
    # What never ends one time ends in a signal the next.
    return done.returncode not in (0, 1)


def show_failure(job: Job, why: str, mpi: mpis.Mpi, keep: Path) -> None:
    """A failed case, and the two lines that run it again: by its number, and by hand."""
    place = keep / f"{job.nodes}-{job.ranks}"
    place.mkdir(parents=True, exist_ok=True)
    environment = job.environment(mpi, place)
    line = mpi.command(job.ranks, job.words(mpi, fast_base()), environment)
    settings = {**mpis.TESTED, **mpi.launcher_env}
    launcher = [f"{key}={value}" for key, value in settings.items()]
    one = job.what.removesuffix("s")
    print(f"FAILED {one} {job.first} of seed {job.seed}: {why}; {mpi.name}, {job.ranks} ranks")
    named = f" --mpi {job.on}" if job.on else ""
    print(f"  ./haichi test --{job.what} 1 --first {job.first} --seed {job.seed}{named}")
    print(f"  {shlex.join(['env', *launcher, *line])}", flush=True)


def build_id(abis: Sequence[str] = ABIS) -> str:
    """Changes with what is under test."""
    state = hashlib.sha256()
    for abi in abis:
        for path in (
            mpis.BUILD / f"lib/libhaichi-{abi}.so",
            mpis.BUILD / f"bin/oracle_cases_{abi}",
            mpis.BUILD / f"bin/oracle_programs_{abi}",
        ):
            state.update(path.read_bytes() if path.exists() else b"")
    return state.hexdigest()[:16]


class Progress:
    """What has passed, by build, so that a campaign may go on where it was broken off."""

    def __init__(self, path: Path, resume: bool, abis: Sequence[str] = ABIS) -> None:
        self.path = path
        self.build = build_id(abis)
        self.done: dict[str, dict] = {}
        if resume and path.exists():
            kept = json.loads(path.read_text())
            self.done = kept["jobs"] if kept["build"] == self.build else {}

    def known(self, job: Job) -> Result | None:
        """The result of a job that has passed before."""
        kept = self.done.get(f"{job.seed} {job.first} {job.cases}")
        return Result(passed=job.cases, seen=Counter(kept)) if kept is not None else None

    def keep(self, job: Job, result: Result) -> None:
        """Only what is without fault: the rest is worth another look."""
        if result.failed or result.wrong:
            return
        self.done[f"{job.seed} {job.first} {job.cases}"] = dict(result.seen)
        self.path.write_text(json.dumps({"build": self.build, "jobs": self.done}))


def show(total: Result, asked: int, seconds: float) -> int:
    """Prints what the cases went through and the counts; returns the exit code."""
    for text in total.wrong:
        print(f"FAILED job {text}")
    seen = Counter(total.seen)
    print(f"{seen.pop('calls', 0)} collective calls, all in the run reports:")
    for name, count in sorted(seen.items()):
        print(f"  {count:8} {name}")
    lost = sorted(number for number, why in total.stock_too.items() if why == WRONG)
    broken = sorted(set(total.stock_too) - set(lost))
    for numbers, what in ((lost, "lose bytes"), (broken, "hang or crash")):
        if numbers:
            print(f"{len(numbers)} {what} without haichi, too: {', '.join(map(str, numbers))}")
    left = asked - total.passed - len(total.failed) - len(total.stock_too)
    failed = f" ({', '.join(map(str, sorted(total.failed)))})" if total.failed else ""
    print(
        f"{total.passed} passed, {len(total.failed)} failed{failed}, "
        f"{len(total.stock_too)} failed by the MPI library alone, {left} not run, "
        f"in {seconds:.0f} s"
    )
    if total.failed or total.wrong:
        return 1
    return 3 if left else 0


def campaign(
    what: str,
    cases: int,
    first: int,
    seed: int,
    seconds: float,
    resume: bool,
    keep: Path,
    on: str = "",
) -> int:
    """Runs cases until all are done or the time is over; returns the exit code."""
    chosen = [mpi_named(on)] if on else [distribution_mpi(abi) for abi in ABIS]
    missing = [mpi.missing for mpi in chosen if mpi.missing]
    if missing:
        print(f"many_cases: {missing[0]}")
        return 1
    keep.mkdir(parents=True, exist_ok=True)
    kept = keep / f"seed-{seed}{'-' * bool(on)}{on}.json"
    progress = Progress(kept, resume, [mpi.abi for mpi in chosen])
    begin = time.monotonic()
    total = Result()
    for job in jobs(first, cases, seed, what, on):
        result = progress.known(job)
        if result is None:
            if time.monotonic() - begin > seconds:
                print(f"the time of {seconds:.0f} s is over; the same line with --resume goes on")
                break
            folder = Path(tempfile.mkdtemp(prefix="oracle-", dir=fast_base()))
            try:
                result = run(job, folder, keep)
            finally:
                shutil.rmtree(folder, ignore_errors=True)
            progress.keep(job, result)
            print(
                f"{time.monotonic() - begin:7.0f} s  {what} {job.first} to "
                f"{job.first + job.cases - 1}: {result.passed} passed, {len(result.failed)} failed "
                f"({job.mpi().name}, {job.ranks} ranks, {job.nodes})",
                flush=True,
            )
        total.add(result)
    return show(total, cases, time.monotonic() - begin)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description="Random cases of collective I/O, by number.")
    parser.add_argument("--cases", type=int, default=20000, help="how many (20000)")
    parser.add_argument("--programs", type=int, help="that many programs in place of cases")
    parser.add_argument("--first", type=int, default=0, help="number of the first one (0)")
    parser.add_argument("--seed", type=int, default=SEED, help="seed of them all (1)")
    parser.add_argument("--seconds", type=float, default=7200, help="begin no job after (7200)")
    parser.add_argument("--resume", action="store_true", help="leave out what this build passed")
    names = [mpi.name for mpi in mpis.all_mpis()]
    parser.add_argument("--mpi", choices=names, default="", help="all on that one (two in turn)")
    parser.add_argument("--keep", type=Path, help="folder of logs and progress (out/test/...)")
    o = parser.parse_args(arguments)
    what = "cases" if o.programs is None else "programs"
    count = o.cases if o.programs is None else o.programs
    keep = o.keep or mpis.ROOT / "out" / "test" / what
    return campaign(what, count, o.first, o.seed, o.seconds, o.resume, keep, o.mpi)


if __name__ == "__main__":
    # So that the ranks end with us, and not only on Ctrl-C.
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    try:
        sys.exit(main())
    finally:
        # The programs for an MPI that the build has none for.
        shutil.rmtree(mpis.scratch(), ignore_errors=True)
