"""What the agent is to observe in a trial, and what it has left when the trial has ended."""

from dataclasses import dataclass
from pathlib import Path

from whet.core.evidence import Evidence

_LOCALS, _COUNT = "WHET_LOCALS", "WHET_COUNT"
TOGGLES_VARIABLE = "WHET_TOGGLES"
"""What is to be switched inside a program, by name; also empty, it lets the agent tell its signs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentTasks:
    """What is asked of the agent beside a stack on request; by itself nothing.

    Attributes:
        keeps_locals: keep what the frames of failures hold.
        counted: a function (``package.module:Class.method``) whose calls are counted.
        reads_signs: ask what programs have loaded; they tell where `TOGGLES_VARIABLE` is set.
    """

    keeps_locals: bool = False
    counted: str = ""
    reads_signs: bool = False

    @property
    def variables(self) -> dict[str, str]:
        """What tells the agent; as long for any trial whose calls are not counted."""
        counted = {_COUNT: self.counted} if self.counted else {}
        return {_LOCALS: "1" if self.keeps_locals else "0", **counted}

    def evidence(self, agent_folder: Path) -> tuple[Evidence, ...]:
        """Return what the agents of a trial have left in their folder."""
        found: list[Evidence] = []
        if self.counted:
            from whet.host.module_search import counts_told

            found.append(counts_told(agent_folder))
        if self.keeps_locals:
            from whet.host.failures import read_failures

            found += read_failures(agent_folder)
        if self.reads_signs:
            from whet.host.signs import read_signs

            found.append(read_signs(agent_folder))
        return tuple(found)


NO_TASKS = AgentTasks()
