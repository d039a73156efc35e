"""The report as one self-contained HTML page: nothing is fetched, nothing needs JavaScript.

Bounded: at most about CHARTS charts, FILES files and CALLS calls a file are shown, and the page
says so where it leaves something out. Colours are told apart by colour-blind readers and follow the
reader's light or dark setting (page.css).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib import resources

from haichi.report.findings import findings
from haichi.report.gantt import DETAIL, CallEvents, gantt
from haichi.report.html_choices import choices
from haichi.report.markup import Child, Markup, document, table, tag
from haichi.report.model import Call, File, Report
from haichi.report.summary import (
    CallGroup,
    Run,
    Summary,
    aggregators,
    behind_the_program,
    count_list,
    differing_settings,
    events_by_call,
    flattening,
    group_calls,
    holes,
    joined_files,
)
from haichi.report.svg import comparison, matrix, spread
from haichi.report.text import dropped_events, machine_line
from haichi.units import (
    format_bytes,
    format_rate,
    format_seconds,
    format_share,
    plural,
    printable,
)

CHARTS = 8
RUNS = 12
FILES = 50
CALLS = 25
NODES = 64
NOTES = 100

LEGEND = (
    ("read", "Read", "the file is read, also before a read-modify-write"),
    ("exchange", "Exchange", "ranks send one another the data"),
    ("write", "Write", "the file is written"),
    ("agree", "Agree", "ranks agree on offsets and errors, and wait for one another"),
)


def page(runs: Sequence[Run], summary: Summary) -> str:
    """The whole page for one run, or for several with a comparison before them."""
    script = resources.files(__package__).joinpath("page.js").read_text("utf-8")
    style = resources.files(__package__).joinpath("page.css").read_text("utf-8")
    several = len(runs) > 1
    title = f"haichi report: {len(runs)} runs" if several else runs[0].facts.command
    shown = runs[:RUNS]
    charts = max(CHARTS // len(shown), 1)
    drawn = len(shown) * (charts + several)
    detail = min(DETAIL, DETAIL * CHARTS // drawn)
    parts: list[Child] = []
    if several:
        parts.append(_comparison(runs, shown, summary, detail))
    parts += [_run(run, charts, detail, several) for run in shown]
    main, version = tag("main", parts), runs[0].report.haichi
    return document(title, version, style, main, _footer(runs), script=script)


def _footer(runs: Sequence[Run]) -> Markup:
    files = count_list([printable(str(run.path)) for run in runs])
    return tag(
        "footer",
        f"Made by haichi from {files}. All figures are as recorded; KiB, MiB and GiB are powers of "
        "1024. Drag across a chart to zoom into it, double-click to see all of it again.",
    )


def _run(run: Run, charts: int, detail: int, several: bool) -> Markup:
    report = run.report
    return tag(
        "article",
        _head(run, several),
        _tiles(run),
        _findings(run),
        _notes(run),
        _timelines(run, charts, detail),
        _phases(run),
        _traffic(report),
        choices(report),
        _files(report),
        _settings(report),
        _environment(report),
        cls="run",
        id=_anchor(run),
    )


def _anchor(run: Run) -> str:
    return "run-" + "".join(c if c.isalnum() else "-" for c in run.facts.label)


def _head(run: Run, several: bool) -> Markup:
    facts, program = run.facts, run.report.program
    job = f", job {program.job}" if program.job else ""
    return tag(
        "header",
        tag("p", f"Run {facts.label}" if several else "haichi run report", cls="over"),
        tag("h1", program.command, cls="command"),
        tag(
            "p",
            f"{plural(facts.ranks, 'rank')} on {plural(facts.nodes, 'node')}, started "
            f"{program.started}{job}. {facts.mpi}; haichi {run.report.haichi}.",
            cls="soft",
        ),
    )


def _tiles(run: Run) -> Markup:
    facts = run.facts
    exchanged = facts.bytes_inside + facts.bytes_between
    passed = facts.calls - facts.calls_handled
    rate = format_rate(facts.bytes_per_second) if facts.bytes_per_second else "no time recorded"
    tiles = [
        (
            "Collective file access",
            format_seconds(facts.seconds),
            f"{format_share(facts.seconds, facts.wall_s)} of {format_seconds(facts.wall_s)} in all",
        ),
        ("Read and written", format_bytes(facts.bytes), rate),
        (
            "Handled by haichi",
            f"{facts.calls_handled} of {plural(facts.calls, 'call')}",
            f"{passed} passed through" if passed else "none passed through",
        ),
    ]
    if exchanged:
        tiles.append(
            (
                "Between nodes",
                format_share(facts.bytes_between, exchanged),
                f"{format_bytes(facts.bytes_between)} of {format_bytes(exchanged)} exchanged",
            )
        )
    phases = [(spread_.median, phase) for phase, spread_ in facts.phases.items()]
    if phases:
        median, phase = max(phases)
        took = facts.phases[phase]
        tiles.append(
            (
                "Longest phase",
                phase.capitalize(),
                f"{format_seconds(median)} on the median of {plural(took.ranks, 'rank')}",
            )
        )
    boxes = [
        tag("div", tag("dt", name), tag("dd", figure, cls="figure"), tag("dd", more, cls="detail"))
        for name, figure, more in tiles
    ]
    return tag("dl", boxes, cls="tiles")


def _findings(run: Run) -> Markup | None:
    return _aside("Findings", findings(run.report, run.facts))


def _notes(run: Run) -> Markup | None:
    notes = list(run.report.notes[:NOTES])
    if len(run.report.notes) > NOTES:
        notes.append(f"and {len(run.report.notes) - NOTES} more notes")
    if run.facts.events_dropped:
        notes.append(dropped_events(run))
    return _aside("Notes", notes)


def _aside(title: str, lines: Sequence[str]) -> Markup | None:
    if not lines:
        return None
    items = [tag("li", line) for line in lines]
    return tag("aside", tag("h3", title), tag("ul", items), cls="notes")


def _legend() -> Markup:
    return tag(
        "ul",
        [
            tag("li", tag("span", cls=f"key {phase}"), tag("b", name), f" {meaning}")
            for phase, name, meaning in LEGEND
        ],
        cls="legend",
    )


@dataclass(frozen=True)
class _Drawable:
    """A call that left events, and how it stands among the calls that are like it."""

    file: File
    call: Call
    events: CallEvents
    which: str = ""


def _drawable(report: Report) -> list[list[_Drawable]]:
    """Per kind of call those that left phases, the slowest first; the slowest kind first."""
    events = events_by_call(report)  # a call that was passed through has at most its agreement
    kinds = []
    for file in joined_files(report):
        for group in group_calls(file):
            calls = [
                _Drawable(file, call, CallEvents.of(events[call.index]))
                for call in group.calls
                if call.handled and call.index in events
            ]
            if calls:
                kinds.append(sorted(calls, key=lambda item: -item.events.span_us))
    return sorted(kinds, key=lambda calls: -calls[0].events.span_us)


def _typical(kinds: Sequence[Sequence[_Drawable]], most: int) -> list[_Drawable]:
    """The slowest call of every kind, then the median one of the kinds that have several."""
    slowest, median = [], []
    for calls in kinds:
        alike = f" of {len(calls)} alike"
        slowest.append(replace(calls[0], which=f", the slowest{alike}" if len(calls) > 1 else ""))
        if len(calls) > 2:
            median.append(replace(calls[len(calls) // 2], which=f", the median one{alike}"))
    return sorted((slowest + median)[:most], key=lambda item: item.call.index)


def _timelines(run: Run, charts: int, detail: int) -> Markup | None:
    kinds = _drawable(run.report)
    if not kinds:
        return None
    shown = _typical(kinds, charts)
    parts: list[Child] = [tag("h2", "Where the time went"), _legend()]
    for item in shown:
        call = item.call
        title = f"Call {call.index}{item.which}: {call.call} on "
        parts.append(tag("h3", title, tag("code", item.file.path)))
        parts.append(
            tag(
                "p",
                f"{format_bytes(call.bytes)} in {format_seconds(call.seconds)}, "
                f"{plural(call.cycles, 'cycle')}, {plural(len(call.aggregators), 'aggregator')}, "
                f"order {call.order}.",
                cls="soft",
            )
        )
        parts.append(gantt(run.report, call, item.events, detail=detail))
    total = sum(len(calls) for calls in kinds)
    if total > len(shown):
        parts.append(
            tag(
                "p",
                f"{len(shown)} of {total} calls are drawn. haichi report --perfetto writes all of "
                "them as a trace.",
                cls="soft",
            )
        )
    return tag("section", parts)


def _phases(run: Run) -> Markup | None:
    phases = run.facts.phases
    if not phases:
        return None
    longest = max(times.max for times in phases.values())
    rows = [
        [
            [tag("span", cls=f"key {phase}"), phase.capitalize()],
            str(times.ranks),
            format_seconds(times.min),
            format_seconds(times.median),
            format_seconds(times.max),
            str(times.rank_of_max),
            spread(phase, times, longest),
        ]
        for phase, times in phases.items()
    ]
    head = ["Phase", "#ranks", "#min", "#median", "#max", "#rank of max", "min, median, max"]
    return tag(
        "section",
        tag("h2", "Phases over the ranks"),
        tag("p", "Sum over all calls, of the ranks that took part in the phase.", cls="soft"),
        table(head, rows),
    )


def _traffic(report: Report) -> Markup | None:
    if not any(any(row) for row in report.traffic.bytes):
        return None
    return tag(
        "section",
        tag("h2", "Bytes from node to node"),
        tag("p", "What haichi's own exchanges moved, all calls together.", cls="soft"),
        matrix(report.traffic),
    )


def _files(report: Report) -> Markup:
    parts: list[Child] = [tag("h2", "Files, calls and reasons")]
    if not report.files:
        parts.append(tag("p", "No file was opened through MPI-IO."))
    files = joined_files(report)
    parts += [_file(file) for file in files[:FILES]]
    if len(files) > FILES:
        parts.append(tag("p", f"The first {FILES} of {len(files)} files.", cls="soft"))
    return tag("section", parts)


def _file(file: File) -> Markup:
    opened = "once" if file.opens == 1 else f"{file.opens} times"
    parts: list[Child] = [
        tag("h3", tag("span", file.path, cls="path")),
        tag("p", f"{file.access}, opened {opened}.", cls="soft"),
    ]
    if file.hints:
        chips = [
            [tag("code", f"{key} = {value}"), " "] for key, value in sorted(file.hints.items())
        ]
        parts.append(tag("p", "Hints in force: ", chips, cls="hints"))
    if file.ignored_hints:
        ignored = [[tag("code", hint), " "] for hint in dict.fromkeys(file.ignored_hints)]
        parts.append(tag("p", "Hints that were given and ignored: ", ignored, cls="hints"))
    if kept := flattening(file):
        parts.append(tag("p", f"Datatypes kept: {kept}.", cls="soft"))
    groups = group_calls(file)
    if groups:
        parts.append(_calls_table(groups))
    if file.calls_not_listed:
        parts.append(
            tag(
                "p",
                f"{plural(file.calls_not_listed, 'further call')} not listed: the record was full.",
                cls="soft",
            )
        )
    return tag("section", parts)


CALL_COLUMNS = (
    ("call", ""),
    ("bytes", "num"),
    ("time", "num"),
    ("rate", "num"),
    ("cycles", "num"),
    ("inside nodes", "num"),
    ("between nodes", "num"),
    ("had to be", "num"),
    ("file range in bytes", "num"),
)


def _calls_table(groups: Sequence[CallGroup]) -> Markup:
    head = tag(
        "thead",
        tag("tr", [tag("th", name, scope="col", cls=cls or None) for name, cls in CALL_COLUMNS]),
    )
    bodies = [_decision(group) for group in groups]
    return tag("div", tag("table", head, bodies), cls="scroll")


def _decision(group: CallGroup) -> Markup:
    first = group.first
    badge = (
        tag("span", "handled by haichi", cls="badge ours")
        if first.handled
        else tag("span", "passed through", cls="badge theirs")
    )
    decided = None
    if first.handled and first.aggregators:
        window = f"window {first.window}" if first.window else "no window"
        decided = tag(
            "p",
            f"{aggregators(first)}; order {first.order}; {window}; holes {holes(group.calls)}",
            cls="decided",
        )
    if late := behind_the_program(group.calls):
        decided = tag("p", late, cls="decided")
    reasons = tag("ul", [tag("li", why) for why in group.reasons()], cls="why")
    header = tag(
        "tr",
        tag("th", tag("code", first.call), " ", badge, decided, reasons,
            colspan=len(CALL_COLUMNS), scope="rowgroup"),
    )  # fmt: skip
    shown = sorted(group.calls, key=lambda call: -call.seconds)[:CALLS]
    rows = [_call_row(call) for call in sorted(shown, key=lambda call: call.index)]
    if len(shown) < len(group.calls):
        words = f"the {len(shown)} slowest of {len(group.calls)} calls"
        rows.append(tag("tr", tag("td", words, colspan=len(CALL_COLUMNS), cls="soft")))
    return tag("tbody", header, rows, cls="decision")


def _call_row(call: Call) -> Markup:
    exchanged = call.bytes_inside + call.bytes_between
    share = f" ({format_share(call.bytes_between, exchanged)})" if exchanged else ""
    cells = (
        format_bytes(call.bytes),
        format_seconds(call.seconds),
        format_rate(call.bytes / call.seconds) if call.seconds > 0 else "-",
        str(call.cycles) if call.cycles else "-",
        format_bytes(call.bytes_inside) if exchanged else "-",
        format_bytes(call.bytes_between) + share if exchanged else "-",
        "-" if call.bytes_must_cross is None else format_bytes(call.bytes_must_cross),
        f"{call.file_begin} to {call.file_end}" if call.file_end else "-",
    )
    return tag(
        "tr",
        tag("th", str(call.index), scope="row"),
        [tag("td", cell, cls="num") for cell in cells],
    )


def _settings(report: Report) -> Markup | None:
    if not report.settings:
        return None
    rows = []
    for setting in sorted(report.settings, key=lambda s: (s.source == "default", s.key)):
        cells = [tag("code", setting.key), tag("code", setting.value), setting.source]
        cls = None if setting.source == "default" else "changed"
        rows.append(
            tag("tr", tag("th", cells[0], scope="row"), [tag("td", c) for c in cells[1:]], cls=cls)
        )
    titles = [tag("th", name, scope="col") for name in ("Setting", "Value", "From")]
    return tag(
        "section",
        tag("h2", "Settings"),
        tag("p", "Those that are not the default come first.", cls="soft"),
        tag(
            "div",
            tag("table", tag("thead", tag("tr", titles)), tag("tbody", rows)),
            cls="scroll",
        ),
    )


def _environment(report: Report) -> Markup:
    program = report.program
    facts = [
        ("Command", tag("code", program.command)),
        ("Started", program.started),
        ("Job", program.job or "none"),
        ("MPI", f"{' '.join(report.mpi.library.split())} (ABI {report.mpi.abi})"),
        ("haichi", report.haichi),
        *([("Machine", machine_line(report.machine))] if report.machine else []),
    ]
    nodes = report.placement.nodes
    node_of = report.placement.node_of_rank()
    counts = [0] * len(nodes)
    for home in node_of:
        counts[home] += 1
    chosen = {rank for call in report.calls() for rank in call.aggregators}
    rows = []
    for index, node in enumerate(nodes[:NODES]):
        here = sorted(rank for rank in chosen if node_of[rank] == index)
        rows.append(
            [
                report.placement.name_of(index),
                node.ranks,
                str(counts[index]),
                count_list(here) or "none",
            ]
        )
    more = None
    if len(nodes) > NODES:
        more = tag("p", f"The first {NODES} of {len(nodes)} nodes.", cls="soft")
    return tag(
        "section",
        tag("h2", "Program and placement"),
        tag("dl", [[tag("dt", name), tag("dd", value)] for name, value in facts], cls="facts"),
        table(["Node", "ranks", "#count", "aggregators among them"], rows),
        more,
    )


def _comparison(runs: Sequence[Run], shown: Sequence[Run], summary: Summary, detail: int) -> Markup:
    rows = [
        _comparison_row(run, differ, run in shown)
        for run, differ in zip(runs, differing_settings(summary.runs), strict=True)
    ]
    head = [
        "Run", "#ranks", "#nodes", "#calls handled", "#bytes", "#time", "#÷ first", "#rate",
        "#between nodes", "#Exchange, median", "settings that differ",
    ]  # fmt: skip
    parts: list[Child] = [
        tag(
            "header",
            tag("p", "haichi run report", cls="over"),
            tag("h1", f"{len(runs)} runs compared"),
        ),
        tag(
            "p",
            "Time is the sum over the calls of the slowest rank's time. "
            "The dashed line is the first run.",
            cls="soft",
        ),
        comparison(summary.runs),
        table(head, rows),
    ]
    if summary.warnings:
        items = [tag("li", warning) for warning in summary.warnings]
        parts.append(tag("aside", tag("h3", "Careful"), tag("ul", items), cls="notes"))
    parts += _side_by_side(shown, detail)
    if len(shown) < len(runs):
        parts.append(
            tag("p", f"Below, the first {len(shown)} of {len(runs)} runs in full.", cls="soft")
        )
    return tag("section", parts)


def _comparison_row(run: Run, settings: dict[str, str], linked: bool) -> list[Child]:
    facts = run.facts
    exchange = facts.phases.get("exchange")
    differ = [[tag("code", f"{key}={value}"), " "] for key, value in settings.items()]
    return [
        tag("a", facts.label, href=f"#{_anchor(run)}") if linked else facts.label,
        str(facts.ranks),
        str(facts.nodes),
        f"{facts.calls_handled} of {facts.calls}",
        format_bytes(facts.bytes),
        format_seconds(facts.seconds),
        "-" if facts.ratio_to_first is None else f"{facts.ratio_to_first:.2f}",
        "-" if facts.bytes_per_second is None else format_rate(facts.bytes_per_second),
        format_bytes(facts.bytes_between),
        format_seconds(exchange.median) if exchange else "-",
        differ,
    ]


def _side_by_side(runs: Sequence[Run], detail: int) -> list[Child]:
    """The same call in every run on one time axis, a few ranks each (paper 000, Fig. 11)."""
    kinds = [(run, _drawable(run.report)) for run in runs]
    first = next((found[0][0].call for _, found in kinds if found), None)
    if first is None:
        return []
    chosen = [
        (run, item)
        for run, found in kinds
        for calls in found
        for item in calls
        if item.call.index == first.index and item.call.call == first.call
    ]
    span = max(item.events.span_us for _, item in chosen)
    base, reference = chosen[0]
    parts: list[Child] = [
        tag("h2", f"Call {first.index}, {first.call}, on one time axis"),
        _legend(),
    ]
    for run, item in chosen:
        took = item.events.span_us
        words = f": {format_seconds(took / 1e6)}"
        if run is not base:
            words += f", {took / reference.events.span_us:.2f} × {base.facts.label}"
        parts.append(tag("h3", run.facts.label, words))
        parts.append(gantt(run.report, item.call, item.events, rows=8, span_us=span, detail=detail))
    return parts
