"""What a forked child does to itself before it becomes the program: one function for each step.

It runs between fork and exec, and imports as little as it can. A step that fails raises `OSError`,
and the program doesn't start.
"""

import os

_ANSWER_SECONDS = 10.0

TYPE_CHECKING = False  # importing `typing` would add 5 ms to the start of a spawner
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from whet.host.limits.enforcer import Order


def take(orders: "Sequence[Order]") -> None:
    """Do to this process, in order, what ``orders`` say.

    Raises:
        OSError: if the system refuses one.
    """
    for name, *details in orders:
        _STEPS[str(name)](*details)


def _join(path: str) -> None:
    """Enter a control group, by its file of processes."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(descriptor, b"0")  # the one that writes
    finally:
        os.close(descriptor)


def _limit(number: int, soft: int, hard: int) -> None:
    """Set a resource limit, the one that holds and the one it may be raised to: setrlimit(2)."""
    import resource

    # ValueError is what Python makes of a limit above the hard one that there is already.
    try:
        resource.setrlimit(number, (soft, hard))
    except ValueError as error:
        import errno

        raise OSError(errno.EPERM, str(error)) from error


def _bind(*processors: int) -> None:
    """Run on these processors alone."""
    os.sched_setaffinity(0, processors)


def _say(name: bytes) -> None:
    """Tell a thread of whet's the number of this process, and wait for its answer.

    What can't be reached, from another network, needn't know.
    """
    from whet.host.process.room_reports import connected

    try:
        own = connected(name)
        own.settimeout(_ANSWER_SECONDS)
        own.recv(1)
        own.close()
    except OSError:
        return


def _only_program(*_: object) -> None:
    """Do nothing: a probe needs no room, and its calls are neither held nor followed.

    See `whet.host.spawner.namespace_setup`.
    """


_STEPS: "dict[str, Callable[..., None]]" = {
    "join": _join,
    "limit": _limit,
    "bind": _bind,
    "say": _say,
    "room": _only_program,
    "hold": _only_program,
    "follow": _only_program,
}
