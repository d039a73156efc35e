"""`python -m haichi`: what ./haichi starts for everything that is not run, where or config."""

import signal
import sys

from haichi.cli import app

# A command that is told to end takes its lab and its jobs with it, as after Ctrl-C.
signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
app(prog_name="haichi")
