"""A profile made of what was gathered, and its file."""

from __future__ import annotations

import datetime
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from haichi.fit import curves, loggp, storage
from haichi.fit.gather import Gathered
from haichi.fit.model import LogGP, Made, Number, NumberName, Profile, Signature
from haichi.fit.numbers import numbers
from haichi.report.load import ReportError

WHAT_TO_MEASURE = "mpiexec -n 2 haichi measure --quick"


@dataclass(frozen=True)
class Fit:
    """A profile, and what it lacks in lines."""

    profile: Profile
    lacking: list[str]


def fit(
    found: Gathered,
    files: Sequence[str],
    name: str | None,
    given: Mapping[NumberName, float],
    network: str,
) -> Fit:
    """The profile of what counts.

    Args:
        files: names of the samples files.
        name: for people; made of the nodes and the processor if there is none.
        given: numbers that the user says, in place of any that were derived.
        network: its shape, as `haichi.machine/1` has it.

    Raises:
        ReportError: nothing that a profile has was measured.
    """
    fitted = curves.ping_pongs(found)
    costs = storage.costs(found)
    derived = numbers(found, fitted, costs[0] if costs else None)
    if not derived.made:
        raise ReportError(
            f"{', '.join(files)}: no samples of what a machine's numbers are made from; measure it "
            f"with: {WHAT_TO_MEASURE}{''.join(f'; {each}' for each in found.refused)}"
        )
    for key, value in given.items():
        derived.made[key] = Number(value=value, from_="said by hand (--set)")
        derived.lacking.pop(key, None)
    lacking = [*derived.reasons(), *found.refused]
    models = []
    for each in fitted.values():
        made = loggp.parameters(found, each)
        if isinstance(made, LogGP):
            models.append(made)
        else:
            lacking.append(f"LogGP: {made}")
    signature = _signature(found, curves.NETWORK in fitted)
    profile = Profile(
        form="haichi.machine/2",
        name=name or _name(signature),
        made=Made(
            by=f"haichi fit {found.launches[0].haichi}",
            when=datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            from_=list(files),
            launches=len(found.launches),
        ),
        signature=signature,
        source="measured",
        network=network,
        numbers=derived.made,
        curves=[
            *(curves.place_curve(each) for each in fitted.values()),
            *curves.other_pairs(found, fitted),
        ],
        loggp=models,
        collectives=curves.collectives(found),
        copy_=curves.copies(found),
        storage=costs,
    )
    return Fit(profile, lacking)


def _signature(found: Gathered, network: bool) -> Signature:
    first = found.launches[0]
    names = dict.fromkeys(name for launch in found.launches for name in launch.node_names)
    return Signature(
        library=first.library,
        processor=first.processor or None,
        cores=max(first.host_cores, default=0) or None,
        node_names=list(names),
        network=network,
    )


def _name(signature: Signature) -> str:
    nodes = signature.node_names or []
    many = f"{len(nodes)} nodes ({nodes[0]} to {nodes[-1]})" if len(nodes) > 1 else nodes[0]
    library = " ".join((signature.library or "").split())
    return f"{many}, {signature.processor or 'processor not known'}, {library}"


def text_of(profile: Profile) -> str:
    """A profile as its file has it."""
    document = profile.model_dump(mode="json", by_alias=True, exclude_none=True)
    return json.dumps(_rounded(document), indent=1, ensure_ascii=False) + "\n"


def _rounded(value: object) -> object:
    """With as many digits as a measured number can have."""
    if isinstance(value, float):
        return float(f"{value:.6g}")
    if isinstance(value, dict):
        return {key: _rounded(each) for key, each in value.items()}
    return [_rounded(each) for each in value] if isinstance(value, list) else value
