"""`haichi report` of samples: what stands out as text, or all of it as a page."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from haichi.report.load import ReportError
from haichi.report.output import console, say, write_text
from haichi.samples.health_part import read_health
from haichi.samples.odd import cautions, findings
from haichi.samples.page import page
from haichi.samples.read import read
from haichi.samples.view import Job, jobs
from haichi.units import format_bytes, format_seconds, plural


def report_samples(
    samples: Sequence[Path], healths: Sequence[Path], html_file: Path | None, *, of_runs: bool
) -> None:
    """Writes the page of some samples files, with what `measure --health` wrote beside them, or
    prints what they say. `of_runs`: something was asked for that only reports of runs have.

    Raises:
        ReportError: a file can't be read, or the page not written; or `of_runs`.
    """
    if of_runs:
        raise ReportError(
            "--json and --perfetto are for reports of runs; samples are JSON lines already, and "
            "--html makes their page"
        )
    links = [read_health(path) for path in healths]
    if not samples:
        raise ReportError(f"{healths[0]}: stands beside samples on their page; name those too")
    found = [job for job in jobs([read(path) for path in samples]) if job.values]
    if not found:
        raise ReportError(f"{samples[0]}: has no point yet; measure longer, or go on with --resume")
    if html_file:
        write_text(html_file, page(found, links))
        return
    out = console()
    for finding in (each for health in links for each in health.findings):
        say(out, f"- {finding.text}")
    for job in found:
        _print(out, job)


def _print(out: Console, job: Job) -> None:
    launch = job.launch
    under = ", haichi underneath" if launch.under else ""
    out.print(f"{job.library}{under}", markup=False, style="bold")
    out.print(
        f"{plural(launch.job_ranks, 'rank')} on {plural(len(launch.node_names), 'node')}, "
        f"{plural(len(job.values), 'point')}, started {launch.started}",
        markup=False,
    )
    for caution in cautions(job):
        say(out, f"! {caution}")
    out.print(_table(job))
    found = findings(job)
    out.print("What is odd here:" if found else "Nothing stands out.")
    for finding in found:
        say(out, f"- {finding.words}  [{finding.point}]")


def _table(job: Job) -> Table:
    """Each group's measurements by their number of points and the range of their medians."""
    table = Table("group")
    for heading in ("measurements", "points", "shortest", "longest", "largest size"):
        table.add_column(heading, justify="right")
    for group in dict.fromkeys(each.group for each in job.descriptions.values()):
        names = set(job.names(group))
        values = [value for key, value in job.values.items() if key[0] in names]
        if values:
            medians = [value.median for value in values]
            size = max(value.bytes for value in values)
            table.add_row(
                group,
                str(len(names)),
                str(len(values)),
                format_seconds(min(medians)),
                format_seconds(max(medians)),
                format_bytes(size) if size else "–",
            )
    return table
