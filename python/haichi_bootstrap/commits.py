"""How commits are written: CONTRIBUTING.md, "Commits"."""

from collections.abc import Iterable, Iterator

from haichi_bootstrap import paths, shell

SINCE = "2026-11-26T17:42:00Z"  # older ones were written before the rule
LONGEST_SUBJECT = 72
# What a subject begins with; another verb is added here by whoever needs it.
VERBS = """
Abandon Add Advise Agree Allow Answer Arrange Ask Avoid Begin Bound Break Bring Build Call Carry
Check Choose Close Collect Compare Compile Copy Correct Count Cut Decide Decode Describe Document
Draw Drop End Exchange Expect Extend Find Fix Follow Format Free Gather Generate Give Go Guard Halve
Handle Have Hold Include Install Join Keep Kill Know Label Learn Lease Leave Let Limit List Load
Lock Look Make Map Mark Measure Merge Model Mount Move Multiply Name Need Open Pack Parse Part Pass
Plan Predict Print Put Raise Read Record Reduce Refuse Register Release Remove Rename Replace Replay
Report Require Resize Restore Retry Return Reuse Revert Run Say Seat Send Separate Serve Set Share
Show Simulate Skip Sort Spell Split Start State Stop Store Support Take Tell Test Time Treat Try
Turn Update Use Wait Warn Wrap Write
"""


def problems() -> Iterator[str]:
    """What is wrong with the commits that this checkout has; nothing where git knows none."""
    form = "--format=%h%x00%s%x00%b%x01"
    log: shell.Command = ["git", "-C", paths.ROOT, "log", "--no-merges", f"--since={SINCE}", form]
    for entry in (shell.output(log) or "").split("\1"):
        if entry.strip():
            commit, subject, body = entry.strip("\n").split("\0")
            yield from (f"{commit}: {problem}" for problem in of_message(subject, body))


def of_message(subject: str, body: str) -> Iterable[str]:
    """What is wrong with one message."""
    if len(subject) > LONGEST_SUBJECT:
        yield f"the subject has {len(subject)} characters, at most {LONGEST_SUBJECT}: {subject}"
    if subject.split()[:1] and subject.split()[0].rstrip(",") not in VERBS.split():
        yield f"the subject does not begin with a verb in the imperative (VERBS): {subject}"
    if subject.endswith("."):
        yield f"a subject has no full stop: {subject}"
    if not body.startswith("Problem: "):
        yield f"the body does not begin with 'Problem: ': {subject}"
