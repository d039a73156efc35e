"""The commands of ./haichi that are not the native program's."""

import argparse
import itertools
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from haichi_processes.ending import ENDING

from haichi_bootstrap import (
    artifacts,
    building,
    checking,
    doctor,
    environments,
    fresh,
    installed,
    installing,
    paths,
    rooms,
    shell,
    testing,
)
from haichi_bootstrap.shell import Stop

# Commands of the package `haichi`, which lives in .venv. Written here too, so that a slip of the
# fingers on a new machine is answered before anything is installed; a test compares the two.
FORWARDED = (
    "demo",
    "compare",
    "lab",
    "gasfs",
    "report",
    "explain",
    "export",
    "import",
    "fit",
    "record",
    "predict",
    "advise",
    "figures",
)
MEASURE_FOR = "measure-for"  # what the script makes of `measure --for`

USAGE = """\
usage: ./haichi COMMAND

  demo      build, then the main job: a cluster's collective I/O, stock against haichi
  test      build, then every test (--quick, --long, --only PATTERN, --sanitize WHICH, --fresh,
            --installed),
            or random cases of collective I/O (--cases N)
  build     set up and compile only
  install   build, then a tree under --prefix that runs without the checkout (--remove)
  package   the same as a Debian package or a wheel: ./haichi package deb|wheel
  doctor    what is here, what is missing, what to type
  check     format, lint, types, arrows, headers (--tidy: clang-tidy too)

  run       mpiexec -n 16 ./haichi run ./app ARGS…    run a program under haichi
  where     mpiexec -n 16 ./haichi where              print which rank is where
  measure   mpiexec -n 4 ./haichi measure             measure what MPI does on this machine
            ./haichi measure --for RECORD -- mpiexec -n 4    what a recorded program needs of it
  replay    mpiexec -n 16 ./haichi replay RECORD      make the calls of a recorded program again
  config    print the settings
  simulate  what if an exchange ran on another machine, with the ranks placed like so

  compare   ./haichi compare -- mpiexec -n 16 ./app ARGS…    your program without and with haichi
            ./haichi compare A B    where samples of B are slower than those of A
  lab       a cluster of network namespaces: up, run, down
  gasfs     a file system that gathers, arranges and scatters what a node's processes write:
            start, stop, status, mount, broadcast, picture, stage-in, stage-out, set, check
  report    print a run report or samples, make their page or a trace
  explain   how the algorithms of a run's collectives were chosen
  export    what was chosen, as rules that the MPI library reads without haichi; samples as CSV
  import    ./haichi import FILE -o s.jsonl    what OSU's, IMB or IOR printed, as samples
  fit       ./haichi fit SAMPLES… -o machine.json    the profile of a machine that was measured
  record    ./haichi record RECORD    where a program's time in MPI goes, as text or page
  predict   ./haichi predict RECORD --machine machine.json    what it would take on a machine
  advise    ./haichi advise RECORD    what would make it faster: where its ranks belong, which calls
  figures   the measurements behind the figures in README.md

./haichi COMMAND --help says more of each.
"""


def main(arguments: Sequence[str]) -> int:
    """Runs one command; returns its exit status. A Stop is one line on standard error."""
    ENDING.install(signal.SIGINT, signal.SIGTERM)
    try:
        return _dispatch(list(arguments))
    except Stop as stop:
        print(f"haichi: {stop}", file=sys.stderr, flush=True)
        return stop.status


def _dispatch(arguments: list[str]) -> int:
    if not arguments or arguments[0] in ("-h", "--help", "help"):
        print(USAGE, end="")
        return 0 if arguments else 2
    name, rest = arguments[0], arguments[1:]
    own = {
        "build": _build,
        "install": _install,
        "package": _package,
        "test": _test,
        "doctor": _doctor,
        "check": _check,
    }
    if name in own:
        return own[name](rest)
    if name in FORWARDED or name == MEASURE_FOR:
        if not _asks_for_help(rest):
            _set_up_for(name, rest)
        elif not environments.tools_ready():
            return _help_without_tools(name)
        _become(name, rest)
    raise Stop(f"no command '{name}'; ./haichi --help lists them", 2)


def _parser(name: str, what: str) -> argparse.ArgumentParser:
    return argparse.ArgumentParser(prog=f"./haichi {name}", description=what)


def _build(arguments: list[str]) -> int:
    _parser("build", "Sets up and compiles into build/release.").parse_args(arguments)
    with building.alone():
        building.set_up()
        folder = building.build(building.PRODUCT)
    shell.say(f"built: {folder}")
    return 0


def _install(arguments: list[str]) -> int:
    parser = _parser("install", "Builds haichi and installs it: a tree that may be moved.")
    parser.add_argument(
        "--prefix", type=Path, required=True, help="where bin/, lib/ and share/ are made"
    )
    parser.add_argument("--remove", action="store_true", help="take away what was installed there")
    options = parser.parse_args(arguments)
    do = installing.remove if options.remove else installing.install
    return do(options.prefix)


def _package(arguments: list[str]) -> int:
    parser = _parser("package", "Makes packages of haichi under out/packages.")
    parser.add_argument("kind", choices=sorted(artifacts.KINDS))
    made = artifacts.KINDS[parser.parse_args(arguments).kind]()
    shell.say(f"made: {made}")
    return 0


def _test(arguments: list[str]) -> int:
    parser = _parser("test", "Sets up, builds and runs the tests.")
    parser.add_argument("--quick", action="store_true", help="leave out what is marked slow")
    parser.add_argument("--long", action="store_true", help="what takes minutes each too")
    parser.add_argument("--only", metavar="PATTERN", help="tests whose name contains PATTERN")
    parser.add_argument(
        "--sanitize", choices=sorted(testing.SANITIZERS), help="build with these sanitizers"
    )
    parser.add_argument(
        "--fresh", action="store_true", help="in a new Debian root, as root and as a plain user"
    )
    parser.add_argument(
        "--installed", action="store_true", help="install each way in a new Debian root, and use it"
    )
    many = parser.add_argument_group("random accesses or programs instead of the tests")
    many.add_argument("--cases", type=int, metavar="N", help="collective accesses, e.g. 20000")
    many.add_argument("--programs", type=int, metavar="N", help="programs that write a file")
    many.add_argument("--first", type=int, default=0, metavar="K", help="number of the first")
    many.add_argument("--seed", type=int, default=1, metavar="S", help="other cases")
    many.add_argument("--seconds", type=float, default=7200, help="begin no job after (7200)")
    many.add_argument("--mpi", metavar="NAME", help="on that one alone, e.g. openmpi-5.0.11")
    many.add_argument("--resume", action="store_true", help="not what this build has passed")
    options = parser.parse_args(arguments)
    for what, count in (("cases", options.cases), ("programs", options.programs)):
        if count is None:
            continue
        if options.fresh or options.quick or options.long or options.only:
            raise Stop(
                f"--{what} goes with --first, --seed, --seconds, --resume, --mpi, --sanitize", 2
            )
        testing.random_cases(
            what=what,
            count=count,
            first=options.first,
            seed=options.seed,
            seconds=options.seconds,
            resume=options.resume,
            sanitize=options.sanitize,
            mpi=options.mpi,
        )
    if options.installed:
        return installed.test()
    if options.fresh:
        if options.only or options.sanitize or options.long:
            raise Stop("--fresh takes --quick only: it runs what a newcomer would type", 2)
        return fresh.test(quick=options.quick)
    if options.quick and options.long:
        raise Stop("--quick leaves out what --long adds: give one of them", 2)
    return testing.test(
        quick=options.quick, long=options.long, only=options.only, sanitize=options.sanitize
    )


def _doctor(arguments: list[str]) -> int:
    _parser("doctor", "Says what is here, what is missing and what to type.").parse_args(arguments)
    return doctor.examine()


def _check(arguments: list[str]) -> int:
    parser = _parser(
        "check", "Checks format, lint, types, arrows, headers and sizes of the sources."
    )
    parser.add_argument("--tidy", action="store_true", help="clang-tidy too (minutes)")
    parser.add_argument(
        "--rooms", action="store_true", help="instead, print what each folder of src/ has and uses"
    )
    options = parser.parse_args(arguments)
    if options.rooms:
        for line in rooms.table(checking.SRC):
            shell.say(line)
        return 0
    return checking.check(tidy=options.tidy)


def _asks_for_help(arguments: list[str]) -> bool:
    """Whether the command itself is asked; behind -- stands a program's own --help."""
    return "--help" in itertools.takewhile(lambda word: word != "--", arguments)


def _set_up_for(name: str, arguments: list[str]) -> None:
    """The demo is built first, always; what reads files needs .venv alone; the others are built
    only where nothing is yet, so that they start at once."""
    of_files = name == "compare" and "--" not in arguments
    compares = of_files or (name == "figures" and "a-a" in arguments)
    if compares and not (environments.tools_ready() and environments.comparing_ready()):
        with building.alone():
            if not environments.tools_ready():
                building.set_up_python()
            environments.provide_comparing()
    if of_files:
        return
    if name in ("report", "explain", "export", "import", "fit", "record", "predict", "advise"):
        if not environments.tools_ready():
            with building.alone():
                building.set_up_python()
    elif name == "demo" or not building.ready():
        with building.alone():
            building.set_up_or_go_without((*building.GROUPS, "demo"))
            building.build(building.DEMO if name == "demo" else building.PRODUCT)


def _become(name: str, arguments: list[str]) -> NoReturn:
    """Becomes .venv's `python -m haichi`."""
    sys.stdout.flush()
    words = [str(paths.PYTHON), "-m", "haichi", name, *arguments]
    os.execv(words[0], words)


def _help_without_tools(name: str) -> int:
    """What can be said of a command of the package `haichi` while there is no .venv."""
    line = next(line for line in USAGE.splitlines() if line.split()[:1] == [name.split("-")[0]])
    print(f"./haichi {line.strip()}\n\nIts options are known once `./haichi build` has run.")
    return 0
