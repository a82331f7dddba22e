"""The script that whet starts in the user's Python to estimate, time and measure: a line of JSON each.

What libraries print goes to standard error; the answers alone go where standard output went.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import sys
import traceback


class RefusedError(Exception):
    """What was asked for can't be done, in a sentence for the user."""

    def __init__(self, kind: str, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.kind = kind
        self.hint = hint


def main() -> None:
    """Answer each request until there are no more."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    folder = os.path.dirname(os.path.abspath(__file__))
    sys.path[0] = os.getcwd()  # in place of this folder: modules are imported from the user's
    for line in sys.stdin.buffer:
        answers.write(json.dumps(_answered(folder, json.loads(line))) + "\n")
        answers.flush()


def _answered(folder: str, request: dict[str, object]) -> dict[str, object]:
    name = "{}_steps".format(request["library"])
    try:
        steps = _own_module(folder, name)
        answer: dict[str, object] = getattr(steps, str(request["task"]))(request, _loader(request))
    except RefusedError as refused:
        return {"refused": refused.kind, "message": str(refused), "hint": refused.hint}
    except Exception as error:  # the user's own code runs in there
        return {
            "refused": "failed",
            "message": _words(error, str(request.get("file", ""))),
            "hint": "",
        }
    return answer


def _own_module(folder: str, name: str) -> object:
    """Import a module of whet's that stands beside this one, and leave no name of it."""
    spec = importlib.util.spec_from_file_location(name, os.path.join(folder, name + ".py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _loader(request: dict[str, object]) -> object:
    def load() -> object:
        """Import the user's module, and return the function that is asked for."""
        if request["file"]:
            path = str(request["file"])
            name = os.path.splitext(os.path.basename(path))[0]
            sys.path.insert(0, os.path.dirname(path))
            spec = importlib.util.spec_from_file_location(name, path)
            assert spec is not None
            assert spec.loader is not None
            module = importlib.util.module_from_spec(spec)
            sys.modules[name] = module
            spec.loader.exec_module(module)
        else:
            module = importlib.import_module(str(request["module"]))
        function: object = module
        for part in str(request["function"]).split("."):
            function = getattr(function, part, None)
        if not callable(function):
            raise RefusedError(
                "unknown",
                "`{}` has no function `{}`".format(
                    request["file"] or request["module"], request["function"]
                ),
            )
        return function

    return load


def _words(error: Exception, file: str) -> str:
    """Return an error with the user's own line at which it came up."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [each for each in frames if each.filename == file] or frames[-1:]
    text = " ".join(str(error).split())[:300]
    return (
        f"{type(error).__name__}: {text} (at {os.path.basename(own[-1].filename)}:{own[-1].lineno})"
    )


if __name__ == "__main__":
    main()
