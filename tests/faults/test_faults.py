"""Faults under the program: disks that fill up or fail, ranks that die, memory that runs out.

Each fault is injected for real (a small file system, a preload that fails system calls, a kill, a
limit); the program must get what the MPI standard says, or go on without haichi, and never hang.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import resource
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import mpis
import pytest

HERE = Path(__file__).parent
RANKS = 3
PIECES, SIZE = 64, 1000
CALL = re.compile(r"CALL rank (\d+) (\w+) class (\w+) count (-?\d+) ([\w-]+)")


def one_per_abi() -> list[mpis.Mpi]:
    """One MPICH and one Open MPI: faults do not depend on the release of the library."""
    known = mpis.all_mpis()
    return [
        next((m for m in known if m.abi == abi and not m.missing), None)
        or next(m for m in known if m.abi == abi)
        for abi in ("mpich", "openmpi")
    ]


@pytest.fixture(params=mpis.slow_but(["mpich-4.0.2"], one_per_abi()), ids=str)
def mpi(request: pytest.FixtureRequest) -> mpis.Mpi:
    """Each of the two in turn."""
    if request.param.missing:
        pytest.skip(request.param.missing)
    return request.param


@pytest.fixture(scope="session")
def faultio(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The preload that makes file accesses fail."""
    library = tmp_path_factory.mktemp("faultio") / "libfaultio.so"
    mpis.run_bounded(
        ["cc", "-O2", "-fPIC", "-shared", "-o", library, HERE / "faultio.c", "-ldl"], check=True
    )
    return library


class Probe:
    """One run of probe.c under haichi and what its ranks were told."""

    def __init__(
        self, mpi: mpis.Mpi, *arguments: str, preload: str = "", ranks: int = RANKS, **env: str
    ) -> None:
        self.ranks = ranks
        program = mpi.compile(HERE / "probe.c")
        environment = mpi.preload(preload, **env)
        self.done = mpi.run(ranks, [program, *arguments], environment, timeout=60)
        self.calls = [match.groups() for match in CALL.finditer(self.done.stdout)]

    def classes(self, call: str) -> set[str]:
        """The error classes that the ranks got from a call; all ranks must have got one."""
        found = [c[2] for c in self.calls if c[1] == call]
        assert len(found) == self.ranks, self.done.stdout + self.done.stderr
        return set(found)

    def verdicts(self, call: str) -> set[str]:
        """Whether the ranks' bytes were right."""
        return {c[4] for c in self.calls if c[1] == call}


def whole_file() -> bytes:
    """What all ranks together write: piece i * RANKS + r is rank r's i-th."""
    pieces = [
        bytes((rank * 31 + k * 7 + 1) % 256 for k in range(i * SIZE, (i + 1) * SIZE))
        for i in range(PIECES)
        for rank in range(RANKS)
    ]
    return b"".join(pieces)


# Several nodes and small windows: more than one cycle, so that a thread is worth its while.
CYCLES = {"HAICHI_IO_BUFFER": "8k"}


def on_nodes(place: Path) -> dict[str, str]:
    """The environment in which each rank is on a node of its own."""
    placement = place / "placement.json"
    placement.write_text(json.dumps({"version": 1, "map": [[0, RANKS, 1, 1]]}))
    return {"HAICHI_PLACEMENT": str(placement), **CYCLES}


def handled(report: Path) -> list[bool]:
    """For each collective access of a report, whether haichi took it."""
    calls = [c for f in json.loads(report.read_text())["files"] for c in f["calls"]]
    return [c["handled"] for c in calls]


def test_probe_is_right_without_a_fault(mpi: mpis.Mpi, tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    probe = Probe(mpi, str(tmp_path / "x"), HAICHI_REPORT=str(report))
    assert probe.classes("write") == {"SUCCESS"}
    assert probe.verdicts("read") == {"right"}
    assert handled(report) == [True, True]


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 64 KiB, which the probe's 192,000 bytes do not fit into."""
    if os.geteuid() != 0:
        pytest.skip("mounting a small file system needs root")
    place = tmp_path / "small"
    place.mkdir()
    mpis.run_bounded(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", place], check=True)
    yield place
    mpis.run_bounded(["umount", place], check=True)


def test_full_disk(mpi: mpis.Mpi, small_disk: Path) -> None:
    probe = Probe(mpi, str(small_disk / "x"), "mode=write")
    assert probe.classes("write") == {"NO_SPACE"}
    assert probe.done.returncode == 0
    # What fitted is there, and right; which parts these are depends on who came first.
    kept = (small_disk / "x").read_bytes()
    right = [a == b for a, b in zip(kept, whole_file(), strict=False)]
    assert all(good or byte == 0 for good, byte in zip(right, kept, strict=True))
    assert sum(right) >= 32 << 10


def test_write_error_in_a_later_cycle(mpi: mpis.Mpi, tmp_path: Path, faultio: Path) -> None:
    """What the cycles before wrote is there, and nobody waits for those that fail."""
    file = tmp_path / "x.dat"
    probe = Probe(
        mpi,
        str(file),
        "mode=write",
        preload=str(faultio),
        FAULT_PATH="x.dat",
        FAULT_WRITE="ENOSPC",
        FAULT_AFTER="14000",
        HAICHI_IO_AGGREGATORS="1",
        HAICHI_IO_BUFFER="6000",  # cycles of 2000
    )
    assert probe.classes("write") == {"NO_SPACE"}
    assert probe.done.returncode == 0
    assert file.read_bytes() == whole_file()[:14000]


@pytest.mark.parametrize("pieces", [PIECES, 1])  # two phases; each rank by itself
def test_error_told_at_close(mpi: mpis.Mpi, tmp_path: Path, faultio: Path, pieces: int) -> None:
    """A quota's, or a server's: by the rank that wrote, while the file has a handler, and all
    ranks go on."""
    fault = {"FAULT_PATH": "/x", "FAULT_CLOSE": "EDQUOT", "FAULT_RANK": "1"}
    report = tmp_path / "report.json"
    environment = {"HAICHI_REPORT": str(report), **fault, **on_nodes(tmp_path)}
    words = ["handler", f"pieces={pieces}"]
    probe = Probe(mpi, str(tmp_path / "x"), *words, preload=str(faultio), **environment)
    assert probe.done.returncode == 0
    assert handled(report) == [True, True]
    assert probe.verdicts("close") == {"gone"}
    told = {int(c[0]): c[2] for c in probe.calls if c[1] == "close"}
    assert told == {0: "SUCCESS", 1: "QUOTA", 2: "SUCCESS"}
    assert re.findall("HANDLER.*", probe.done.stdout) == ["HANDLER rank 1 class QUOTA file open"]
    assert "closing it after writing failed" in report.read_text()


def test_an_access_that_fails_is_no_trial(mpi: mpis.Mpi, tmp_path: Path, faultio: Path) -> None:
    """Its time says nothing of the order. Which accesses count must not differ between the ranks
    that failed and the others."""
    placement, report = tmp_path / "placement.json", tmp_path / "report.json"
    placement.write_text(json.dumps({"version": 1, "map": [[0, 2, 2, 1]]}))
    rounds, written = 12, 128 << 10  # bytes of an aggregator in a round
    environment = mpi.preload(
        faultio,
        FAULT_PATH="x.dat",
        FAULT_WRITE="EIO",
        FAULT_AFTER=str(5 * written),
        HAICHI_IO_AGGREGATORS="4",
        HAICHI_IO_TUNE="on",
        HAICHI_PLACEMENT=str(placement),
        HAICHI_REPORT=str(report),
    )
    program = mpi.compile(HERE.parent / "mpi" / "tuned_io.c")
    done = mpi.run(4, [program, tmp_path / "x.dat", str(rounds)], environment, timeout=120)
    assert done.returncode == 1  # the program counts the errors that it gets
    found = json.loads(report.read_text())
    counted = {each["collective"].split(",")[0]: each["calls"] for each in found["collectives"]}
    assert counted == {"two-phase write": 5 - 1, "two-phase read": rounds - 1}
    assert not [note for note in found["notes"] if "trials differ" in note]


@pytest.fixture(params=["full", "read-only"])
def no_room(request: pytest.FixtureRequest, small_disk: Path) -> Path:
    """A folder on a file system that takes no more."""
    if request.param == "full":
        with (small_disk / "filler").open("wb", buffering=0) as filler, suppress(OSError):
            while True:
                filler.write(bytes(4096))
    else:
        mpis.run_bounded(["mount", "-o", "remount,ro", small_disk], check=True)
    return small_disk


def test_no_room_for_decisions_is_a_note(mpi: mpis.Mpi, tmp_path: Path, no_room: Path) -> None:
    """The program's calls are right, and nothing half-written is left."""
    before = sorted(no_room.iterdir())
    placement, report = tmp_path / "placement.json", tmp_path / "report.json"
    placement.write_text(json.dumps({"version": 1, "map": [[0, 3, 1, 1]]}))
    environment = mpi.preload(
        HAICHI_COLLECTIVES_DECISIONS=str(no_room),
        HAICHI_COLLECTIVES_ROUNDS="2",
        HAICHI_PLACEMENT=str(placement),
        HAICHI_REPORT=str(report),
    )
    program = mpi.compile(HERE.parent / "mpi" / "exchange_repeated.c")
    done = mpi.run(3, [program, "40"], environment, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "40 calls right" in done.stdout
    notes = json.loads(report.read_text())["notes"]
    assert len([note for note in notes if "decisions are not kept" in note]) == 1
    assert sorted(no_room.iterdir()) == before


@pytest.mark.parametrize("fault", [{"FAULT_MEMORY": "EMFILE"}, {"FAULT_PAGES": "ENOSPC"}], ids=str)
def test_without_memory_in_common_ranks_send_messages(
    mpi: mpis.Mpi, tmp_path: Path, faultio: Path, fault: dict[str, str]
) -> None:
    report = tmp_path / "report.json"
    probe = Probe(
        mpi, str(tmp_path / "x"), preload=str(faultio), HAICHI_REPORT=str(report), **fault
    )
    assert probe.classes("write") == probe.classes("read") == {"SUCCESS"}
    assert probe.verdicts("read") == {"right"}
    assert handled(report) == [True, True]
    assert "cannot have memory in common" in report.read_text()


def test_memory_in_common_may_be_more_than_a_file_may_have(mpi: mpis.Mpi, tmp_path: Path) -> None:
    """It counts as a file, and writing beyond the limit of files ends a process. The windows of
    four ranks take 64 MB, the file 24."""
    report = tmp_path / "report.json"
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (40 << 20, hard))
    try:
        probe = Probe(
            mpi,
            str(tmp_path / "x"),
            "pieces=6000",
            HAICHI_REPORT=str(report),
            HAICHI_IO_BUFFER="16m",
        )
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert probe.classes("write") == probe.classes("read") == {"SUCCESS"}
    assert probe.verdicts("read") == {"right"}
    assert handled(report) == [True, True]
    assert "cannot have memory in common" in report.read_text()


def test_ranks_of_a_node_copy_where_they_can(mpi: mpis.Mpi, tmp_path: Path) -> None:
    """The counterpart of the last test: without a fault there are no messages."""
    report = tmp_path / "report.json"
    Probe(mpi, str(tmp_path / "x"), HAICHI_REPORT=str(report), HAICHI_IO_AGGREGATORS="2")
    assert report.read_text().count("share memory: copies, no messages") == 2


@pytest.mark.parametrize("refused", [False, True])
def test_if_one_node_has_no_memory_no_node_has_streams(
    mpi: mpis.Mpi, tmp_path: Path, faultio: Path, refused: bool
) -> None:
    """Two nodes of two ranks; the memory of one is made by rank 2. Ranks of the other must not
    expect streams from it, nor send it any."""
    placement, report = tmp_path / "placement.json", tmp_path / "report.json"
    placement.write_text(json.dumps({"version": 1, "map": [[0, 2, 2, 1]]}))
    fault = {"FAULT_MEMORY": "EMFILE", "FAULT_RANK": "2"} if refused else {}
    probe = Probe(
        mpi,
        str(tmp_path / "x"),
        preload=str(faultio),
        ranks=4,
        HAICHI_PLACEMENT=str(placement),
        HAICHI_REPORT=str(report),
        HAICHI_IO_NODE_STREAMS="on",
        **CYCLES,
        **fault,
    )
    assert probe.classes("write") == probe.classes("read") == {"SUCCESS"}
    assert probe.verdicts("read") == {"right"}
    (calls,) = (file["calls"] for file in json.loads(report.read_text())["files"])
    assert [call["handled"] for call in calls] == [True, True]
    for call in calls:
        # Each of two aggregators and cycles has one stream, or a message of both other ranks.
        most = 2 * call["cycles"]
        sent = call["messages_between"]
        assert (sent > most) if refused else (0 < sent <= most)
    assert ("a node has no memory in common" in report.read_text()) == refused


@pytest.mark.parametrize(
    ("error", "expected"), [("EIO", "IO"), ("EDQUOT", "QUOTA"), ("EROFS", "READ_ONLY")]
)
def test_write_error(
    mpi: mpis.Mpi, tmp_path: Path, faultio: Path, error: str, expected: str
) -> None:
    probe = Probe(
        mpi,
        str(tmp_path / "x.dat"),
        "mode=write",
        preload=str(faultio),
        FAULT_PATH="x.dat",
        FAULT_WRITE=error,
    )
    assert probe.classes("write") == {expected}
    assert probe.done.returncode == 0


@pytest.mark.parametrize("nodes", [1, RANKS])
def test_read_error(mpi: mpis.Mpi, tmp_path: Path, faultio: Path, nodes: int) -> None:
    """Alone on one node, through aggregators and their threads on several."""
    where = on_nodes(tmp_path) if nodes > 1 else {}
    assert Probe(mpi, str(tmp_path / "x.dat"), "mode=write").classes("write") == {"SUCCESS"}
    probe = Probe(
        mpi,
        str(tmp_path / "x.dat"),
        "mode=read",
        preload=str(faultio),
        FAULT_PATH="x.dat",
        FAULT_READ="EIO",
        **where,
    )
    assert probe.classes("read") == {"IO"}
    assert probe.done.returncode == 0


@pytest.mark.parametrize("fault", [{"FAULT_INTERRUPT": "2"}, {"FAULT_SHORT": "777"}], ids=str)
def test_interrupted_and_short_transfers_lose_nothing(
    mpi: mpis.Mpi, tmp_path: Path, faultio: Path, fault: dict[str, str]
) -> None:
    report = tmp_path / "report.json"
    probe = Probe(
        mpi,
        str(tmp_path / "x.dat"),
        preload=str(faultio),
        FAULT_PATH="x.dat",
        HAICHI_REPORT=str(report),
        **fault,
    )
    assert probe.classes("write") == probe.classes("read") == {"SUCCESS"}
    assert probe.verdicts("read") == {"right"}
    assert handled(report) == [True, True]


def test_directory_that_is_not_there(mpi: mpis.Mpi, tmp_path: Path) -> None:
    path = str(tmp_path / "nowhere" / "x")
    stock = mpi.run(RANKS, [mpi.compile(HERE / "probe.c"), path], mpi.stock())
    probe = Probe(mpi, path)
    expected = {m.group(3) for m in CALL.finditer(stock.stdout)}
    assert probe.classes("open") == expected
    assert "SUCCESS" not in expected
    assert probe.done.returncode == stock.returncode == 0


def test_directory_that_is_not_writable(mpi: mpis.Mpi, tmp_path: Path) -> None:
    """The same error as without haichi, and nothing is left behind."""
    if os.geteuid() != 0:
        pytest.skip("mounting a file system that is read-only needs root")
    place = tmp_path / "read-only"
    place.mkdir()
    mpis.run_bounded(["mount", "-t", "tmpfs", "-o", "ro", "tmpfs", place], check=True)
    try:
        path = str(place / "x")
        stock = mpi.run(RANKS, [mpi.compile(HERE / "probe.c"), path], mpi.stock())
        probe = Probe(mpi, path)
        assert not list(place.iterdir())
    finally:
        mpis.run_bounded(["umount", place], check=True)
    expected = {m.group(3) for m in CALL.finditer(stock.stdout)}
    assert probe.classes("open") == expected
    assert "SUCCESS" not in expected
    assert probe.done.returncode == stock.returncode == 0


@pytest.mark.parametrize(("prefix", "ours"), [("ufs", True), ("nfs", False)])
def test_prefix_that_names_a_driver(mpi: mpis.Mpi, tmp_path: Path, prefix: str, ours: bool) -> None:
    """Of ROMIO's drivers those of a plain POSIX file are haichi's, the others the library's."""
    if mpi.abi == "openmpi":
        pytest.skip("Open MPI takes a prefix for a part of the file's name")
    report = tmp_path / "report.json"
    probe = Probe(mpi, f"{prefix}:{tmp_path}/x", HAICHI_REPORT=str(report))
    assert probe.classes("write") == probe.classes("read") == {"SUCCESS"}
    assert probe.verdicts("read") == {"right"}
    assert (tmp_path / "x").read_bytes() == whole_file()
    assert handled(report) == ([True, True] if ours else [])
    assert ("names a driver" in report.read_text()) != ours


def test_killed_rank_ends_the_job(mpi: mpis.Mpi, tmp_path: Path) -> None:
    probe = Probe(mpi, str(tmp_path / "x"), "kill=1")  # a hang is a TimeoutExpired
    assert probe.done.returncode != 0


@pytest.mark.parametrize("nodes", [1, RANKS])
def test_aggregator_killed_in_cycle_7(
    mpi: mpis.Mpi, faultio: Path, tmp_path: Path, nodes: int
) -> None:
    """The job ends, in bounded time, and what was written before is kept."""
    where = on_nodes(tmp_path) if nodes > 1 else {"HAICHI_IO_AGGREGATORS": "3", **CYCLES}
    fault = {"FAULT_PATH": "/x", "FAULT_KILL": str(6 * 4096), "FAULT_RANK": "1"}
    probe = Probe(mpi, str(tmp_path / "x"), "mode=write", preload=str(faultio), **fault, **where)
    assert probe.done.returncode != 0
    assert "CALL" not in probe.done.stdout  # nobody believes that it was written
    kept, right = (tmp_path / "x").read_bytes(), whole_file()
    wrong = [at for at, byte in enumerate(kept) if byte not in (0, right[at])]
    assert not wrong
    assert sum(a == b for a, b in zip(kept, right, strict=False)) >= 6 * 4096


@pytest.mark.parametrize("nodes", [1, RANKS])
def test_abort_while_the_others_are_inside(mpi: mpis.Mpi, tmp_path: Path, nodes: int) -> None:
    where = on_nodes(tmp_path) if nodes > 1 else {}
    probe = Probe(mpi, str(tmp_path / "x"), "abort=1", **where)
    assert probe.done.returncode != 0


@pytest.mark.parametrize("nodes", [1, RANKS])
def test_file_cut_short_by_somebody_else(
    mpi: mpis.Mpi, faultio: Path, tmp_path: Path, nodes: int
) -> None:
    """After its size was agreed on: no crash, no hang, no error that the standard does not know."""
    where = on_nodes(tmp_path) if nodes > 1 else {}
    file = tmp_path / "x.dat"
    file.write_bytes(whole_file())
    fault = {"FAULT_PATH": "x.dat", "FAULT_CUT": "5000"}
    probe = Probe(mpi, str(file), "mode=read", preload=str(faultio), **fault, **where)
    assert probe.done.returncode == 0
    assert probe.classes("read") == {"SUCCESS"}
    assert probe.verdicts("read") == {"wrong"}  # zeros where nothing is any more
    assert file.read_bytes() == whole_file()[:5000]


@pytest.mark.slow
def test_lock_that_is_not_granted(mpi: mpis.Mpi, tmp_path: Path) -> None:
    """Somebody holds a lock of the whole file for good: no read-modify-write, and no hang."""
    file, report = tmp_path / "x", tmp_path / "report.json"
    size = PIECES * RANKS * 40
    file.write_bytes(b"\xee" * size)
    with file.open("r+b") as mine:
        fcntl.lockf(mine, fcntl.LOCK_EX)
        probe = Probe(mpi, str(file), "mode=write", "size=24", "gap=16", HAICHI_REPORT=str(report))
    assert probe.classes("write") == {"SUCCESS"}
    (call,) = (c for f in json.loads(report.read_text())["files"] for c in f["calls"])
    assert call["windows"]["rmw"] == 0 and call["windows"]["separate"] > 0
    content = file.read_bytes()
    assert len(content) == size
    for at in range(0, size, 40):
        assert content[at + 24 : at + 40] == b"\xee" * 16
        rank, first = at // 40 % RANKS, at // 40 // RANKS * 24
        expected = bytes((rank * 31 + k * 7 + 1) % 256 for k in range(first, first + 24))
        assert content[at : at + 24] == expected


def test_type_that_cannot_be_flattened_is_passed_through(mpi: mpis.Mpi, tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    probe = Probe(mpi, str(tmp_path / "x"), "deep=600", HAICHI_REPORT=str(report))
    assert probe.classes("write") == {"SUCCESS"}
    assert probe.verdicts("read") == {"right"}
    assert handled(report) == [False, False]
    assert "nested deeper" in report.read_text()


def test_wrong_setting_is_said_once_and_ignored(mpi: mpis.Mpi, tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    probe = Probe(mpi, str(tmp_path / "x"), HAICHI_IO_ORDER="sideways", HAICHI_REPORT=str(report))
    assert probe.done.stderr.count("HAICHI_IO_ORDER=sideways") == 1
    assert probe.verdicts("read") == {"right"}
    assert handled(report) == [True, True]


def test_report_that_cannot_be_written(mpi: mpis.Mpi, tmp_path: Path) -> None:
    probe = Probe(mpi, str(tmp_path / "x"), HAICHI_REPORT=str(tmp_path / "no" / "r.json"))
    assert probe.verdicts("read") == {"right"}
    assert probe.done.returncode == 0
    assert probe.done.stderr.count("no report: ") == 1
    assert not (tmp_path / "no").exists()


def test_placement_that_does_not_fit_ends_the_job(mpi: mpis.Mpi, tmp_path: Path) -> None:
    placement = tmp_path / "placement.json"
    placement.write_text('{"version": 1, "map": [[0, 2, 4, 1]]}')
    probe = Probe(mpi, str(tmp_path / "x"), HAICHI_PLACEMENT=str(placement))
    assert probe.done.returncode != 0
    assert probe.done.stderr.count("haichi") >= 1
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize("megabytes", [1, 4, 24])
def test_little_memory_means_smaller_buffers(mpi: mpis.Mpi, tmp_path: Path, megabytes: int) -> None:
    # A collective buffer of 16 MiB does not fit; stock Open MPI 4.1.4 hangs under 1 and 4 MiB.
    mpis.not_with_sanitizers("sanitizers need memory of their own")
    report = tmp_path / "report.json"
    probe = Probe(
        mpi,
        str(tmp_path / "x"),
        f"limit_mb={megabytes}",
        HAICHI_REPORT=str(report),
        HAICHI_IO_AGGREGATORS="1",
        HAICHI_IO_BUFFER="16M",
    )
    assert probe.classes("write") == probe.classes("read") == {"SUCCESS"}
    assert probe.verdicts("read") == {"right"}
    assert handled(report) == [True, True]


@pytest.mark.parametrize("setting", ["auto", "off"])
def test_a_thread_accesses_the_file(
    mpi: mpis.Mpi, faultio: Path, tmp_path: Path, setting: str
) -> None:
    """Unless it is switched off; the bytes are the same."""
    said = tmp_path / "said"
    fault = {"FAULT_PATH": "/x", "FAULT_SAY": str(said), "HAICHI_IO_THREAD": setting}
    probe = Probe(mpi, str(tmp_path / "x"), preload=str(faultio), **fault, **on_nodes(tmp_path))
    assert probe.verdicts("read") == {"right"}, probe.done.stderr
    assert (tmp_path / "x").read_bytes() == whole_file()
    words = said.read_text().split()
    assert len(words) > 2 * RANKS
    assert set(words) == {"other" if setting == "auto" else "main"}


def test_no_thread_to_be_had(mpi: mpis.Mpi, faultio: Path, tmp_path: Path) -> None:
    mpis.not_with_sanitizers("sanitizers start threads by the C library's own function")
    said = tmp_path / "said"
    fault = {"FAULT_PATH": "/x", "FAULT_SAY": str(said), "FAULT_THREAD": "EAGAIN"}
    report = tmp_path / "report.json"
    probe = Probe(
        mpi,
        str(tmp_path / "x"),
        preload=str(faultio),
        HAICHI_REPORT=str(report),
        **fault,
        **on_nodes(tmp_path),
    )
    assert probe.verdicts("read") == {"right"}, probe.done.stderr
    assert (tmp_path / "x").read_bytes() == whole_file()
    assert set(said.read_text().split()) == {"main"}
    assert "no thread to be had" in report.read_text()


@pytest.mark.parametrize("fault", ["EIO", "ENOSPC"])
def test_a_disk_that_fails_in_a_late_cycle(
    mpi: mpis.Mpi, faultio: Path, tmp_path: Path, fault: str
) -> None:
    """The thread's failure reaches all ranks; what was written before is kept."""
    probe = Probe(
        mpi,
        str(tmp_path / "x"),
        "mode=write",
        preload=str(faultio),
        FAULT_PATH="/x",
        FAULT_WRITE=fault,
        FAULT_AFTER=str(6 * 4096),
        **on_nodes(tmp_path),
    )
    assert probe.classes("write") == {"IO" if fault == "EIO" else "NO_SPACE"}
    kept, right = (tmp_path / "x").read_bytes(), whole_file()
    good = sum(a == b for a, b in zip(kept, right, strict=False))
    assert RANKS * 6 * 4096 <= good < len(right)
