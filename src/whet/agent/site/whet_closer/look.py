"""Takes up what is to be watched, each in the module that it is about."""

from __future__ import annotations

import sys

from .descriptors import Descriptors
from .foreign import ForeignCalls
from .forks import Forks
from .locks import Locks
from .raised import Raised
from .report_file import ReportLines
from .taken import Taken

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType
    from typing import Any, TypeAlias

    from .dropped import Dropped
    from .functions import Functions
    from .left_state import LeftState
    from .readings import Readings
    from .recording.steps import Steps
    from .woven import Woven

    Guard: TypeAlias = Callable[[dict[str, Any]], None]


_FUNCTIONS, _LEFT, _READINGS, _STEPS = "functions:", "left:", "readings:", "steps:"
_WHOLE = ("", "memory")


class Look:
    """A closer look at this process.

    Attributes:
        guards: what is called with the namespaces of certain modules when they have been run.
    """

    def __init__(self, folder: str, asked: str) -> None:
        """Watch nothing yet; what is asked for as of `whet.host.trial.agent_tasks`."""
        self.guards: dict[str, Guard] = {}
        told = ReportLines(folder)
        self._descriptors = Descriptors(told)
        self._locks = Locks(told)
        self._taken = Taken(told)
        self._forks = Forks(told)
        self._raised = Raised(told, self._descriptors, self._locks, self._taken, asked)
        self._foreign = ForeignCalls(told, folder)
        self._alone: Functions | Steps | None = None
        self._left: LeftState | None = None
        self._readings: Readings | None = None
        # An experiment on one line, or a look at each line, is to run what the file says.
        self._dropped: Dropped | None = None
        self._woven: Woven | None = None
        # Only what is asked for is imported: most runs of an investigation are of one kind.
        if asked in _WHOLE:
            from .dropped import Dropped

            self._woven = self._dropped = Dropped(told)
        elif asked.startswith(_FUNCTIONS):
            from .functions import Functions

            self._alone = Functions(told, asked[len(_FUNCTIONS) :])
        elif asked.startswith(_LEFT):
            from .left_state import LeftState

            self._left = LeftState(told, asked[len(_LEFT) :])
        elif asked.startswith(_READINGS):
            from .readings import Readings

            self._readings = Readings(told, asked[len(_READINGS) :])
        elif asked.startswith(_STEPS):
            from .recording.steps import Steps

            self._alone = steps = Steps(folder, asked[len(_STEPS) :])
            self._woven = steps.branches

    def code(self, name: str, path: str, read: Callable[[], bytes]) -> CodeType | None:
        """Return the code of a module with what is to be looked at marked; None: Python's own."""
        return None if self._woven is None else self._woven.code(name, path, read)

    def begin(self) -> None:
        """Watch."""
        if self._readings is not None:
            self._readings.begin()
            self.guards = self._readings.guards
        elif self._left is not None:
            self.guards = self._left.guards
        elif self._alone is not None:  # that alone: the run is to be as it was
            self._alone.begin()
            self.guards = {"threading": self._alone.watch_threads}
            self.guards.update({} if self._woven is None else self._woven.guards)
        else:
            self.guards = self._begun()

    def _begun(self) -> dict[str, Guard]:
        guards: dict[str, Guard] = {
            "threading": self._watch_threads,
            "socket": self._descriptors.watch_sockets,
            "ctypes": self._foreign.watch,
            "torch.cuda": self._forks.watch_cuda,
            "queue": self._taken.watch_queues,
            "asyncio.locks": self._taken.watch_tasks,
            "asyncio.queues": self._taken.watch_task_queues,
        }
        self._descriptors.begin()
        self._forks.begin()
        for name, guard in guards.items():
            if name in sys.modules:  # a `.pth` file has brought it in
                guard(vars(sys.modules[name]))
        if self._dropped is not None:
            self._dropped.begin()
            guards.update(self._dropped.guards)
        self._raised.begin()
        return guards

    def _watch_threads(self, module: dict[str, Any]) -> None:
        self._locks.watch(module)
        self._taken.watch_threads(module)
        self._raised.watch_threads(module)
        self._forks.watch_threads(module)
