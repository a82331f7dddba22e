"""What a process had begun when it was forked: a forked process has its memory, and nothing that ran in it."""

from __future__ import annotations

import os
import sys

from .report_file import user_place

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType
    from typing import Any

    from .report_file import ReportLines

_MOST_FORKS, _MOST_THREADS = 20, 5
_above: Callable[[int], FrameType] = vars(sys)["_getframe"]


class Forks:
    """The forks of this process, each with the line that asks for it."""

    def __init__(self, told: ReportLines) -> None:
        self._told = told
        self._cuda: list[Any] = []
        self._started: dict[int, list[Any]] = {}
        self._left = _MOST_FORKS

    def begin(self) -> None:
        """Tell of each fork, in the process that is forked."""
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(before=self._forks)

    def watch_cuda(self, module: dict[str, Any]) -> None:
        """Remember which line of the program has PyTorch start CUDA."""
        start = module.get("_lazy_init")
        if start is None:
            return

        def lazy_init() -> None:
            if not self._cuda and not module.get("_initialized"):
                self._cuda = user_place(_above(1))
            start()

        module["_lazy_init"] = lazy_init

    def watch_threads(self, module: dict[str, Any]) -> None:
        """Remember which line starts each thread."""
        thread = module["Thread"]
        start = thread.start

        def start_known(own: Any) -> None:
            self._started[id(own)] = user_place(_above(1))
            start(own)

        thread.start = start_known

    def _forks(self) -> None:
        at = user_place(_above(1))
        if not at or self._left <= 0:
            return
        self._left -= 1
        self._told.tell("fork", at=at, cuda=self._cuda, threads=self._threads())

    def _threads(self) -> list[list[Any]]:
        module: Any = sys.modules.get("threading")
        known: dict[int, Any] = dict(getattr(module, "_active", {}))
        own = __import__("_thread").get_ident()
        return [
            [str(each.name), self._started.get(id(each), [])]
            for ident, each in known.items()
            if ident != own and self._started.get(id(each))
        ][:_MOST_THREADS]
