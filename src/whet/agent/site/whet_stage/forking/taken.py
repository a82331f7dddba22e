"""What a copy takes along that a fork alone would not: threads that sleep; memory and pipes of its own.

Standard library only, Python 3.9 or later.
"""

from __future__ import annotations

from .descriptors import reopen
from .freeze import fork_away
from .kernel_calls import KernelCalls, write_at
from .memory import bytes_at

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from .descriptors import OpenFile, OwnPipe
    from .memory import SharedMemory
    from .sleepers import Sleepers

# asm-generic/mman-common.h
_READ_WRITE, _SHARED, _FIXED, _ANONYMOUS = 3, 1, 0x10, 0x20
_HALF = (1 << 32) - 1


class Taken:
    """What one copy takes along, and each that runs on from it.

    Attributes:
        sleepers: threads; None: there are none, or none that a fork would lose.
        files: those that are open.
    """

    def __init__(
        self,
        sleepers: Sleepers | None = None,
        shared: Sequence[SharedMemory] = (),
        pipes: Sequence[OwnPipe] = (),
    ) -> None:
        """Note it, in the original.

        Args:
            sleepers: threads that sleep.
            shared: memory that would be shared with the original.
            pipes: those of which nobody else has an end.
        """
        self._pipes = pipes
        self.sleepers = sleepers
        self._shared = shared
        self.files: Sequence[OpenFile] = ()

    def fork_away(self) -> int:
        """Fork as `freeze.fork_away` does.

        Raises:
            OSError: if there can be no other process.
        """
        return fork_away() if self.sleepers is None else self.sleepers.fork_away()

    def capture(self) -> str:
        """Take it over, in the copy, while the original waits; return why that can't be."""
        try:
            self._renew()
            return "" if self.sleepers is None else self.sleepers.capture()
        except OSError as error:
            return str(error)

    def wake(self) -> None:
        """Have it, in a copy that runs on.

        Raises:
            OSError: if it can't be had.
        """
        self._renew()
        if self.sleepers is not None:
            self.sleepers.wake()

    def _renew(self) -> None:
        """Put memory, pipes and files of this process, and of its children to come, in their place.

        The original may lock a file, and the last process that has it unlocks it.
        """
        for pipe in self._pipes:
            pipe.renew()
        reopen(self.files)
        for memory in self._shared:
            held = bytes_at(memory.start, memory.end) if memory.descriptor < 0 else b""
            _map(memory)
            if held:
                write_at(memory.start, held)


def _map(memory: SharedMemory) -> None:
    """Put other memory in its place: that of the open file, or of none."""
    calls = KernelCalls()
    kinds = _SHARED | _FIXED | (_ANONYMOUS if memory.descriptor < 0 else 0)
    size = memory.end - memory.start
    place = (memory.start, size, _READ_WRITE, kinds, memory.descriptor, memory.offset)
    if calls.at(calls.find("mmap"), *place) & _HALF != memory.start & _HALF:
        raise OSError("can't restore shared memory")
