"""SimGrid's SMPI as an oracle for the simulator: the same schedules, carried out as MPI calls on
ranks that SMPI simulates, take as long where no two messages meet anywhere but at their ports."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import mpis
import pytest

PROGRAM = mpis.BUILD / "bin" / "exchange-smpi"
SMPIRUN = shutil.which("smpirun")

if SMPIRUN is None or not PROGRAM.exists():
    pytest.skip(
        f"no smpirun or no {PROGRAM}: apt install libsimgrid-dev, then ./haichi build",
        allow_module_level=True,
    )

NEAR = 0.05
# A host a rank, 1 GB/s each way; from host to host two links of 500 ns.
PLATFORM = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="cluster" prefix="node" suffix="" radical="0-63" speed="10Gf" bw="1GBps" lat="500ns"
           sharing_policy="SPLITDUPLEX"/>
</platform>
"""
# Links as they are, without the factors by which SMPI imitates a certain TCP, and no time for what
# the processor does: of a message there are its latency and its bytes. Sends are eager, or an
# algorithm would wait for receivers that haichi's eager sends do not wait for.
PLAIN = [
    *("--cfg=smpi/simulate-computation:no", "--cfg=smpi/host-speed:10Gf"),
    *("--cfg=network/model:CM02", "--cfg=network/crosstraffic:0", "--cfg=network/weight-S:0"),
    *("--cfg=network/latency-factor:1", "--cfg=network/bandwidth-factor:1"),
    *("--cfg=smpi/send-is-detached-thresh:100000000", "--log=root.thres:critical"),
]
SAME = ["out_gbs=1", "in_gbs=1", "latency_ns=1000", "eager_bytes=100000000", "copy_gbs=1000000000"]
SAME += ["send_ns=0", "receive_ns=0", "match_ns=0"]
ALGORITHMS = [
    *("spread(nd_rank_shift,0)", "spread(pairwise,0)", "spread(nd_rank_shift,4)", "ring", "pair"),
    *("ring_one_barrier", "ring_light_barrier", "ring_mpi_barrier"),
    *("bruck(2)", "bruck(4)", "bruck(8)"),
]


@pytest.fixture(scope="module")
def platform(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("smpi")
    (folder / "platform.xml").write_text(PLATFORM)
    (folder / "hosts").write_text("".join(f"node{i}\n" for i in range(64)))
    return folder


def smpi(platform: Path, ranks: int, algorithm: str, size: int, *options: str) -> float:
    """Seconds by SMPI; the bytes are right."""
    assert SMPIRUN is not None
    place = ["-platform", str(platform / "platform.xml"), "-hostfile", str(platform / "hosts")]
    words = [SMPIRUN, "-np", str(ranks), *place, *PLAIN, *options]
    done = mpis.run_bounded([*words, str(PROGRAM), algorithm, str(size)], timeout=120, check=True)
    line = json.loads(done.stdout)
    assert line["wrong_bytes"] == 0
    return line["seconds"]


def haichi(ranks: int, algorithm: str, size: int) -> float:
    """Seconds by haichi's simulator."""
    words = ["simulate", "alltoall", "--json", "--nodes", str(ranks), "--bytes", str(size)]
    words += [word for pair in SAME for word in ("--set", pair)]
    done = mpis.run_bounded(
        [str(mpis.HAICHI), *words, "--algorithm", algorithm], timeout=60, check=True
    )
    return json.loads(done.stdout)["results"][0]["worst_us"] / 1e6


# Not `pair` on 13 ranks: who sits out a step runs ahead, and messages meet. That is contention.
CASES = [
    pytest.param(algorithm, ranks, size, marks=[] if ranks == 13 else pytest.mark.slow)
    for ranks, size in ((16, 1000), (16, 100000), (13, 20000), (64, 4000))
    for algorithm in ALGORITHMS
    if (algorithm, ranks) != ("pair", 13)
]


@pytest.mark.parametrize(("algorithm", "ranks", "size"), CASES)
def test_schedules_take_as_long(platform: Path, algorithm: str, ranks: int, size: int) -> None:
    theirs, ours = smpi(platform, ranks, algorithm, size), haichi(ranks, algorithm, size)
    assert ours == pytest.approx(theirs, rel=NEAR)


@pytest.mark.parametrize(("theirs", "ours"), [("ring", "ring"), ("pair", "pair"),
                                              ("bruck", "bruck(2)")])  # fmt: skip
@pytest.mark.parametrize("size", mpis.slow_but([1000], [1000, 100000]))
def test_steps_are_those_of_smpis_own_algorithms(
    platform: Path, theirs: str, ours: str, size: int
) -> None:
    built_in = smpi(platform, 16, "library", size, f"--cfg=smpi/alltoall:{theirs}")
    assert smpi(platform, 16, ours, size) == pytest.approx(built_in, rel=0.01)
    assert haichi(16, ours, size) == pytest.approx(built_in, rel=NEAR)


def test_the_oracle_can_tell(platform: Path) -> None:
    """Algorithms differ by far more than what the two simulators may differ by."""
    ring, bruck = (smpi(platform, 16, name, 1000) for name in ("ring", "bruck(4)"))
    assert ring > 1.1 * bruck
    assert haichi(16, "bruck(2)", 100000) > 1.5 * smpi(platform, 16, "ring", 100000)


REFINE = mpis.BUILD / "bin" / "refine-smpi"
# By which SMPI imitates the protocols of a certain MPI library: the rate from each size on, of
# messages with a head of 16 bytes.
RATES = {
    257: 0.338112,
    732: 0.341987,
    1426: 0.608902,
    3484: 0.77493,
    5776: 1.08739,
    9376: 0.58729,
    15424: 0.697866,
    65472: 0.940694,
}
HEAD = 16


def test_a_refined_curve_tells_every_size_and_has_all_switches(platform: Path) -> None:
    """Simulated time has no noise: what is wrong is the refining."""
    if not REFINE.exists():
        pytest.skip(f"no {REFINE}: ./haichi build makes it")
    assert SMPIRUN is not None
    factors = ";".join(f"{size}:{rate}" for size, rate in {0: 0.812084, **RATES}.items())
    place = ["-platform", str(platform / "platform.xml"), "-hostfile", str(platform / "hosts")]
    options = [
        *("--cfg=smpi/simulate-computation:no", "--cfg=smpi/host-speed:10Gf"),
        *(
            "--cfg=network/weight-S:0",
            "--cfg=smpi/lat-factor:0:1",
            f"--cfg=smpi/bw-factor:{factors}",
        ),
        "--log=root.thres:critical",
    ]
    command = [SMPIRUN, "-np", "2", *place, *options, str(REFINE), "0.005"]
    found = json.loads(mpis.run_bounded(command, timeout=60, check=True).stdout)
    assert found["points"] <= 30
    assert found["mean_error"] < 0.005
    assert found["mean_error_of_powers"] > 0.02
    # From 732 on it is one per cent faster, which is no step.
    limits = {(size - HEAD) // 4 * 4 for size in RATES if size != 732}
    assert set(found["switches"]) == limits
