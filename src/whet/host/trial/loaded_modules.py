"""The agent's report on the modules that a trial's programs loaded."""

from pathlib import Path

from whet.core.observations.evidence import TOGGLES, Evidence
from whet.host.files.agent_files import reports_in

_SUFFIX = ".toggles"
_END = "end"


def read_signs(agent_folder: Path) -> Evidence:
    """Return the signs of all processes of a trial as one observation.

    Its detail has ``signs``, ``ended``: whether a process reported everything, as it does at its end, and
    ``processes``: how many reported anything.
    """
    names: set[str] = set()
    reports = list(reports_in(agent_folder, _SUFFIX))
    for _, report in reports:
        names.update(report.decode("ascii", "replace").splitlines())
    signs = sorted(names - {_END})
    return Evidence(
        kind=TOGGLES, detail={"signs": signs, "ended": _END in names, "processes": len(reports)}
    )
