"""`haichi export`: the stock libraries, without haichi, read the exported file and take another
algorithm for just those calls that it is about."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable
from pathlib import Path

import mpis
import pytest
from exchange_support import placement_file
from mpis import Mpi

HERE = Path(__file__).parent
RANKS = 4
# log2 of the blocks' bytes, what haichi chose there, and what is then seen of each library.
CHOSEN = (
    (8, "pair", "pairwise", "RSRSRS"),
    (10, "bruck(2)", "bruck", "RSRS"),
    (11, "bruck(2)", "bruck", "RSRS"),
    (15, "spread(nd_rank_shift,0)", "basic_linear", "RRRSSS"),
)
BESIDE = (255, 512, 4096, 1 << 16)  # sizes that nothing was decided of


def seen(mpi: Mpi, blocks: Iterable[int], ranks: int = RANKS, **env: str) -> dict[str, str]:
    """What is seen of the stock library's MPI_Alltoall, by "RANKS BYTES"; on 3 ranks and more."""
    spy = mpi.compile(HERE / "seen.c", "-shared", "-fPIC")
    program = mpi.compile(HERE / "alltoall_seen.c")
    if mpi.abi != "openmpi":
        # All messages through UCX, those between ranks of this machine too.
        env |= {"MPIR_CVAR_NOLOCAL": "1", "MPIR_CVAR_CH4_NETMOD": "ucx"}
    words = [program, *map(str, blocks)]
    done = mpi.run(ranks, words, mpi.stock(spy, **env), timeout=200, check=True)
    lines = dict(re.findall(r"^seen (\d+ \d+) (\S*)$", done.stdout, re.MULTILINE))
    # MPICH 4 posts the message of a rank to itself like others, MPICH 5 does not.
    return {call: re.sub("^R{4}S{4}$", "RRRSSS", text) for call, text in lines.items()}


def rules_env(mpi: Mpi, rules: Path) -> dict[str, str]:
    """How a stock library is told of the file."""
    if mpi.abi == "openmpi":
        return {
            "OMPI_MCA_coll_tuned_use_dynamic_rules": "1",
            "OMPI_MCA_coll_tuned_dynamic_rules_filename": str(rules),
        }
    return {"MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE": str(rules)}


def library_of(mpi: Mpi) -> Path:
    """The MPI library that programs of this MPI load."""
    program = mpi.compile(HERE / "alltoall_seen.c")
    done = mpis.run_bounded(["ldd", str(program)], check=True)
    found = re.search(r"lib(?:mpi|mpich|mpi_abi)\.so\.\d+ => (\S+)", done.stdout)
    assert found, done.stdout
    return Path(found[1])


def export(mpi: Mpi, source: Path, out: Path) -> str:
    """Exports for this MPI; returns what was said on standard error."""
    words = [str(mpis.ROOT / "haichi"), "export", str(source), "--out", str(out)]
    if mpi.abi == "openmpi":
        words += ["--to", "openmpi"]
    else:
        words += ["--to", "mpich", "--base", str(library_of(mpi))]
    return mpis.run_bounded(words, env=dict(os.environ), timeout=120, check=True).stderr


def decisions_file(mpi: Mpi, path: Path) -> Path:
    """Decisions of this MPI on RANKS ranks."""
    name = "Open MPI v" if mpi.abi == "openmpi" else "MPICH Version:      "
    version = mpi.name.split("-")[1]
    decisions = [
        {"collective": "MPI_Alltoall", "size_bin": size, "chosen": chosen, "seconds": 0.01}
        for size, chosen, *_ in CHOSEN
    ]
    document = {
        "schema": "haichi.decisions/1",
        "library": name + version,
        "placement": f"{RANKS}-ranks-2-nodes-0123456789abcdef",
        "decisions": decisions,
    }
    path.write_text(json.dumps(document))
    return path


@pytest.mark.slow
def test_a_stock_library_follows_exported_decisions(mpi: Mpi, tmp_path: Path) -> None:
    """For just those sizes and that number of ranks; the rest is left to its own rule."""
    rules = tmp_path / "rules"
    export(mpi, decisions_file(mpi, tmp_path / "decisions.json"), rules)
    expected = {}
    for size, _, openmpi, messages in CHOSEN:
        for block in (1 << size, (2 << size) - 1):
            expected[f"{RANKS} {block}"] = openmpi if mpi.abi == "openmpi" else messages
    blocks = {int(call.split()[1]) for call in expected} | set(BESIDE)
    stock = seen(mpi, blocks, RANKS + 1)
    assert len(stock) == 3 * len(blocks)
    assert any(stock[call] != text for call, text in expected.items())
    assert seen(mpi, blocks, RANKS + 1, **rules_env(mpi, rules)) == stock | expected


@pytest.mark.slow
def test_from_a_run_under_haichi_to_a_run_without(mpi: Mpi, tmp_path: Path) -> None:
    if not mpi.shim.exists():
        pytest.skip(f"no {mpi.shim.name} in this build")
    report, rules = tmp_path / "report.json", tmp_path / "rules"
    env = mpi.preload(
        HAICHI_COLLECTIVES_AFTER="1",
        HAICHI_PLACEMENT=placement_file(tmp_path, RANKS),
        HAICHI_REPORT=str(report),
        HAICHI_COLLECTIVES_ALGORITHM="bruck(2)",
    )
    mpi.run(RANKS, [mpi.compile(HERE / "exchange_repeated.c"), "5"], env, check=True)
    export(mpi, report, rules)
    expected = "bruck" if mpi.abi == "openmpi" else "RSRS"
    call = f"{RANKS} 1000"
    assert seen(mpi, [1000])[call] != expected
    assert seen(mpi, [1000], **rules_env(mpi, rules))[call] == expected


@pytest.mark.slow
def test_a_window_is_exported_where_open_mpi_can_have_one(tmp_path: Path) -> None:
    """From 5.0.7 on its rules say how many messages shall be under way at once."""
    mpi = next(each for each in mpis.all_mpis() if each.name == "openmpi-5.0.11")
    if mpi.missing:
        pytest.skip(mpi.missing)
    source = decisions_file(mpi, tmp_path / "decisions.json")
    text = source.read_text().replace("bruck(2)", "spread(nd_rank_shift,2)")
    source.write_text(text.replace("pair", "bruck(4)"))
    rules = tmp_path / "rules"
    assert "modified_bruck is the nearest to bruck(4)" in export(mpi, source, rules)
    assert "linear_sync" in rules.read_text()
    calls = seen(mpi, [256, 1024], **rules_env(mpi, rules))
    assert calls[f"{RANKS} 256"] == "bruck"
    assert calls[f"{RANKS} 1024"] == "linear_sync"
