"""Of the other failures that a shrink meets those are told that are worth reading."""

import json
import pickle

from whet.core.failure import Failure, FailureKind, FailureSignature, Frame
from whet.core.site import Site
from whet.reduction.validity import validity_of
from whet.workbench.shrink.also_found import MOST, OtherFailures


def failed(
    line: int,
    message: str = "bad",
    *,
    exception: str = "ValueError",
    path: str = "load.py",
    function: str = "load",
    kind: FailureKind = FailureKind.EXCEPTION,
) -> Failure:
    signature = FailureSignature(
        kind=kind, exception=exception, message=message, user_function=f"{path}:{function}"
    )
    return Failure(
        signature=signature,
        summary=f"{exception}: {message}",
        frames=(Frame(path=path, line=line, function=function, in_user_code=True),),
        site=Site(at=f"{path}:{function}:{line}"),
    )


ORIGINAL = failed(10)


def told(others: OtherFailures) -> list[str]:
    return [f"{each.summary} at {each.place}" for each in others.worth_reading]


def test_the_same_bug_by_another_wording_is_none_of_them() -> None:
    others = OtherFailures(original=ORIGINAL)

    assert not others.met(failed(10, "worse"), b"a", 1)
    assert others.met(failed(10, "bad", exception="KeyError"), b"a", 2)
    assert others.met(failed(11), b"a", 3)


def test_each_bug_is_told_once_by_the_smallest_payload_that_shows_it() -> None:
    others = OtherFailures(original=ORIGINAL)
    others.met(failed(12, "a is odd"), b"aaa", 1)
    others.met(failed(12, "b is odd"), b"b", 2)
    others.met(failed(12, "c is odd"), b"cc", 3)

    (found,) = others.worth_reading
    assert (found.payload, found.trial) == (b"b", 2)


def test_what_a_parser_of_its_format_refuses_is_none_of_them() -> None:
    payload = json.dumps({"a": 1}).encode()
    others = OtherFailures(original=ORIGINAL, is_valid=validity_of(payload, "x.json"))

    assert not others.met(failed(3, "Expecting value"), b"", 1)
    assert others.met(failed(12, "no a"), b"{}", 2)


def test_there_are_five_at_most_and_those_nearest_in_the_program_come_first() -> None:
    others = OtherFailures(original=ORIGINAL)
    others.met(failed(1, path="other.py", function="run"), b"a", 1)
    others.met(failed(2, function="main"), b"a", 2)
    for line in (40, 30, 20, 15, 12):
        others.met(failed(line), b"a" * line, line)

    assert [each.trial for each in others.worth_reading] == [12, 15, 20, 30, 40]
    assert len(others.worth_reading) == MOST


def test_what_is_no_bug_of_the_program_is_none_of_them() -> None:
    others = OtherFailures(original=ORIGINAL)

    for kind in (FailureKind.USAGE_ERROR, FailureKind.NO_SPACE_LEFT, FailureKind.RESET):
        assert not others.met(failed(20, kind=kind), b"a", 1)
    assert told(others) == []


def test_what_a_script_calls_interesting_is_told_whatever_it_holds() -> None:
    others = OtherFailures(original=None, is_valid=validity_of(b"{}", "x.json"))
    others.exited(101, b"{", 4)

    assert told(others) == ["the script exits 101 at "]


def test_a_lookup_of_what_the_search_has_left_out_is_none_of_them() -> None:
    content = pickle.dumps([{"kind": "a", "size": 12}, {"kind": "b", "size": 3}])
    others = OtherFailures(original=ORIGINAL, content=content)

    without = pickle.dumps([{"size": 12}])
    assert not others.met(failed(12, "'kind'", exception="KeyError"), without, 1)
    assert not others.met(failed(13, 'no field "kind"'), pickle.dumps([]), 2)
    assert not others.met(failed(2, "Ran out of input", exception="EOFError"), b"", 3)
    assert told(others) == []


def test_a_lookup_of_what_the_file_never_had_or_still_has_is_one_of_them() -> None:
    content = pickle.dumps([{"kind": "a", "size": 12}])
    others = OtherFailures(original=ORIGINAL, content=content)

    assert others.met(failed(12, "'colour'", exception="KeyError"), pickle.dumps([]), 1)
    assert others.met(failed(13, "unknown 'kind'"), content, 2)
