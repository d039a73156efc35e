"""What `haichi measure --health` found, as a part of the page of samples: heat maps of all links
that its shifts went over, and what it calls slow."""

from __future__ import annotations

from pathlib import Path

from pydantic import ValidationError

from haichi.report.load import ReportError, first_problem
from haichi.report.markup import Child, Markup, tag
from haichi.samples import pictures
from haichi.samples.health import Health, HealthAspect
from haichi.samples.read import head
from haichi.samples.view import Value
from haichi.units import format_bytes, format_seconds, plural, printable


def is_health(path: Path) -> bool:
    """Whether a file seems to be of that form; False also for one that can't be read."""
    return b'"haichi.health/' in head(path)


def read_health(path: Path) -> Health:
    """What is in such a file.

    Raises:
        ReportError: it is damaged, or of another version.
    """
    try:
        return Health.model_validate_json(path.read_bytes())
    except ValidationError as error:
        raise ReportError(
            f"{printable(str(path))}: is no haichi.health/1: {first_problem(error)}"
        ) from None


def health_section(health: Health) -> Markup:
    """Its verdict in words, and each aspect's links."""
    many = plural(len(health.names), health.members.removesuffix("s"))
    begin = f"{many}, each compared with its peers, in {format_seconds(health.seconds)}: "
    parts: list[Child] = [tag("h2", "Nodes and links")]
    if health.findings:
        parts.append(tag("p", f"{begin}what is slower than its peers:"))
        items = [tag("li", finding.text) for finding in health.findings]
        parts.append(tag("ol", items, cls="odd"))
    else:
        parts.append(tag("p", f"{begin}none is slower than its peers."))
    parts += [_map(health, aspect) for aspect in health.aspects if aspect.links]
    return tag("section", parts)


def _map(health: Health, aspect: HealthAspect) -> Markup:
    values: dict[tuple[int, ...], Value] = {
        (link.from_, link.to): Value(
            aspect.name,
            "network",
            aspect.bytes,
            median=link.seconds,
            low=None,
            high=None,
            mean=link.seconds,
            first=None,
            narrow=False,
            ranks=(link.from_, link.to),
        )
        for link in aspect.links
        if link.seconds > 0
    }
    labels = dict(enumerate(health.names))
    what = "rate" if aspect.name == "bandwidth" else "time"
    title = f"{aspect.name.capitalize()}, messages of {format_bytes(aspect.bytes)}"
    return pictures.heat(title, labels, values, what)
