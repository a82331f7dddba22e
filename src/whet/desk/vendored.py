"""`whet.section`, `whet.annotate` and `whet.capture` as one file, for projects that run without whet."""

import ast
from pathlib import Path

from whet import __version__
from whet.agent.site.whet_sections import __doc__ as about

MARK = "# Written by `whet annotate --vendor`"
"""So begins such a file: whet may write it anew."""

_MODULES = (
    "descriptors", "memory", "gauges", "places", "recorder", "decorated", "around", "sections",
    "annotations", "captures",
)  # fmt: skip
_FUTURE = "from __future__ import annotations"


def vendored_text() -> str:
    """Return the modules of the agent's `whet_sections`, joined, each after those that it uses."""
    folder = Path(__file__).parents[1] / "agent" / "site" / "whet_sections"
    parts = [_without_joints((folder / f"{name}.py").read_text("utf-8")) for name in _MODULES]
    summary = (about or "").partition("\n")[0]
    head = [
        f"{MARK}, of whet {__version__}. Don't edit it: run that again.",
        "# The license of whet applies: MIT.",
        f'"""{summary}"""',
        "",
        _FUTURE,
        "",
        '__all__ = ["annotate", "capture", "section"]',
    ]
    return "\n".join([*head, *parts]).rstrip("\n") + "\n"


def _without_joints(source: str) -> str:
    """Return a module without its docstring, and without the lines that join it to the others."""
    lines = source.splitlines()
    gone: set[int] = set()
    tree = ast.parse(source)
    for node in ast.walk(tree):
        is_relative = isinstance(node, ast.ImportFrom) and node.level > 0
        is_future = isinstance(node, ast.ImportFrom) and node.module == "__future__"
        if (is_relative or is_future or node is tree.body[0]) and isinstance(node, ast.stmt):
            gone.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    kept = [line for number, line in enumerate(lines, 1) if number not in gone]
    return "\n".join(kept).strip("\n") + "\n\n"
