"""A failure that is another one is never told in the very words of the one that was looked for."""

from dataclasses import replace

from whet.core.failure import Failure, FailureKind, FailureSignature, Frame
from whet.evidence.signature.failure_difference import told_apart

WANTED = Failure(
    signature=FailureSignature(kind=FailureKind.EXCEPTION, exception="MemoryError"),
    summary="MemoryError",
    frames=(Frame(path="/a/load.py", line=3, function="load", in_user_code=True),),
)


def test_another_error_is_told_by_its_words() -> None:
    assert told_apart(replace(WANTED, summary="KeyError: 'a'"), WANTED) == "`KeyError: 'a'`"
    assert told_apart(WANTED, None) == "`MemoryError`"


def test_the_same_words_from_elsewhere_are_told_with_both_places() -> None:
    frame = Frame(path="/a/main.py", line=9, function="grow", in_user_code=True)
    assert told_apart(replace(WANTED, frames=(frame,)), WANTED) == (
        "`MemoryError` again, but at main.py:9 in `grow` and not at load.py:3 in `load`"
    )
    assert told_apart(replace(WANTED, frames=()), WANTED) == (
        "`MemoryError` again, but as exception and not at load.py:3 in `load`"
    )


def test_the_same_words_from_the_same_place_are_not_told_alone() -> None:
    assert told_apart(WANTED, WANTED) == "`MemoryError` again, but another detail differs"
