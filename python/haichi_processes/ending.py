"""What being told to end means for a process that has started others."""

import signal
import sys
import threading


class _Ending:
    """Turns signals into SystemExit, so that what was started ends with us and what was mounted is
    taken down. Between the start of a program and the block that ends it, the exception has to
    wait; signals reach the main thread alone, so only that one asks for it."""

    def __init__(self) -> None:
        self._waits = False
        self._number = 0

    def install(self, *numbers: int) -> None:
        """Takes these signals from now on."""
        for number in numbers:
            signal.signal(number, self._told)

    def _told(self, number: int, frame: object) -> None:
        if not self._waits:
            sys.exit(128 + number)
        self._number = number

    def wait(self) -> None:
        """Holds the exception back."""
        if threading.current_thread() is threading.main_thread():
            self._waits = True

    def wait_no_longer(self) -> None:
        """Lets it through, and raises one that has waited."""
        if threading.current_thread() is threading.main_thread():
            self._waits = False
            number, self._number = self._number, 0  # what is cleaned up then starts programs too
            if number:
                sys.exit(128 + number)


ENDING = _Ending()
