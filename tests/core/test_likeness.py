"""When failures of two versions count as one bug, and when they do not."""

from dataclasses import replace

import pytest

from whet.core.failure import Failure, FailureKind, FailureSignature, Frame
from whet.core.likeness import likeness, tells_of_itself
from whet.core.site import Site


def failure(
    exception: str = "",
    message: str = "",
    frame: str = "",
    *,
    kind: FailureKind = FailureKind.EXCEPTION,
    causes: tuple[str, ...] = (),
    exit_code: int | None = None,
) -> Failure:
    file, _, function = frame.partition(":")
    frames = (Frame(path=file, line=3, function=function, in_user_code=True),) if frame else ()
    signature = FailureSignature(
        kind=kind, exception=exception, message=message, user_function=frame,
        causes=causes, exit_code=exit_code,
    )  # fmt: skip
    return Failure(signature=signature, summary=f"{exception}: {message}", frames=frames)


KNOWN = failure("PriceError", "the total does not fit the count", "shop/sums.py:total")


@pytest.mark.parametrize(
    ("met", "way"),
    [
        (failure("PriceError", "off by one", "shop/sums.py:total"), "in the same frame, reworded"),
        (
            failure("AssertionError", "wrong", "shop/sums.py:total"),
            "same frame, AssertionError became PriceError",
        ),
        (
            failure("PriceError", "the total does not fit the count", "old.py:fits"),
            "the same PriceError and text, moved from old.py:fits to shop/sums.py:total",
        ),
        (
            failure("OrderError", "cannot ship", "main.py:ship", causes=("PriceError",)),
            "PriceError on one side, OrderError raised from PriceError on the other",
        ),
        (
            failure("Total", "total does not fit this count", "old.py:fits"),
            "the same text, in another kind of failure",
        ),
    ],
)
def test_what_was_renamed_reworded_moved_or_wrapped_is_alike_and_told_so(
    met: Failure, way: str
) -> None:
    assert likeness(KNOWN, met).endswith(way)


@pytest.mark.parametrize(
    "met",
    [
        failure("AttributeError", "no such name", "shop/sums.py:total"),
        failure("KeyError", "'region'", "shop/settings.py:<module>"),
        failure("ModuleNotFoundError", "no module", "check.py:run", kind=FailureKind.BROKEN_IMPORT),
        failure(message="the disk is full", kind=FailureKind.EXIT, exit_code=2),
        failure("ValueError", "empty name", "people.py:load"),
    ],
)
def test_a_failure_with_another_class_frame_and_text_is_not_alike(met: Failure) -> None:
    assert likeness(KNOWN, met) == ""


def test_an_import_that_fails_never_stands_for_a_failure_of_the_program() -> None:
    broken = failure(
        "ImportError", KNOWN.signature.message, "shop/sums.py:total",
        kind=FailureKind.BROKEN_IMPORT,
    )  # fmt: skip

    assert likeness(KNOWN, broken) == ""
    assert not tells_of_itself(broken)


def test_another_exit_code_with_another_text_is_not_alike() -> None:
    first = failure(message="total is off", kind=FailureKind.EXIT, exit_code=1)
    alike = failure(message="FAILED", kind=FailureKind.EXIT, exit_code=1)
    other = failure(message="FAILED", kind=FailureKind.EXIT, exit_code=3)

    assert likeness(first, alike) == "the same exit code 1, another text"
    assert likeness(first, other) == ""


def test_a_bare_assertion_that_moved_is_known_by_its_operation() -> None:
    known = failure("AssertionError", "", "shop/sums.py:total", kind=FailureKind.ASSERTION)
    met = failure("AssertionError", "", "old.py:fits", kind=FailureKind.ASSERTION)

    def at(line: str, each: Failure, operation: str) -> Failure:
        return replace(each, site=Site(at=line, operation=operation))

    known = at("shop/sums.py:total:3", known, "assert total == 6")

    assert "by the same operation" in likeness(known, at("old.py:fits:9", met, "assert total == 6"))
    assert likeness(known, at("old.py:fits:9", met, "assert names")) == ""
