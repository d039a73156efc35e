"""A Debian that has nothing, for trying what a newcomer types: a root of its own, and commands in
it as root or as a plain user."""

import contextlib
import os
import re
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from haichi_bootstrap import packages, paths, shell
from haichi_bootstrap.shell import Stop

SUITE = "bookworm"
LOGS = paths.OUT / "fresh"
USER = "newcomer"
# What reaches the package registries through this machine's way out.
PASSED_ON = re.compile(
    r"^(PIP_(?!FIND_LINKS)\w+|SSL_CERT_\w+|REQUESTS_CA_BUNDLE|CURL_CA_BUNDLE"
    r"|(https?|ftp|all|no)_proxy)$",
    re.IGNORECASE,
)


@contextlib.contextmanager
def workshop(command: str, groups: Sequence[str] = ("fresh",)) -> Iterator[Path]:
    """A folder to make roots in for `./haichi <command>`, gone at the end. `groups` of deps.txt
    are what it takes."""
    if os.geteuid() != 0:
        raise Stop(
            f"{command} makes a Debian root, which needs root; paste: sudo ./haichi {command}"
        )
    packages.provide(groups)
    LOGS.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="haichi-fresh-", dir="/var/tmp") as name:
        folder = Path(name)
        folder.chmod(0o755)
        yield folder


def make(archive: Path, present: Sequence[str] = ()) -> None:
    """Makes the root, as a tar file, with the packages of `present` installed."""
    shell.step("mmdebstrap", f"a minimal {SUITE} root, as on a machine just installed")
    command: shell.Command = ["mmdebstrap", "--quiet", "--variant=minbase"]
    command += [f"--include={','.join(('ca-certificates', *present))}"]
    command += [f"--aptopt={line}" for line in _apt_options()]
    # Its own clean-up would take away what apt must fetch again anyway for the first package.
    command += ["--skip=cleanup/apt/lists", SUITE, archive, *_apt_sources()]
    log = LOGS / "mmdebstrap.log"
    shell.must(command, "making a Debian root", log)


def unpack(archive: Path, root: Path, user: str) -> None:
    """Unpacks it into the new folder `root`, with an account for `user`, who may be "root"."""
    root.mkdir()
    shell.must(
        ["tar", "-C", root, "-xf", archive], "unpacking the root", LOGS / f"unpack-{user}.log"
    )
    prepare(root, user)


def prepare(root: Path, user: str) -> None:
    """Lets a root know this machine's registries, and `user`, who may be "root"."""
    for name in ("/etc/resolv.conf", "/etc/hosts", "/etc/pip.conf", *_certificates()):
        with contextlib.suppress(FileNotFoundError):
            target = root / name.lstrip("/")
            target.parent.mkdir(parents=True, exist_ok=True)
            target.unlink(missing_ok=True)
            shutil.copyfile(name, target)
    if user != "root":
        log = LOGS / f"useradd-{user}.log"
        shell.must(["chroot", root, "useradd", "--create-home", user], "useradd", log)


def home(user: str) -> str:
    """The home folder, as seen inside."""
    return "/root" if user == "root" else f"/home/{user}"


def inside(root: Path, user: str, words: Sequence[str], log: Path, limit: float) -> int:
    """Runs a command in the root for at most `limit` seconds, in namespaces of its own that end,
    mounts and all, with it. Returns its exit status."""
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
    yield f"HOME={home(user)}"
    yield f"USER={user}"
    yield "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
    yield "LANG=C.UTF-8"
    yield "CI=true"
    yield from passed_on()


def passed_on() -> Iterator[str]:
    """What of this machine's environment reaches its registries, as NAME=VALUE."""
    for name, value in os.environ.items():
        if PASSED_ON.match(name):
            yield f"{name}={value}"


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


def _certificates() -> set[str]:
    """Files of certificate authorities that this machine's tools were told to trust."""
    names = {value for name, value in os.environ.items() if PASSED_ON.match(name)}
    names.add("/etc/ssl/certs/ca-certificates.crt")
    return {name for name in names if name.startswith("/") and Path(name).is_file()}
