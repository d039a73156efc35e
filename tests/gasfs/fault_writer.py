"""Writes files until its time is over and prints, for each, whether the system said that all of it
is stored. What is in a file follows from its number, so that others know it too.

usage: fault_writer.py FOLDER FIRST SECONDS
"""

from __future__ import annotations

import json
import os
import random
import sys
import time
from collections.abc import Iterator


def pieces(number: int) -> Iterator[tuple[int, bytes]]:
    """What is written to file `number`, one after the other, with overlaps and holes."""
    draw = random.Random(number)
    many = draw.random() < 0.7
    for _ in range(draw.randrange(1, 120 if many else 6)):
        length = draw.choice([1, 40, 40, 700]) if many else draw.randrange(1, 200_000)
        yield draw.randrange(60_000 if many else 300_000), draw.randbytes(length)


def contents(number: int) -> bytes:
    """What file `number` has in the end."""
    made = bytearray()
    for offset, piece in pieces(number):
        if len(made) < offset + len(piece):
            made.extend(bytes(offset + len(piece) - len(made)))
        made[offset : offset + len(piece)] = piece
    return bytes(made)


def write(path: str, number: int) -> int:
    """Writes a file and closes it; the first errno value that the system told, 0 if none."""
    wrong = 0
    try:
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as error:
        return error.errno or 1
    try:
        for offset, piece in pieces(number):
            os.pwrite(fd, piece, offset)
        if number % 5 == 0:
            os.fsync(fd)
    except OSError as error:
        wrong = error.errno or 1
    try:
        os.close(fd)
    except OSError as error:
        wrong = wrong or error.errno or 1
    return wrong


def main() -> None:
    """Writes files until the time is over."""
    folder, number, seconds = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
    ends = time.monotonic() + seconds
    while time.monotonic() < ends:
        wrong = write(f"{folder}/f{number}", number)
        print(json.dumps({"number": number, "errno": wrong}), flush=True)
        number += 1
        if wrong:
            time.sleep(0.01)


if __name__ == "__main__":
    main()
