"""Numbers and names for people: bytes in powers of 1024, times in s, ms or µs, safe text."""

from __future__ import annotations

import re

_BYTES = ("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")
_SECONDS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"))


def digits(value: float) -> str:
    """Three significant digits and no exponent: 1.23, 12.3, 123, 1234; at least 0.001."""
    size = abs(value)
    places = 0 if size >= 99.95 or size == 0 else 1 if size >= 9.995 else 2 if size >= 0.9995 else 3
    return f"{value:.{places}f}"


def byte_unit(value: float) -> tuple[float, str]:
    """The unit in which `value` bytes read well: its size in bytes and its name."""
    step = 0
    while step + 1 < len(_BYTES) and abs(value) >= 1024 ** (step + 1) * 0.9995:
        step += 1
    return 1024.0**step, _BYTES[step]


def format_bytes(value: float) -> str:
    """`1536` becomes `1.50 KiB`."""
    size, unit = byte_unit(value)
    return f"{value:.0f} B" if unit == "B" else f"{digits(value / size)} {unit}"


class NoSize(ValueError):
    """A text that is no number of bytes, in one line that says what to give."""


def size_of(text: str) -> int:
    """Bytes, from words such as 65536, 64k, 64KiB or 1M.

    Raises:
        NoSize: it is no size.
    """
    match = re.fullmatch(r"(\d+)([kmg]?)(i?b)?", text.strip().lower())
    if not match:
        raise NoSize(f"'{text}' is no size: give bytes, such as 65536, 64k or 1M")
    return int(match[1]) << 10 * ("", "k", "m", "g").index(match[2])


def format_rate(bytes_per_second: float) -> str:
    """Bytes per second, e.g. `14.2 MiB/s`."""
    return format_bytes(bytes_per_second) + "/s"


def second_unit(seconds: float) -> tuple[float, str]:
    """The unit in which `seconds` reads well: its size in seconds and its name."""
    for size, unit in _SECONDS:
        if abs(seconds) >= size * 0.9995:
            return size, unit
    return _SECONDS[-1]


def format_seconds(seconds: float) -> str:
    """`0.0123` becomes `12.3 ms`."""
    if seconds == 0:
        return "0 s"
    size, unit = second_unit(seconds)
    return f"{digits(seconds / size)} {unit}"


def format_share(part: float, whole: float) -> str:
    """`part` of `whole` in percent, or a dash if there is no whole."""
    return f"{100 * part / whole:.0f} %" if whole > 0 else "-"


def plural(count: int, noun: str, many: str = "") -> str:
    """`1 rank`, `2 ranks`; `many` is the plural of a noun that an s does not make."""
    return f"{count} {noun if count == 1 else many or noun + 's'}"


def shortened(text: str, most: int) -> str:
    """`text`, cut to `most` characters where it is longer, with `…` at its end then."""
    return text if len(text) <= most else text[: most - 1] + "…"


def printable(text: str) -> str:
    """`text` on one line, without characters that steer a terminal or that UTF-8 cannot hold."""
    return "".join(
        c if c.isprintable() else c.encode("unicode_escape", "surrogatepass").decode() for c in text
    )
