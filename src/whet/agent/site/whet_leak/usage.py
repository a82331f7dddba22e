"""What a process holds now: memory by who gave it, files, threads, child processes.

Standard library only, Python 3.8 or later.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

ANY_ERROR = (Exception,)
"""What a library may raise that is asked what it holds: the program is what matters."""
_PAGE = os.sysconf("SC_PAGE_SIZE")
_STDERR = 2
_FIELDS = (
    "arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks", "fordblks",
    "keepcost",
)  # fmt: skip
"""Of `struct mallinfo2`, mallinfo(3)."""
_SMALL = b"# bytes in allocated blocks"


class Usage:
    """Reads what a process holds; each number is exact, or is left out.

    `memory` is what is in use: by Python's own allocator (`small`), and of the C library's heap
    (`heap`). `resident` is what the kernel has given.
    """

    def __init__(self) -> None:
        self._mallinfo = _mallinfo_of()
        self._scratch = _scratch()
        self._blocks: Callable[[], int] = vars(sys)["getallocatedblocks"]
        self._print_stats: Callable[[], None] | None = vars(sys).get("_debugmallocstats")
        collector = __import__("gc")
        self.collect: Callable[[], int] = vars(collector)["collect"]

    def sample(self) -> dict[str, int]:
        """Return what is held once the garbage is gone, and what the garbage was."""
        before = self._blocks()
        if self.collect():
            self.collect()  # what `__del__` has left behind
        found = self.now()
        found["garbage"] = max(0, before - found["blocks"])
        return found

    def now(self) -> dict[str, int]:
        """Return what is held now, by name: bytes, or a count."""
        found = {"blocks": self._blocks(), **_of_kernel()}
        small = self._small()
        if small is not None:
            found["small"] = small
        if self._mallinfo is not None:
            found["heap"] = self._mallinfo()
        if small is not None and self._mallinfo is not None:
            found["memory"] = small + found["heap"]
        found.update(_of_accelerators())
        return found

    def _small(self) -> int | None:
        """Return the bytes in use of Python's own allocator; None: this Python doesn't say."""
        if self._print_stats is None or self._scratch < 0:
            return None
        kept = os.dup(_STDERR)
        try:
            os.ftruncate(self._scratch, 0)
            os.lseek(self._scratch, 0, os.SEEK_SET)
            os.dup2(self._scratch, _STDERR)
            self._print_stats()
        finally:
            os.dup2(kept, _STDERR)
            os.close(kept)
        data = os.pread(self._scratch, 1 << 16, 0)
        at = data.find(_SMALL)
        if at < 0:
            return None
        line = data[at : data.find(b"\n", at)]
        return int(line.rpartition(b"=")[2].replace(b",", b"").strip())


def _scratch() -> int:
    """Return a file in memory, high up; -1: there can be none."""
    try:
        low = os.memfd_create("whet", os.MFD_CLOEXEC)
    except (OSError, AttributeError):
        return -1
    for high in (1003, 503, 253, 123, 63):
        try:
            os.fstat(high)
        except OSError:
            try:
                os.dup2(low, high, inheritable=False)
            except OSError:
                continue
            os.close(low)
            return high
    return low


def _mallinfo_of() -> Callable[[], int] | None:
    """Return what tells the bytes in use of the C library's heap; None: it has no such function."""
    try:
        ctypes: Any = __import__("ctypes")
        fields = type("mallinfo2", (ctypes.Structure,), {
            "_fields_": [(name, ctypes.c_size_t) for name in _FIELDS],
        })  # fmt: skip
        function = ctypes.CDLL(None).mallinfo2
        function.restype, function.argtypes = fields, []
    except ANY_ERROR:  # musl, an old glibc, a Python without ctypes
        return None

    def in_use() -> int:
        told = function()
        return int(told.uordblks) + int(told.hblkhd)

    return in_use


def _of_kernel() -> dict[str, int]:
    found: dict[str, int] = {}
    with open("/proc/self/statm", "rb") as file:
        found["mapped"] = int(file.read().split()[0]) * _PAGE
    try:
        with open("/proc/self/smaps_rollup", "rb") as file:
            sizes = {line[: line.find(b":")]: line for line in file if line.endswith(b"kB\n")}
        found["resident"] = sum(
            int(sizes[name].split()[1]) << 10 for name in (b"Rss", b"Swap") if name in sizes
        )
    except OSError:
        with open("/proc/self/statm", "rb") as file:
            found["resident"] = int(file.read().split()[1]) * _PAGE
    found["descriptors"] = len(os.listdir("/proc/self/fd"))
    tasks = os.listdir("/proc/self/task")
    found["threads"] = len(tasks)
    try:
        found["children"] = 0
        for task in tasks:
            with open("/proc/self/task/{}/children".format(task), "rb") as file:
                found["children"] += len(file.read().split())
    except OSError:
        found.pop("children", None)  # this kernel doesn't list them
    return found


def _of_accelerators() -> dict[str, int]:
    """Return what PyTorch and JAX hold of their devices, in bytes."""
    found: dict[str, int] = {}
    cuda: Any = getattr(sys.modules.get("torch"), "cuda", None)
    try:
        if cuda is not None and cuda.is_initialized():
            found["cuda"] = int(cuda.memory_allocated())
            found["cuda_reserved"] = int(cuda.memory_reserved())
    except ANY_ERROR:
        pass
    jax: Any = sys.modules.get("jax")
    bridge: Any = sys.modules.get("jax._src.xla_bridge")
    try:
        if jax is not None and getattr(bridge, "_backends", None):  # asking would start one
            found["jax"] = sum(int(each.nbytes) for each in jax.live_arrays())
    except ANY_ERROR:
        pass
    return found
