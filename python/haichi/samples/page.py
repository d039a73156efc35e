"""Samples as one self-contained HTML page: nothing is fetched, and there is no script at all.

In the order in which a reader asks: what machine, what is odd, the curves with what bounds them,
then function by function, and at the end how each figure came about.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from importlib import resources

from haichi.report.markup import Child, Markup, document, table, tag
from haichi.samples import chapters, pictures
from haichi.samples.health import Health
from haichi.samples.health_part import health_section
from haichi.samples.model import Description
from haichi.samples.odd import cautions, findings
from haichi.samples.view import Job, Value
from haichi.units import format_bytes, format_rate, format_seconds, plural, printable

JOBS = 4  # on a page
POINTS = 6000  # of all jobs, in the tables at the end
SINGLE = (("barrier", "Barrier"), ("fence", "Fence alone"), ("file-open", "Opening a file"))


def page(jobs: Sequence[Job], healths: Sequence[Health] = ()) -> str:
    """The page of these jobs: an article each; of one with and one without haichi underneath, what
    it changes, in one. What was found of nodes and links stands in the first."""
    styles = [
        resources.files(package).joinpath("page.css").read_text("utf-8")
        for package in ("haichi.report", "haichi.samples")
    ]
    shown, pairs = _paired(jobs)
    room = POINTS // len(shown[:JOBS])
    articles: list[Child] = [
        _job(job, pairs.get(id(job)), room, () if index else healths)
        for index, job in enumerate(shown[:JOBS])
    ]
    if len(shown) > JOBS:
        more = (
            f"{len(shown) - JOBS} more MPI libraries or placements are not shown; name fewer files."
        )
        articles.append(tag("p", more, cls="soft"))
    files = ", ".join(printable(name) for job in jobs for name in job.files)
    footer = tag(
        "footer",
        f"Made by haichi from {files}. Times are medians. KiB, MiB and GiB are powers of 1024, "
        "GB/s of 1000. Point at a dot to read its figure and its interval.",
    )
    title, version = f"What MPI does on {_machine(jobs[0])}", jobs[0].launch.haichi
    return document(title, version, "".join(styles), tag("main", articles), footer)


def _paired(jobs: Sequence[Job]) -> tuple[list[Job], dict[int, Job]]:
    """Jobs without haichi underneath, each with the one like it that had it; then the others."""
    plain = [job for job in jobs if not job.launch.under]
    pairs: dict[int, Job] = {}
    for under in (job for job in jobs if job.launch.under):
        like = [
            job
            for job in plain
            if job.launch.library == under.launch.library
            and job.launch.nodes_of_ranks == under.launch.nodes_of_ranks
        ]
        if like:
            pairs[id(like[0])] = under
    taken = {id(job) for job in pairs.values()}
    alone = [job for job in jobs if job.launch.under and id(job) not in taken]
    return [*plain, *alone], pairs


def _machine(job: Job) -> str:
    names = job.launch.node_names
    return names[0] if len(names) == 1 else f"{names[0]} and {plural(len(names) - 1, 'other node')}"


def _job(job: Job, under: Job | None, room: int, healths: Sequence[Health]) -> Markup:
    return tag("article", list(_sections(job, under, room, healths)), cls="run")


def _sections(job: Job, under: Job | None, room: int, healths: Sequence[Health]) -> Iterator[Child]:
    yield _header(job)
    yield _tiles(job)
    notes = cautions(job)
    if notes:
        items = [tag("li", note) for note in notes]
        yield tag("aside", tag("h3", "Before you read on"), tag("ul", items), cls="notes")
    yield tag("section", tag("h2", "Machine and placement"), pictures.places(job.launch))
    yield _odd(job)
    yield from (health_section(each) for each in healths)
    for title, intro, parts in chapters.chapters(job):
        made = [part for part in parts if part]
        if made:
            yield tag("section", tag("h2", title), tag("p", intro, cls="soft"), made)
    if under:
        yield _changes(job, under)
    yield _environment(job)
    yield _formulas(job, room)


def _header(job: Job) -> Markup:
    launch = job.launch
    under = ", haichi underneath" if launch.under else ""
    return tag(
        "header",
        tag("p", "haichi samples", cls="over"),
        tag("h1", f"What MPI does on {_machine(job)}"),
        tag(
            "p",
            f"{job.library}{under}. {plural(launch.job_ranks, 'rank')} on "
            f"{plural(len(launch.node_names), 'node')}, started {launch.started}; "
            f"{plural(len(job.values), 'point')} in {_launches(len(job.launches))}, "
            f"{'imported' if launch.source else f'haichi {launch.haichi}'}.",
            cls="soft",
        ),
    )


def _launches(count: int) -> str:
    return "1 launch" if count == 1 else f"{count} launches"


def _tiles(job: Job) -> Markup | None:
    tiles = []
    for place in job.places("ping-pong"):
        curve = job.curve("ping-pong", place)
        least, best = curve[0], max(curve, key=lambda value: value.rate)
        size = format_bytes(least.bytes)
        tiles.append((f"Ping-pong, {place}", format_seconds(least.median), f"of {size}, one way"))
        size = format_bytes(best.bytes)
        tiles.append((f"Rate, {place}", format_rate(best.rate), f"at {size}, ping-pong"))
    for name, title in SINGLE:
        if value := job.at(name):
            tiles.append(
                (title, format_seconds(value.median), f"of {plural(job.launch.job_ranks, 'rank')}")
            )
    if not tiles:
        return None
    boxes = [
        tag("div", tag("dt", name), tag("dd", figure, cls="figure"), tag("dd", more, cls="detail"))
        for name, figure, more in tiles[:8]
    ]
    return tag("dl", boxes, cls="tiles")


def _odd(job: Job) -> Markup:
    found = findings(job)
    head = tag("h2", "What is odd here")
    if not found:
        words = "Nothing stands out: no interval lies apart from what it is held against."
        return tag("section", head, tag("p", words))
    items = [
        tag("li", each.words, tag("span", f"point: {each.point}", cls="from")) for each in found
    ]
    return tag("section", head, tag("ol", items, cls="odd"))


def _changes(job: Job, under: Job) -> Markup:
    """Points that both have, where intervals lie apart: those that differ most."""
    rows = []
    for key, value in job.values.items():
        other = under.values.get(key)
        if other and (value.above(other, 1.05) or other.above(value, 1.05)):
            rows.append((other.median / value.median, value, other))
    common = len(job.values.keys() & under.values.keys())
    rows.sort(key=lambda row: -max(row[0], 1 / row[0]))
    faster = sum(ratio < 1 for ratio, _, _ in rows)
    words = (
        f"Of {plural(common, 'point')} that were measured both ways {faster} are faster with "
        f"haichi underneath and {len(rows) - faster} slower by 5 % or more, with intervals apart. "
    )
    if min(len(job.launches), len(under.launches)) == 1:
        words += "One launch each way: haichi compare with several tells which of that is real."
    cells = [
        [
            value.name,
            value.place,
            format_bytes(value.bytes) if value.bytes else "–",
            format_seconds(value.median),
            format_seconds(other.median),
            tag("span", f"{ratio:.2f}×", cls="faster" if ratio < 1 else "slower"),
        ]
        for ratio, value, other in rows[:40]
    ]
    head = ["Measurement", "place", "#size", "#library alone", "#under haichi", "#ratio"]
    shown = table(head, cells) if cells else None
    left = f"The {len(cells)} that differ most are shown." if len(rows) > len(cells) else None
    return tag(
        "section",
        tag("h2", "What haichi changes"),
        tag("p", words, cls="soft"),
        shown,
        tag("p", left, cls="soft") if left else None,
    )


def _environment(job: Job) -> Markup:
    launch = job.launch
    facts = {
        "MPI library": job.library,
        "Standard": f"{launch.mpi}, compiled for {launch.compiled_for}",
        "Kernel": launch.kernel,
        "Processor": launch.processor,
        "Frequency governor": launch.governor or "none seen",
        "Load before": ", ".join(dict.fromkeys(each.load for each in job.launches)),
        "Limits": f"cpu.max {launch.cgroup_cpu or 'none'}, "
        f"memory.max {launch.cgroup_memory or 'none'}",
        "Clock": f"{launch.clock}: {format_seconds(launch.clock_cost)} to read, steps of "
        f"{format_seconds(launch.clock_resolution)}",
        "MPI_Wtime": f"{format_seconds(launch.wtime_cost)} to read, steps of "
        f"{format_seconds(launch.wtime_resolution)}",
        "MPI_Init": ", ".join(format_seconds(each.init_seconds) for each in job.launches[:12]),
        "More ranks than cores": "yes" if launch.oversubscribed else "no",
        "Reference": "yes" if launch.reference else "no",
        "Tuning variables": "; ".join(f"{k}={v}" for k, v in launch.tuning.items()) or "none",
        "Order of points": ", ".join(str(each.seed) for each in job.launches[:12]),
    }
    parts = [(tag("dt", name), tag("dd", text)) for name, text in facts.items()]
    return tag("section", tag("h2", "Environment"), tag("dl", parts, cls="facts"))


def _formulas(job: Job, room: int) -> Markup:
    """Every measurement: what it timed, how, and its medians."""
    parts: list[Child] = []
    groups = dict.fromkeys(each.group for each in job.descriptions.values())
    for group in groups:
        made = []
        for name in job.names(group):
            curves = {place: job.curve(name, place) for place in job.places(name)}
            room -= sum(map(len, curves.values()))
            made.append(_formula(name, job.descriptions[name], curves if room > 0 else {}))
        if made:
            title = tag("summary", f"{group}: {plural(len(made), 'measurement')}")
            parts.append(tag("details", title, made))
    if job.left:
        lines = [tag("li", f"{left.name}: {left.reason}") for left in job.left[:100]]
        title = tag("summary", f"not measured: {len(job.left)}")
        parts.append(tag("details", title, tag("ul", lines)))
    intro = "What was timed, what a sample is and what was made of it, then the medians."
    return tag(
        "section", tag("h2", "Every figure and its formula"), tag("p", intro, cls="soft"), parts
    )


def _formula(name: str, about: Description, curves: Mapping[str, Sequence[Value]]) -> Markup:
    lines = [
        f"{', '.join(about.functions)} (MPI 4.1, {about.section}): {about.timed}.",
        f"A sample is {about.sample}; {about.formula}; {about.start}; time of the {about.over}. "
        f"Buffers: {about.buffers}.",
    ]
    medians = []
    for place, values in curves.items():
        figures = ", ".join(
            f"{format_bytes(v.bytes)} {format_seconds(v.median)}"
            if v.bytes
            else format_seconds(v.median)
            for v in values
        )
        medians.append(tag("p", f"{place}: {figures}", cls="medians"))
    title = tag("summary", name)
    return tag("details", title, [tag("p", line) for line in lines], medians, cls="measurement")
