"""Measures at the beginning of the runs of a `whet.section`.

Standard library only, Python 3.8 or later.
"""

from __future__ import annotations

import json

from .rounds import Loop, Rounds

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType
    from typing import Any

    from whet.agent.site.whet_leak.report import LeakReport

_RECORDERS = ("whet.agent.site.whet_sections.recorder", "whet_sections")
"""What records sections, and the same as a file of the user's own."""


class Runs(Rounds):
    """Measures runs of a section, as if they were the rounds of a loop.

    Attributes:
        guards: none: the code itself is made.
    """

    def __init__(self, folder: str, wish: str, report: LeakReport) -> None:
        super().__init__(folder, wish, report)
        self._name: str = json.loads(wish)["section"]
        self._seen: set[str] = set()
        self._loops[0] = Loop(["", 0, self._name])
        self.guards: dict[str, Callable[[dict[str, Any]], None]] = {}

    def code(self, name: str, path: str, read: Callable[[], bytes]) -> CodeType | None:
        """Return the code of what records sections, so that this hears of them; None: it's another module."""
        if name not in _RECORDERS:
            return None
        values = {"module": compile(read(), path, "exec", dont_inherit=True), "heard": self._listen}
        both = compile("exec('module', globals()); 'heard'.__call__(globals())", path, "exec")
        return both.replace(
            co_consts=tuple(values.get(c, c) if isinstance(c, str) else c for c in both.co_consts)
        )

    def _listen(self, module: dict[str, Any]) -> None:
        module["LISTENERS"].append(self._hear)

    def _hear(self, name: str) -> None:
        if name == self._name:
            self.counts([0])
        elif name not in self._seen:
            self._seen.add(name)
            self.report.tell({"section": name})
