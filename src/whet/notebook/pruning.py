"""What the oldest trials leave on the disk goes once a notebook takes more than it may.

The rows of the trials stay: a trial that was run is never forgotten. Their outputs and payloads
go, a file each; a file that a kept trial names too stays.
"""

import json
import os
import re
import time
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

from whet.core.text.record import integer, text
from whet.core.value_class import value_class
from whet.host.files.files import write_atomically
from whet.notebook.notebook import Notebook
from whet.notebook.stored_output import PRUNED, removed_so_far

_DIGEST = re.compile(r"[0-9a-f]{64}")
_KEPT_ANYWAY = 50  # the newest trials
_LEFT_SHARE = 0.8
"""The share of the limit to prune to, so that the next trial doesn't exceed the limit again."""

_NEVER = 1 << 62
_DAY_SECONDS = 86_400
_SQL = (
    "SELECT trial.number, trial.started_at, trial.name || trial.note || trial.expectation AS mine,"
    " trial.trial || coalesce(outcome.outcome, '') AS named FROM trial"
    " LEFT JOIN outcome ON outcome.trial = trial.number"
)
_SQL_EVIDENCE = "SELECT trial AS number, blob AS named FROM evidence WHERE blob IS NOT NULL"
_SQL_SEARCHES = (
    "SELECT max(trial.number) AS number, investigation.trial || coalesce(result, '') AS named"
    " FROM investigation JOIN trial ON trial.investigation = investigation.number"
    " LEFT JOIN investigation_end ON investigation_end.investigation = investigation.number"
    " GROUP BY investigation.number"
)


@value_class(kw_only=True)
class Bounds:
    """What a notebook may take.

    Attributes:
        most_bytes: of the disk, for outputs and payloads.
        most_days: the age of a trial of which they are kept.
    """

    most_bytes: int
    most_days: float


@value_class(kw_only=True)
class Pruned:
    """What has gone.

    Attributes:
        files: how many.
        size_bytes: what they took.
        for_size: it was for the size, not for the age alone.
    """

    files: int = 0
    size_bytes: int = 0
    for_size: bool = False


def prune(notebook: Notebook, bounds: Bounds, *, most_seconds: float = 1.0) -> Pruned:
    """Remove outputs and payloads of the oldest trials until the bounds are met.

    Trials with a name, a note or an expectation keep theirs, and so do the last ones. Nobody else
    may be at work with the notebook. If it is killed here, each file is there or isn't, and the
    next one continues.

    Args:
        notebook: of which project.
        bounds: what it may take.
        most_seconds: it takes no longer; the rest goes next time.
    """
    until = time.monotonic() + most_seconds
    folder = notebook.blobs.folder
    found = dict(_files(folder))
    sizes = {digest: status.st_size for digest, status in found.items()}
    left, files, gone = sum(sizes.values()), 0, 0
    mark = folder.parent / PRUNED
    removed = removed_so_far(mark)
    oldest = (datetime.now(UTC) - timedelta(days=bounds.most_days)).isoformat()
    is_over = left > bounds.most_bytes
    is_needed = is_over or notebook.is_older(oldest)
    last, started = _last_uses(notebook) if is_needed else (dict[str, int](), dict[int, str]())
    if is_over:  # what no trial names: a whet was killed before it came to it
        before = time.time() - _DAY_SECONDS
        last |= {each: 0 for each in sizes.keys() - last if found[each].st_mtime < before}
    for digest in sorted(last.keys() & sizes.keys(), key=lambda each: last[each]):
        is_old = started.get(last[digest], "9") < oldest
        is_too_much = is_over and left > _LEFT_SHARE * bounds.most_bytes
        if last[digest] == _NEVER or not (is_old or is_too_much) or time.monotonic() > until:
            break
        if not files:  # before anything goes: who misses it is told
            write_atomically(mark, json.dumps({"files": removed + 1}).encode(), mode=0o600)
        with suppress(OSError):
            notebook.blobs.path_of(digest).unlink()
            files, gone, left = files + 1, gone + sizes[digest], left - sizes[digest]
    write_atomically(mark, json.dumps({"files": removed + files}).encode(), mode=0o600)
    return Pruned(files=files, size_bytes=gone, for_size=is_over)


def _files(folder: Path) -> Iterator[tuple[str, os.stat_result]]:
    for first in range(256):
        with suppress(OSError), os.scandir(folder / f"{first:02x}") as entries:
            for entry in entries:
                with suppress(OSError):
                    yield f"{first:02x}{entry.name}", entry.stat(follow_symlinks=False)


def _last_uses(notebook: Notebook) -> tuple[dict[str, int], dict[int, str]]:
    """Return the last trial that names each file, and when each trial began."""
    last: dict[str, int] = {}
    started: dict[int, str] = {}
    rows = notebook.rows(_SQL)
    newest = sorted(integer(row, "number") for row in rows)[-_KEPT_ANYWAY:]
    kept = {*newest, *(integer(row, "number") for row in rows if row["mine"])}
    for row in (*rows, *notebook.rows(_SQL_EVIDENCE), *notebook.rows(_SQL_SEARCHES)):
        number = integer(row, "number")
        if "started_at" in row:
            started[number] = text(row, "started_at")
        use = _NEVER if number in kept else number
        for digest in _DIGEST.findall(text(row, "named")):
            last[digest] = max(use, last.get(digest, 0))
    return last, started
