"""What the pages of the project name is there: files by their paths, pages by their links."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from haichi_bootstrap import paths

OURS = r"`((?:src|python|tests|bench|docs|lab|packaging|cmake|fuzz)/[\w./-]+?)/?`"
LINK = r"\]\(([^)#\s]+)(?:#[^)]*)?\)"


def pages() -> list[Path]:
    """All of the project's own, not those of what is built or installed in it."""
    return [*paths.ROOT.glob("*.md"), *(paths.ROOT / "docs").rglob("*.md")]


def named(page: Path, pattern: str) -> Iterator[str]:
    for number, line in enumerate(page.read_text().splitlines(), 1):
        for match in re.finditer(pattern, line):
            yield f"{page.relative_to(paths.ROOT)}:{number}: {match[1]}"


def path_in(told: str) -> str:
    return told.split(": ", 1)[1]


def test_files_that_pages_name_are_there() -> None:
    """A module may be named without its ending."""
    missing = [
        told
        for page in pages()
        for told in named(page, OURS)
        if not (paths.ROOT / path_in(told)).exists()
        and not list((paths.ROOT / path_in(told)).parent.glob(Path(path_in(told)).name + ".*"))
    ]
    assert missing == []


def test_links_lead_somewhere() -> None:
    missing = [
        told
        for page in pages()
        for told in named(page, LINK)
        if "://" not in path_in(told) and not (page.parent / path_in(told)).exists()
    ]
    assert missing == []
