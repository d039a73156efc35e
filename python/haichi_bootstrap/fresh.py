"""`./haichi test --fresh`: what a newcomer types, on a Debian that has nothing.

Makes a minimal Debian 12 root, puts a copy of what is committed into it, and runs the two commands
there: once as root, once as a plain user. When ./haichi says what to paste, that very line is
pasted, so a wrong line fails here and not on somebody's machine.
"""

import contextlib
import os
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from haichi_bootstrap import packages, paths, shell, testing
from haichi_bootstrap.shell import Stop

SUITE = "bookworm"
LOGS = paths.OUT / "fresh"
USER = "newcomer"
HOME = f"/home/{USER}"
MOST_PASTES = 3
LIMITS = {"test": 3600.0, "demo": 1800.0}  # seconds, set-up included
# What reaches the package registries through this machine's way out.
PASSED_ON = re.compile(
    r"^(PIP_(?!FIND_LINKS)\w+|SSL_CERT_\w+|REQUESTS_CA_BUNDLE|CURL_CA_BUNDLE"
    r"|(https?|ftp|all|no)_proxy)$",
    re.IGNORECASE,
)


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
    if os.geteuid() != 0:
        raise Stop(
            "test --fresh makes a Debian root, which needs root; paste: sudo ./haichi test --fresh"
        )
    packages.provide(["fresh"])
    LOGS.mkdir(parents=True, exist_ok=True)
    total = testing.Outcome()
    with tempfile.TemporaryDirectory(prefix="haichi-fresh-", dir="/var/tmp") as folder:
        home = Path(folder)
        home.chmod(0o755)
        archive, commit = home / "root.tar", home / "commit.tar"
        _archive_commit(commit)  # once: all legs see the same, whatever is committed meanwhile
        _make_root(archive)
        # The demo first: what it takes on a new machine is from nothing to its report.
        commands = (("demo",), ("test", "--quick") if quick else ("test",))
        for user in ("root", USER):
            root = home / user
            _unpack_root(archive, root, user)
            _give_checkout(commit, root, user)
            for words in commands:
                _run_leg(root, Leg(user, words), total)
            shutil.rmtree(root)
    return testing.conclude(total)


def _make_root(archive: Path) -> None:
    shell.step("mmdebstrap", f"a minimal {SUITE} root, as on a machine just installed")
    command: list[str | Path] = ["mmdebstrap", "--quiet", "--variant=minbase"]
    command += ["--include=ca-certificates"]
    command += [f"--aptopt={line}" for line in _apt_options()]
    # Its own clean-up would take away what apt must fetch again anyway for the first package.
    command += ["--skip=cleanup/apt/lists", SUITE, archive, *_apt_sources()]
    log = LOGS / "mmdebstrap.log"
    shell.must(command, "making a Debian root", log)


def _apt_options() -> list[str]:
    """How this machine's apt gets through to its registry."""
    text = shell.output(["apt-config", "dump"]) or ""
    return re.findall(r"^(Acquire::(?:https?|Check|Retries)\S* \"[^\"]+\";)$", text, re.MULTILINE)


def _apt_sources() -> list[str]:
    """This machine's sources of the suite; where it has none, mmdebstrap takes Debian's own."""
    form = "$(REPO_URI) $(RELEASE) $(COMPONENT)"
    text = shell.output(["apt-get", "indextargets", "--format", form, "Created-By: Packages"]) or ""
    suites = {SUITE, f"{SUITE}-updates", f"{SUITE}-security"}
    found = {
        line: None for line in text.splitlines() if line.split()[1:2] and line.split()[1] in suites
    }
    return [f"deb {line}" for line in found if line.endswith(" main")]


def _unpack_root(archive: Path, root: Path, user: str) -> None:
    root.mkdir()
    log = LOGS / f"unpack-{user}.log"
    shell.must(["tar", "-C", root, "-xf", archive], "unpacking the root", log)
    for name in ("/etc/resolv.conf", "/etc/hosts", "/etc/pip.conf", *_certificates()):
        with contextlib.suppress(FileNotFoundError):
            target = root / name.lstrip("/")
            target.parent.mkdir(parents=True, exist_ok=True)
            target.unlink(missing_ok=True)
            shutil.copyfile(name, target)
    if user != "root":
        shell.must(["chroot", root, "useradd", "--create-home", user], "useradd", log)


def _give_checkout(commit: Path, root: Path, user: str) -> None:
    log = LOGS / f"checkout-{user}.log"
    checkout = root / _home(user).lstrip("/") / "haichi"
    checkout.mkdir(parents=True)
    shell.must(["tar", "-C", checkout, "-xf", commit], "unpacking the commit", log)
    if user != "root":
        shell.must(["chroot", root, "chown", "-R", f"{user}:", _home(user)], "chown", log)


def _home(user: str) -> str:
    return "/root" if user == "root" else HOME


def _certificates() -> set[str]:
    """Files of certificate authorities that this machine's tools were told to trust."""
    names = {value for name, value in os.environ.items() if PASSED_ON.match(name)}
    names.add("/etc/ssl/certs/ca-certificates.crt")
    return {name for name in names if name.startswith("/") and Path(name).is_file()}


def _archive_commit(archive: Path) -> None:
    """Keeps the tree of HEAD, which is what somebody who clones the project gets."""
    git = ["git", "-c", "safe.directory=*", "-C", str(paths.ROOT)]
    changed = shell.output([*git, "status", "--porcelain"])
    if changed:
        shell.say(f"haichi: {len(changed.splitlines())} changes are not committed and not tested")
    done = subprocess.run([*git, "archive", "--output", archive, "HEAD"], check=False)
    if done.returncode:
        raise Stop(f"git archive of {paths.ROOT} failed: commit something first")


def _run_leg(root: Path, leg: Leg, total: testing.Outcome) -> None:
    shell.step(leg.name, "in the fresh root")
    slug = f"{leg.user}-{leg.words[0]}"
    begin = time.monotonic()
    status, log = 1, LOGS / f"{slug}.log"
    for attempt in range(MOST_PASTES + 1):
        log = LOGS / f"{slug}.{attempt}.log"
        words = ["env", "-C", f"{_home(leg.user)}/haichi", "./haichi", *leg.words]
        status = _inside(root, leg.user, words, log, LIMITS[leg.words[0]])
        line = _line_to_paste(log)
        if status == 0 or not line or attempt == MOST_PASTES:
            break
        shell.say(f"    it says to paste: {line}")
        pasted = ["sh", "-c", line.replace("sudo ", "")]
        if _inside(root, "root", pasted, LOGS / f"{slug}.paste.log", 1200):
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


def _inside(root: Path, user: str, words: Sequence[str], log: Path, limit: float) -> int:
    """Runs a command in the root, in namespaces of its own that end, mounts and all, with it."""
    cache = LOGS / "archives"  # downloads only; what is installed starts from nothing each time
    cache.mkdir(parents=True, exist_ok=True)
    mounts = """
        set -e
        root=$1; cache=$2; shift 2
        mount -t proc proc "$root/proc"
        mount --rbind /sys "$root/sys"
        mount --rbind /dev "$root/dev"
        mount -t tmpfs -o mode=1777 shm "$root/dev/shm"
        mount -t tmpfs -o mode=755 run "$root/run"
        mount --bind "$cache" "$root/var/cache/apt/archives"
        exec chroot "$@"
    """
    command = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", mounts, "sh"]
    command += [str(root), str(cache), "--userspec", f"{user}:", str(root)]
    command += ["env", "-i", *_environment(user)]
    return shell.run([*command, *words], log=log, timeout=limit)


def _environment(user: str) -> Iterator[str]:
    yield f"HOME={_home(user)}"
    yield f"USER={user}"
    yield "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
    yield "LANG=C.UTF-8"
    yield "CI=true"
    for name, value in os.environ.items():
        if PASSED_ON.match(name):
            yield f"{name}={value}"
