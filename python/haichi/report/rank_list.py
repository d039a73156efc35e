"""Lists of ranks as reports have them."""

from __future__ import annotations


def parse_rank_list(text: str) -> list[int]:
    """Ranks of a compact list such as `0-3,8`, ascending.

    Raises:
        ValueError: the text is not such a list; the message quotes it.
    """
    ranks: list[int] = []
    for part in text.split(","):
        first, dash, last = part.partition("-")
        if not first.isdecimal() or (dash and not last.isdecimal()):
            raise ValueError(f'"{text}" is not a list of ranks such as 0-3,8')
        begin, end = int(first), int(last if dash else first)
        if end < begin or (ranks and begin <= ranks[-1]):
            raise ValueError(f'ranks of "{text}" are not ascending')
        if end - begin >= 1 << 24:
            raise ValueError(f'"{text}" names more than {1 << 24} ranks')
        ranks.extend(range(begin, end + 1))
    return ranks
