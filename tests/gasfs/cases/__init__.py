"""Cases of each system call; posix_cases.py beside this folder runs them."""

from cases import attributes, making, opening, paths, permissions, removing, sizes
from cases.place import CASES, Place, Wrong

__all__ = ["CASES", "Place", "Wrong"]
_ = attributes, making, opening, paths, permissions, removing, sizes
