"""A different failure than the one that was searched for, in words that show the difference."""

from pathlib import Path

from whet.core.failure import Failure


def told_apart(found: Failure, wanted: Failure | None) -> str:
    """Return what was met instead of the failure that was looked for.

    Args:
        found: another failure.
        wanted: the one that it isn't; None: any would have been another.
    """
    if wanted is None or found.summary != wanted.summary:
        return f"`{found.summary}`"
    here, there = _where(found), _where(wanted)
    if here != there:
        return f"`{found.summary}` again, but {here} and not {there}"
    return f"`{found.summary}` again, but another detail differs"


def _where(failure: Failure) -> str:
    frame = failure.place
    if frame is None:
        return f"as {failure.kind.value}"
    return f"at {Path(frame.path).name}:{frame.line} in `{frame.function}`"
