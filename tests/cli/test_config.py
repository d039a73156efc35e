"""`haichi config`: the settings in force, where each came from, and the manual made of them."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import mpis
import pytest
from launch_prefix import clean_environment

CONFIG, USAGE = 78, 64
MANUAL = mpis.ROOT / "docs" / "man" / "haichi-environment.7.md"

if not mpis.HAICHI.exists():
    pytest.skip(f"no {mpis.HAICHI}: ./haichi build", allow_module_level=True)


def config(*words: str, env: dict[str, str] | None = None, cwd: Path | None = None):
    command = [str(mpis.HAICHI), "config", *words]
    return mpis.run_bounded(command, env=clean_environment(env), cwd=cwd)


def rows(done) -> dict[str, dict]:
    return {row["key"]: row for row in json.loads(done.stdout)["settings"]}


def test_lists_every_setting_with_its_source(tmp_path: Path) -> None:
    file = tmp_path / "site.toml"
    file.write_text('[io]\norder = "rank"\n')
    done = config(env={"HAICHI_CONFIG": str(file), "HAICHI_IO_WINDOW": "4"})
    assert done.returncode == 0, done.stderr
    table = {line.split()[0]: line.split()[1:] for line in done.stdout.splitlines()}
    assert table["io.order"] == ["rank", f"{file}:2"]
    assert table["io.window"] == ["4", "environment"]
    assert table["io.layout"] == ["roundrobin", "default"]
    assert list(table) == sorted(table)


def test_env_is_what_the_files_say(tmp_path: Path) -> None:
    file = tmp_path / "site.toml"
    file.write_text('io.order = "rank"\n[report]\nfile = "a b.json"\n')
    done = config("--env", env={"HAICHI_CONFIG": str(file), "HAICHI_IO_WINDOW": "4"})
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.splitlines()) == ["HAICHI_IO_ORDER=rank", "HAICHI_REPORT=a b.json"]


def test_json_holds_the_whole_table(tmp_path: Path) -> None:
    (tmp_path / "haichi.toml").write_text('[report]\nfile = "r.json"\nevents = 5\n')
    done = mpis.run_bounded(
        [str(mpis.HAICHI), "config", "--json"],
        env={k: v for k, v in clean_environment().items() if k != "HAICHI_CONFIG"},
        cwd=tmp_path,
        check=True,
    )
    document = json.loads(done.stdout)
    assert document["schema"] == "haichi.settings/1"
    assert document["file"] == "haichi.toml"
    table = rows(done)
    assert table["report.file"]["value"] == "r.json"
    assert table["report.file"]["source"] == "haichi.toml:2"
    assert table["report.events"]["value"] == "5"
    order = table["io.order"]
    assert (order["variable"], order["hint"]) == ("HAICHI_IO_ORDER", "haichi_comm_order")
    assert "nd_shift" in order["choices"].split("|")
    assert set(order) == {
        *("key", "variable", "hint", "kind", "choices"),
        *("default", "help", "value", "source", "problem"),
    }


def test_home_is_searched_when_there_is_nothing_here(tmp_path: Path) -> None:
    file = tmp_path / "home" / ".config" / "haichi" / "haichi.toml"
    file.parent.mkdir(parents=True)
    file.write_text("disable = true\n")
    env = {"HOME": str(tmp_path / "home"), "PATH": "/bin"}
    done = mpis.run_bounded([str(mpis.HAICHI), "config", "--json"], env=env, cwd=tmp_path)
    assert rows(done)["disable"]["source"] == f"{file}:1"


def test_toml_reads_back_as_what_it_was(tmp_path: Path) -> None:
    env = {"HAICHI_IO_BUFFER": "4M", "HAICHI_REPORT": 'a "b".json', "HAICHI_REPORT_EVENTS": "7"}
    done = config("--toml", env=env)
    assert tomllib.loads(done.stdout) == {
        "io": {"buffer": "4M"},
        "report": {"file": 'a "b".json', "events": 7},
    }
    file = tmp_path / "back.toml"
    file.write_text(done.stdout)
    before, after = config("--json", env=env), config("--json", env={"HAICHI_CONFIG": str(file)})
    assert {key: row["value"] for key, row in rows(before).items() if key != "config"} == {
        key: row["value"] for key, row in rows(after).items() if key != "config"
    }


def test_the_manual_page_is_what_the_table_says() -> None:
    done = config("--man")
    assert done.returncode == 0, done.stderr
    assert MANUAL.read_text() == done.stdout, (
        f"{MANUAL.name} differs from the settings table: "
        f"haichi config --man > docs/man/{MANUAL.name}"
    )


@pytest.mark.parametrize(
    ("env", "code", "text"),
    [
        ({"HAICHI_IO_ORDER": "up"}, CONFIG, "error: HAICHI_IO_ORDER=up: use one of rank"),
        ({"HAICHI_CONFIG": "/no/file"}, CONFIG, "error: cannot open /no/file"),
        ({"HAICHI_IO_ORDR": "rank"}, 0, "warning: unknown setting HAICHI_IO_ORDR, did you mean"),
        ({"HAICHI_COLOUR": "red"}, 0, "warning: unknown setting HAICHI_COLOUR; `haichi config`"),
    ],
)
def test_says_what_is_wrong(env: dict[str, str], code: int, text: str) -> None:
    done = config(env=env)
    assert done.returncode == code
    assert done.stderr.startswith(f"haichi: {text}")
    assert done.stderr.count("\n") == 1


def test_a_wrong_value_does_not_hide_the_table() -> None:
    done = config("--json", env={"HAICHI_IO_ORDER": "up"})
    assert done.returncode == CONFIG
    order = rows(done)["io.order"]
    assert order["value"] == "up"
    assert order["problem"].startswith("HAICHI_IO_ORDER=up: use one of")


def test_refuses_a_wrong_command_line() -> None:
    for words in (("--yaml",), ("--json", "--toml"), ("extra",)):
        done = config(*words)
        assert done.returncode == USAGE
        assert done.stdout == ""
        assert done.stderr.count("\n") == 1
    assert "--json" in config("--help").stdout
