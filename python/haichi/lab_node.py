"""The process that holds the namespaces of one node of the lab: `python -m haichi.lab_node`.

    lab_node switch                    a network namespace alone
    lab_node node HOSTNAME HOSTS       network, host name, IPC and mounts of its own; HOSTS is bound
                                       over /etc/hosts

It prints one line, "ready" or what was refused, and then does nothing until it is killed. The
namespaces last as long as it, or as any process in them.
"""

from __future__ import annotations

import ctypes
import os
import socket
import sys

# <linux/sched.h>, <sys/mount.h>
CLONE_NEWNS, CLONE_NEWUTS, CLONE_NEWIPC, CLONE_NEWNET = 0x20000, 0x4000000, 0x8000000, 0x40000000
MS_BIND, MS_REC, MS_PRIVATE = 0x1000, 0x4000, 0x40000

_libc = ctypes.CDLL(None, use_errno=True)


def _call(what: str, result: int) -> None:
    if result != 0:
        raise OSError(ctypes.get_errno(), f"{what}: {os.strerror(ctypes.get_errno())}")


def _mount(kind: str, source: str, target: str, flags: int = 0, options: str = "") -> None:
    arguments = [text.encode() or None for text in (source, target, kind)]
    done = _libc.mount(*arguments, ctypes.c_ulong(flags), options.encode() or None)
    _call(f"mounting {kind or source} on {target}", done)


def _own_mounts(hosts: str) -> None:
    """Gives this process mounts of its own, also inside of a chroot.

    Nothing that is mounted here may show outside, so every mount is made private first. From within
    a chroot whose root is not a mount point that cannot be said; but joining one's own mount
    namespace leads to its real root, where it can, and the working directory leads back.
    """
    root = os.open("/", os.O_PATH | os.O_DIRECTORY)
    namespace = os.open("/proc/self/ns/mnt", os.O_RDONLY)
    _call("joining the mount namespace", _libc.setns(namespace, CLONE_NEWNS))
    os.fchdir(root)
    _call("unshare", _libc.unshare(CLONE_NEWNS))
    _mount("", "none", "/", MS_REC | MS_PRIVATE)
    os.chroot(".")
    os.close(root)
    os.close(namespace)
    # UCX looks for its network devices in /sys, which shows those of the namespace that mounted it.
    _mount("sysfs", "sysfs", "/sys")
    os.makedirs("/dev/shm", exist_ok=True)
    _mount("tmpfs", "shm", "/dev/shm", options="size=2g")
    if not os.path.exists("/etc/hosts"):
        open("/etc/hosts", "x").close()  # a bind needs something to lie on
    _mount("", hosts, "/etc/hosts", MS_BIND)


def main(arguments: list[str]) -> int:
    """Takes the namespaces, says so and becomes sleep(1)."""
    try:
        if arguments[0] == "switch":
            _call("unshare", _libc.unshare(CLONE_NEWNET))
        else:
            name, hosts = arguments[1:]
            flags = CLONE_NEWNET | CLONE_NEWUTS | CLONE_NEWIPC
            _call("unshare", _libc.unshare(flags))
            socket.sethostname(name)
            _own_mounts(hosts)
    except OSError as error:
        print(error.strerror or error, flush=True)
        return 1
    print("ready", flush=True)
    null = os.open("/dev/null", os.O_RDWR)
    for descriptor in range(3):
        os.dup2(null, descriptor)
    return os.execvp("sleep", ["sleep", "infinity"])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
