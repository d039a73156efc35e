"""What the commands of `haichi gasfs` share: how they end."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import typer

from haichi.gasfs.daemons import GasfsError
from haichi.mpi import Missing
from haichi.units import NoSize

FAILED, BAD_INPUT = 1, 2


@contextmanager
def one_line() -> Iterator[None]:
    """Turns what a user can put right into one line on standard error and exit code 2."""
    try:
        yield
    except (GasfsError, Missing, NoSize) as error:
        sys.stderr.write(f"haichi gasfs: {error}\n")
        raise typer.Exit(BAD_INPUT) from None
