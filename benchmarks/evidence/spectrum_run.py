"""Runs a script, and writes down what it executed: lines, branches, kinds of what was returned.

    python spectrum_run.py RESULT FOLDER PAYLOAD SCRIPT [ARGUMENT...]

Counted is what is below FOLDER, and only once PAYLOAD was opened (empty: from the start). For `spectrum.py`.
"""

import json
import runpy
import sys
import traceback
from collections.abc import Sized
from pathlib import Path
from types import FrameType
from typing import Any

_ENDINGS = (Exception, SystemExit)


class Executed:
    """What was executed of the files below a folder."""

    def __init__(self, folder: str, payload: str) -> None:
        self.folder = folder
        self.payload = payload
        self.found: set[str] = set()
        self.last: dict[int, int] = {}

    def hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        """Begin anew when the payload is opened for the first time."""
        if self.payload and event == "open" and str(arguments[0]).endswith(self.payload):
            self.payload = ""
            self.found.clear()

    def follow(self, frame: FrameType, event: str, argument: object) -> Any:
        """Note a line, the step from the last one of its call, or what is returned."""
        path = frame.f_code.co_filename
        if not path.startswith(self.folder):
            return None
        file, line, key = path[len(self.folder) + 1 :], frame.f_lineno, id(frame)
        if event == "line":
            self.found.add(f"{file}:{line}:line")
            self.found.add(f"{file}:{line}:after {self.last.get(key, 0)}")
            self.last[key] = line
        elif event == "return":
            self.found.add(f"{file}:{line}:returns {kind_of(argument)}")
            self.last.pop(key, None)
        return self.follow


def kind_of(value: object) -> str:
    """Return what kind of value it is, as statistical debugging has them."""
    if isinstance(value, bool) or value is None:
        return str(value)
    if isinstance(value, int | float):
        return "negative" if value < 0 else "zero" if value == 0 else "positive"
    is_empty = isinstance(value, Sized) and len(value) == 0
    return f"{value.__class__.__name__}{' empty' if is_empty else ''}"


def main() -> None:
    """Run the script; of an error its type and its innermost line below the folder are its name."""
    result, folder, payload, script, *arguments = sys.argv[1:]
    executed, script = Executed(folder, payload), str(Path(script).resolve())
    sys.argv = [script, *arguments]
    sys.path.insert(0, str(Path(script).parent))
    sys.addaudithook(executed.hear)
    failure = ""
    sys.settrace(executed.follow)
    try:
        runpy.run_path(script, run_name="__main__")
    except _ENDINGS as error:
        sys.settrace(None)
        is_over = isinstance(error, SystemExit) and not error.code
        own = [
            each
            for each in traceback.extract_tb(error.__traceback__)
            if each.filename.startswith(folder)
        ]
        place = f"{own[-1].filename}:{own[-1].lineno}" if own else ""
        failure = "" if is_over else f"{type(error).__name__} {place}"
    finally:
        sys.settrace(None)
    Path(result).write_text(json.dumps({"failure": failure, "found": sorted(executed.found)}))


if __name__ == "__main__":
    main()
