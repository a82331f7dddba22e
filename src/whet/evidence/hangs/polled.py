"""What a program tries again and again until its time runs out: to find, make or lock a file, or to connect."""

from collections.abc import Iterator
from enum import Enum

from whet.core.failure import Frame
from whet.core.observations.system_call import AddressUse, PathFacts, SystemCalls
from whet.core.value_class import value_class
from whet.evidence.calls.usual_calls import is_asked_for

_LEAST_LOOKS, _MOST_PATHS = 4, 2
_OWN_ADDRESSES = ("127.", "[::1]:")
_OF_KERNEL = ("/proc/", "/sys/")
"""The kernel makes what is there: no program waits until it is made or deleted."""

_LAST_SECONDS = 1.5
"""Who polls less often than this is not seen to poll."""


class Wish(Enum):
    """What a program tries to do with a file again and again."""

    FIND = "look for it"
    MAKE = "make it"
    LOCK = "lock it"


_WISHES = {
    "ENOENT": (False, Wish.FIND),
    "EEXIST": (True, Wish.MAKE),
    "EAGAIN": (True, Wish.LOCK),
    "EACCES": (True, Wish.LOCK),
}
_LOCKS = frozenset({"flock", "fcntl"})


@value_class(kw_only=True)
class PolledPath:
    """A path at which a program looked until it was ended, with the same answer each time.

    Attributes:
        path: where it is.
        is_there: the program found it each time.
        wish: what the program tried to do with it.
        frame: the program's own line that looked.
        facts: on a path that isn't there; None: they aren't known.
    """

    path: str
    is_there: bool
    wish: Wish
    frame: Frame
    facts: PathFacts | None = None


def polled_paths(calls: SystemCalls) -> tuple[PolledPath, ...]:
    """Return the paths at which a program looked until it was ended; none, if they are many.

    Args:
        calls: of a run that whet ended.
    """
    polled = tuple(each for each in _polled(calls) if not each.path.startswith(_OF_KERNEL))
    return polled if len(polled) <= _MOST_PATHS else ()


def tried_addresses(calls: SystemCalls) -> tuple[AddressUse, ...]:
    """Return the addresses of this machine to which a program connected again and again, one for each port.

    Those at which it listens itself are left out.
    """
    bound = {_port(each.address) for each in calls.addresses if each.call == "bind"}
    found = {
        _port(each.address): each
        for each in reversed(calls.addresses)
        if each.call == "connect"
        and each.count >= _LEAST_LOOKS
        and each.address.startswith(_OWN_ADDRESSES)
    }
    return tuple(each for port, each in found.items() if port not in bound)


def _port(address: str) -> str:
    return address.rpartition(":")[2]


def _polled(calls: SystemCalls) -> Iterator[PolledPath]:
    for failed in calls.failures:
        is_there, wish = _WISHES.get(failed.error, (False, None))
        path = failed.path.rpartition(" → ")[2]
        seconds, frame = failed.before_end_seconds, _own_frame(failed.frames)
        if wish is None or failed.looked_in or failed.names:
            continue
        if (wish is Wish.LOCK) != (failed.call in _LOCKS):
            continue
        if frame is not None and path.startswith("/") and _lasts(failed.count, seconds):
            yield PolledPath(
                path=path,
                is_there=is_there,
                wish=wish,
                frame=frame,
                facts=failed.facts,
            )
    for look in calls.looks:
        frame = _own_frame(look.frames)
        if frame is not None and _lasts(look.count, look.before_end_seconds):
            yield PolledPath(path=look.path, is_there=True, wish=Wish.FIND, frame=frame)


def _lasts(count: int, before_end_seconds: float | None) -> bool:
    is_late = before_end_seconds is not None and before_end_seconds <= _LAST_SECONDS
    return is_late and count >= _LEAST_LOOKS


def _own_frame(frames: tuple[Frame, ...]) -> Frame | None:
    """Return the line of the program's own that made a call; None: something else did."""
    if not is_asked_for("ENOENT", frames):
        return None
    return next(frame for frame in reversed(frames) if frame.in_user_code)
