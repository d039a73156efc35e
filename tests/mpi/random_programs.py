"""Random MPI programs for what records, shows, predicts, advises and replays: programs by number,
that nobody wrote it for (random_calls/).

    ./haichi build
    .venv/bin/python tests/mpi/random_programs.py --programs 200
    .venv/bin/python tests/mpi/random_programs.py --programs 1 --first 17 --mpi openmpi-4.1.4

Program K of seed S is always the same one on the same MPI. Each runs by the MPI library alone,
under `haichi run --record`, and with --sync and --sequence: what its ranks receive is the same. The
record is then shown, predicted by table and by sequence, advised on, exported, imported and
replayed: each ends with what it has to say or with one line why not. What the MPI library alone
does not do twice alike is counted apart.

Ends with one line of counts; the exit code is 0 if all passed, 1 if one failed, 3 if none failed
and the time was over before all had run. Times are in seconds.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent / "python"))

import mpis
from haichi.cli import app
from haichi.record.read import ranks_of
from mpis import BUILD, HAICHI, ROOT, Mpi
from typer.testing import CliRunner

SEED = 1
STEPS = 16
LIMIT = 60.0
SOURCES = ROOT / "tests/mpi/random_calls"
PROFILES = ("lab-4-nodes.json", "two-cores.json")
BAD_INPUT = 2
# What haichi-replay itself calls beside what it replays.
OWN_CALLS = {"MPI_Allreduce": 1, "MPI_Barrier": 1, "MPI_Bcast": 1, "MPI_Gather": 1}
Line = dict[str, Any]


class Broken(AssertionError):
    """A program came out otherwise than it has to, or something said nothing of use."""


@dataclass(frozen=True)
class Program:
    """Program `number` of a seed, on one MPI."""

    number: int
    seed: int
    mpi: Mpi
    only: str = ""
    """Kinds of steps, with commas; empty: all."""
    alone: bool = False
    """The recorder, without haichi beneath it."""

    @property
    def ranks(self) -> int:
        return (2, 3, 2, 4)[self.number % 4]

    def words(self, folder: Path) -> list[str | Path]:
        program = compiled(self.mpi)
        words: list[str | Path] = [program, str(self.seed * 1_000_003 + self.number), str(STEPS)]
        return [*words, folder, *([self.only] if self.only else [])]

    def placement(self, folder: Path) -> dict[str, str]:
        """Half of them run on two nodes, as far as haichi is told. It is not to number their ranks
        anew, which it may, and which changes who receives what."""
        if self.number % 2 == 0:
            return {}
        path = folder / "placement.json"
        parts = [",".join(map(str, range(node, self.ranks, 2))) for node in (0, 1)]
        nodes = [{"name": f"node{i}", "ranks": part} for i, part in enumerate(parts)]
        path.write_text(json.dumps({"schema": "haichi.placement/1", "nodes": nodes}))
        return {"HAICHI_PLACEMENT": str(path), "HAICHI_PLACEMENT_REORDER": "off"}


def compiled(mpi: Mpi) -> Path:
    """The program for that MPI."""
    sources = [str(path) for path in sorted(SOURCES.glob("*.c")) if path.name != "main.c"]
    return mpi.compile(SOURCES / "main.c", "-std=gnu11", "-w", *mpis.thread_flags(), *sources)


@dataclass
class Seen:
    """What became of programs."""

    passed: int = 0
    failed: dict[int, str] = field(default_factory=dict)
    library: dict[int, str] = field(default_factory=dict)
    """Those that the MPI library alone fails or does not do twice alike."""
    said: Counter[str] = field(default_factory=Counter)


# --- Running a program ---------------------------------------------------------------------------


def run(program: Program, folder: Path, *front: str | Path, **env: str) -> str:
    """What it prints. A subprocess.TimeoutExpired or a Broken if it does not end well."""
    data = folder / "data"
    shutil.rmtree(data, ignore_errors=True)
    data.mkdir()
    words = [*front, *program.words(data)]
    recorder = BUILD / "lib" / f"libhaichi-record-{program.mpi.abi}.so"
    environment = program.mpi.stock(*([recorder] if "HAICHI_RECORD" in env else []), **env)
    done = program.mpi.run(program.ranks, words, environment, timeout=LIMIT)
    if done.returncode != 0:
        raise Broken(f"exit code {done.returncode}: {done.stdout[-300:]} {done.stderr[-1500:]}")
    if "haichi" in done.stderr:
        raise Broken(f"it prints: {done.stderr[-500:]}")
    return "".join(sorted(done.stdout.splitlines(keepends=True)))


def stock_results(program: Program, folder: Path) -> set[str]:
    """What the library alone comes to, of three runs."""
    results = set()
    for _ in range(3):
        try:
            results.add(run(program, folder))
        except (Broken, subprocess.TimeoutExpired) as error:
            results.add(f"failed: {type(error).__name__}")
    return results


def recorded(program: Program, folder: Path, expected: str, *options: str) -> Path:
    """Runs it under the recorder and compares. Returns the record."""
    path = folder / f"record{len(options)}.jsonl"
    front: list[str | Path] = [HAICHI, "run", f"--record={path}", *options, "--"]
    env = program.placement(folder)
    if program.alone:
        front, env = [], env | {"HAICHI_RECORD": str(path)}
        env |= {f"HAICHI_RECORD_{option[2:].upper()}": "on" for option in options}
    result = run(program, folder, *front, **env)
    if result != expected:
        raise Broken(f"under the recorder {options}:\n{result}in place of\n{expected}")
    beside = sorted(each.name for each in folder.glob(f"{path.name}*"))
    spawned = [name for name in beside if ".spawned-" in name]
    if sorted([path.name, *spawned]) != beside:
        raise Broken(f"left beside the record: {beside}")
    return path


# --- What is done with its record ----------------------------------------------------------------


def lines_of(path: Path) -> list[Line]:
    """A whole record's."""
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    calls = sum(line["calls"] for line in lines if line["kind"] == "rank")
    if lines[-1]["kind"] != "end" or lines[-1]["calls"] != calls:
        raise Broken(f"{path}: its last line is {lines[-1]}")
    keyed = sum(
        line["count"] * len(ranks_of(line["ranks"])) for line in lines if line["kind"] == "call"
    )
    if keyed != calls:
        raise Broken(f"{path}: {calls} calls, {keyed} in its keys")
    return lines


def command(*words: str | Path) -> tuple[int, str, str]:
    """A command of haichi's in this process: exit code, output, errors. An exception is a Broken,
    as it would be a traceback."""
    done = CliRunner().invoke(app, [str(word) for word in words])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise Broken(f"haichi {' '.join(map(str, words))}: {done.exception!r}") from done.exception
    return done.exit_code, done.stdout, done.stderr


def profile(program: Program, head: Line, folder: Path) -> Path:
    """A machine's profile; of three, one says that it is of the record's own machine."""
    path = ROOT / "machines" / PROFILES[program.number % len(PROFILES)]
    if program.number % 3:
        return path
    document = json.loads(path.read_text())
    document["signature"] = {**head["signature"], "network": len(head["placement"]["nodes"]) > 1}
    own = folder / "machine.json"
    own.write_text(json.dumps(document))
    return own


def succeeds(*words: str | Path) -> str:
    """The output of a command that has to end well."""
    code, out, err = command(*words)
    if code != 0:
        raise Broken(f"haichi {' '.join(map(str, words))}: exit code {code}: {err}")
    return out


def predicted(record: Path, machine: Path, by: str, *options: str) -> str:
    """An interval, or one line why there is none; what of the two."""
    words = ["predict", record, "--machine", machine, "--by", by, *options]
    made = json.loads(succeeds(*words, "--json"))
    interval, why = made["program_s"], made["why_not"]
    if (interval is None) == (why is None):
        raise Broken(f"predict by {by}: interval {interval}, why not: {why}")
    if why is not None and ("\n" in why or not why.strip()):
        raise Broken(f"predict by {by}: not a line: {why!r}")
    if interval is not None and not 0 < interval["low"] <= interval["high"]:
        raise Broken(f"predict by {by}: {interval}")
    succeeds(*words)
    return f"by {by}: {'an interval' if why is None else why.partition(':')[0][:60]}"


def shown(program: Program, record: Path, machine: Path, folder: Path) -> None:
    """Everything that only reads the record."""
    lines = lines_of(record)
    usage = json.loads(succeeds("record", record, "--json"))
    calls = sum(line["calls"] for line in lines if line["kind"] == "rank")
    if sum(each["calls"] for each in usage["functions"]) != calls:
        raise Broken(f"haichi record: {calls} calls, and another sum of its functions'")
    succeeds("record", record)
    if program.number % 5 == 0:
        succeeds("record", record, "-o", folder / "page.html", "--machine", machine)
    succeeds("advise", record, "--machine", machine, "--out", folder / "advice")


def exported(record: Path, folder: Path) -> None:
    """To GOAL and back, natively."""
    goal, back = folder / "record.goal", folder / "back.jsonl"
    for words in (["export", "--to", "goal", record, "--out", goal], ["import", goal, "-o", back]):
        done = mpis.run_bounded([HAICHI, *words], env=mpis.plain_environment(), timeout=LIMIT)
        if done.returncode != 0:
            raise Broken(f"haichi {words[0]}: exit code {done.returncode}: {done.stderr}")
    succeeds("record", back)


# --- Its replay ----------------------------------------------------------------------------------


def unfolded(items: Sequence[Any]) -> Iterator[int]:
    """The numbers of events that a sequence's program makes, one by one."""
    for item in items:
        if isinstance(item, list):
            for _ in range(item[0]):
                yield from unfolded(item[1])
        else:
            yield item


def collectives_of(lines: Sequence[Line]) -> Counter[str]:
    """How often all ranks together make each collective call of data, as the replay names it."""
    made: Counter[str] = Counter()
    for line in lines:
        if line["kind"] == "sequence":
            names = [line["events"][number]["call"] for number in unfolded(line["program"])]
            made.update(name for name in names if is_collective(name))
    return made


def as_replayed(calls: Counter[str]) -> Counter[str]:
    """What MPI_Alltoallw has is replayed by MPI_Alltoallv."""
    made: Counter[str] = Counter()
    for name, count in calls.items():
        made[name.replace("toallw", "toallv")] += count
    return +made


COLLECTIVES = (
    *("Barrier", "Bcast", "Gather", "Gatherv", "Scatter", "Scatterv", "Allgather", "Allgatherv"),
    *("Alltoall", "Alltoallv", "Alltoallw", "Reduce", "Allreduce", "Scan", "Exscan"),
    *("Reduce_scatter", "Reduce_scatter_block"),
)
IS_COLLECTIVE = {f"MPI_{n}" for n in COLLECTIVES} | {f"MPI_I{n.lower()}" for n in COLLECTIVES}


def is_collective(name: str) -> bool:
    """Of data, with the same members wherever it is replayed."""
    return name in IS_COLLECTIVE


STOPPED = "the order in which messages came may not be what was recorded"


def begins_receives_from_any(lines: Sequence[Line]) -> bool:
    """Whether a rank begins receives that any rank may serve."""
    events = [event for line in lines if line["kind"] == "sequence" for event in line["events"]]
    return any("request" in event and event.get("peer") == "any" for event in events)


def replayed(program: Program, record: Path, folder: Path) -> str:
    """Makes its calls again, recorded once more: the collective calls are the same ones, and as
    many calls are made as are not said to be left out."""
    again = folder / "replay.jsonl"
    player = BUILD / "bin" / f"haichi-replay-{program.mpi.abi}"
    recorder = BUILD / "lib" / f"libhaichi-record-{program.mpi.abi}.so"
    env = program.mpi.stock(recorder, HAICHI_RECORD=str(again))
    words = [player, record, "--json", "--compute", "none", "--directory", folder]
    done = program.mpi.run(program.ranks, [*words, "--patience", "10"], env, timeout=LIMIT)
    if done.returncode != 0:
        # Whom a receive from any rank was served by is only recorded of those that block.
        if STOPPED in done.stderr and begins_receives_from_any(lines_of(record)):
            return "replayed until a receive from any rank got another message"
        raise Broken(f"replay: exit code {done.returncode}: {done.stderr[-1500:]}")
    notes: list[str] = json.loads(done.stdout)["notes"]
    told = json.loads(done.stdout)["slowest"]["calls"]
    left = Counter[str]()
    for note in notes:
        words_of = note.removeprefix("left out: ").partition(":")[0].split(" ", 1)
        if note.startswith("left out: "):
            left[words_of[1]] += int(words_of[0])
    lines = lines_of(record)
    # Of an exchange, one half may be left out, and of sends those that others know.
    loose = {"messages", "sends", "receives", "collective calls"} & set(left)
    all_calls = sum(
        sum(1 for _ in unfolded(line["program"])) for line in lines if line["kind"] == "sequence"
    )
    if not loose and told + left.total() != all_calls:
        raise Broken(f"replay: {all_calls} calls, {told} made, {left.total()} left out: {notes}")
    expected = as_replayed(collectives_of(lines) - left)
    made = Counter[str]()
    for line in lines_of(again):
        if line["kind"] == "call" and is_collective(line["function"]):
            made[line["function"]] += line["count"] * len(ranks_of(line["ranks"]))
    own = Counter({name: n * program.ranks for name, n in OWN_CALLS.items()})
    if "collective calls" not in left and made - own != expected:
        raise Broken(f"replay: {made - own} made in place of {expected}; {notes}")
    return "replayed, nothing left out" if not left else "replayed, some left out"


# --- One program, and many -----------------------------------------------------------------------


def outcome(program: Program, folder: Path) -> list[str]:
    """Everything of one program; what was said of it. A Broken says what is wrong."""
    expected = run(program, folder)
    recorded(program, folder, expected)
    if program.number % 2:
        recorded(program, folder, expected, "--sync")
    record = recorded(program, folder, expected, "--sync", "--sequence")
    machine = profile(program, lines_of(record)[0], folder)
    shown(program, record, machine, folder)
    said = [
        predicted(record, machine, "table"),
        predicted(record, machine, "sequence"),
        replayed(program, record, folder),
    ]
    if program.number % 4 == 1:
        predicted(record, machine, "sequence", "--sensitivity", "--placement", "BK")
        predicted(record, machine, "table", "--sensitivity", "--placement", "RR")
    exported(record, folder)
    return said


def judge(program: Program, seen: Seen, keep: Path) -> None:
    """Runs a program. If it breaks, looks whether the library alone is as good."""
    folder = Path(tempfile.mkdtemp(prefix="haichi-random-"))
    try:
        seen.said.update(outcome(program, folder))
        seen.passed += 1
    except (Broken, subprocess.TimeoutExpired) as error:
        alone = stock_results(program, folder)
        if len(alone) > 1 or any(each.startswith("failed") for each in alone):
            seen.library[program.number] = str(error)
        else:
            seen.failed[program.number] = str(error)
            where = keep / f"{program.mpi.name}-{program.seed}-{program.number}"
            shutil.rmtree(where, ignore_errors=True)
            shutil.copytree(folder, where)
            print(f"FAILED program {program.number} on {program.mpi.name}: {error}\n  {where}")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def usable(names: Sequence[str] = ()) -> list[Mpi]:
    """The MPIs that programs can run on, with what this build needs for them."""
    found = [mpi for mpi in mpis.all_mpis() if not mpi.missing and (not names or mpi.name in names)]
    return [mpi for mpi in found if (BUILD / "bin" / f"haichi-replay-{mpi.abi}").exists()]


def campaign(
    numbers: range,
    seed: int,
    on: Sequence[Mpi],
    seconds: float,
    keep: Path,
    only: str = "",
    alone: bool = False,
    tell: Callable[[str], None] = print,
) -> Seen:
    """Programs on the MPIs in turn, until all are done or the time is over."""
    begin = time.monotonic()
    seen = Seen()
    for number in numbers:
        if time.monotonic() - begin > seconds:
            break
        program = Program(number, seed, on[number % len(on)], only, alone)
        judge(program, seen, keep)
        tell(f"{time.monotonic() - begin:7.0f} s  {number} on {program.mpi.name}, "
             f"{program.ranks} ranks: {seen.passed} passed, {len(seen.failed)} failed, "
             f"{len(seen.library)} by the library alone")  # fmt: skip
    return seen


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description="Random MPI programs, recorded and replayed.")
    parser.add_argument("--programs", type=int, default=100, help="how many (100)")
    parser.add_argument("--first", type=int, default=0, help="number of the first one (0)")
    parser.add_argument("--seed", type=int, default=SEED, help="seed of them all (1)")
    parser.add_argument("--seconds", type=float, default=7200, help="begin none after (7200)")
    parser.add_argument("--mpi", action="append", default=[], help="on that one (all in turn)")
    parser.add_argument("--only", default="", help="kinds of steps, such as messages,window")
    parser.add_argument("--alone", action="store_true", help="nothing of haichi's but the recorder")
    parser.add_argument("--keep", type=Path, default=ROOT / "out/test/random-programs")
    o = parser.parse_args(arguments)
    on = usable(o.mpi)
    if not on:
        print("random_programs: no such MPI here, or it is not built for: ./haichi build")
        return 1
    o.keep.mkdir(parents=True, exist_ok=True)
    seen = campaign(
        range(o.first, o.first + o.programs), o.seed, on, o.seconds, o.keep, o.only,
        o.alone, lambda text: print(text, flush=True),
    )  # fmt: skip
    return show(seen, o.programs)


def show(seen: Seen, asked: int) -> int:
    """Prints what was said, and the counts; returns the exit code."""
    said: Mapping[str, int] = seen.said
    for text, count in sorted(said.items()):
        print(f"  {count:6} {text}")
    for number, why in seen.library.items():
        print(f"  program {number}, by the MPI library alone too: {why.splitlines()[0][:100]}")
    left = asked - seen.passed - len(seen.failed) - len(seen.library)
    failed = f" ({', '.join(map(str, seen.failed))})" if seen.failed else ""
    print(f"{seen.passed} passed, {len(seen.failed)} failed{failed}, {len(seen.library)} failed by "
          f"the MPI library alone, {left} not run")  # fmt: skip
    if seen.failed:
        return 1
    return 3 if left else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    finally:
        shutil.rmtree(mpis.scratch(), ignore_errors=True)
