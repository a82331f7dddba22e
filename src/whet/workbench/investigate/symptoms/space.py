"""The file and the file system of a failure for lack of space."""

from pathlib import Path

from whet.core.failure import Failure
from whet.core.limits import shown_size
from whet.core.observations.system_call import PathFacts
from whet.core.text.quantity import shown_bytes
from whet.core.trial import Trial
from whet.evidence.signature.room_met import path_named
from whet.host.files.file_systems import file_system_of
from whet.host.limits.sandbox.room_plan import temporary_folder

_SMALL_BYTES = 1 << 20


def space_words(
    failure: Failure, trial: Trial, path: str = "", facts: PathFacts | None = None
) -> str:
    """Return which file system is full, and how to have that at once, in a sentence.

    Args:
        failure: for lack of space, and of no limit that whet has put around the trial.
        trial: what failed.
        path: the file that could not be written, if that is known.
        facts: what was true of it when that failed, as the program saw it; None: that isn't known.
    """
    path_shown = path or path_named(failure.summary)
    path = path_shown or temporary_folder(trial.environment)
    now = file_system_of(path)
    if facts is not None and facts.file_system:
        says = (
            f"it was on {facts.file_system} mounted at `{facts.mount_point}`, with"
            f" {shown_bytes(facts.free_bytes)} free of {shown_bytes(facts.total_bytes)} when it failed"
        )
        if now is None or (now.kind, now.point) != (facts.file_system, facts.mount_point):
            return f"{says}; that file system exists only inside the program"
        return f"{says}{_at_once(path)}"
    if now is None:
        return f"`{path}` is on a file system that whet knows nothing about"
    files = "" if now.free_files is None else f" and {now.free_files} files"
    what = (
        f"`{path}`"
        if path_shown
        else f"the program doesn't name a file; `{path}`, for temporary files,"
    )
    has_space = now.free_bytes > _SMALL_BYTES and now.free_files != 0
    since = (
        ": some space is free again, or the program has another file system there"
        if has_space
        else ""
    )
    return (
        f"{what} is on {now.kind} mounted at `{now.point}` outside the program, with"
        f" {shown_bytes(now.free_bytes)}{files} free of {shown_bytes(now.total_bytes)} now{since}"
        f"{_at_once(path)}"
    )


def _at_once(path: str) -> str:
    folder = path if Path(path).is_dir() else str(Path(path).parent)
    least = shown_size(_SMALL_BYTES).replace(" ", "")
    return f"; to reproduce it at once, and shrink the data: `--disk-free {least}:{folder}`"
