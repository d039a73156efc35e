"""Cases of each system call, in the manner of pjdfstest and LTP, in two folders.

    python tests/gasfs/posix_cases.py FOLDER OTHER [--only rename] [--no-times]

As root: most cases are about other users too. Each says what its calls must answer, which OTHER, on
a file system that is known to be right (tmpfs), has to fulfil as well; and all answers, also those
of which a case says nothing, must be alike.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
from pathlib import Path

from cases import CASES, Place, Wrong


def answers(folder: Path, name: str, times: bool) -> tuple[list[tuple[str, object]], str]:
    """What the calls of a case answered in a folder, and what was wrong with it."""
    root = tempfile.mkdtemp(prefix="case-", dir=folder)
    os.chmod(root, 0o755)
    place = Place(root, times)
    try:
        CASES[name](place)
        said = ""
    except Wrong as wrong:
        said = str(wrong)
    except OSError as error:
        said = f"{type(error).__name__}: {error}".replace(root, "…")
    finally:
        place.close_all()
        os.chmod(root, 0o755)
        shutil.rmtree(root)
    return place.log, said


def difference(folder: Path, other: Path, name: str, times: bool) -> str:
    """What a case shows, in words; empty if all is well."""
    mine, wrong = answers(folder, name, times)
    theirs, theirs_wrong = answers(other, name, times)
    if theirs_wrong:
        return f"the case is wrong of {other}: {theirs_wrong}"
    if wrong:
        return wrong
    for number, (one, two) in enumerate(zip(mine, theirs, strict=False)):
        if one != two:
            return f"call {number}: {one[0]} answered {one[1]} and not {two[1]}"
    return "" if len(mine) == len(theirs) else "other calls were made"


def main() -> int:
    """Command line; see the head of this file."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("other", type=Path)
    parser.add_argument("--only", default="", help="cases with this in their name")
    parser.add_argument("--no-times", action="store_true", help="do not look at times: quicker")
    given = parser.parse_args()
    os.umask(0)
    for each in (given.folder, given.other):
        os.chmod(each, 0o755)  # for the other users
    names = [name for name in CASES if given.only in name]
    wrong = 0
    for name in names:
        said = difference(given.folder, given.other, name, not given.no_times)
        if said:
            wrong += 1
            print(f"{name}: {said}", flush=True)
    print(f"{len(names)} cases, {wrong} differ")
    return 1 if wrong or not names else 0


if __name__ == "__main__":
    sys.exit(main())
