"""`haichi advise --check`: starting a program at other places, and what is said of its runs."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
import recorded
from haichi import paths
from haichi.advise.advise import placed_anew
from haichi.advise.check import ADVISED, AS_IT_IS, Verdict, check
from haichi.advise.launch import launcher_of, with_placement
from haichi.advise.paste import Notation, notations
from haichi.cli import app
from haichi.compare.launcher_line import Unclear, with_haichi
from haichi.predict.machine import FoundProfile, profile_for
from haichi.record.read import Record
from haichi.report.placement import Place, Placement
from test_advise import profile
from typer.testing import CliRunner

NODES = ["a", "b", "a", "b"]
needs_solver = pytest.mark.skipif(
    not paths.program("haichi").exists(), reason="haichi is not built: ./haichi build"
)


def placed_line(line: str, abi: str, places: Sequence[Place] | None = None) -> str:
    command = line.split()
    files = notations(abi, NODES, places, "./app")
    made = with_placement(command, launcher_of(command, abi), files, Path("/f"))
    return " ".join([*(f"{name}={value}" for name, value in made.env.items()), *made.words])


@pytest.mark.parametrize(
    ("abi", "line", "wanted"),
    [
        (
            "openmpi",
            "mpiexec --oversubscribe --hostfile old --map-by node -n 4 ./app -n 3",
            "mpiexec --hostfile /f/hosts --map-by seq --oversubscribe -n 4 ./app -n 3",
        ),
        (
            "openmpi",
            "mpirun --map-by=slot -np 4 --mca btl tcp,self ./app",
            "mpirun --hostfile /f/hosts --map-by seq -np 4 --mca btl tcp,self ./app",
        ),
        ("mpich", "mpiexec -ppn 2 -n 4 -f h ./app", "mpiexec -f /f/hosts -n 4 ./app"),
        (
            "mpich",
            "srun -n4 -m cyclic ./app",
            "SLURM_HOSTFILE=/f/slurm-hosts srun --distribution=arbitrary -n4 ./app",
        ),
        (
            "openmpi",
            "./haichi lab run openmpi 4 --name x --map RR --ppn=2 ./app --map",
            "./haichi lab run --hosts /f/slurm-hosts openmpi 4 --name x ./app --map",
        ),
    ],
)
def test_a_launcher_gets_the_places(abi: str, line: str, wanted: str) -> None:
    assert placed_line(line, abi) == wanted


def test_a_rank_file_says_what_ranks_are_bound_to() -> None:
    places = [Place(core=core, cores=1, numa=0) for core in (0, 0, 1, 1)]
    line = placed_line("mpiexec --bind-to core -n 4 ./app", "openmpi", places)
    assert line == "mpiexec --rankfile /f/rankfile -n 4 ./app"


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("./app", "no launcher"),
        ("mpiexec -n 2 ./a : -n 2 ./b", "several programs"),
        ("mpiexec --odd 3 -n 4 ./app", "option --odd is not known"),
        ("./haichi lab run openmpi 4", "no program"),
    ],
)
def test_what_cannot_be_placed_is_a_line(line: str, why: str) -> None:
    with pytest.raises(Unclear, match=why):
        placed_line(line, "openmpi")


def test_haichi_stands_before_a_program_of_the_lab() -> None:
    command = ["./haichi", "lab", "run", "openmpi", "4", "--name", "x", "./app", "3"]
    words = with_haichi(command, "H", ["-x"])
    assert " ".join(words) == "./haichi lab run openmpi 4 --name x H run -x ./app 3"


def test_ranks_take_seats() -> None:
    old = Placement.model_validate(recorded.head()["placement"])
    new = placed_anew(old, [2, 0, 3, 1])
    assert [new.name_of(node) for node in new.node_of_rank()] == ["n1", "n0", "n1", "n0"]


def pairs(path: Path, seconds: float, order: Sequence[str] = ("n0", "n0", "n1", "n1")) -> Path:
    """Ranks 0 and 2, 1 and 3 send each other 64 KiB a thousand times."""
    partner = {0: 2, 1: 3, 2: 0, 3: 1}
    names = list(dict.fromkeys(order))
    nodes = [
        {"name": name, "ranks": ",".join(str(r) for r, its in enumerate(order) if its == name)}
        for name in names
    ]
    events = [
        [
            {"call": "MPI_Irecv", "bytes": 65536, "comm": 0, "peer": to, "request": 0},
            {"call": "MPI_Send", "bytes": 65536, "comm": 0, "peer": to},
            {"call": "MPI_Wait", "completes": [0]},
        ]
        for to in partner.values()
    ]
    placement = {"schema": "haichi.placement/1", "nodes": nodes}
    return recorded.write(
        path,
        recorded.head(sequence=True, placement=placement),
        recorded.world(),
        [recorded.rank(number, wall=seconds, mpi=seconds) for number in range(4)],
        [recorded.traffic(number, {to: 1000 * 65536}, 1000) for number, to in partner.items()],
        [
            recorded.sequence(number, each, [[1000, [0, 1, 2]]])
            for number, each in enumerate(events)
        ],
        recorded.end(),
    )


class Pretended:
    """A program that takes 1.32 s as it is and `after` at its places; which starts there were."""

    def __init__(self, after: float, *, obeys: bool = True) -> None:
        self.after, self.obeys = after, obeys
        self.starts: list[str] = []

    def __call__(self, record: Path, files: Sequence[Notation], *, sequence: bool) -> None:
        self.starts.append("there" if files else "here")
        if not files:
            pairs(record, 1.32)
            return
        hosts = (record.parent / "slurm-hosts").read_text().split()
        pairs(record, self.after, hosts if self.obeys else ("n0", "n0", "n1", "n1"))


def found_at(folder: Path) -> Callable[[Record], FoundProfile]:
    path = profile(folder)
    return lambda record: profile_for(record, path)


@needs_solver
def test_predicted_and_measured_stand_side_by_side(tmp_path: Path) -> None:
    start = Pretended(0.066)
    found = check(start, found_at(tmp_path), tmp_path, 3, lambda _: None)
    # Who comes first changes from turn to turn.
    assert start.starts == ["here", "here", "there", "there", "here", "here", "there"]
    assert found.measured == {AS_IT_IS: [1.32] * 3, ADVISED: [0.066] * 3}
    assert found.predicted is not None
    # Messages of 64 KiB take 66 µs inside a node, and 665 between two of them, where two share each
    # port: a twentieth, and 10 % each way as the profile is of one launch.
    assert found.predicted.low == pytest.approx(1.32 * (1 - 0.05 * 1.1), rel=0.005)
    assert found.predicted.high == pytest.approx(1.32 * (1 - 0.05 * 0.9), rel=0.005)
    assert found.verdict is Verdict.WITHIN
    assert found.elsewhere == ""
    assert json.loads((tmp_path / "placement.json").read_text())["nodes"][0]["ranks"] == "0,2"


@needs_solver
def test_a_gain_that_did_not_come_is_told(tmp_path: Path) -> None:
    found = check(Pretended(1.2), found_at(tmp_path), tmp_path, 2, lambda _: None)
    assert found.verdict is Verdict.APART
    stubborn = Pretended(1.32, obeys=False)
    found = check(stubborn, found_at(tmp_path), tmp_path, 1, lambda _: None)
    assert "rank 1 was started on n0, and belongs on n1" in found.elsewhere


def run(*words: str | Path) -> tuple[int, str, str]:
    done = CliRunner().invoke(app, ["advise", *map(str, words)])
    return done.exit_code, done.stdout, done.stderr


def test_a_record_or_a_program(tmp_path: Path) -> None:
    record = pairs(tmp_path / "r.jsonl", 1.0)
    for words in ((), ("--check",), (record, "--check"), (record, "--", "mpiexec", "./app")):
        code, _, error = run(*words)
        assert code == 2
        assert "give a RECORD, or --check and the program behind --" in error
    code, _, error = run("--check", "-o", tmp_path / "new", "--", "./app")
    assert code == 2
    assert error == (
        "haichi advise: app is no launcher that haichi knows: start it with mpiexec or srun\n"
    )


@needs_solver
def test_a_job_that_fails_is_told(tmp_path: Path) -> None:
    if shutil.which("mpiexec.openmpi") is None:
        pytest.skip("no Open MPI: apt-get install openmpi-bin")
    code, _, error = run(
        *("--check", "-o", tmp_path / "new", "--"),
        *("mpiexec.openmpi", "--allow-run-as-root", "--oversubscribe", "-n", "2", "false"),
    )
    assert code == 1
    assert "exit" in error
    assert "mpiexec.openmpi" in error
