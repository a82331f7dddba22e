"""Failures for lack of memory or disk space, however the program reports them."""

import re

from whet.core.failure import FailureKind

_MEMORY_TYPES = re.compile(
    r"(?:.*\.)?(?:MemoryError|_?Array[Mm]emoryError|ArrowMemoryError|OutOfMemoryError|"
    r"OutOfMemoryException|OutOfMemory|AcceleratorOutOfMemoryError)|std::bad_alloc"
)
_MEMORY_WORDS = re.compile(
    r"(?:CUDA|HIP|XPU|MPS backend|CUDA error:|JavaScript heap|Java heap) ?(?:space|out of memory)"
    r"|\bDefaultCPUAllocator\b.{0,80}memory|\bstd::bad_alloc\b|RESOURCE_EXHAUSTED: .*(?i:memory|alloc)"
    r"|\[Errno 12\]|Cannot allocate memory|CU(?:DNN|BLAS|SOLVER)_STATUS_ALLOC_FAILED"
    r"|\bheap out of memory\b|java\.lang\.OutOfMemoryError|runtime: out of memory"
    r"|memory allocation of \d+ bytes failed|virtual memory exhausted|\bout of memory\b"
    r"|Unable to allocate .{1,40} for an array|^Out of [Mm]emory\b"
)
_DISK_WORDS = re.compile(
    r"\[Errno (?:28|122)\]|No space left on device|Disk quota exceeded|database or disk is full"
    r"|\bENOSPC\b|\bEDQUOT\b|os error 28\b"
)


def shortage_of(exception: str, message: str) -> FailureKind | None:
    """Return OUT_OF_MEMORY or NO_SPACE_LEFT if an exception or a message reports one."""
    if _DISK_WORDS.search(message):
        return FailureKind.NO_SPACE_LEFT
    if _MEMORY_TYPES.fullmatch(exception) or _MEMORY_WORDS.search(message):
        return FailureKind.OUT_OF_MEMORY
    return None


def first_sentence(message: str) -> str:
    """Return how a report of a shortage starts; what follows are the numbers of the moment."""
    return _sentences(message)[0]


def first_sentences(message: str) -> str:
    """Return what a report of a shortage says to a reader: what ran out, and what was asked for."""
    return ". ".join(_sentences(message)[:2])


def _sentences(message: str) -> list[str]:
    line = message.strip().split("\n", 1)[0]
    return re.split(r"(?<=[a-z\]])\. |\. (?=[A-Z])", line, maxsplit=2)
