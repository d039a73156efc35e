"""`python -m haichi`: what ./haichi starts for everything that is not run, where or config."""

import signal

from haichi_processes.ending import ENDING

# A command that is told to end takes its lab and its jobs with it, as after Ctrl-C.
ENDING.install(signal.SIGTERM)

from haichi.cli import app  # noqa: E402 - so that what is loaded can be ended, too

app(prog_name="haichi")
