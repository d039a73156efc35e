"""Large reads and writes, split over threads by the NUMA nodes of their pages.

    from haichi import io
    done = io.readinto("input.dat", array)      # a Future; array is a numpy array, say
    io.load("model.safetensors")["weight"]      # arrays, read by several threads

docs/guide/numaio.md says when a call is split; `haichi.io.last()` how this thread's last was. What
it needs is libhaichi-io.so, which `./haichi build` makes.
"""

from haichi.io.errors import FormatError
from haichi.io.files import Turn, read, readinto, write, write_parts
from haichi.io.formats import load
from haichi.io.library import How, Options, Unavailable, get_options, last, set_options

__all__ = [
    "FormatError",
    "How",
    "Options",
    "Turn",
    "Unavailable",
    "get_options",
    "last",
    "load",
    "read",
    "readinto",
    "set_options",
    "write",
    "write_parts",
]
