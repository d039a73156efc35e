"""A cluster that this machine is not: network namespaces as nodes, real MPI over shaped TCP.

`Lab.up` makes N nodes, each with its own network, host name, IPC and mounts (so its own /dev/shm),
joined by a bridge and held to a rate by tc's token buckets in both directions; plus a "login" node
without a limit, where mpiexec runs. The network, not the processor, is then what is scarce, so
placements and orders make real, repeatable differences, on two cores too. What is learnt from it
and what is not: docs/guide/lab.md. Rates are tc's (bits per second), sizes bytes.

Everything of a lab is under its state directory. `down` ends what runs in the lab's own namespaces
and the processes that hold them, and nothing else.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from pathlib import Path

from haichi_processes import marks, runner
from haichi_processes.runner import Outcome

from haichi import jobs, mpi
from haichi.mpi import Mpi

NODES_MOST = 64
TOOL_S = 30.0  # that a tool of the system may take
# Bounded socket buffers and a queue that holds all of them: no packet is ever dropped. With the
# defaults, 30 to 250 drops a link and, now and then, 5 to 6 s until TCP noticed.
SOCKET_BUFFER = 131072
QUEUE = "8mb"
BURST = "32kb"
SEGMENT = 16384  # largest segment handed to a link; two of them fit into a burst
SHARED_SIZE = "4g"  # most that the shared directory may take of the memory


class LabError(Exception):
    """Why a lab cannot be made or used, in one line: what, where, what to do."""


def variable(text: str) -> tuple[str, str]:
    """An environment variable, NAME=VALUE, as a pair.

    Raises:
        LabError: it is something else.
    """
    name, equals, value = text.partition("=")
    if not name or not equals:
        raise LabError(f"--env {text}: use NAME=VALUE")
    return name, value


@dataclass(frozen=True)
class Keeper:
    """The process that holds a node's namespaces. `start` tells it from a later one of its pid."""

    name: str
    address: str
    pid: int
    start: str

    def alive(self) -> bool:
        """Whether the process is still there and not a zombie."""
        fields = _stat(self.pid)
        return fields is not None and fields[19] == self.start and fields[0] != "Z"

    def enter(self, directory: str | None = None) -> list[str]:
        """The words that start a command in the node, in `directory` or where we are."""
        words = ["nsenter", f"--target={self.pid}", "--net", "--uts", "--ipc", "--mount", "--root"]
        return [*words, f"--wdns={directory or os.getcwd()}"]


def _stat(pid: int) -> list[str] | None:
    """The fields of /proc/PID/stat after the name: state first, start time at index 19."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None


@dataclass(frozen=True)
class Lab:
    """A lab that is up. Made by `up` or found by `load`; `down` ends it."""

    state: Path
    rate: str
    nodes: tuple[Keeper, ...]
    switch: Keeper
    login: Keeper

    @property
    def shared(self) -> Path:
        """A directory in memory that all nodes and this machine see: the parallel file system."""
        return self.state / "shared"

    def node(self, name: str) -> Keeper:
        """The node of that name: node0, node1, ..., login, or just the number."""
        for keeper in (*self.nodes, self.login):
            if name in (keeper.name, keeper.name.removeprefix("node")):
                return keeper
        raise LabError(f"no node {name} in this lab: node0 to node{len(self.nodes) - 1}, or login")

    # Making and ending

    @classmethod
    def up(cls, nodes: int, rate: str = "100mbit", name: str = "default") -> Lab:
        """Makes a lab of `nodes` nodes whose links carry `rate` each way ("0": no limit).

        Raises:
            LabError: not root, something missing, namespaces refused, or a lab of that name is up.
        """
        _check(nodes, rate)
        state = _state(name)
        try:
            state.parent.mkdir(mode=0o755, exist_ok=True)
            state.mkdir()
        except FileExistsError:
            raise LabError(f"the lab {name} is already up: haichi lab down --name {name}") from None
        except OSError as error:
            raise LabError(f"{state}: {error.strerror}") from None
        starting: dict[str, subprocess.Popen[str]] = {}
        try:
            return cls._make(state, nodes, rate, starting)
        except BaseException:
            for process in starting.values():
                process.kill()  # nothing but the keepers is in their namespaces yet
                process.wait()
            _remove(state)
            raise

    @classmethod
    def _make(
        cls, state: Path, nodes: int, rate: str, starting: dict[str, subprocess.Popen[str]]
    ) -> Lab:
        addresses = {f"node{i}": f"10.77.0.{i + 1}" for i in range(nodes)}
        addresses["login"] = "10.77.0.254"
        hosts = state / "hosts"
        lines = ["127.0.0.1 localhost", *(f"{at} {name}" for name, at in addresses.items())]
        hosts.write_text("\n".join(lines) + "\n")
        (state / "shared").mkdir()
        _tool(
            "mount",
            "-t",
            "tmpfs",
            "-o",
            f"size={SHARED_SIZE},mode=1777",
            "haichi-lab",
            str(state / "shared"),
        )
        starting["switch"] = _start("switch")
        for name in addresses:
            starting[name] = _start("node", name, str(hosts))
        keepers = [_ready(name, addresses.get(name, ""), p) for name, p in starting.items()]
        lab = cls(state, rate, tuple(keepers[1:-1]), keepers[0], keepers[-1])
        lab._save()
        lab._wire()
        lab.set_rate(rate)
        lab._write_rsh()
        return cls.load(state.name)

    @classmethod
    def load(cls, name: str = "default") -> Lab:
        """The lab of that name.

        Raises:
            LabError: there is none.
        """
        state = _state(name)
        try:
            saved = json.loads((state / "lab.json").read_text())
        except OSError:
            raise LabError(f"no lab {name} is up: haichi lab up 4 100mbit") from None
        keepers = {k["name"]: Keeper(**k) for k in saved["keepers"]}
        switch, login = keepers.pop("switch"), keepers.pop("login")
        return cls(state, saved["rate"], tuple(keepers.values()), switch, login)

    def _save(self) -> None:
        keepers = [asdict(k) for k in (self.switch, *self.nodes, self.login)]
        text = {"schema": "haichi.lab/1", "rate": self.rate, "keepers": keepers}
        (self.state / "lab.json").write_text(json.dumps(text, indent=1) + "\n")

    def down(self) -> None:
        """Ends everything in the lab's namespaces, the lab, and its state directory."""
        _end(self.state, [self.switch, *self.nodes, self.login])

    # The network

    def _wire(self) -> None:
        bridge = ["link add br0 type bridge", "link set br0 up"]
        for keeper in (*self.nodes, self.login):
            port = f"p-{keeper.name}"
            bridge += [
                f"link add {port} type veth peer name e0 netns {keeper.pid}",
                f"link set {port} gso_max_size {SEGMENT} master br0 up",
            ]
        _tool(*_net(self.switch), "ip", "-batch", "-", stdin="\n".join(bridge) + "\n")
        settings = {
            "tcp_wmem": f"4096 16384 {SOCKET_BUFFER}",
            "tcp_rmem": f"4096 {SOCKET_BUFFER} {SOCKET_BUFFER}",
            "tcp_slow_start_after_idle": "0",
            "tcp_no_metrics_save": "1",
            # Else the machine's default, which may pace; reno is the other that is always allowed.
            "tcp_congestion_control": "reno",
        }
        script = " && ".join(f"echo {v} > /proc/sys/net/ipv4/{k}" for k, v in settings.items())
        for keeper in (*self.nodes, self.login):
            _tool(
                *_net(keeper),
                "ip",
                "-batch",
                "-",
                stdin=(
                    "link set lo up\n"
                    f"addr add {keeper.address}/24 dev e0\n"
                    f"link set e0 gso_max_size {SEGMENT} up\n"
                ),
            )
            _tool(*_net(keeper), "sh", "-c", script)

    def set_rate(self, rate: str, node: str = "") -> Lab:
        """Sets the rate of every node's link, or of one's, both ways; "0" takes the limit away."""
        _check_rate(rate)
        only = self.node(node).name if node else ""
        if only == self.login.name:
            raise LabError("the link of login has no limit: name one of the nodes")
        for keeper, device in self._shaped():
            if only and only not in (keeper.name, device.removeprefix("p-")):
                continue
            words = [*_net(keeper), "tc", "qdisc"]
            if rate == "0":
                _quiet([*words, "del", "dev", device, "root"])
            else:
                _tool(
                    *words,
                    "replace",
                    "dev",
                    device,
                    "root",
                    "tbf",
                    "rate",
                    rate,
                    "burst",
                    BURST,
                    "limit",
                    QUEUE,
                )
        whole = self.rate if only else rate
        lab = Lab(self.state, whole, self.nodes, self.switch, self.login)
        lab._save()
        return lab

    def _shaped(self) -> list[tuple[Keeper, str]]:
        return [(k, "e0") for k in self.nodes] + [(self.switch, f"p-{k.name}") for k in self.nodes]

    def counters(self) -> list[dict[str, int | str]]:
        """Bytes, drops and backlog of every node's link: one row per node and direction."""
        rows: list[dict[str, int | str]] = []
        for keeper, device in self._shaped():
            text = _tool(*_net(keeper), "tc", "-s", "-j", "qdisc", "show", "dev", device)
            row = json.loads(text)[0]
            up = device == "e0"
            rows.append(
                {
                    "node": keeper.name if up else device.removeprefix("p-"),
                    "direction": "up" if up else "down",
                    **{key: row[key] for key in ("bytes", "packets", "drops", "backlog")},
                }
            )
        return sorted(rows, key=lambda row: str(row["node"]))

    # Running

    def _write_rsh(self) -> None:
        """The remote shell that hydra and orted start their daemons with: it enters the node."""
        table = "".join(
            f"  {k.name} | {k.address}) pid={k.pid} ;;\n" for k in (*self.nodes, self.login)
        )
        script = self.state / "rsh"
        script.write_text(
            "#!/bin/sh\n"
            "# Called as: rsh [options] HOST COMMAND..., by the launchers of MPI.\n"
            "while :; do\n"
            '  case "$1" in\n'
            "  -x | -n | -q | -A | -X) shift ;;\n"
            "  -l | -o | -p | -e) shift 2 ;;\n"
            "  *) break ;;\n"
            "  esac\n"
            "done\n"
            "host=${1#*@}\n"
            "shift\n"
            'case "$host" in\n'
            f"{table}"
            '  *) echo "haichi lab: unknown host $host" >&2; exit 1 ;;\n'
            "esac\n"
            'exec nsenter --target="$pid" --net --uts --ipc --mount --root --wdns="$PWD" \\\n'
            '  sh -c "$*" </dev/null\n'
        )
        script.chmod(0o755)

    def command(
        self,
        which: Mpi,
        ranks: int,
        argv: Sequence[str],
        env: Mapping[str, str],
        *,
        per_node: Sequence[int] = (),
        mapping: str = "BK",
        hosts: Sequence[str] = (),
    ) -> tuple[list[str], dict[str, str]]:
        """The words and the environment that start `argv` on the nodes of this lab.

        `per_node` is how many ranks each node takes, one number for all or one for each; empty:
        spread evenly. `mapping` is BK (fill one node after the other) or RR (deal the ranks out to
        the nodes that have room, one by one); `env` is for the ranks alone. `hosts` are the nodes
        of all ranks in their order, in the place of both.
        """
        if hosts:
            hostfile, mapping = self._file_of_hosts(which, ranks, hosts), "hosts"
        else:
            hostfile = self._file_of_room(which, self._room(ranks, per_node), mapping)
        words, extra = _launcher(which, self, hostfile, mapping)
        words = [*self.login.enter(), *words, *mpi.rank_environment(which, env)]
        return [*words, "-n", str(ranks), *argv], mpi.environment(extra)

    def _file_of_room(self, which: Mpi, room: Sequence[int], mapping: str) -> Path:
        """The launcher's file of nodes that take so many ranks each."""
        if mapping not in ("BK", "RR"):
            raise LabError(f"unknown mapping {mapping}: use BK (block) or RR (round robin)")
        # Round robin is -ppn 1 over host:slots, which takes no notice of slots that differ.
        # -rankmap does, but with four nodes programs hang (MPICH 5.0.2). A host file that repeats
        # its hosts does it too, but MPICH then takes every line for a node of its own
        # (COMM_TYPE_SHARED of size 1).
        if which.family != "openmpi" and mapping == "RR" and len(set(room)) > 1:
            raise LabError(
                "MPICH cannot deal ranks out to nodes that take different numbers: use BK"
            )
        between = " slots=" if which.family == "openmpi" else ":"
        file = self.state / f"hosts-{which.family}-{'-'.join(map(str, room))}"
        lines = (f"{k.name}{between}{n}\n" for k, n in zip(self.nodes, room, strict=True))
        file.write_text("".join(lines))
        return file

    def _file_of_hosts(self, which: Mpi, ranks: int, hosts: Sequence[str]) -> Path:
        """The launcher's file of the node of each rank, a file of this job alone."""
        known = [each.name for each in self.nodes]
        if stranger := next((host for host in hosts if host not in known), None):
            raise LabError(f"{stranger}: no node of this lab; it has {', '.join(known)}")
        if len(hosts) != ranks:
            raise LabError(f"{len(hosts)} hosts for {ranks} ranks: name one for each rank")
        handle, name = tempfile.mkstemp(prefix="seats-", dir=self.state)
        with os.fdopen(handle, "w") as out:
            if which.family == "openmpi":
                out.writelines(f"{host}\n" for host in hosts)
            else:
                runs = ((host, len(list(run))) for host, run in groupby(hosts))
                out.writelines(f"{host}:{many}\n" for host, many in runs)
        return Path(name)

    def _room(self, ranks: int, per_node: Sequence[int]) -> list[int]:
        """How many ranks each node takes."""
        nodes = len(self.nodes)
        room = list(per_node) or [-(-ranks // nodes)]
        if len(room) == 1:
            room *= nodes
        if len(room) != nodes:
            raise LabError(f"{len(room)} numbers of ranks for {nodes} nodes: give one, or {nodes}")
        if min(room) < 1 or not 1 <= ranks <= sum(room):
            each = ", ".join(map(str, dict.fromkeys(room)))
            raise LabError(
                f"{ranks} ranks do not fit on {nodes} nodes with {each} each: give --ppn"
            )
        return room

    def run(
        self,
        which: Mpi,
        ranks: int,
        argv: Sequence[str],
        env: Mapping[str, str],
        *,
        timeout: float,
        per_node: Sequence[int] = (),
        mapping: str = "BK",
        hosts: Sequence[str] = (),
        capture: bool = True,
        grace: float | None = None,
    ) -> Outcome:
        """Runs a job on the nodes; see `command` and `jobs.run`."""
        words, full = self.command(
            which, ranks, argv, env, per_node=per_node, mapping=mapping, hosts=hosts
        )
        return jobs.run(words, full, timeout=timeout, capture=capture, grace=grace)


def _launcher(
    which: Mpi, lab: Lab, hostfile: Path, mapping: str
) -> tuple[list[str], dict[str, str]]:
    """The launcher with its options, and its environment, for the nodes in a file: filled (BK),
    dealt out to (RR), or one for each rank (hosts)."""
    rsh = str(lab.state / "rsh")
    if which.family == "openmpi":
        parameters = {
            "plm": "rsh",
            "plm_rsh_agent": rsh,
            "plm_rsh_no_tree_spawn": "1",
            "pml": "ob1",
            "btl": "tcp,vader,self",
            "btl_tcp_if_include": "e0",
            "oob_tcp_if_include": "e0",
            # Else that of UCX takes the windows, whose messages do not reach another node here.
            "osc": "^ucx,rdma",
            "orte_tmpdir_base": "/dev/shm",
            # Ranks that wait give their core away: 16 of them share this machine's cores.
            "mpi_yield_when_idle": "1",
        }
        words = [
            str(which.mpiexec),
            "--hostfile",
            str(hostfile),
            "--bind-to",
            "none",
            "--map-by",
            {"BK": "slot", "RR": "node", "hosts": "seq"}[mapping],
        ]
        for name, value in parameters.items():
            words += ["--mca", name, value]
        return words, {}
    words = [
        str(which.mpiexec),
        "-launcher",
        "ssh",
        "-launcher-exec",
        rsh,
        "-iface",
        "e0",
        "-f",
        str(hostfile),
        "-bind-to",
        "none",
        *(["-ppn", "1"] if mapping == "RR" else []),
    ]
    transports = {
        "UCX_NET_DEVICES": "e0",
        "UCX_TLS": "tcp,self,posix,sysv,cma",
        "UCX_WARN_UNUSED_ENV_VARS": "n",
        "FI_PROVIDER": "tcp",
        "FI_TCP_IFACE": "e0",
    }
    return words, {name: os.environ.get(name, value) for name, value in transports.items()}


# What the lab needs of the machine


def _state(name: str) -> Path:
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_-]{0,40}", name):
        raise LabError(f"--name {name}: use letters, digits, - and _")
    run = Path("/run")
    base = run if os.access(run, os.W_OK) else Path("/tmp")
    return base / "haichi-lab" / name


def why_not() -> str | None:
    """Why a lab cannot be made here, as far as that shows without making one; None if it can."""
    if os.geteuid() != 0:
        return "a lab needs root, for its network namespaces: run it with sudo"
    for tool, package in (
        ("ip", "iproute2"),
        ("tc", "iproute2"),
        ("nsenter", "util-linux"),
        ("mount", "mount"),
    ):
        if not shutil.which(tool):
            return f"a lab needs {tool}: apt-get install {package}"
    if not Path("/proc/self/ns/net").exists():
        return "a lab needs /proc: mount -t proc proc /proc"
    return None


def _check(nodes: int, rate: str) -> None:
    if problem := why_not():
        raise LabError(problem)
    if not 1 <= nodes <= NODES_MOST:
        raise LabError(f"{nodes} nodes: use 1 to {NODES_MOST}")
    _check_rate(rate)


def _check_rate(rate: str) -> None:
    if rate != "0" and not re.fullmatch(r"[1-9]\d{0,5}(kbit|mbit|gbit)", rate):
        raise LabError(f"rate {rate}: use a number and kbit, mbit or gbit, such as 100mbit, or 0")


def _net(keeper: Keeper) -> list[str]:
    return ["nsenter", f"--target={keeper.pid}", "--net"]


def _tool(*words: str, stdin: str | None = None) -> str:
    done = runner.run(words, stdin=stdin, timeout=TOOL_S)
    if done.code != 0:
        command = " ".join(w for w in words if not w.startswith("--target"))
        reason = (done.err or done.out).strip().splitlines() or [done.how]
        raise LabError(f"{command}: {reason[0]}")
    return done.out


def _start(*arguments: str) -> subprocess.Popen[str]:
    here = Path(__file__).resolve().parent.parent
    return subprocess.Popen(
        [sys.executable, "-m", "haichi.lab_node", *arguments],
        env={**os.environ, "PYTHONPATH": str(here), "PYTHONDONTWRITEBYTECODE": "1"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


def _ready(name: str, address: str, process: subprocess.Popen[str]) -> Keeper:
    """The keeper, once it holds its namespaces."""
    assert process.stdout is not None
    line = process.stdout.readline().strip()
    process.stdout.close()
    fields = _stat(process.pid)
    if line != "ready" or fields is None:
        raise LabError(
            f"this machine refuses us namespaces ({line or 'no reason given'}): run "
            "outside of the container, or give it the capability SYS_ADMIN"
        )
    return Keeper(name, address, process.pid, fields[19])


def _network_of(pid: int) -> str | None:
    try:
        return os.readlink(f"/proc/{pid}/ns/net")
    except OSError:
        return None


def _inside(networks: set[str]) -> list[int]:
    pids = (int(folder.name) for folder in Path("/proc").glob("[0-9]*"))
    return [pid for pid in pids if _network_of(pid) in networks and (_stat(pid) or "Z")[0] != "Z"]


def _end(state: Path, keepers: Sequence[Keeper]) -> None:
    """Ends what runs in the keepers' networks, them among it, and removes the state directory."""
    networks = {n for k in keepers if k.alive() and (n := _network_of(k.pid))}
    networks -= {_network_of(os.getpid()), _network_of(1)}  # never this machine's own
    left = marks.kill_until_gone(lambda: _inside(networks))
    for keeper in keepers:
        try:
            os.waitpid(keeper.pid, os.WNOHANG)  # if it was our own child
        except ChildProcessError:
            continue
    _remove(state)
    if left:
        raise LabError(f"processes {left} of the lab could not be ended")


def _remove(state: Path) -> None:
    shared = str(state / "shared")
    for words in (["umount", shared], ["umount", "--lazy", shared]):
        if not os.path.ismount(shared) or _quiet(words):
            break
        time.sleep(0.2)
    shutil.rmtree(state, ignore_errors=True)


def _quiet(words: Sequence[str]) -> bool:
    return runner.run(words, timeout=TOOL_S).code == 0
