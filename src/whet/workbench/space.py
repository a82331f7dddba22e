"""What an investigation says of a failure for want of space: which file, on which file system."""

from pathlib import Path

from whet.core.failure import Failure
from whet.core.limits import shown_size
from whet.core.quantity import shown_bytes
from whet.core.trial import Trial
from whet.evidence.room_met import path_named
from whet.host.ceilings.room_plan import temporary_folder
from whet.host.file_systems import file_system_of

_SMALL_BYTES = 1 << 20


def space_words(failure: Failure, trial: Trial, path: str = "") -> str:
    """Return which file system is full, and how to have that at once, in a sentence.

    Args:
        failure: for want of space, and of no limit that whet has put around the trial.
        trial: what failed.
        path: the file that could not be written, if that is known.
    """
    named = path or path_named(failure.summary)
    path = named or temporary_folder(trial.environment)
    found = file_system_of(path)
    if found is None:
        return f"`{path}` lies on a file system of which nothing is known"
    folder = path if Path(path).is_dir() else str(Path(path).parent)
    files = "" if found.free_files is None else f" and {found.free_files} files"
    what = f"`{path}`" if named else f"the program names no file; `{path}`, for temporary ones,"
    return (
        f"{what} lies on {found.kind} mounted at `{found.point}`, with {shown_bytes(found.free_bytes)}"
        f"{files} free of {shown_bytes(found.total_bytes)} now; to meet it at once, and shrink the data"
        f" under it: `--disk-free {shown_size(_SMALL_BYTES).replace(' ', '')}:{folder}`"
    )
