"""What a spawner looks at while a program runs under a limit.

A watch has a descriptor that becomes readable when the kernel has something to say (-1: none),
and is asked at each look at the processes of the trial. What it finds is a `Noted`.
"""

TYPE_CHECKING = False  # importing `typing` would add 5 ms to the start of a spawner
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Protocol, TypeAlias

    from whet.host.ceilings.ceiling import Order

    # the limit, how much there was, the process that it is about: number and name
    Noted: TypeAlias = tuple[str, float, int, str]

    class Watch(Protocol):
        """Looks at one limit of one running trial."""

        descriptor: int

        def look(self, pids: "Sequence[int]") -> "Noted | None":
            """Return what was met: the trial is to be killed. None: nothing so far."""
            ...

        def pause_seconds(self) -> float:
            """Return how soon it wants to look again."""
            ...

        def close(self) -> None:
            """Let go of what it holds."""
            ...


def watch(orders: "Sequence[Order]") -> "list[Watch]":
    """Return what looks at the limits that ``orders`` name."""
    return [_WATCHES[str(name)](*details) for name, *details in orders]


def name_of(pid: int) -> str:
    """Return the name of a process; empty if it is gone."""
    try:
        with open(f"/proc/{pid}/comm", encoding="utf-8", errors="replace") as file:
            return file.read().rstrip("\n")
    except OSError:
        return ""


_WATCHES: "dict[str, Callable[..., Watch]]" = {}
