"""The page of samples: self-contained, bounded, and legible at any width, in light and dark."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from haichi.cli import app
from haichi.samples.page import page
from haichi.samples.read import read
from haichi.samples.view import jobs
from haichi_processes import runner
from page_checker import Checker
from synthetic_samples import Record, launch, measurement, point, write
from typer.testing import CliRunner

BAD_INPUT = 2
MEGABYTE = 1_000_000
GROUPS = {
    "p2p": ["ping-pong", "ping-pong-isend", "ping-pong-ssend", "stream", "sendrecv"],
    "datatype": ["pack", "unpack", "ping-pong-vector"],
    "collective": [
        *("barrier", "alltoall", "ialltoall", "ialltoall-issue", "ialltoall-wait", "bcast"),
        *("alltoall-persistent", "alltoall-init"),
    ],
    "exchange": ["exchange-isend", "exchange-put", "shift-isend", "shift-put"],
    "rma": ["put-fence", "put-flush", "get-pscw"],
    "synchronisation": ["fence", "fence-all-assertions"],
    "file": ["file-write-at", "file-read-at", "file-iwrite-at", "file-write-all-begin"],
    "file-handling": ["file-sync", "file-set-view-vector", "file-open"],
    "window": ["win-create", "win-allocate"],
    "communicator": ["comm-dup"],
}
UNSIZED = {"barrier", "fence", "fence-all-assertions", "file-set-view-vector", "file-open"}
UNSIZED |= {"comm-dup"}


def records(ranks: int = 4, factor: float = 1, **of_launch: Any) -> list[Record]:
    """A file that has something for each chapter."""
    nodes = [rank // 2 for rank in range(ranks)]
    names = [f"node{node}" for node in range((ranks + 1) // 2)]
    made = [launch(ranks=ranks, nodes_of_ranks=nodes, node_names=names, **of_launch)]
    for group, members in GROUPS.items():
        for name in members:
            made.append(measurement(name, group=group, timed="<Send> & Recv"))
            for size in [0] if name in UNSIZED else [4, 1024, 65536, 1 << 20]:
                time = factor * (1e-6 + size / 5e9)
                made.append(point(time, name, size, "network" if group == "p2p" else "all"))
    for one in range(ranks):
        for other in range(ranks):
            if one != other:
                time = 1e-6 * (1 + abs(nodes[one] - nodes[other]))
                for size in (8, 4096):
                    made.append(point(time * size / 8, size=size, place="node", ranks=[one, other]))
    made.append({"kind": "left", "launch": 1, "name": "partitioned", "reason": "of MPI 4 <only>"})
    return made


def made_page(tmp_path: Path, *files: list[Record]) -> str:
    read_files = [
        read(write(tmp_path / f"{number}.jsonl", each)) for number, each in enumerate(files)
    ]
    return page(jobs(read_files))


@pytest.mark.parametrize("ranks", [1, 2, 4, 40])
def test_page_is_well_formed_and_fetches_nothing(tmp_path: Path, ranks: int) -> None:
    found = Checker(text := made_page(tmp_path, records(ranks)))
    assert found.open == []
    assert found.addresses == ["data:,"]
    assert found.handlers == []
    assert found.unscoped == 0
    assert not re.search(r"@import|url\(|<script", text)
    pictures = re.findall(r"<svg [^>]*role=\"img\"[^>]*>(<title>)?", text)
    assert pictures and all(pictures)


def test_page_has_every_chapter(tmp_path: Path) -> None:
    text = "".join(Checker(made_page(tmp_path, records())).text)
    for words in (
        "4 ranks on 2 nodes",
        "What is odd here",
        "Point to point",
        "rank by rank",
        "node by node",
        "Collectives",
        "Exchanges, way by way",
        "Put, by synchronisation",
        "Synchronisation alone, by assertion",
        "Writing",
        "Views",
        "link (",
        "copy (",
        "disk (File_sync at best)",
        "Environment",
        "<Send> & Recv",
        "of MPI 4 <only>",
    ):
        assert words in text, words


def test_cold_buffers_are_a_curve_of_their_own(tmp_path: Path) -> None:
    cold = [
        point(5e-6 + size / 1e9, size=size, place="network", buffers="cold", start="barrier",
              usual=False)
        for size in (4, 1024, 65536)
    ]  # fmt: skip
    text = made_page(tmp_path, [*records(), *cold])
    assert "Ping-pong, buffers hot and cold" in text
    assert "ping-pong (cold, barrier)" in text
    assert "hot and cold" not in made_page(tmp_path, records())


def test_haichi_underneath_is_held_against_the_library_alone(tmp_path: Path) -> None:
    text = "".join(Checker(made_page(tmp_path, records(), records(factor=0.5, under=True))).text)
    assert "What haichi changes" in text
    assert "0.50×" in text
    assert "0 slower by 5 %" in text


def test_two_libraries_have_an_article_each(tmp_path: Path) -> None:
    text = made_page(tmp_path, records(), records(library="Open MPI v5.0.2"))
    assert text.count("<article") == 2
    assert "What haichi changes" not in text


@pytest.mark.slow
def test_a_large_file_stays_below_a_megabyte(tmp_path: Path) -> None:
    made = records(300)
    for number in range(400):
        name = f"collective-number-{number}"
        made.append(measurement(name, group="collective", timed="a word " * 20))
        made += [point(1e-6 * (1 + size), name, size, "all") for size in range(1, 30)]
    text = made_page(tmp_path, made)
    assert len(text.encode()) < MEGABYTE


def test_the_command_prints_what_is_odd_or_writes_the_page(tmp_path: Path) -> None:
    file = write(tmp_path / "s.jsonl", [*records(), point(0.9, "file-sync", 1 << 22, "all")])
    done = CliRunner().invoke(app, ["report", str(file)])
    assert done.exit_code == 0, done.output
    assert "MPI_Send of 4.00 MiB takes 900 ms (file-sync)" in done.stdout
    out = tmp_path / "page.html"
    done = CliRunner().invoke(app, ["report", str(file), "-o", str(out)])
    assert done.exit_code == 0
    assert out.read_text().startswith("<!DOCTYPE html>")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["s.jsonl", "--json"], "are for reports of runs"),
        (["s.jsonl", "--perfetto", "t.json"], "are for reports of runs"),
        (["s.jsonl", "report.json"], "report.json: is haichi.report/1, not haichi.samples/1"),
        (["empty.jsonl"], "empty.jsonl: has no point yet"),
        (["s.jsonl", "-o", "no/page.html"], "no such file or directory"),
    ],
)
def test_bad_input_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "s.jsonl", records())
    write(tmp_path / "empty.jsonl", [launch()])
    (tmp_path / "report.json").write_text('{"schema": "haichi.report/1"}\n')
    done = CliRunner().invoke(app, ["report", *words])
    assert done.exit_code == BAD_INPUT
    assert message in done.stderr
    assert done.stderr.count("\n") == 1


def test_links_that_health_has_seen_stand_before_the_curves(tmp_path: Path) -> None:
    links = [
        {"from": one, "to": other, "distance": 1, "seconds": 2e-3 if other == 2 else 1e-3}
        for one in range(3) for other in range(3) if one != other
    ]  # fmt: skip
    health = {
        "schema": "haichi.health/1", "verdict": "slow", "members": "nodes",
        "names": ["a", "b", "c"], "member_of_rank": [0, 1, 2], "visits": 5, "seconds": 3.5,
        "findings": [{"of": "member", "aspect": "bandwidth", "member": 2, "factor": 2.0, "seen": 5,
                      "distances": [1, 2], "text": "node c receives at half the rate"}],
        "compared": [], "haichi": "0.1.0", "started": "", "library": "", "oversubscribed": False,
        "aspects": [{"name": "bandwidth", "bytes": 1048576, "limit": 0.1, "median": 1e-3,
                     "links": links, "ranks": []}],
    }  # fmt: skip
    samples = write(tmp_path / "s.jsonl", records())
    file = tmp_path / "health.json"
    file.write_text(json.dumps(health, indent=1))
    out = tmp_path / "page.html"
    done = CliRunner().invoke(app, ["report", str(samples), str(file), "-o", str(out)])
    assert done.exit_code == 0, done.output
    found = Checker(out.read_text())
    assert found.open == []
    text = "".join(found.text)
    assert "node c receives at half the rate" in text
    assert "a to c: 500 MiB/s" in text
    assert text.index("Nodes and links") < text.index("Point to point")
    done = CliRunner().invoke(app, ["report", str(file), "-o", str(out)])
    assert done.exit_code == BAD_INPUT and "name those too" in done.stderr
    file.write_text(json.dumps(health | {"visits": "many"}))
    done = CliRunner().invoke(app, ["report", str(samples), str(file)])
    assert done.exit_code == BAD_INPUT and "is no haichi.health/1: visits" in done.stderr


@pytest.mark.slow
def test_a_browser_shows_it_at_three_widths_in_light_and_dark(tmp_path: Path) -> None:
    """Nothing sticks out of the page, all pictures have a size, and colours follow the reader."""
    browser = shutil.which("chromium") or shutil.which("chromium-browser")
    if not browser:
        pytest.skip("no browser: apt-get install chromium")
    (tmp_path / "page.html").write_text(made_page(tmp_path, records(), records(under=True)))
    papers = {}
    for dark in (False, True):
        for width in (360, 900, 1700):
            frame = tmp_path / f"frame{width}.html"
            frame.write_text(FRAME % (width, width))
            words = [
                browser, "--headless", "--no-sandbox", "--disable-gpu",
                f"--user-data-dir={tmp_path}/b",
                "--allow-file-access-from-files", "--virtual-time-budget=4000",
                f"--blink-settings=preferredColorScheme={0 if dark else 1}",
                "--dump-dom", f"file://{frame}",
            ]  # fmt: skip
            done = runner.run(words, timeout=90)
            seen = re.search(r"<pre>(.*?)</pre>", done.out)
            assert seen, done.err[-2000:]
            found = json.loads(seen[1])
            assert found["wide"] <= width, (width, found)
            assert found["pictures"] > 10 and found["empty"] == 0
            papers[dark] = found["paper"]
    assert papers == {False: "rgb(255, 255, 255)", True: "rgb(18, 22, 29)"}


# What a reader's browser makes of the page, asked from outside: the page itself allows no script.
FRAME = """<body><iframe src="page.html" style="width:%dpx;height:900px;border:0"></iframe><script>
onload = () => {
  const page = document.querySelector("iframe").contentDocument;
  const pictures = [...page.querySelectorAll("svg[role=img]")];
  const told = {
    wide: page.documentElement.scrollWidth, asked: %d, pictures: pictures.length,
    empty: pictures.filter(each => each.getBoundingClientRect().height < 10).length,
    paper: getComputedStyle(page.body).backgroundColor,
  };
  const out = document.createElement("pre");
  out.textContent = JSON.stringify(told);
  document.body.append(out);
};
</script>"""
