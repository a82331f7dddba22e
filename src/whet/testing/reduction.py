"""Conformance kits for formats and reduction passes."""

import hashlib
from collections.abc import Callable, Iterable
from typing import TypeVar

from whet.core.verdict import Verdict
from whet.reduction.order import TEXT, Order
from whet.reduction.reduction_pass import Format, ReductionPass
from whet.search.proposal import run_search

ViewT = TypeVar("ViewT")
Judge = Callable[[bytes], Verdict]


def check_format(format_: Format[ViewT], payloads: Iterable[bytes]) -> None:
    """Check the promises of a format on examples, at least one of which is of it.

    Args:
        format_: what is checked.
        payloads: of the format or not.
    """
    parsed = 0
    for payload in payloads:
        view = format_.parse(payload)
        if view is None:
            assert format_.parse(payload) is None, "to be of a format is decided by the bytes"
            continue
        parsed += 1
        assert format_.parse(payload) == view, "a payload has one view"
    assert parsed, f"no example is `{format_.name}`"


def check_pass(
    reduction_pass: ReductionPass[bytes],
    payloads: Iterable[bytes],
    *,
    is_valid: Callable[[bytes], bool] = lambda _payload: True,
    order: Order = TEXT,
) -> None:
    """Check the promises of a pass on examples, with oracles that agree, refuse and are odd.

    Args:
        reduction_pass: what is checked, lifted to payloads with `compose`.
        payloads: examples.
        is_valid: what holds for every candidate of a valid payload, such as being of the
            pass's format.
        order: which of two payloads is better.
    """
    for payload in payloads:
        for judge in (_always, _never, *(_odd(salt) for salt in range(4))):
            first = _candidates(reduction_pass, payload, judge, order)
            again = _candidates(reduction_pass, payload, judge, order)
            assert first == again, "a pass has no memory and no chance in it"
            if is_valid(payload):
                wrong = [each for each in first if not is_valid(each)]
                assert not wrong, f"`{reduction_pass.name}` makes {wrong[0]!r} of {payload!r}"


def _candidates(
    reduction_pass: ReductionPass[bytes], payload: bytes, judge: Judge, order: Order
) -> list[bytes]:
    """Return what the pass proposes; only progress is ever BAD, as in the reducer."""
    proposed: list[bytes] = []
    best = payload

    def test(candidate: bytes) -> Verdict:
        nonlocal best
        proposed.append(candidate)
        verdict = judge(candidate) if order.is_better(candidate, best) else Verdict.GOOD
        if verdict is Verdict.BAD:
            best = candidate
        return verdict

    result = run_search(reduction_pass.search(payload), test)
    assert result == best, "a pass returns the last BAD payload"
    return proposed


def _always(_payload: bytes) -> Verdict:
    return Verdict.BAD


def _never(_payload: bytes) -> Verdict:
    return Verdict.SKIP


def _odd(salt: int) -> Judge:
    """Return an oracle without rhyme or reason, but always of the same opinion."""
    verdicts = list(Verdict)

    def judge(payload: bytes) -> Verdict:
        digest = hashlib.blake2b(payload, salt=bytes([salt])).digest()
        return verdicts[digest[0] % len(verdicts)]

    return judge
