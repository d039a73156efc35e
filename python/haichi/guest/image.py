"""The file system that a guest starts with: busybox, the command with its shared libraries, kernel
modules, and an init that runs the command and says how it ended."""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from haichi_processes import runner

from haichi.guest.kernel import Kernel
from haichi.lab import LabError

TOOLS = [
    "[",
    "awk",
    "cat",
    "cp",
    "cut",
    "date",
    "dd",
    "df",
    "dmesg",
    "echo",
    "env",
    "expr",
    "false",
    "find",
    "free",
    "grep",
    "head",
    "id",
    "ifconfig",
    "insmod",
    "kill",
    "ln",
    "ls",
    "mkdir",
    "mke2fs",
    "mknod",
    "mount",
    "mv",
    "printf",
    "ps",
    "pwd",
    "rm",
    "sed",
    "seq",
    "setsid",
    "sh",
    "sleep",
    "sort",
    "stat",
    "stty",
    "sync",
    "tail",
    "tar",
    "taskset",
    "test",
    "timeout",
    "touch",
    "tr",
    "true",
    "truncate",
    "umount",
    "uname",
    "uniq",
    "wc",
    "xargs",
]
INIT = """#!/bin/busybox sh
PATH=/bin
mount -t proc proc /proc; mount -t sysfs sys /sys; mount -t devtmpfs dev /dev
mkdir -p /dev/shm; mount -t tmpfs shm /dev/shm
ifconfig lo 127.0.0.1 up
while read -r module; do insmod "$module"; done < /modules/order
stty -F /dev/ttyS1 raw -echo; stty -F /dev/ttyS2 raw -echo
setsid /command < /dev/null > /dev/ttyS1 2>&1
echo "exit $?" > /dev/ttyS2
sync
echo o > /proc/sysrq-trigger
sleep 60
"""


def build(
    kernel: Kernel,
    command: Sequence[str],
    files: Sequence[str],
    modules: Sequence[str],
    environment: Mapping[str, str],
    work: Path,
) -> Path:
    """Makes it below `work`, and returns the file.

    Raises:
        LabError: a file, a module or the command is not there.
    """
    root = work / "root"
    for folder in ("bin", "proc", "sys", "dev", "tmp", "root", "etc", "modules"):
        (root / folder).mkdir(parents=True)
    shutil.copy(kernel.busybox, root / "bin" / "busybox")
    for tool in TOOLS:
        (root / "bin" / tool).symlink_to("busybox")
    (root / "etc" / "passwd").write_text("root:x:0:0:root:/root:/bin/sh\n")
    for each in files:
        source, _, target = each.partition(":")
        _put(root, Path(source).absolute(), Path(target or Path(source).absolute()))
    _write(root / "init", INIT)
    _write(root / "command", _script(_program(root, command), environment))
    _modules(root, kernel, modules)
    names = "\n".join(str(each.relative_to(root)) for each in sorted(root.rglob("*")))
    image = work / "initrd"
    packing = ["cpio", "-o", "-H", "newc", "--quiet", "-R", "0:0", "-O", str(image)]
    packed = runner.run(packing, cwd=root, stdin=names + "\n", timeout=120)
    if packed.code != 0:
        raise LabError(f"cpio: {packed.how}: {packed.last_error}")
    return image


def _write(path: Path, text: str) -> None:
    path.write_text(text)
    path.chmod(0o755)


def _script(command: Sequence[str], environment: Mapping[str, str]) -> str:
    lines = ["#!/bin/sh", "export PATH=/usr/local/bin:/usr/bin:/bin HOME=/root"]
    lines += [f"export {name}={shlex.quote(value)}" for name, value in environment.items()]
    return "\n".join([*lines, "cd /tmp", f"exec {shlex.join(command)}", ""])


def _program(root: Path, command: Sequence[str]) -> list[str]:
    """The command as the guest calls it, its program put there."""
    name = command[0]
    if "/" not in name and (root / "bin" / name).is_symlink():
        return list(command)
    found = shutil.which(name)
    if found is None:
        raise LabError(f"{name}: no such program")
    path = Path(found).absolute()
    _put(root, path, path)
    return [str(path), *command[1:]]


def _put(root: Path, source: Path, target: Path) -> None:
    """Copies a file or a folder, with the shared libraries of its programs, at their paths."""
    if not source.exists():
        raise LabError(f"{source}: no such file")
    inside = root / target.relative_to("/")
    inside.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir():
        shutil.copytree(source, inside, symlinks=True, dirs_exist_ok=True)
        programs = [each for each in source.rglob("*") if each.is_file() and _may_need(each)]
    else:
        shutil.copy(source, inside)
        programs = [source] if _may_need(source) else []
    for program in programs:
        for library in re.findall(r"(/[^ )]+) \(0x", runner.run(["ldd", program], timeout=30).out):
            if not (root / library[1:]).exists():
                _put(root, Path(library), Path(library))


def _may_need(file: Path) -> bool:
    with file.open("rb") as opened:
        return opened.read(4) == b"\x7fELF"


def _modules(root: Path, kernel: Kernel, names: Sequence[str]) -> None:
    """Copies kernel modules and what they need, and writes in which order they are loaded."""
    needs: dict[str, list[str]] = {}
    files: dict[str, str] = {}
    for line in (kernel.modules / "modules.dep").read_text().splitlines():
        file, _, rest = line.partition(":")
        # depmod of busybox names files from the root of the cache.
        relative = file.split(f"{kernel.modules.name}/")[-1]
        name = Path(file).name.partition(".")[0].replace("-", "_")
        files[name] = relative
        needs[name] = [Path(each).name.partition(".")[0].replace("-", "_") for each in rest.split()]
    order: list[str] = []

    def take(name: str) -> None:
        if name not in files:
            builtin = (kernel.modules / "modules.builtin").read_text().replace("-", "_")
            if f"/{name}.ko" in builtin:
                return
            raise LabError(f"--module {name}: the kernel has none of this name")
        for each in needs[name]:
            if each not in order:
                take(each)
        if name not in order:
            order.append(name)

    for name in names:
        take(name.replace("-", "_"))
    for name in order:
        shutil.copy(kernel.modules / files[name], root / "modules")
    listed = "".join(f"/modules/{Path(files[name]).name}\n" for name in order)
    (root / "modules" / "order").write_text(listed)
