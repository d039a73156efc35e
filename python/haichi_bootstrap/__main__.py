"""Entry of the bootstrap: `python3 python/haichi_bootstrap ARGS`, started by ./haichi."""

import sys
from pathlib import Path

# The folder itself is first on the path when it is run; its parent is what the imports name. Not
# PYTHONPATH, because every program started from here would inherit that.
sys.path[0] = str(Path(__file__).resolve().parent.parent)
sys.dont_write_bytecode = True

from haichi_bootstrap import command_line  # noqa: E402

sys.exit(command_line.main(sys.argv[1:]))
