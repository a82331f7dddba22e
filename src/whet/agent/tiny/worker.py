"""The script that whet starts in the user's Python: it answers requests, each a line of JSON.

What libraries print goes to standard error; the answers alone go where standard output went.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import sys

TASKS = {
    "make": "making",
    "open": "chosen_sizes",
    "build": "chosen_sizes",
    "checkpoint": "checkpoint",
}
"""The module that does each task, by a function `answer`."""


def main() -> None:
    """Answer each request until there are no more."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    # A small model is called once or twice: code that compiles fast is worth more than fast code.
    flags = os.environ.get("XLA_FLAGS", "")
    os.environ["XLA_FLAGS"] = (flags + " --xla_backend_optimization_level=0").strip()
    _load_package()
    for line in sys.stdin.buffer:
        answers.write(json.dumps(_answered(json.loads(line))) + "\n")
        answers.flush()


def _load_package() -> None:
    folder = os.path.dirname(os.path.abspath(__file__))
    del sys.path[0]  # this folder, whose modules are whet's
    place = os.path.join(folder, "__init__.py")
    spec = importlib.util.spec_from_file_location(
        "whet_tiny", place, submodule_search_locations=[folder]
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["whet_tiny"] = module
    spec.loader.exec_module(module)


def _answered(request: dict[str, object]) -> dict[str, object]:
    refusals = importlib.import_module("whet_tiny.refusals")
    try:
        module = importlib.import_module("whet_tiny." + TASKS[str(request["task"])])
        answer: dict[str, object] = module.answer(request)
    except refusals.RefusedError as refused:
        return {"refused": refused.kind, "message": str(refused), "hint": refused.hint}
    except OSError as error:
        return {"refused": "disk", "message": str(error), "errno": error.errno, "hint": ""}
    except Exception as error:
        full = refusals.no_space(error)
        if full is None:
            raise
        return {"refused": "disk", "message": str(full), "errno": full.errno, "hint": ""}
    return answer


if __name__ == "__main__":
    main()
