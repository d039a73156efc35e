"""The commands of `haichi`: their modules are loaded when they are called, and no sooner."""

from __future__ import annotations

import sys

import pytest
from haichi import cli
from haichi_bootstrap import command_line
from haichi_processes import runner
from typer.testing import CliRunner

LOADED = """
import sys
from haichi.cli import app
app({words!r}, standalone_mode=False)
print(*(name for name in sys.modules if name.startswith("haichi.")), file=sys.stderr)
"""


def loaded_by(*words: str) -> set[str]:
    """Which of our modules a command line loads."""
    done = runner.run([sys.executable, "-c", LOADED.format(words=words)], capture=True, timeout=60)
    assert done.status == 0, done.err
    return set(done.err.split())


def test_a_list_of_commands_loads_none() -> None:
    assert loaded_by("--help") == {"haichi.cli"}


def test_a_command_loads_its_own() -> None:
    loaded = loaded_by("gasfs", "status", "--help")
    assert "haichi.gasfs.cli" in loaded
    assert not {name for name in loaded if name.split(".")[1] in ("figures", "report", "predict")}


@pytest.mark.parametrize("name", cli.COMMANDS)
def test_what_is_said_without_a_command_is_how_its_own_help_begins(name: str) -> None:
    told = " ".join((cli.load(name).help or "").split())
    assert told.startswith(cli.COMMANDS[name].help)
    shown = CliRunner().invoke(cli.app, [name, "--help"], prog_name="haichi").output
    assert f"Usage: haichi {name}" in shown


def test_the_bootstrap_knows_them_all() -> None:
    assert {*cli.COMMANDS} == {*command_line.FORWARDED, command_line.MEASURE_FOR}


def test_a_slip_of_the_fingers_is_told() -> None:
    done = CliRunner().invoke(cli.app, ["preditc"])
    assert done.exit_code == 2
    assert "Did you mean 'predict'?" in done.output
