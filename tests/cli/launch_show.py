"""What launch_show.c does, by mpi4py: shows rank, arguments and LD_PRELOAD of a Python program."""

from __future__ import annotations

import os
import sys

from mpi4py import MPI

rank = MPI.COMM_WORLD.Get_rank()
show = "".join(f"{rank} argument [{word}]\n" for word in sys.argv[1:])
show += f"{rank} preload {os.environ.get('LD_PRELOAD', '(none)')}\n"
show += f"{rank} library {MPI.Get_library_version().split()[0]}\n"
sys.stdout.write(show)
sys.stdout.flush()
MPI.COMM_WORLD.Barrier()
