"""Memory that not the kernel but a library counts: Python's objects, tensors on GPUs.

Each is looked at where the program has the library, and uses it. The marks of `tracemalloc` and of
PyTorch's allocator are put back like the kernel's; JAX's can't be.

Standard library only, Python 3.8 or later.
"""

from __future__ import annotations

import sys

from .memory import Peaks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

_ANY_REFUSAL = (Exception,)  # of a library that has changed, or is half imported
_MOST_TYPES = 5


class Gauge:
    """What one library counts.

    Attributes:
        name: what its numbers begin with.
        peaks: of the sections that are open.
    """

    name = ""
    starts_empty = True
    """Where the library isn't used yet, there is nothing of it."""

    def __init__(self) -> None:
        self.peaks = Peaks(self.reset)

    def is_used(self) -> bool:
        """Whether the program has the library, and uses it."""
        raise NotImplementedError

    def read(self) -> tuple[int, int]:
        """Return how many bytes there are, and how many there were at most since `reset`."""
        raise NotImplementedError

    def reset(self) -> bool:
        """Put the mark back to the level; False: it stays where it is."""
        raise NotImplementedError


class _Traced(Gauge):
    """Python's own memory, while the program has `tracemalloc` trace it."""

    name = "python"
    starts_empty = False  # memory from before is traced by nobody

    def is_used(self) -> bool:
        module: Any = sys.modules.get("tracemalloc")
        return module is not None and bool(module.is_tracing())

    def read(self) -> tuple[int, int]:
        level, mark = sys.modules["tracemalloc"].get_traced_memory()
        return level, mark

    def reset(self) -> bool:
        reset = getattr(sys.modules["tracemalloc"], "reset_peak", None)
        if reset is None:  # Python 3.8
            return False
        reset()
        return True


class _Torch(Gauge):
    """Tensors on all GPUs, as PyTorch's allocator counts them."""

    name = "gpu"

    def is_used(self) -> bool:
        module: Any = sys.modules.get("torch.cuda")
        return module is not None and bool(module.is_initialized())

    def read(self) -> tuple[int, int]:
        cuda: Any = sys.modules["torch.cuda"]
        devices = range(cuda.device_count())
        return (
            sum(cuda.memory_allocated(each) for each in devices),
            sum(cuda.max_memory_allocated(each) for each in devices),
        )

    def reset(self) -> bool:
        cuda: Any = sys.modules["torch.cuda"]
        for each in range(cuda.device_count()):
            cuda.reset_peak_memory_stats(each)
        return True


class _TorchReserved(_Torch):
    """What PyTorch's allocator holds of all GPUs, with what it keeps for tensors to come."""

    name = "gpu_reserved"

    def read(self) -> tuple[int, int]:
        cuda: Any = sys.modules["torch.cuda"]
        devices = range(cuda.device_count())
        return (
            sum(cuda.memory_reserved(each) for each in devices),
            sum(cuda.max_memory_reserved(each) for each in devices),
        )


class _OutsideTorch(_Torch):
    """GPU memory that PyTorch's allocator doesn't hold: contexts, libraries, other processes."""

    name = "gpu_outside"
    starts_empty = False  # other processes have some

    def read(self) -> tuple[int, int]:
        cuda: Any = sys.modules["torch.cuda"]
        used = 0
        for each in range(cuda.device_count()):
            free, whole = cuda.mem_get_info(each)
            used += whole - free - cuda.memory_reserved(each)
        return used, used

    def reset(self) -> bool:
        return False


class _Jax(Gauge):
    """Arrays on all GPUs, as JAX's allocator counts them."""

    name = "jax_gpu"

    def is_used(self) -> bool:
        bridge: Any = sys.modules.get("jax._src.xla_bridge")
        if bridge is None or "jax" not in sys.modules or not bridge.backends_are_initialized():
            return False
        return any(True for _ in self._stats())

    def read(self) -> tuple[int, int]:
        stats = list(self._stats())
        return (
            sum(int(each["bytes_in_use"]) for each in stats),
            sum(int(each["peak_bytes_in_use"]) for each in stats),
        )

    def reset(self) -> bool:
        return False

    @staticmethod
    def _stats() -> Iterator[dict[str, int]]:
        for device in vars(sys.modules["jax"])["local_devices"]():
            stats = device.memory_stats() if device.platform != "cpu" else None
            if stats and "peak_bytes_in_use" in stats:
                yield stats


class Gauges:
    """All of them in one process."""

    _MODULES = ("tracemalloc", "torch.cuda", "jax")

    def __init__(self) -> None:
        self._all: list[Gauge] = [_Traced(), _Torch(), _TorchReserved(), _OutsideTorch(), _Jax()]

    def begin(self, *, is_alone: bool) -> list[tuple[Gauge, int, tuple[int, int]]]:
        """Look at each that is used; return what `end` needs."""
        if sys.modules.keys().isdisjoint(self._MODULES):
            return _NO_GAUGES
        begun: list[tuple[Gauge, int, tuple[int, int]]] = []
        for each in self._all:
            try:
                if each.is_used():
                    level, mark = each.read()
                    begun.append((each, level, each.peaks.begin(level, mark, is_alone=is_alone)))
                elif each.starts_empty:
                    begun.append((each, 0, _UNUSED))
            except _ANY_REFUSAL:
                continue
        return begun

    def end(self, begun: list[tuple[Gauge, int, tuple[int, int]]]) -> list[tuple[str, int, int]]:
        """Return of each its name, the most, and how much more there is; below zero: unknown."""
        if begun is _NO_GAUGES:
            if sys.modules.keys().isdisjoint(self._MODULES):
                return []
            begun = [(each, 0, _UNUSED) for each in self._all if each.starts_empty]
        ended: list[tuple[str, int, int]] = []
        for gauge, before, began in begun:
            try:
                if gauge.is_used():
                    level, mark = gauge.read()
                    # What the program began to use in the section was never higher outside of it.
                    most = max(mark, gauge.peaks.highest)
                    most = most if began is _UNUSED else gauge.peaks.end(began, mark)
                    ended.append((gauge.name, most, level - before))
            except _ANY_REFUSAL:
                continue
        return ended


_UNUSED = (-1, -1)
_NO_GAUGES: list[Any] = []
_OWN = __name__.partition(".gauges")[0]
"""The package of this file, or the file that stands alone."""


def objects_now() -> dict[str, int]:
    """Return how many objects of each type there are that Python's collector knows; it collects first."""
    gc = __import__("gc")
    gc.collect()
    counts: dict[type, int] = {}
    found: list[object] = gc.get_objects()
    for each in found:
        kind = type(each)
        counts[kind] = counts.get(kind, 0) + 1
    named: dict[str, int] = {}
    for kind, count in counts.items():
        if str(kind.__module__).startswith(_OWN):
            continue  # what records sections is none of the program's
        name = "{}.{}".format(kind.__module__, kind.__qualname__).replace("builtins.", "")
        named[name] = named.get(name, 0) + count
    return named


def more_objects(before: dict[str, int], now: dict[str, int]) -> tuple[int, str]:
    """Return how many more objects there are than before, and of which types most of them are."""
    more = {name: count - before.get(name, 0) for name, count in now.items()}
    grown = sorted((name for name in more if more[name] > 0), key=lambda name: -more[name])
    words = ", ".join("{} {}".format(more[name], name) for name in grown[:_MOST_TYPES])
    return sum(now.values()) - sum(before.values()), words
