"""How the user calls this whet: by its name, or through the Python that it is installed for."""

import os
import re
import sys
from collections.abc import Mapping
from functools import cache

import whet
from whet.core.text.shell_words import joined

_NAME = "whet"
_QUOTED = re.compile(r"`whet(?= [a-z-]|$)")


def own_line(verb: str, *, environment: Mapping[str, str]) -> list[str]:
    """Return words that start a verb of this whet, in a shell that has the user's `PATH`.

    Args:
        verb: such as `run`.
        environment: the variables that stand before these words; the program gets them, too.
    """
    named = environment.get("PATH")
    call = _call(os.environ.get("PATH", "") if named is None else named)
    needed = "" if call == (_NAME,) else _needed_path()
    if not needed:
        return [*call, verb]
    asked = environment.get("PYTHONPATH")
    if asked == needed:
        return [*call, verb]
    # What whet needs is not what the program is to have.
    own = [] if asked is None else ["--env", f"PYTHONPATH={asked}"]
    return ["env", f"PYTHONPATH={needed}", *call, verb, *own]


def own_words() -> tuple[str, ...]:
    """Return the words that start this whet where the user started it."""
    return _call(os.environ.get("PATH", ""))


def as_called(text: str) -> str:
    """Return a sentence of whet's in which each line for a shell calls whet as the user does."""
    if "`whet" not in text or (words := own_words()) == (_NAME,):
        return text
    return _QUOTED.sub(lambda _: f"`{joined(words)}", text)


@cache
def _call(path: str) -> tuple[str, ...]:
    import shutil

    script = shutil.which(_NAME, path=path)
    if script is not None and os.path.realpath(script) in _own_scripts():
        return (_NAME,)
    started = os.path.abspath(sys.argv[0])
    if os.path.basename(started) == _NAME and os.access(started, os.X_OK):
        return (started,)
    names = ("python", "python3")
    python = next((name for name in names if shutil.which(name, path=path) == sys.executable), "")
    return (python or sys.executable, "-m", _NAME)


def _own_scripts() -> set[str]:
    """Return where the scripts are that start this whet."""
    import sysconfig

    installed = [sysconfig.get_path("scripts", each) for each in ("posix_user", "posix_prefix")]
    folders = [os.path.dirname(sys.executable), *installed]
    places = [os.path.join(folder, _NAME) for folder in folders]
    if os.path.basename(sys.argv[0]) == _NAME:
        places.append(sys.argv[0])
    return {os.path.realpath(place) for place in places}


@cache
def _needed_path() -> str:
    """Return the `PYTHONPATH` without which this Python doesn't find whet; empty: it does."""
    root = os.path.dirname(os.path.dirname(os.path.abspath(whet.__file__)))
    folders = [
        os.path.abspath(folder)
        for folder in os.environ.get("PYTHONPATH", "").split(os.pathsep)
        if folder
    ]
    # `python -m` also looks in the folder where it starts.
    is_started_here = sys.path[:1] == [root] and os.path.basename(sys.argv[0]) == "__main__.py"
    if is_started_here and root not in folders:
        folders.insert(0, root)
    origins = [
        getattr(module, "__file__", None) or ""
        for name, module in list(sys.modules.items())
        if "." not in name
    ]
    is_needed = any(each.startswith(f"{folder}{os.sep}") for folder in folders for each in origins)
    return os.pathsep.join(folders) if is_needed else ""
