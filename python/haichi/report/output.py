"""Where output goes: to a console, or to files that are written whole or not at all."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

from rich.console import Console

from haichi.report.load import ReportError
from haichi.units import format_bytes, printable

WIDTH_OF_FILES = 200  # columns: where nobody sees the edge, no cell of a table is cut


def console() -> Console:
    """Standard output; where that is no terminal, as wide as files are."""
    return Console(highlight=False, width=None if sys.stdout.isatty() else WIDTH_OF_FILES)


def say(out: Console, line: str) -> None:
    """A line of text as it is: nothing in it is markup, and it is not broken."""
    out.print(line, markup=False, highlight=False, soft_wrap=True)


def write_text(path: Path, text: str) -> None:
    """Writes `path` through a temporary file beside it, and says so on standard error.

    Raises:
        ReportError: it cannot be written; what was there before is untouched.
    """
    data = text.encode("utf-8", "backslashreplace")
    name = printable(str(path))
    temporary = ""
    try:
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        with os.fdopen(handle, "wb") as out:
            out.write(data)
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(temporary, 0o666 & ~mask)
        os.replace(temporary, path)
    except OSError as error:
        if temporary:
            Path(temporary).unlink(missing_ok=True)
        reason = (error.strerror or str(error)).lower()
        raise ReportError(f"{name}: {reason}; choose a path that can be written") from None
    sys.stderr.write(f"wrote {name} ({format_bytes(len(data))})\n")
