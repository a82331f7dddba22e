"""Tells from time to time what the allocators of torch and JAX hold in this process.

A thread does that, from the moment on at which the program has imported one of the two. It asks only
what is there: it wakes up no driver, and it starts no backend.

Standard library only, Python 3.8 or later.
"""

from __future__ import annotations

import sys
import time
from _thread import start_new_thread

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_SUFFIX = ".levels"
_COMPILED = "/jax/core/compile/backend_compile_duration"
_CACHE_HIT = "/jax/compilation_cache/cache_hits"
_ANY_ERROR = (Exception,)


class Levels:
    """The levels of one process."""

    def __init__(self, tell: Callable[[str, bytes], None], interval_seconds: float) -> None:
        self._tell = tell
        self._interval_seconds = interval_seconds
        self._sleep = time.sleep  # the program may put another one in its place
        self._looks: list[Callable[[], dict[str, int]]] = []
        self._compilations = self._cache_hits = 0
        self._compile_seconds = 0.0

    def begin(self) -> dict[str, Callable[[dict[str, Any]], None]]:
        """Return what is called with modules when they have been run."""
        return {"torch": self._look_at_torch, "jax": self._look_at_jax}

    def _look_at_torch(self, module: dict[str, Any]) -> None:
        cuda = module["cuda"]
        has_cuda = module["version"].cuda is not None or getattr(module["version"], "hip", None)

        def look() -> dict[str, int]:
            if not has_cuda:
                return {"torch.cpu": 1}
            if not cuda.is_initialized():
                return {"torch.idle": 1}
            devices = range(cuda.device_count())
            return {
                "torch.allocated": sum(cuda.memory_allocated(each) for each in devices),
                "torch.reserved": sum(cuda.memory_reserved(each) for each in devices),
            }

        self._add(look)

    def _look_at_jax(self, module: dict[str, Any]) -> None:
        live_arrays = module["live_arrays"]
        try:
            monitoring = module["monitoring"]
            monitoring.register_event_duration_secs_listener(self._note_duration)
            monitoring.register_event_listener(self._note_event)
        except _ANY_ERROR:  # a JAX that has no such call
            pass

        def look() -> dict[str, int]:
            bridge = sys.modules.get("jax._src.xla_bridge")
            if bridge is None or not bridge.backends_are_initialized():
                return {"jax.idle": 1}
            arrays = live_arrays()
            return {
                "jax.live": sum(each.nbytes for each in arrays),
                "jax.buffers": len(arrays),
                "jax.compilations": self._compilations,
                "jax.compile_ms": int(self._compile_seconds * 1000),
                "jax.cache_hits": self._cache_hits,
            }

        self._add(look)

    def _note_duration(self, event: str, seconds: float, **_more: Any) -> None:
        if event == _COMPILED:
            self._compilations += 1
            self._compile_seconds += seconds

    def _note_event(self, event: str, **_more: Any) -> None:
        self._cache_hits += event == _CACHE_HIT

    def _add(self, look: Callable[[], dict[str, int]]) -> None:
        self._looks.append(look)
        if len(self._looks) == 1:
            try:
                start_new_thread(self._run, ())
            except RuntimeError:  # no more threads are allowed: whet says that nothing came
                pass

    def _run(self) -> None:
        while True:
            found: dict[str, int] = {}
            for look in tuple(self._looks):
                try:
                    found.update(look())
                except _ANY_ERROR:  # the program is what matters: it may be taking itself apart
                    pass
            words = ["{}={}".format(name, value) for name, value in found.items()]
            self._tell(_SUFFIX, ("\t".join(words) + "\n").encode("ascii", "replace"))
            self._sleep(self._interval_seconds)
