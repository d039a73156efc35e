"""`./haichi test --fresh`: what a newcomer types, on a Debian that has nothing.

Makes a minimal Debian 12 root, puts a copy of what is committed into it, and runs the two commands
there: once as root, once as a plain user. When ./haichi says what to paste, that very line is
pasted, so a wrong line fails here and not on somebody's machine.
"""

import re
import shutil
import time
from dataclasses import dataclass
from pathlib import Path

from haichi_bootstrap import debian_root, paths, shell, testing
from haichi_bootstrap.debian_root import LOGS, USER
from haichi_bootstrap.shell import Stop

MOST_PASTES = 3
LIMITS = {"test": 3600.0, "demo": 1800.0}  # seconds, set-up included


@dataclass(frozen=True)
class Leg:
    """One command, typed by one user."""

    user: str  # "root" or USER
    words: tuple[str, ...]

    @property
    def name(self) -> str:
        return f"{'root' if self.user == 'root' else 'plain user'}: ./haichi {' '.join(self.words)}"


def test(*, quick: bool) -> int:
    """Runs the four legs and prints what became of each; returns the exit status."""
    total = testing.Outcome()
    with debian_root.workshop("test --fresh") as home:
        archive, commit = home / "root.tar", home / "commit.tar"
        _archive_commit(commit)  # once: all legs see the same, whatever is committed meanwhile
        debian_root.make(archive)
        # The demo first: what it takes on a new machine is from nothing to its report.
        commands = (("demo",), ("test", "--quick") if quick else ("test",))
        for user in ("root", USER):
            root = home / user
            debian_root.unpack(archive, root, user)
            _give_checkout(commit, root, user)
            for words in commands:
                _run_leg(root, Leg(user, words), total)
            shutil.rmtree(root)
    return testing.conclude(total)


def _give_checkout(commit: Path, root: Path, user: str) -> None:
    log = LOGS / f"checkout-{user}.log"
    checkout = root / debian_root.home(user).lstrip("/") / "haichi"
    checkout.mkdir(parents=True)
    shell.must(["tar", "-C", checkout, "-xf", commit], "unpacking the commit", log)
    if user != "root":
        shell.must(
            ["chroot", root, "chown", "-R", f"{user}:", debian_root.home(user)], "chown", log
        )


def _archive_commit(archive: Path) -> None:
    """Keeps the tree of HEAD, which is what somebody who clones the project gets."""
    git = ["git", "-c", "safe.directory=*", "-C", str(paths.ROOT)]
    changed = shell.output([*git, "status", "--porcelain"])
    if changed:
        shell.say(f"haichi: {len(changed.splitlines())} changes are not committed and not tested")
    if shell.run([*git, "archive", "--output", archive, "HEAD"], timeout=120):
        raise Stop(f"git archive of {paths.ROOT} failed: commit something first")


def _run_leg(root: Path, leg: Leg, total: testing.Outcome) -> None:
    shell.step(leg.name, "in the fresh root")
    slug = f"{leg.user}-{leg.words[0]}"
    begin = time.monotonic()
    status, log = 1, LOGS / f"{slug}.log"
    for attempt in range(MOST_PASTES + 1):
        log = LOGS / f"{slug}.{attempt}.log"
        words = ["env", "-C", f"{debian_root.home(leg.user)}/haichi", "./haichi", *leg.words]
        status = debian_root.inside(root, leg.user, words, log, LIMITS[leg.words[0]])
        line = _line_to_paste(log)
        if status == 0 or not line or attempt == MOST_PASTES:
            break
        shell.say(f"    it says to paste: {line}")
        pasted = ["sh", "-c", line.replace("sudo ", "")]
        if debian_root.inside(root, "root", pasted, LOGS / f"{slug}.paste.log", 1200):
            total.failed.append((leg.name, f"pasting failed; see {LOGS / slug}.paste.log"))
            return
    _judge(leg, status, log, total)
    shell.say(f"    exit {status} after {time.monotonic() - begin:.0f} s; {log}")


def _judge(leg: Leg, status: int, log: Path, total: testing.Outcome) -> None:
    lines = shell.tail(log, 4000)
    counts = next((x for x in reversed(lines) if re.match(r"\d+ passed, \d+ failed", x)), "")
    if counts:
        shell.say(f"    {counts}")
    for line in lines:
        if line.startswith(("skipped: ", "failed: ")):
            shell.say(f"    {line}")
    if status == 0 and (counts or leg.words[0] != "test"):
        total.passed += 1
        return
    for line in lines[-15:]:
        shell.say(f"    | {line}")
    total.failed.append((leg.name, f"exit {status}; see {log}"))


def _line_to_paste(log: Path) -> str | None:
    for line in reversed(shell.tail(log, 5)):
        if line.startswith("haichi: ") and "paste: " in line:
            return line.partition("paste: ")[2]
    return None
