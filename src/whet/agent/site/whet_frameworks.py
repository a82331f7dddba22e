"""Lets torch's or JAX's own profiler record this Python, for `whet profile --gpu`.

It begins as soon as the library has been imported, and ends with the program. If the program uses
`whet.capture`, that one records instead, and only there.

Standard library only, Python 3.8 or later.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Guards = dict[str, Callable[[dict[str, object]], None]]
    Tell = Callable[[str, bytes], None]


def begin(folder: str, tell: Tell) -> Guards:
    """Return what is called when the libraries have been imported.

    Args:
        folder: where the traces go.
        tell: writes to a file of this process, by the end of its name.
    """
    return {"torch": _Torch(folder, tell).begin, "jax": lambda _: tell(".jax-seen", b"1")}


class _Torch:
    """torch's profiler in this process, from the import of torch on."""

    def __init__(self, folder: str, tell: Tell) -> None:
        self._folder = folder
        self._tell = tell
        self._pid = os.getpid()
        self._profile: Any = None

    def begin(self, module: dict[str, object]) -> None:
        """Begin to record; torch has been imported."""
        import atexit

        profiler: Any = module["profiler"]
        kinds = profiler.ProfilerActivity
        cuda: Any = module.get("cuda")
        has_gpu = cuda is not None and cuda.is_available()
        activities = [kinds.CPU, kinds.CUDA] if has_gpu else [kinds.CPU]
        self._profile = profiler.profile(activities=activities, with_stack=True)
        self._profile.start()
        atexit.register(self._end)
        sys.addaudithook(self._hear)

    def _hear(self, event: str, arguments: tuple[object, ...]) -> None:
        """Leave the recording to `whet.capture`, which is about to begin one."""
        if event == "whet.capture" and arguments[:1] == ("begin",) and self._profile is not None:
            profile, self._profile = self._profile, None
            profile.stop()

    def _end(self) -> None:
        profile, self._profile = self._profile, None
        if profile is None or os.getpid() != self._pid:
            return
        profile.stop()
        path = os.path.join(self._folder, "{}-0.torch.json".format(self._pid))
        profile.export_chrome_trace(path)
