"""What doesn't fit is refused before anything is allocated."""

from whet.core.errors import NotEnoughMemory
from whet.core.text.quantity import shown_bytes

_COPIES = 2
"""The payload, and the file that it goes into."""


def check_memory(size_bytes: int, what: str) -> None:
    """Refuse what doesn't fit.

    Raises:
        NotEnoughMemory: if the machine has less left.
    """
    from whet.host.files.memory import memory_left

    left = memory_left().available_bytes
    if left and size_bytes * _COPIES > left:
        raise NotEnoughMemory(
            f"{what} takes {shown_bytes(size_bytes)}, and {shown_bytes(left)} of memory are left",
            hint=f"make it smaller: whet needs room for it twice, so up to {shown_bytes(left // _COPIES)}",
        )
