"""Runs mpi4py's own tests and writes what becomes of each to a file, line by line.

Usage: mpi4py_suite.py FOLDER-OF-TESTS FOLDER-FOR-OUTCOMES [options of its main.py]. Each rank
writes FOLDER-FOR-OUTCOMES/RANK: "begin ID" and "OUTCOME ID" for each test, and "end" at the end, so
that whoever reads it knows in which test a job ended.
"""

from __future__ import annotations

import os
import sys
import unittest

sys.dont_write_bytecode = True
TESTS, OUTCOMES = sys.argv[1:3]
sys.path.insert(0, TESTS)
import main  # noqa: E402


class Result(unittest.TextTestResult):
    """The runner's, which also says so in the file."""

    file = -1

    def say(self, what: str, test: unittest.TestCase) -> None:
        if Result.file < 0:
            from mpi4py import MPI

            where = os.path.join(OUTCOMES, str(MPI.COMM_WORLD.rank))
            Result.file = os.open(where, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o666)
        os.write(Result.file, f"{what} {test.id()}\n".encode())

    def startTest(self, test):
        self.say("begin", test)
        super().startTest(test)

    def addSuccess(self, test):
        self.say("passed", test)
        super().addSuccess(test)

    def addError(self, test, err):
        self.say("failed", test)
        super().addError(test, err)

    def addFailure(self, test, err):
        self.say("failed", test)
        super().addFailure(test, err)

    def addSubTest(self, test, subtest, err):
        if err is not None:
            self.say("failed", test)
        super().addSubTest(test, subtest, err)

    def addSkip(self, test, reason):
        self.say("skipped", test)
        super().addSkip(test, reason)


class Runner(unittest.TextTestRunner):
    """mpi4py's main takes a runner."""

    resultclass = Result

    def run(self, test):
        result = super().run(test)
        os.write(Result.file, b"end\n")
        return result


main.TestProgram(module=None, argv=[main.__file__, *sys.argv[3:]], testRunner=Runner)
