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

    from whet.agent.site.whet_installed import is_library
    from whet.agent.site.whet_positions import Positions

    Guards = dict[str, Callable[[dict[str, object]], None]]
    Tell = Callable[[str, bytes], None]
else:
    from whet_installed import is_library
    from whet_positions import Positions

    sys.modules.pop("whet_positions", None)


_LOWERED = "/jax/core/compile/jaxpr_to_mlir_module_duration"
_ANY_ERROR = (Exception,)


def begin(folder: str, tell: Tell) -> Guards:
    """Return what is called when the libraries have been imported.

    Args:
        folder: where the traces go.
        tell: writes to a file of this process, by the end of its name.
    """
    return {"torch": _Torch(folder, tell).begin, "jax": _Jax(folder, tell).begin}


class _Torch:
    """torch's profiler in this process, from the import of torch on, or for each `whet.capture`."""

    def __init__(self, folder: str, tell: Tell) -> None:
        self._folder = folder
        self._tell = tell
        self._pid = os.getpid()
        self._profiler: Any = None
        self._recording: tuple[Any, Positions | None] | None = None
        self._captures = 0
        self._has_gpu = False

    def begin(self, module: dict[str, object]) -> None:
        """Begin to record; torch has been imported."""
        import atexit

        self._profiler = module["profiler"]
        cuda: Any = module.get("cuda")
        self._has_gpu = cuda is not None and cuda.is_available()
        self._start()
        atexit.register(self._end)
        sys.addaudithook(self._hear)

    def _start(self) -> None:
        import warnings

        if getattr(sys.modules.get("torch.autograd.profiler"), "_is_profiler_enabled", False):
            return  # the program's own records
        kinds, profile = self._profiler.ProfilerActivity, self._profiler.profile
        activities = [kinds.CPU, kinds.CUDA] if self._has_gpu else [kinds.CPU]
        positions = Positions() if sys.version_info >= (3, 12) else None
        if positions is not None and not positions.begin():
            positions = None
        # With its stacks, torch tells of every call of every library: that takes several times as long.
        record = profile(activities=activities, with_stack=positions is None)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # torch warns of cycles, of which there is only one
            record.start()
        self._recording = record, positions

    def _stop(self, *, is_kept: bool) -> None:
        if self._recording is None or os.getpid() != self._pid:
            return
        (record, positions), self._recording = self._recording, None
        record.stop()
        told = None if positions is None else positions.end()
        if not is_kept:
            return
        name = os.path.join(self._folder, "{}-{}".format(self._pid, self._captures))
        record.export_chrome_trace(name + ".torch.json")
        if told is not None:
            import json

            with open(name + ".positions.json", "w", encoding="utf-8") as file:
                json.dump(told, file)

    def _hear(self, event: str, arguments: tuple[object, ...]) -> None:
        """Record what the program surrounds with `whet.capture`, and nothing else."""
        if event != "whet.capture":
            return
        try:
            self._stop(is_kept=self._captures > 0)
            if arguments[:1] == ("begin",):
                self._captures += 1
                self._start()
        except _ANY_ERROR:  # a profiler that has changed: the program is what matters
            pass

    def _end(self) -> None:
        self._stop(is_kept=True)


class _Jax:
    """JAX's profiler in this process, from the first compilation on.

    To start it, JAX needs its devices. The program may still choose them after the import.
    """

    def __init__(self, folder: str, tell: Tell) -> None:
        self._folder = folder
        self._tell = tell
        self._pid = os.getpid()
        self._profiler: Any = None
        self._is_recording = self._was_begun = False
        self._files: list[str] = []

    def begin(self, module: dict[str, object]) -> None:
        """Wait for the first compilation; JAX has been imported."""
        import atexit

        try:
            monitoring: Any = module["monitoring"]
            monitoring.register_event_duration_secs_listener(self._start)
            self._profiler = module["profiler"]
        except _ANY_ERROR:  # a JAX that has no such call
            self._tell(".jax-seen", b"1")
            return
        atexit.register(self._end)
        sys.addaudithook(self._hear)
        self._note_files()

    def _note_files(self) -> None:
        """Note the files of modules: the main one's has no name any more at the end."""
        paths = [getattr(each, "__file__", None) for each in list(sys.modules.values())]
        self._files += [os.path.abspath(each) for each in paths if isinstance(each, str)]

    def _start(self, event: str, _seconds: float, **_more: object) -> None:
        if event != _LOWERED or self._was_begun or os.getpid() != self._pid:
            return
        self._was_begun = True
        try:
            if self._profiler.TraceAnnotation.is_enabled():
                return  # the program's own records
            self._profiler.start_trace(os.path.join(self._folder, "{}-0.jax".format(self._pid)))
            self._is_recording = True
        except _ANY_ERROR:
            self._tell(".jax-seen", b"1")

    def _hear(self, event: str, arguments: tuple[object, ...]) -> None:
        """Leave the recording to `whet.capture`, which is about to begin one."""
        if event == "whet.capture" and arguments[:1] == ("begin",):
            self._was_begun = True
            self._stop()

    def _stop(self) -> None:
        if self._is_recording:
            self._is_recording = False
            self._profiler.stop_trace()

    def _end(self) -> None:
        if os.getpid() != self._pid:
            return
        try:
            self._stop()
        except _ANY_ERROR:  # the program stopped it
            pass
        self._note_files()
        own = [each for each in self._files if not is_library(each)]
        self._tell(".jax-files", "".join(each + "\n" for each in own).encode("utf-8", "replace"))
