"""Removing what the oldest trials of a project left, when nobody else is at work with it."""

import time
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path

from whet.core.errors import WhetError
from whet.host.code.project import Project
from whet.host.files.at_work import alone
from whet.notebook.stored_output import PRUNED

SCRIPTS = "lines"
"""The folder in a project's state with the scripts of the lines that are too long to paste."""

BYTE_CODE = "pycache"
"""The folder in a project's state with the byte code of the user's modules, by what they say."""

_DAY_SECONDS = 86_400


def tidy_up(environment: Mapping[str, str], *, now: bool = False) -> str:
    """Tidy up, if nobody did for a day; return what is to be said of it, or nothing.

    It is no reason for a verb to fail: what goes wrong is left for the next time.

    Args:
        environment: of this whet.
        now: also if somebody did today.
    """
    with suppress(WhetError, OSError):
        project = Project.find(Path.cwd(), environment)
        if now or _is_due(project.state):
            with alone(project.state) as is_alone:
                return _tidied(project, environment) if is_alone else ""
    return ""


def _is_due(state: Path) -> bool:
    try:
        return not 0 <= time.time() - (state / PRUNED).stat().st_mtime < _DAY_SECONDS
    except OSError:
        return (state / "blobs").is_dir()


def _tidied(project: Project, environment: Mapping[str, str]) -> str:
    from whet.core.text.quantity import shown_bytes
    from whet.host.code.settings import load_settings
    from whet.host.files.user_key import user_key
    from whet.notebook.notebook import Notebook
    from whet.notebook.pruning import Bounds, prune

    settings = load_settings(project, environment)
    bounds = Bounds(most_bytes=settings.notebook_bytes, most_days=settings.notebook_days)
    with Notebook.open(project.state, partial(user_key, environment)) as notebook:
        gone = prune(notebook, bounds)
    _remove_old(project.state / SCRIPTS, settings.notebook_days)
    _remove_old(project.state / BYTE_CODE, settings.notebook_days)
    if not gone.files:
        return ""
    why = (
        f"all of this project took more than {shown_bytes(settings.notebook_bytes)} (`notebook_bytes`"
        if gone.for_size
        else f"they were older than {settings.notebook_days} days (`notebook_days`"
    )
    return (
        f"removed {shown_bytes(gone.size_bytes)} of outputs and payloads of the oldest trials, as"
        f" {why} in your settings; a name or a note keeps those of a trial)"
    )


def _remove_old(folder: Path, most_days: int) -> None:
    """Remove old files of a folder in which each is made again when it is needed."""
    since = time.time() - most_days * _DAY_SECONDS
    for file in folder.glob("*"):
        with suppress(FileNotFoundError):  # a program has put a new one in its place
            if file.stat().st_mtime < since:
                file.unlink()
