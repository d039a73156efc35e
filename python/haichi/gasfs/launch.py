"""The processes of one launcher (mpiexec, srun, flux run) that start or stop a file system
together: which of them this is, and at which address others reach its node. No MPI is used; what
they have to know of each other they read in the job's folder."""

from __future__ import annotations

import fcntl
import os
import socket
import struct
from collections.abc import Mapping
from dataclasses import dataclass

from haichi.gasfs.daemons import GasfsError

# Rank, number of ranks, rank on the node, number on the node. What a launcher inside another's
# allocation says counts. Slurm's are those of a step, which a batch script is not.
VARIABLES = (
    (
        "OMPI_COMM_WORLD_RANK",
        "OMPI_COMM_WORLD_SIZE",
        "OMPI_COMM_WORLD_LOCAL_RANK",
        "OMPI_COMM_WORLD_LOCAL_SIZE",
    ),
    ("PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS"),
    ("SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID", ""),
    ("FLUX_TASK_RANK", "FLUX_JOB_SIZE", "FLUX_TASK_LOCAL_ID", ""),
)
SIOCGIFADDR = 0x8915  # netdevice(7)
LOOPBACK = "127.0.0.1"


@dataclass(frozen=True)
class Launch:
    """One process of `size`, of which `on_node` are on its node, as far as the launcher says so.
    The first of these has `local` 0."""

    rank: int = 0
    size: int = 1
    local: int = 0
    on_node: int = 1

    @classmethod
    def of(cls, environment: Mapping[str, str]) -> Launch:
        """What a launcher told, else a process alone.

        Raises:
            GasfsError: it is no number.
        """
        for names in VARIABLES:
            if all(name in environment for name in names[:2]):
                told = [
                    environment.get(name, default)
                    for name, default in zip(names, "0101", strict=True)
                ]
                try:
                    return cls(*map(int, told))
                except ValueError:
                    raise GasfsError(f"{', '.join(names)} are no numbers: {told}") from None
        return cls()

    def numbers(self, servers: int) -> range:
        """The servers that this process starts, of so many in all."""
        return range(self.rank, servers, self.size)

    def address(self, listen: str) -> str:
        """Where the servers of this process listen: `listen` is an address, the name of a network
        interface, or empty for what this host's name stands for.

        Raises:
            GasfsError: it stands for nothing that other nodes reach.
        """
        if not listen:
            return LOOPBACK if self.on_node == self.size else _of_this_host()
        return _of_interface(listen) if listen in os.listdir("/sys/class/net") else listen


def _of_this_host() -> str:
    name = socket.gethostname()
    try:
        address = socket.gethostbyname(name)
    except OSError:
        address = ""
    if not address or address.startswith("127."):
        raise GasfsError(
            f"{name} stands for {address or 'no address'}, by which other nodes do not reach it: "
            "--listen INTERFACE, such as eth0"
        )
    return address


def _of_interface(name: str) -> str:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:
        try:
            answer = fcntl.ioctl(asking, SIOCGIFADDR, struct.pack("256s", name.encode()))
        except OSError as error:
            raise GasfsError(
                f"the interface {name} has no IPv4 address: {error.strerror}"
            ) from None
    return socket.inet_ntoa(answer[20:24])
