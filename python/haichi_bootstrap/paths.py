"""Where things lie in a checkout. Everything that the bootstrap writes is under one of these."""

from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
BUILD = ROOT / "build"
CURRENT = BUILD / "current"  # symbolic link to the build folder in use
OUT = ROOT / "out"
DEBS = ROOT / ".deps"  # Debian packages unpacked without root
TOOLS = ROOT / ".venv"
PYTHON = TOOLS / "bin" / "python"
DEPS_TXT = ROOT / "deps.txt"
REQUIREMENTS = ROOT / "requirements"
