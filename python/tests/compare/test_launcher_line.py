"""Where the program begins in a launcher's command line, and what is said where that is unclear."""

from __future__ import annotations

import pytest
from haichi.compare.launcher_line import Unclear, with_haichi


def inserted(line: str) -> str:
    return " ".join(with_haichi(line.split(), "HAICHI", ["-x"]))


RUN = "HAICHI run -x"


@pytest.mark.parametrize(
    "line",
    [
        "@ ./app -n 4",
        "mpiexec @ ./app",
        "mpiexec -n 4 @ ./app in.nml -n 3",
        "/opt/bin/mpiexec.openmpi --oversubscribe -np 4 --mca btl tcp,self @ python3 a.py",
        "mpirun --mca=x -x PATH --hostfile=h @ app",
        "mpiexec.hydra -ppn 2 -genv A B -l -n 2 @ ./app",
        "srun -n16 -N 4 --cpu-bind=cores --mpi pmix @ ./app",
        "mpiexec -n 2 -- @ ./app",
        "mpiexec -n 1 @ ./a 1 : -n 3 -env X 1 @ ./b 2",
    ],
)
def test_before_each_program(line: str) -> None:
    assert inserted(line.replace("@ ", "")) == line.replace("@", RUN)


def test_haichi_run_that_stands_there_is_taken() -> None:
    line = "mpiexec --odd value -n 2 ./haichi run --set io.order=rank ./app"
    assert inserted(line) == line.replace("run", "run -x")


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("mpiexec --odd value -n 2 ./app", "option --odd is not known"),
        ("mpiexec -n 2", "no program in mpiexec -n 2"),
        ("mpiexec -n 2 ./app : -n 3", "no program"),
        ("", "no command"),
    ],
)
def test_what_is_unclear_is_not_guessed(line: str, why: str) -> None:
    with pytest.raises(Unclear, match=why):
        inserted(line)
