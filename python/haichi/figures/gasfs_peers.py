"""File systems of others, beside which the gather file system is measured: each served from one
node and mounted on all, of Debian's packages, with files and ports of its own, and ended again.

They are set up as their manuals say, on a folder in memory, without a copy of anything elsewhere:
what they cost is then the way of a request, as with haichi's own server.
"""

from __future__ import annotations

import shutil
import socket
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

from haichi_processes import background, runner

from haichi.figures.gasfs_place import Enter, together
from haichi.gasfs.daemons import GasfsError
from haichi.gasfs.launch import LOOPBACK

TOOL_S = 60.0  # that starting, mounting or ending may take
SFTP_SERVER = Path("/usr/lib/openssh/sftp-server")
EMPTY_METADATA = Path("/var/lib/mfs/metadata.mfs.empty")
# Answers whether something listens, from within a node.
LISTENS = "import socket, sys; socket.create_connection((sys.argv[1], int(sys.argv[2])), 1)"

MountWords = Callable[[Path], list[str]]


@dataclass(frozen=True)
class Site:
    """Where a file system is set up: the words that enter each node, the server's first, its
    address, and a folder that all see."""

    enter: Sequence[Enter]
    address: str
    folder: Path

    @property
    def loopback(self) -> bool:
        """Whether it is this machine alone."""
        return self.address == LOOPBACK


@dataclass(frozen=True)
class Peer:
    """A file system of others. `served` serves it and yields the words that mount it."""

    name: str
    packages: str
    programs: tuple[str | Path, ...]
    served: Callable[[Site], AbstractContextManager[MountWords]]
    on_loopback: bool = True

    def missing(self, site: Site) -> str:
        """Why it cannot be measured here, and what to do; "" if it can be."""
        if site.loopback and not self.on_loopback:
            return f"{self.name} does not serve on loopback: use --nodes 2 or more"
        if all(shutil.which(program) for program in self.programs):
            return ""
        return f"{self.name} is not here: apt-get install {self.packages}"


@contextmanager
def mounted(peer: Peer, site: Site) -> Iterator[Path]:
    """The file system, served and mounted; where all nodes see it.

    Raises:
        GasfsError: it does not start, or cannot be mounted.
    """
    mount = site.folder / "mnt"
    mount.mkdir(parents=True)
    with peer.served(site) as words:
        seen: list[Enter] = []
        try:
            for enter in site.enter:
                _tool([*enter, *words(mount)])
                seen.append(enter)
            yield mount
        finally:
            for enter in seen:
                _tool([*enter, "umount", str(mount)])


def _tool(words: Sequence[str]) -> None:
    together([words], TOOL_S)


def _free_ports(count: int) -> list[int]:
    """Ports that nobody has on this machine; a node of a lab has none taken."""
    sockets = [socket.create_server((LOOPBACK, 0)) for _ in range(count)]
    ports = [int(each.getsockname()[1]) for each in sockets]
    for each in sockets:
        each.close()
    return ports


@contextmanager
def _serving(site: Site, words: Sequence[str], port: int) -> Iterator[None]:
    """A server in the foreground, once it listens; ended with the block."""
    log = site.folder / "server.out"
    ask = [*site.enter[0], sys.executable, "-c", LISTENS, site.address, str(port)]
    until = time.monotonic() + TOOL_S
    with background.running([*site.enter[0], *words], log, TOOL_S) as runs:
        while runner.run(ask, timeout=TOOL_S).code:
            if not runs() or time.monotonic() > until:
                raise GasfsError(f"{words[0]} does not serve: {log}")
            time.sleep(0.1)
        yield


@contextmanager
def _bindfs(site: Site) -> Iterator[MountWords]:
    """A plain FUSE pass-through to a folder in the same memory: no network at all."""
    store = site.folder / "store"
    store.mkdir()
    yield lambda mount: ["bindfs", str(store), str(mount)]


@contextmanager
def _sshfs(site: Site) -> Iterator[MountWords]:
    """sshfs without ssh: it talks to an sftp-server over plain TCP (sshfs(1), directport)."""
    store = site.folder / "store"
    store.mkdir()
    (port,) = _free_ports(1)
    listen = f"TCP-LISTEN:{port},bind={site.address},reuseaddr,fork"
    with _serving(site, ["socat", listen, f"EXEC:{SFTP_SERVER}"], port):
        yield lambda mount: [
            "sshfs",
            "-o",
            f"directport={port}",
            f"{site.address}:{store}",
            str(mount),
        ]


GLUSTER_SERVER = """volume posix
 type storage/posix
 option directory {folder}/store
end-volume
volume locks
 type features/locks
 subvolumes posix
end-volume
volume brick
 type performance/io-threads
 subvolumes locks
end-volume
volume server
 type protocol/server
 option transport-type tcp
 option transport.socket.bind-address {address}
 option transport.socket.listen-port {port}
 option auth.addr.brick.allow *
 subvolumes brick
end-volume
"""
GLUSTER_CLIENT = """volume client
 type protocol/client
 option transport-type tcp
 option remote-host {address}
 option remote-port {port}
 option remote-subvolume brick
end-volume
volume write-behind
 type performance/write-behind
 subvolumes client
end-volume
"""


@contextmanager
def _glusterfs(site: Site) -> Iterator[MountWords]:
    """One brick of GlusterFS, with its write-behind, by volume files and without glusterd, whose
    state is the whole machine's."""
    (site.folder / "store").mkdir()
    (port,) = _free_ports(1)
    files = {"server": GLUSTER_SERVER, "client": GLUSTER_CLIENT}
    for name, text in files.items():
        told = text.format(folder=site.folder, address=site.address, port=port)
        (site.folder / f"{name}.vol").write_text(told)
    words = ["glusterfsd", "-N", "-f", str(site.folder / "server.vol")]
    words += ["-l", str(site.folder / "server.log"), "-p", str(site.folder / "server.pid")]
    client = ["glusterfs", "-f", str(site.folder / "client.vol")]
    client += ["-l", str(site.folder / "client.log")]
    with _serving(site, words, port):
        yield lambda mount: [*client, str(mount)]


@contextmanager
def _moosefs(site: Site) -> Iterator[MountWords]:
    """A master and one chunk server of MooseFS."""
    folder = site.folder
    for name in ("master", "chunk", "store"):
        (folder / name).mkdir()
    shutil.copy(EMPTY_METADATA, folder / "master" / "metadata.mfs")
    (folder / "exports").write_text("* / rw,alldirs,admin,maproot=0:0\n")
    (folder / "disks").write_text(f"{folder}/store\n")
    masters, servers, clients, chunks = _free_ports(4)
    common = {"WORKING_USER": "root", "WORKING_GROUP": "root", "NICE_LEVEL": 0}
    settings: dict[str, dict[str, object]] = {
        "mfsmaster": {
            "DATA_PATH": folder / "master",
            "EXPORTS_FILENAME": folder / "exports",
            "MATOML_LISTEN_HOST": site.address,
            "MATOML_LISTEN_PORT": masters,
            "MATOCS_LISTEN_HOST": site.address,
            "MATOCS_LISTEN_PORT": servers,
            "MATOCL_LISTEN_HOST": site.address,
            "MATOCL_LISTEN_PORT": clients,
        },
        "mfschunkserver": {
            "DATA_PATH": folder / "chunk",
            "HDD_CONF_FILENAME": folder / "disks",
            "HDD_LEAVE_SPACE_DEFAULT": "64MiB",
            "MASTER_HOST": site.address,
            "MASTER_PORT": servers,
            "CSSERV_LISTEN_HOST": site.address,
            "CSSERV_LISTEN_PORT": chunks,
        },
    }
    started: list[list[str]] = []
    try:
        for program, values in settings.items():
            file = folder / f"{program}.cfg"
            lines = (f"{key}={value}\n" for key, value in {**common, **values}.items())
            file.write_text("".join(lines))
            words = [*site.enter[0], program, "-c", str(file)]
            _tool([*words, "start"])
            started.append(words)
        yield lambda mount: ["mfsmount", str(mount), "-H", site.address, "-P", str(clients)]
    finally:
        for words in reversed(started):
            _tool([*words, "stop"])


PEERS = (
    Peer("a FUSE pass-through (bindfs)", "bindfs", ("bindfs",), _bindfs),
    Peer("sshfs", "sshfs openssh-sftp-server socat", ("sshfs", "socat", SFTP_SERVER), _sshfs),
    Peer(
        "GlusterFS",
        "glusterfs-server glusterfs-client",
        ("glusterfsd", "glusterfs"),
        _glusterfs,
    ),
    Peer(
        "MooseFS",
        "moosefs-master moosefs-chunkserver moosefs-client",
        ("mfsmaster", "mfschunkserver", "mfsmount"),
        _moosefs,
        on_loopback=False,
    ),
)
