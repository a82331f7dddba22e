"""A trial remembers what its program made, so that a value that turns up can be explained."""

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

_AGENT_VARIABLE = "WHET_AGENT"
"""Names the folder in which whet looks for reports when a trial has ended."""

EXPLAINED_FILLS = frozenset({"coordinates", "deadbeef"})
"""The fills of which a single value can be explained."""


def remember(detail: Mapping[str, object]) -> None:
    """Leave a report of what was made for whet, if it runs this program and could explain a value.

    Args:
        detail: its kind, fill, shape and so on, as the notebook keeps it.
    """
    folder = os.environ.get(_AGENT_VARIABLE)
    if not folder or detail["fill"] not in EXPLAINED_FILLS:
        return
    with suppress(OSError), Path(folder, f"{os.getpid()}.made").open("a", encoding="utf-8") as file:
        file.write(f"{json.dumps(detail)}\n")
