"""Whether a failure under a switch is the one without it, or tells more."""

from whet.core.failure import Failure, FailureKind

_SAYS_LITTLE = frozenset(
    {FailureKind.SIGNAL, FailureKind.EXIT, FailureKind.TIMEOUT, FailureKind.OUT_OF_MEMORY}
)


def tells_more(before: Failure | None, now: Failure) -> bool:
    """Whether a failure tells more than it did: an exception for a crash, a line for none.

    The same exception from another line counts: a switch that makes things happen in order
    moves an error to where it belongs.
    """
    if before is None:
        return False
    says_more = before.kind in _SAYS_LITTLE and now.kind not in _SAYS_LITTLE
    has_place = not _own_place(before) and bool(_own_place(now))
    is_moved = (
        before.signature.exception == now.signature.exception != ""
        and _own_place(before) != _own_place(now) != ""
    )
    return says_more or has_place or is_moved


def is_same_crash(before: Failure | None, now: Failure | None) -> bool:
    """Whether the same signal has ended both, at the same line of the user's."""
    if before is None or now is None or not before.signature.signal:
        return False
    is_same_signal = before.signature.signal == now.signature.signal
    return is_same_signal and _own_place(before) == _own_place(now) != ""


def is_told_alike(before: Failure | None, now: Failure | None) -> bool:
    """Whether a reader sees the same twice: error, message and line.

    What a library adds in later lines depends on switches, as CUDA's advice to turn one.
    """
    if before is None or now is None or before.signature.exception != now.signature.exception:
        return False
    return before.summary == now.summary and _own_place(before) == _own_place(now) != ""


def _own_place(failure: Failure) -> str:
    place = failure.place
    return f"{place.path}:{place.line}" if place is not None and place.in_user_code else ""
