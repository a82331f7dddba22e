"""The first bad commit in the words of its author, with the lines of it that decide."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from whet.core.errors import WhetError
from whet.core.observations.clue import Clue
from whet.core.text.quantity import listed
from whet.core.text.shell_words import quoted
from whet.core.text.shown_text import visible_line
from whet.host.process.git import Repository
from whet.workbench.trials.changed_part import ChangedLines, SmallestPart, shown_places

_MOST_PLACES, _MOST_CHARACTERS = 2, 80


def with_subject(says: str, repository: Repository, commit: str) -> str:
    """Return what is said of a commit with its subject."""
    with suppress(WhetError):
        subject = visible_line(repository.get("log", "-1", "--format=%s", commit).strip())
        return says.replace(" commit (", f' commit, "{_cut(subject)}" (', 1) if subject else says
    return says


def with_part(
    clue: Clue, part: SmallestPart, repository: Repository, *, merged_into: str = ""
) -> Clue:
    """Return what is said of a commit with the part of it that decides, if that can be read at once.

    Args:
        clue: what is said of it.
        part: the part.
        repository: where it is.
        merged_into: the parent that a merge brings the change to; empty: it is none.
    """
    if part.rest_fails:
        return clue
    undoing = part.undoing if part.decides_by_undoing else None
    if undoing is None and not (part.is_verified and part.stopped.is_complete):
        return clue
    if part.edits_after == part.edits_before or not 0 < len(part.decides) <= _MOST_PLACES:
        return clue
    if undoing is None:
        old = [line[1:].strip() for line in part.diff.splitlines() if _is_changed(line, "-")]
        new = [line[1:].strip() for line in part.diff.splitlines() if _is_changed(line, "+")]
    else:
        old, new = list(undoing.old), list(undoing.new)
    lines = ""
    if len(old) == len(new) == 1:
        lines = f": `{_cut(old[0])}` became `{_cut(new[0])}`"
    elif len(old) + len(new) == 1:
        lines = f": `{_cut((old or new)[0])}` was {'removed' if old else 'added'}"
    places = listed(list(map(str, part.decides)))
    says = f"{clue.says}. What decides is at {places}{lines}"
    if part.undoing is not None:
        says = f"{says}; {part.undoing.sentence}"
    path, line = _place_today(part.decides, new, repository)
    paths = dict.fromkeys(quoted(place.path) for place in part.decides)
    shown = f"git diff {part.base} {part.changed} -- {' '.join(paths)}"
    places = shown_places(part.decides)
    where = (
        f"what the merge brings to {merged_into}, at {places}"
        if merged_into
        else f"{places} in the change"
    )
    return replace(
        clue,
        says=says,
        path=path or clue.path,
        line=line or clue.line,
        next_step=f"Look at {where}: `{shown}`.",
    )


def _place_today(
    places: Sequence[ChangedLines], new: list[str], repository: Repository
) -> tuple[str, int]:
    """Return where the only new line is, if it is still there; else nothing."""
    place = places[0]
    path = Path(repository.top, place.path)
    with suppress(OSError, IndexError):
        today = path.read_text("utf-8", "replace").splitlines()[place.first - 1].strip()
        if place.first and len(places) == len(new) == 1 and today == new[0]:
            return str(path), place.first
    return "", 0


def _is_changed(line: str, sign: str) -> bool:
    return line.startswith(sign) and not line.startswith(sign * 3) and bool(line[1:].strip())


def _cut(text: str) -> str:
    return text if len(text) <= _MOST_CHARACTERS else f"{text[: _MOST_CHARACTERS - 1]}…"
