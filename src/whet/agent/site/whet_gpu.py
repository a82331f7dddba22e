"""Caps what torch takes of each GPU in this process, proves it there, and tells what came of it.

That can be proved nowhere else: the share belongs to the allocator in the program's own process, and
its driver may not be woken up before the program does so itself.

Standard library only, Python 3.8 or later.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_SUFFIX = ".gpu"

_MORE_BYTES = 2 << 20
_ANY_ERROR = (Exception,)


class Cap:
    """The most that this process may take of a GPU's memory by way of torch."""

    def __init__(self, tell: Callable[[str, bytes], None], most: int) -> None:
        self._write = tell
        self._most = most

    def begin(self) -> dict[str, Callable[[dict[str, Any]], None]]:
        """Return what is called with modules when they have been run."""
        return {"torch": self._wait_for_gpus, "jax": self._wait_for_the_end}

    def _wait_for_gpus(self, module: dict[str, Any]) -> None:
        """Set the cap when torch first turns to a GPU.

        Not at once: that would wake the driver up in a program that never uses a GPU, or that
        forks its workers first, which CUDA forbids from then on.
        """
        cuda = module["cuda"]
        self._tell("torch")
        set_share = cuda.set_per_process_memory_fraction
        vars(cuda)["_lazy_call"](lambda: self._set(cuda, set_share))

        def bounded(fraction: float, device: Any = None) -> Any:
            """Set the share that the program wants, but none above the limit."""
            self._tell("asked", detail=fraction)
            number = cuda.current_device() if device is None else device
            return set_share(min(fraction, self._share(cuda, number)[0]), device)

        cuda.set_per_process_memory_fraction = bounded

    def _share(self, cuda: Any, number: Any) -> tuple[float, int]:
        total = cuda.get_device_properties(number).total_memory
        return min(1.0, self._most / total), total

    def _set(self, cuda: Any, set_share: Callable[[float, int], Any]) -> None:
        try:
            for number in range(cuda.device_count()):
                share, total = self._share(cuda, number)
                set_share(share, number)
                self._tell("capped", number)
                if self._most < total:
                    self._prove(cuda, number)
        except _ANY_ERROR as error:  # the program is what matters: whet says that it doesn't hold
            self._tell("failed", detail=error)

    def _prove(self, cuda: Any, number: int) -> None:
        """Ask for more than the cap; the allocator refuses it before it asks the driver."""
        more = self._most + _MORE_BYTES
        try:
            if cuda.mem_get_info(number)[0] < more:
                self._tell("unproved", number, "it has less free than that")
                return
            try:
                got = cuda.caching_allocator_alloc(more, number)
            except _ANY_ERROR as error:
                if "out of memory" not in str(error).lower():
                    raise
                self._tell("proved", number)
                cuda.reset_accumulated_memory_stats(number)  # where the program counts its own
            else:
                self._tell("loose", number)
                cuda.caching_allocator_delete(got)
        except _ANY_ERROR as error:  # a torch that has no such call
            self._tell("unproved", number, error)

    def _wait_for_the_end(self, module: dict[str, Any]) -> None:
        """Look at what JAX made of what it was told once the program ends: it decides that late."""
        import atexit

        self._tell("jax")
        atexit.register(self._look_at_jax, module)

    def _look_at_jax(self, module: dict[str, Any]) -> None:
        bridge = sys.modules.get("jax._src.xla_bridge")
        try:
            if bridge is None or not bridge.backends_are_initialized():
                return
            for device in module["local_devices"]():
                stats: dict[str, int] = device.memory_stats() or {}
                limit = stats.get("bytes_limit")
                if limit is not None:
                    word = "heard" if limit <= self._most else "unheard"
                    self._tell(word, device.id, limit)
        except _ANY_ERROR as error:  # a JAX that has no such call
            self._tell("unknown", detail=error)

    def _tell(self, word: str, gpu: object = "", detail: object = "") -> None:
        parts = (" ".join(str(each).split()) for each in (word, gpu, detail))
        self._write(_SUFFIX, ("\t".join(parts) + "\n").encode("ascii", "replace"))
