"""What a copy takes along that a fork alone would not: threads that sleep; memory and pipes of its own.

Standard library only, Python 3.9 or later.
"""

from __future__ import annotations

from .freeze import fork_away
from .kernel_calls import KernelCalls, write_at
from .memory import bytes_at

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from .descriptors import OwnPipe
    from .sleepers import Sleepers

# asm-generic/mman-common.h
_READ_WRITE, _SHARED, _FIXED, _ANONYMOUS, _NO_FILE = 3, 1, 0x10, 0x20, -1
_HALF = (1 << 32) - 1


class Taken:
    """What one copy takes along, and each that runs on from it.

    Attributes:
        sleepers: threads; None: there are none, or none that a fork would lose.
    """

    def __init__(
        self,
        sleepers: Sleepers | None = None,
        shared: Sequence[tuple[int, int]] = (),
        pipes: Sequence[OwnPipe] = (),
    ) -> None:
        """Note it, in the original.

        Args:
            sleepers: threads that sleep.
            shared: where memory is that would be shared with the original, from and to.
            pipes: those of which nobody else has an end.
        """
        self._pipes = pipes
        self.sleepers = sleepers
        self._shared = shared

    def fork_away(self) -> int:
        """Fork as `freeze.fork_away` does.

        Raises:
            OSError: if there can be no other process.
        """
        return fork_away() if self.sleepers is None else self.sleepers.fork_away()

    def capture(self) -> str:
        """Take it over, in the copy, while the original waits; return why that cannot be."""
        try:
            self._renew()
            return "" if self.sleepers is None else self.sleepers.capture()
        except OSError as error:
            return str(error)

    def wake(self) -> None:
        """Have it, in a copy that runs on.

        Raises:
            OSError: if it cannot be had.
        """
        self._renew()
        if self.sleepers is not None:
            self.sleepers.wake()

    def _renew(self) -> None:
        """Put memory and pipes of this process, and of its children to come, in their place."""
        for pipe in self._pipes:
            pipe.renew()
        if not self._shared:
            return
        calls = KernelCalls()
        kinds = _SHARED | _FIXED | _ANONYMOUS
        for start, end in self._shared:
            held = bytes_at(start, end)
            got = calls.at(calls.find("mmap"), start, end - start, _READ_WRITE, kinds, _NO_FILE, 0)
            if got & _HALF != start & _HALF:
                raise OSError("memory that was shared cannot be had")
            write_at(start, held)
