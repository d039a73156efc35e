"""The manual pages: their form, that they name each other rightly, and that they are complete."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import typer
from haichi.advise.cli import advise
from haichi.compare.cli import compare
from haichi.export.cli import export
from haichi.fit.cli import fit
from haichi.paths import ROOT, build
from haichi.predict.cli import predict
from haichi.record.cli import record
from haichi.report.cli import report
from haichi.samples.imports.cli import import_
from haichi_bootstrap.command_line import USAGE

PAGES = sorted((ROOT / "docs" / "man").glob("*.md"))
SECTIONS = [
    "NAME", "SYNOPSIS", "DESCRIPTION", "FORMAT", "COMMANDS", "SETTINGS", "OPTIONS", "FILES",
    "ENVIRONMENT", "EXIT STATUS", "EXAMPLES", "SEE ALSO",
]  # fmt: skip


def section(page: Path, name: str) -> str:
    found = re.search(rf"^## {name}\n(.*?)(?=^## |\Z)", page.read_text(), re.M | re.S)
    assert found, f"{page.name} has no section {name}"
    return found[1]


def terms(text: str) -> set[str]:
    """The first words of a definition list."""
    return set(re.findall(r"^`([^`]+)`[^\n]*\n: ", text, re.M))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_page_has_the_form_of_a_manual_page(page: Path) -> None:
    name, number = page.stem.rsplit(".", 1)
    text = page.read_text()
    assert text.startswith(f"# {name}({number})\n")
    assert section(page, "NAME").strip().startswith(f"{name} - ")
    order = [SECTIONS.index(heading) for heading in re.findall(r"^## (.*)$", text, re.M)]
    assert order == sorted(order)
    assert order[-1] == SECTIONS.index("SEE ALSO")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_pages_of_ours_that_are_named_are_there(page: Path) -> None:
    named = re.findall(r"\b(haichi[\w.-]*)\((\d)\)", page.read_text())
    missing = [f"{n}({s})" for n, s in named if not (page.parent / f"{n}.{s}.md").exists()]
    assert not missing


COMMANDS = [compare, report, export, import_, fit, record, predict, advise]


@pytest.mark.parametrize("of", COMMANDS, ids=lambda of: of.__name__)
def test_options_in_a_page_are_those_of_the_command(of: Callable[..., None]) -> None:
    app = typer.Typer(add_completion=False)
    app.command()(of)
    command = typer.main.get_command(app)
    options = {name for parameter in command.params for name in parameter.opts if "--" in name}
    page = ROOT / "docs" / "man" / f"haichi-{of.__name__.rstrip('_')}.1.md"
    assert terms(section(page, "OPTIONS")) == options | {"--help"}
    synopsis = set(re.findall(r"--[\w-]+", section(page, "SYNOPSIS")))
    assert synopsis == options


def test_commands_of_haichi_are_all_in_its_page() -> None:
    commands = set(re.findall(r"^  (\w+)  ", USAGE, re.M))
    page = ROOT / "docs" / "man" / "haichi.1.md"
    assert terms(section(page, "COMMANDS")) == commands


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_build_made_a_manual_page_of_it(page: Path) -> None:
    if not shutil.which("lowdown"):
        pytest.skip("no lowdown here: manual pages stay Markdown")
    name, number = page.stem.rsplit(".", 1)
    made = build() / "share" / "man" / f"man{number}" / page.stem
    text = made.read_text()
    assert re.search(rf'^\.TH "{re.escape(name)}" "{number}"', text, re.M)
    assert len(text.splitlines()) > 0.5 * len(page.read_text().splitlines())
