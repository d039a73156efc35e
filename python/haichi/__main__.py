"""`python -m haichi`: what ./haichi starts for everything that is not run, where or config."""

import signal
import sys

from haichi_processes.ending import ENDING

# A command that is told to end takes its lab and its jobs with it, as after Ctrl-C.
ENDING.install(signal.SIGTERM)
if sys.argv[1:2] == ["gasfs"]:  # on each node of a job: what other commands load takes a second
    from haichi.gasfs.cli import app

    app(sys.argv[2:], prog_name="haichi gasfs")
else:
    from haichi.cli import app

    app(prog_name="haichi")
