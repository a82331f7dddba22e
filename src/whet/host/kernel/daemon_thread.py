"""A thread of whet's own that starts, or reports that it can't."""

import mmap
import resource
import threading
from collections.abc import Callable
from typing import Any

# Python's own thread, its first frames and what the allocator takes for it.
_BESIDE_STACK = 2 << 20
_DEFAULT_STACK = 8 << 20


class DaemonThread(threading.Thread):
    """A thread that doesn't keep whet from ending.

    Where memory ends just after a thread exists and before Python runs in it,
    `threading.Thread.start` waits forever, and no hook of Python's is heard in that thread.
    """

    def __init__(
        self, target: Callable[..., object], name: str | None = None, args: tuple[Any, ...] = ()
    ) -> None:
        super().__init__(target=target, name=name, args=args, daemon=True)

    def start(self) -> None:
        """Start the thread.

        Raises:
            RuntimeError: there is no room for another one, as CPython says it.
        """
        stack = resource.getrlimit(resource.RLIMIT_STACK)[0]
        if not 0 < stack <= _DEFAULT_STACK:
            stack = _DEFAULT_STACK
        try:
            mmap.mmap(-1, stack + _BESIDE_STACK).close()
        except (OSError, MemoryError):
            raise RuntimeError("can't start new thread") from None
        super().start()
