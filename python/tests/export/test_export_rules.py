"""`haichi export`: what is taken from reports and decisions, how each library's rules are written,
and one clear line for whatever is wrong. tests/mpi/test_export.py has the libraries read them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from haichi.cli import app
from haichi.export.cli import To, exported
from haichi.report.load import ReportError
from typer.testing import CliRunner

OPENMPI = "Open MPI v4.1.4, package: Debian OpenMPI"
MPICH = "MPICH Version:      4.0.2"
# The least that MPICH's own selection file has, as far as haichi looks at it.
STOCK: dict[str, Any] = {
    "collective=bcast": {"algorithm=MPIR_Bcast_intra_binomial": {}},
    "collective=alltoall": {
        "comm_type=intra": {
            "is_sendbuf_inplace=yes": {"algorithm=MPIR_Alltoall_intra_in_place": {}},
            "is_sendbuf_inplace=no": {"algorithm=MPIR_Alltoall_intra_stock": {}},
        },
        "comm_type=inter": {"algorithm=MPIR_Alltoall_inter_stock": {}},
    },
    "collective=alltoallv": {"algorithm=MPIR_Alltoallv_stock": {}},
}

Save = Callable[..., Path]


@pytest.fixture
def save(tmp_path: Path) -> Save:
    """Writes a document as NAME.json."""

    def save_one(document: Any, name: str = "x") -> Path:
        path = tmp_path / f"{name}.json"
        path.write_text(document if isinstance(document, str) else json.dumps(document))
        return path

    return save_one


def decisions(*chosen: tuple[int | None, str], library: str = OPENMPI, ranks: int = 8) -> Any:
    """A `haichi.decisions/1` document: (log2 of the bytes or None, what was chosen)."""
    entries: list[dict[str, Any]] = []
    for size, name in chosen:
        entry = {"collective": "MPI_Alltoall" if size is not None else "MPI_Alltoallv"}
        if size is not None:
            entry["size_bin"] = size
        entries.append(entry | {"chosen": name, "seconds": 0.5})
    return {
        "schema": "haichi.decisions/1",
        "library": library,
        "placement": f"{ranks}-ranks-2-nodes-0123456789abcdef",
        "decisions": entries,
    }


def collective(times: dict[str, float], chosen: str = "", **fields: Any) -> dict[str, Any]:
    """One entry of a report's `collectives`, the fastest chosen."""
    return {
        "collective": "MPI_Alltoall",
        "ranks": 8,
        "nodes": 2,
        "block_at_least": 1024,
        "calls": 50,
        "seconds": 1.0,
        "locked": True,
        "chosen": chosen or min(times, key=times.__getitem__),
        "candidates": [{"name": n, "trials": [9 * t, t, t]} for n, t in times.items()],
    } | fields


def report(*collectives: dict[str, Any], library: str = OPENMPI) -> Any:
    """A `haichi.report/1` document with these collectives."""
    return {
        "schema": "haichi.report/1",
        "haichi": "0.1.0",
        "program": {"command": "./a", "ranks": 2, "started": "2026-01-01T00:00:00Z", "wall_s": 1},
        "mpi": {"abi": "openmpi", "library": library},
        "placement": {"schema": "haichi.placement/1", "nodes": [{"ranks": "0-1"}]},
        "collectives": list(collectives),
    }


def numbers(rules: str) -> list[list[int]]:
    """The lines of a classic file without comments, as Open MPI reads them."""
    lines = [line.partition("#")[0].split() for line in rules.splitlines()]
    return [[int(word) for word in line] for line in lines if line]


def test_open_mpi_counts_all_blocks_of_a_rank(save: Save) -> None:
    path = save(decisions((10, "bruck(2)"), (12, "ring"), (None, "pair")))
    rules, notes = exported([path], To.OPENMPI, None)
    assert notes == []
    assert numbers(rules) == [
        [2],
        [3], [3], [0, 1], [0, 0, 0, 0],
        [8, 5], [0, 0, 0, 0], [8192, 3, 0, 0], [16384, 0, 0, 0], [32768, 2, 0, 0], [65536, 0, 0, 0],
        [9, 1], [0, 0, 0, 0],
        [4], [3], [0, 1], [0, 0, 0, 0], [8, 1], [0, 2, 0, 0], [9, 1], [0, 0, 0, 0],
    ]  # fmt: skip


def test_open_mpi_rules_of_several_numbers_of_ranks_are_fenced_off(save: Save) -> None:
    paths = [save(decisions((0, "ring"), ranks=ranks), name=f"of{ranks}") for ranks in (9, 8, 16)]
    rules, _ = exported(paths, To.OPENMPI, None)
    sizes = [line for line in numbers(rules) if len(line) == 2]
    assert sizes == [[0, 1], [8, 3], [9, 3], [10, 1], [16, 3], [17, 1]]


def test_open_mpi_from_5_0_7_on_is_told_the_window(save: Save) -> None:
    chosen = (10, "spread(nd_rank_shift,4)")
    rules, notes = exported([save(decisions(chosen))], To.OPENMPI, None)
    assert [8192, 1, 0, 0] in numbers(rules)
    assert "linear is the nearest" in notes[0]
    assert "not 4" in notes[0]
    newer = decisions(chosen, library="Open MPI v5.0.7, package: x")
    rules, notes = exported([save(newer)], To.OPENMPI, None)
    assert rules.startswith("rule-file-version-2\n")
    assert "\n8192 4 0 0 4 #" in rules
    assert notes == []


def test_open_mpi_json_has_the_fields_of_its_schema(save: Save) -> None:
    path = save(decisions((10, "bruck(2)"), (11, "spread(nd_rank_shift,4)"), (None, "pair")))
    rules, _ = exported([path], To.OPENMPI_JSON, None)
    sizes = [
        {"msg_size_min": 8192, "msg_size_max": 16383, "alg": "modified_bruck"},
        {"msg_size_min": 16384, "msg_size_max": 32767, "alg": "linear_sync", "reqs": 4},
    ]
    of_eight = {"comm_size_min": 8, "comm_size_max": 8}
    assert json.loads(rules) == {
        "rule_file_version": 3,
        "module": "tuned",
        "collectives": {
            "alltoall": [of_eight | {"rules": sizes}],
            "alltoallv": [of_eight | {"rules": [{"alg": "pairwise"}]}],
        },
    }


def test_ucc_has_one_token_for_each_range(save: Save) -> None:
    path = save(decisions((10, "bruck(2)"), (11, "bruck(2)"), (14, "ring"), (None, "pair")))
    rules, _ = exported([path], To.UCC, None)
    assert rules == (
        "UCC_TL_UCP_TUNE=alltoall:8192-32768:host:[8-8]:@bruck"
        "#alltoall:131072-262144:host:[8-8]:@pairwise#alltoallv:host:[8-8]:@pairwise\n"
    )


def mpich(path: Path, base: Path) -> tuple[dict[str, Any], list[str]]:
    rules, notes = exported([path], To.MPICH, base)
    assert len(rules) % 4096, "MPICH would read past the end of such a file"
    return json.loads(rules), notes


def test_mpich_counts_one_block_and_keeps_all_that_is_not_ours(save: Save) -> None:
    path = save(decisions((10, "bruck(2)"), (12, "ring"), (None, "pair"), library=MPICH))
    tree, notes = mpich(path, save(STOCK, "base"))
    stock = {"algorithm=MPIR_Alltoall_intra_stock": {}}
    ours = tree["collective=alltoall"]["comm_type=intra"]["is_sendbuf_inplace=no"]
    assert list(ours) == ["comm_size<=7", "comm_size<=8", "comm_size=any"]
    assert ours["comm_size<=7"] == ours["comm_size=any"] == stock
    assert list(ours["comm_size<=8"].items()) == [
        ("avg_msg_size<=1023", stock),
        ("avg_msg_size<=2047", {"algorithm=MPIR_Alltoall_intra_brucks": {}}),
        ("avg_msg_size<=4095", stock),
        ("avg_msg_size<=8191", {"algorithm=MPIR_Alltoall_intra_pairwise": {}}),
        ("avg_msg_size=any", stock),
    ]
    ours = STOCK["collective=alltoall"]
    theirs = tree["collective=alltoall"]
    assert theirs["comm_type=inter"] == ours["comm_type=inter"]
    in_place = "is_sendbuf_inplace=yes"
    assert theirs["comm_type=intra"][in_place] == ours["comm_type=intra"][in_place]
    for unchanged in ("collective=bcast", "collective=alltoallv"):
        assert tree[unchanged] == STOCK[unchanged]
    assert notes == ["alltoallv of 8 ranks: MPICH has no pair; its own rule stays, a run's report "
                     "would say more"]  # fmt: skip


def test_mpich_takes_a_library_for_its_own_file_and_its_radix(tmp_path: Path, save: Save) -> None:
    other = {"collective=alltoall": {"composition=MPIDI_Alltoall": {}}, "collective=alltoallv": {}}
    library = tmp_path / "libmpich.so"
    texts = [json.dumps(each, separators=(",", ":")).encode() for each in (other, STOCK)]
    library.write_bytes(b"\x7fELF\0\1\2" + b"\0".join(texts) + b"\0\xff")
    path = save(decisions((10, "bruck(4)"), library=MPICH))
    tree, notes = mpich(path, library)
    assert "algorithm=MPIR_Alltoall_intra_brucks" in json.dumps(tree)
    assert "brucks is the nearest to bruck(4): its radix is 2, not 4" in notes[0]
    library.write_bytes(library.read_bytes() + b"\0algorithm=MPIR_Alltoall_intra_k_brucks\0")
    tree, notes = mpich(path, library)
    assert '"algorithm=MPIR_Alltoall_intra_k_brucks": {"k=4": {}}' in json.dumps(tree)
    assert notes == []


def test_a_file_for_mpich_never_fills_its_last_page(save: Save) -> None:
    path = save(decisions((10, "bruck(2)"), library=MPICH))
    stock = STOCK | {"collective=pad": {}}
    rules, _ = exported([path], To.MPICH, save(stock, "base"))
    stock[f"collective=pad{'d' * (-len(rules) % 4096)}"] = stock.pop("collective=pad")
    mpich(path, save(stock, "base"))


def test_of_a_report_the_fastest_that_the_library_has_is_taken(save: Save) -> None:
    times = {"node_aware(2)": 1.0, "bruck(4)": 1.1, "ring": 1.25, "bruck(2)": 1.5, "library": 2.0}
    rules, notes = exported([save(report(collective(times)))], To.OPENMPI, None)
    assert [8192, 2, 0, 0] in numbers(rules)
    assert notes == [
        "alltoall of 8 ranks, blocks from 1.00 KiB: Open MPI has no node_aware(2); "
        "pairwise, as ring, took 1.25 times as long"
    ]


def test_the_librarys_own_rule_counts_as_one_that_it_has(save: Save) -> None:
    own = collective({"node_aware(2)": 1.0, "library": 1.2, "ring": 1.3})
    other = collective({"ring": 1.0, "library": 2.0}, block_at_least=4096)
    rules, notes = exported([save(report(own, other))], To.OPENMPI, None)
    assert [line[:2] for line in numbers(rules) if len(line) == 4] == [
        [0, 0], [0, 0], [32768, 2], [65536, 0], [0, 0]
    ]  # fmt: skip
    assert "its own rule took 1.20 times as long" in notes[0]


def test_of_two_that_decided_differently_the_one_with_more_calls_counts(save: Save) -> None:
    few = collective({"ring": 1.0}, calls=10, nodes=4)
    many = collective({"bruck(2)": 1.0}, calls=90)
    for order in ((few, many), (many, few)):
        rules, notes = exported([save(report(*order))], To.OPENMPI, None)
        assert [8192, 3, 0, 0] in numbers(rules)
        assert re.search(r"bruck\(2\) \(.*, 2 nodes\) is taken, not ring \(.*, 4 nodes\)", notes[0])


def test_what_is_still_being_tried_is_exported_with_a_note(save: Save) -> None:
    path = save(report(collective({"ring": 1.0}, locked=False)))
    _, notes = exported([path], To.OPENMPI, None)
    assert "was still being tried" in notes[0]


@pytest.mark.parametrize(
    ("document", "to", "says"),
    [
        ({"schema": "haichi.placement/1"}, To.UCC, "not haichi.report/1 or haichi.decisions/1"),
        ({"schema": "haichi.decisions/2"}, To.UCC, "this haichi reads version 1"),
        ({"schema": "haichi.decisions/1"}, To.UCC, "does not follow haichi.decisions/1: library"),
        ("plain text", To.UCC, "is not JSON"),
        (report(), To.OPENMPI, "nothing was decided of MPI_Alltoall or MPI_Alltoallv"),
        (decisions(), To.OPENMPI, "nothing was decided of"),
        (decisions((70, "ring")), To.OPENMPI, "decisions[0].size_bin"),
        (decisions((10, "ring"), library=MPICH), To.OPENMPI, "its times say nothing of Open MPI"),
        (decisions((10, "ring")), To.MPICH, "--to mpich needs --base"),
        (decisions((10, "library")), To.OPENMPI, "its own rule was the fastest everywhere"),
        (decisions((10, "node_aware(2)")), To.UCC, "nothing to tell UCC: alltoall of 8 ranks"),
        (decisions((10, "of a later release")), To.UCC, "UCC has no of a later release"),
    ],
)
def test_what_cannot_be_exported_is_refused(save: Save, document: Any, to: To, says: str) -> None:
    with pytest.raises(ReportError) as error:
        exported([save(document)], to, None)
    assert says in str(error.value)
    assert "\n" not in str(error.value)


def test_files_of_two_libraries_are_refused(save: Save) -> None:
    paths = [save(decisions((10, "ring"), library=name), name[:5]) for name in (OPENMPI, MPICH)]
    with pytest.raises(ReportError, match="export the files of one MPI library"):
        exported(paths, To.UCC, None)


def test_a_base_that_is_none_is_refused(save: Save, tmp_path: Path) -> None:
    path = save(decisions((10, "ring"), library=MPICH))
    for base in (path, save("\x7fELF", "lib"), save({"collective=alltoall": 5}, "five")):
        with pytest.raises(ReportError, match="has no selection tree of MPICH"):
            exported([path], To.MPICH, base)
    with pytest.raises(ReportError, match="no such file"):
        exported([path], To.MPICH, tmp_path / "none.so")
    with pytest.raises(ReportError, match="--base is for --to mpich, not for ucc"):
        exported([path], To.UCC, path)


def test_the_command_writes_a_file_and_says_what_was_lost(save: Save, tmp_path: Path) -> None:
    out = tmp_path / "rules"
    path = save(decisions((10, "ring"), (11, "node_aware(2)")))
    done = CliRunner().invoke(app, ["export", "--to", "openmpi", str(path), "--out", str(out)])
    assert (done.exit_code, done.stdout) == (0, "")
    note, wrote = done.stderr.splitlines()
    assert note.startswith("haichi export: alltoall of 8 ranks, blocks from 2.00 KiB: ")
    assert wrote.startswith(f"wrote {out} (")
    shown = CliRunner().invoke(app, ["export", "--to", "openmpi", str(path)])
    assert shown.stdout == out.read_text()
    refused = CliRunner().invoke(app, ["export", "--to", "ucc", str(tmp_path / "none")])
    assert refused.exit_code == 2
    assert re.fullmatch(r"haichi export: .*none: no such file[^\n]*\n", refused.stderr)
