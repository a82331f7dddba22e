"""The agent's report on the modules that a trial's programs loaded."""

from contextlib import suppress
from pathlib import Path

from whet.core.observations.evidence import TOGGLES, Evidence

_SUFFIX = ".toggles"
_END = "end"


def read_signs(agent_folder: Path) -> Evidence:
    """Return the signs of all processes of a trial as one observation.

    Its detail has ``signs``, ``ended``: whether a process reported everything, as it does at its end, and
    ``processes``: how many reported anything.
    """
    names: set[str] = set()
    files = list(agent_folder.glob(f"*{_SUFFIX}"))
    for path in files:
        with suppress(OSError):
            names.update(path.read_text("ascii", "replace").splitlines())
    signs = sorted(names - {_END})
    return Evidence(
        kind=TOGGLES, detail={"signs": signs, "ended": _END in names, "processes": len(files)}
    )
