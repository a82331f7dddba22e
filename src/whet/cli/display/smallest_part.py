"""The smallest part of a change, as `whet bisect` shows it."""

import sys

from whet.cli.console import answer, styled
from whet.core.text.quantity import shown_count, shown_seconds
from whet.workbench.trials.changed_part import SmallestPart

_STYLES = {"+": "green", "-": "red", "@": "cyan"}


def show_part(part: SmallestPart) -> None:
    """Show it: what it is, the diff, what it took, how to have it again."""
    count = part.share
    which = "the smallest part" if part.stopped.is_complete else "a part, not narrowed further,"
    if part.edits_after == part.edits_before:
        count = f"all of it, {shown_count(part.before, 'hunk')}"
    answer(
        f"{which} of {part.base} → {part.changed} that causes it is {count}:"
        f" {', '.join(map(str, part.places))}"
    )
    if part.undoing is not None:
        answer(f"{part.undoing.sentence}: all else of the change stays")
    answer(f"bad means {part.bad_means}")
    answer("")
    for line in part.diff.rstrip("\n").splitlines():
        style = "" if line.startswith(("+++", "---")) else _STYLES.get(line[:1], "")
        answer(styled(line, style, sys.stdout) if style else line)
    answer("")
    more = [shown_count(part.trials, "trial")]
    if part.remembered:
        more.append(f"{part.remembered} known from earlier trials")
    if part.senseless:
        more.append(f"{part.senseless} not run, because Python can't parse them")
    answer(f"{', '.join(more)}, in {shown_seconds(part.wall_seconds)}; {part.stopped.value}")
    if part.apply:
        answer(f"apply it alone: {part.apply}")
