"""`haichi gasfs picture`: one page of what programs asked for and what went to the servers."""

from __future__ import annotations

from pathlib import Path

from mpis import haichi_command
from whole import whole


def test_strided_records_and_why_they_end(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    with whole() as job:
        none = haichi_command("gasfs", "picture", job.job.folder, "--out", page)
        assert none.returncode != 0 and "start or mount it with --trace" in none.stderr
        where = job.folder / "traced"
        job.job.mount(where, ["--for", "600", "--linger-ms", "60000"], 60, trace=True)
        try:
            with (where / "a <b>").open("wb", buffering=0) as file:
                for first in (1, 0):  # every second record, and then the others
                    for record in range(first, 1000, 2):
                        file.seek(record * 100)
                        file.write(b"x" * 100)
            with (where / "holes").open("wb", buffering=0) as file:
                for record in range(5):
                    file.seek(record * 1000)
                    file.write(b"x" * 100)
            done = haichi_command(
                "gasfs", "picture", job.job.folder, where / "a <b>", where / "holes", "--out", page
            )
        finally:
            daemon = job.dispatcher(where)
            process = daemon.ask_to_end()
            assert process and daemon.wait(process, 60) == ""
    assert done.returncode == 0, done.stderr
    text = page.read_text()
    assert "1,000 requests of 1 node went to the servers as 2, 500.0 : 1" in text
    assert "5 requests of 1 node went to the servers as 5" in text
    assert "the bytes behind were not written" in text and "of another stripe" in text
    assert "a &lt;b&gt;" in text and "<b>" not in text
    assert text.count("<svg") == 4 and "http" not in text.replace("http-equiv", "").replace(
        "http://www.w3.org/2000/svg", ""
    )
    assert len(text) < 400_000
