"""What was seen of a failure points at the line of its cause, and at no other."""

import json
from pathlib import Path
from types import CodeType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.agent.site.whet_state.raised import capture
from whet.core.failure import Failure, FailureKind, FailureSignature, Frame
from whet.core.observations.clue import Clue, Placing, Sureness
from whet.core.text.record import JsonObject
from whet.evidence.clues.closer_look import (
    descriptor_clues,
    foreign_clues,
    lock_clues,
    suspects_in,
)
from whet.evidence.clues.overriding import overriding_clues
from whet.evidence.clues.raised_before import raised_clues
from whet.evidence.variables.kept_failure import KeptFailure, kept_failures

AT = Placing("/p")


def place(line: int, function: str = "f", path: str = "/p/a.py") -> list[object]:
    return [path, line, function]


# ---- locks ----


@given(st.permutations(range(6)), st.integers(min_value=2, max_value=6))
def test_each_thread_of_a_circle_is_told_once_and_no_other(order: list[int], length: int) -> None:
    threads = [f"t{number}" for number in order]
    told: list[JsonObject] = [
        {
            "kind": "waits", "pid": 1, "thread": name, "place": place(number + 1),
            "holder": threads[(number + 1) % length] if number < length else threads[0],
            "taken": place(100 + number),
        }
        for number, name in enumerate(threads)
    ]  # fmt: skip
    # The circle is found from wherever one begins to look.
    clues = list(lock_clues(told[:length] + told[length:], AT))
    assert sorted(clue.line for clue in clues) == list(range(1, length + 1))


def test_a_lock_that_its_own_thread_holds_is_told() -> None:
    told: list[JsonObject] = [
        {"kind": "waits", "pid": 1, "thread": "main", "place": place(9), "holder": "main",
         "taken": place(4)}
    ]  # fmt: skip
    (clue,) = lock_clues(told, AT)
    assert (clue.line, "a.py:4" in clue.says) == (9, True)
    assert clue.sureness is Sureness.SEEN


def test_a_wait_for_a_thread_that_goes_on_is_only_possible() -> None:
    told: list[JsonObject] = [
        {"kind": "waits", "pid": 1, "thread": "main", "place": place(9), "holder": "worker",
         "idents": [1, 2], "taken": place(4)}
    ]  # fmt: skip
    (clue,) = lock_clues(told, AT)
    assert clue.sureness is Sureness.POSSIBLE


def test_a_lock_of_a_thread_that_is_not_here_is_told_where_it_was_taken() -> None:
    told: list[JsonObject] = [
        {"kind": "waits", "pid": 1, "thread": "main", "place": place(9), "holder": "1399900",
         "idents": [1, 1399900], "taken": place(4)}
    ]  # fmt: skip
    (clue,) = lock_clues(told, AT)
    assert (clue.line, clue.sureness) == (4, Sureness.SEEN)
    assert "1399900" not in clue.says
    assert "a.py:9" in clue.says


def test_threads_of_one_name_are_not_taken_for_one_thread() -> None:
    told: list[JsonObject] = [
        {"kind": "waits", "pid": 1, "thread": "w", "place": place(6), "holder": "MainThread",
         "taken": place(10), "idents": [7, 5]},
        {"kind": "waits", "pid": 1, "thread": "w", "place": place(9), "holder": "w",
         "taken": place(4), "idents": [8, 7]},
    ]  # fmt: skip
    clues = list(lock_clues(told, AT))
    assert sorted(clue.line for clue in clues) == [6, 9]
    assert not any("each other" in clue.says for clue in clues)


# ---- descriptors ----


def test_whoever_holds_most_descriptors_is_told() -> None:
    holders = [
        {"place": place(3), "count": 60, "such_as": "/tmp/x"},
        {"place": place(8), "count": 2, "such_as": "/tmp/y"},
    ]
    (clue,) = descriptor_clues([{"kind": "descriptors", "total": 64, "holders": holders}], AT)
    assert clue.line == 3
    assert "60 of 64" in clue.says


# ---- C functions ----


def call(name: str, line: int, **facts: object) -> JsonObject:
    plain = {"declares": [False, False], "values": [], "result": None, "over": True}
    return {"kind": "call", "function": name, "place": place(line), **plain, **facts}


def test_a_cut_result_is_told_where_it_was_made() -> None:
    calls = [
        call("fopen", 4, result=271_395_264),
        call("fgets", 7, values=[None, 4096, 271_395_264], over=False),
    ]
    (clue,) = foreign_clues(calls, AT)
    assert clue.line == 4
    assert "a.py:7" in clue.says


def test_a_size_is_no_address_that_was_cut() -> None:
    calls = [
        call("atoi", 4, result=100_000),
        call("memset", 7, values=[None, 0, 100_000], over=False),
    ]
    (clue,) = foreign_clues(calls, AT)
    assert (clue.line, "restype" in clue.says) == (7, False)


def test_a_declared_result_is_not_blamed() -> None:
    calls = [
        call("make", 4, result=271_395_264, declares=[True, True]),
        call("use", 7, values=[271_395_264], over=False),
    ]
    (clue,) = foreign_clues(calls, AT)
    assert clue.line == 7


def test_a_call_that_came_back_did_not_crash() -> None:
    assert list(foreign_clues([call("strlen", 4)], AT)) == []


# ---- what threads share ----


def test_each_line_that_writes_what_was_read_is_suspected_once() -> None:
    one: JsonObject = {"kind": "unguarded", "name": "self.n", "read": place(2), "write": place(3)}
    (suspect,) = suspects_in([one, one])
    assert (suspect.read.number, suspect.write.number) == (2, 3)


# ---- errors that came before ----

SWALLOWED = """\
def load():
    try:
        return int("x")
    except {kind}:
        {deed}
"""


def raised(number: int, line: int, kind: str, function: str) -> JsonObject:
    return {
        "kind": "raised", "pid": 1, "number": number, "type": kind, "message": "m",
        "place": place(line, function), "inside": "", "thread": "",
    }  # fmt: skip


def told_of(source: str) -> list[Clue]:
    told = [raised(0, 3, "ValueError", "load"), raised(1, 20, "KeyError", "main")]
    frame = Frame(path="/p/a.py", line=20, function="main", in_user_code=True)
    signature = FailureSignature(kind=FailureKind.EXCEPTION, exception="KeyError")
    failure = Failure(signature=signature, summary="KeyError: 'a'", frames=(frame,))
    return raised_clues(told, failure, AT, lambda _: source)


@pytest.mark.parametrize(
    ("kind", "deed"),
    [("Exception", "return None"), ("", "pass"), ("ValueError", "raise KeyError from None")],
)
def test_an_error_that_was_dropped_or_replaced_is_told(kind: str, deed: str) -> None:
    (clue,) = told_of(SWALLOWED.format(kind=kind, deed=deed))
    assert clue.line == 3
    assert "a.py:4" in clue.says


def test_an_error_that_was_expected_is_not_told() -> None:
    assert told_of(SWALLOWED.format(kind="ValueError", deed="return 0")) == []


def test_an_error_that_nobody_caught_is_told() -> None:
    (clue,) = told_of("def load():\n    x = 1\n    return int('x')\n")
    assert clue.line == 3
    assert clue.says.endswith("no `except` in your code has caught it")


def test_a_with_around_an_error_that_no_except_has_caught_is_named() -> None:
    (clue,) = told_of("def load():\n    with quiet():\n        return int('x')\n")
    assert clue.says.endswith(
        "no `except` in your code has caught it; the `with` at a.py:2 may have"
    )
    assert clue.sureness is Sureness.POSSIBLE


@pytest.mark.parametrize(
    ("kind", "method", "told"),
    [
        ("IndexError", "Pages.__getitem__", 0),
        ("StopIteration", "Pages.__next__", 0),
        ("AttributeError", "Pages.__getattr__", 0),
        ("ValueError", "Pages.__getitem__", 1),
        ("IndexError", "Pages.page", 1),
    ],
)
def test_an_error_with_which_a_method_ends_a_loop_is_not_told(
    kind: str, method: str, told: int
) -> None:
    source = "class Pages:\n    def page(self, number):\n        return self.pages[number]\n"
    found = raised_clues([raised(0, 3, kind, method)], None, AT, lambda _: source)
    assert len(found) == told


RETRY = """\
def fetch(get, {names}):
    for {names} in range(3):
        try:
            {done}
        except Exception as error:
            last = error
    raise KeyError(last)
"""


@pytest.mark.parametrize(
    ("names", "done", "order"),
    [
        ("attempt", "return get()", [60, 50]),  # the first brought the others
        ("item", "return get(item)", [50, 60]),  # each round does something else
        ("attempt", "get()", [50, 60]),  # a round that succeeds doesn't end it
    ],
)
def test_of_the_errors_of_a_retry_the_first_comes_first(
    names: str, done: str, order: list[int]
) -> None:
    source = RETRY.format(names=names, done=done)
    told: list[JsonObject] = []
    for number, line in enumerate((60, 50)):
        told.append(raised(number, line, "ValueError", "get"))
        told.append({**raised(number, 4, "ValueError", "fetch"), "kind": "passed"})
    found = raised_clues(told, None, AT, lambda _: source)
    assert [clue.line for clue in found] == order


@pytest.mark.parametrize(("call", "sureness"), [(7, Sureness.SEEN), (8, Sureness.POSSIBLE)])
def test_the_first_error_of_a_retry_brought_the_reported_one_of_the_same_call(
    call: int, sureness: Sureness
) -> None:
    source = RETRY.format(names="attempt", done="return get()")
    told: list[JsonObject] = []
    for number, line in enumerate((60, 50)):
        kind, tries = ("ValueError", 7) if number == 0 else ("KeyError", call)
        told.append({**raised(number, line, kind, "get"), "call": 10 + number})
        told.append({**raised(number, 4, kind, "fetch"), "kind": "passed", "call": tries})
    frame = Frame(path="/p/a.py", line=50, function="get", in_user_code=True)
    signature = FailureSignature(kind=FailureKind.EXCEPTION, exception="KeyError")
    failure = Failure(signature=signature, summary="KeyError: 'm'", frames=(frame,))
    (clue,) = raised_clues(told, failure, AT, lambda _: source)
    assert (clue.line, clue.sureness) == (60, sureness)
    assert ("tried again" in clue.says) == (sureness is Sureness.SEEN)


def test_an_error_is_the_cause_only_where_its_own_handler_raised_the_failure() -> None:
    source = SWALLOWED.format(kind="ValueError", deed="raise KeyError from None")
    handler = source.splitlines().index("        raise KeyError from None") + 1
    for line, sureness in ((handler, Sureness.SEEN), (handler + 9, Sureness.POSSIBLE)):
        told = [raised(0, 3, "ValueError", "load"), raised(1, line, "KeyError", "load")]
        frame = Frame(path="/p/a.py", line=line, function="load", in_user_code=True)
        signature = FailureSignature(kind=FailureKind.EXCEPTION, exception="KeyError")
        failure = Failure(signature=signature, summary="KeyError", frames=(frame,))
        clue = raised_clues(told, failure, AT, lambda _: source)[0]
        assert clue.sureness is sureness


@pytest.mark.parametrize(("code", "told"), [("", 0), ("0", 0), ("3", 1)])
def test_a_child_that_ended_well_is_no_error_that_came_before(code: str, told: int) -> None:
    ended = {**raised(0, 2, "SystemExit", "child"), "message": code}
    source = "def child():\n    sys.exit()\n"
    assert len(raised_clues([ended], None, AT, lambda _: source)) == told


def test_an_error_that_a_return_at_the_end_drops_is_not_said_to_be_caught_by_nobody() -> None:
    source = "def f():\n    try:\n        g()\n    finally:\n        return None\n"
    (clue,) = raised_clues([raised(0, 3, "ValueError", "f")], None, AT, lambda _: source)
    assert clue.says.endswith("caught and dropped at a.py:5")


def test_what_came_after_the_failure_is_not_told() -> None:
    frame = Frame(path="/p/a.py", line=3, function="load", in_user_code=True)
    signature = FailureSignature(kind=FailureKind.EXCEPTION, exception="ValueError")
    failure = Failure(signature=signature, summary="ValueError", frames=(frame,))
    told = [raised(0, 3, "ValueError", "load"), raised(1, 20, "KeyError", "cleanup")]
    assert raised_clues(told, failure, AT, lambda _: "") == []


# ---- who overrides whom ----

BASE = """\
class Base:
    def __init__(self):
        self.rate = 1

    def run(self, row):
        return self.step(row) + self.rate

    def step(self, row):
        return row

"""


def failure_of(source: str, folder: Path) -> KeptFailure:
    """Run a program, and return its failure as the agent keeps it."""
    path = folder / "program.py"
    path.write_text(source)
    code: CodeType = compile(source, str(path), "exec")
    with pytest.raises((TypeError, AttributeError)) as raised_by_it:
        exec(code, {"__name__": "program"})
    (line,) = capture(raised_by_it.value, "main", "")
    kept = {"failures": [json.loads(line)], "sources": {str(path): source}}
    (failure,) = kept_failures(json.dumps(kept).encode())
    return failure


def overriding(source: str, folder: Path) -> list[int]:
    failure = failure_of(source, folder)
    return [clue.line for clue in overriding_clues(failure, failure.error, Placing(str(folder)))]


def test_a_method_that_takes_the_place_of_another_is_told(tmp_path: Path) -> None:
    mixed = "class Mixin:\n    def step(self, name): pass\n\nclass Both(Mixin, Base): pass\n"
    assert overriding(f"{BASE}{mixed}Both().run(1)", tmp_path) == [12]


def test_an_override_that_calls_what_it_overrides_is_not_told(tmp_path: Path) -> None:
    mixed = "class More(Base):\n    def step(self, row): return super().step(row) + None\n"
    assert overriding(f"{BASE}{mixed}More().run(1)", tmp_path) == []


def test_an_abstract_method_is_there_to_be_overridden(tmp_path: Path) -> None:
    base = BASE.replace("return row\n", "raise NotImplementedError\n")
    mixed = "class More(Base):\n    def step(self, row): return None\n"
    assert overriding(f"{base}{mixed}More().run(1)", tmp_path) == []


def test_the_override_that_leaves_out_what_sets_an_attribute_is_told(tmp_path: Path) -> None:
    mixed = "class Own(Base):\n    def __init__(self):\n        self.mine = 2\n\n"
    assert overriding(f"{BASE}{mixed}Own().run(1)", tmp_path) == [12]


def test_a_method_of_another_object_on_the_way_is_not_the_one_that_is_called(
    tmp_path: Path,
) -> None:
    other = (
        "class Other:\n    def run(self): return self.step()\n    def step(self): return 1 + None\n"
    )
    mixed = "class More(Base):\n    def step(self, row): return Other().run()\n"
    assert overriding(f"{BASE}{other}{mixed}More().step(1)", tmp_path) == []


def test_a_call_inside_of_a_list_in_a_method_is_one_of_that_method(tmp_path: Path) -> None:
    base = BASE.replace(
        "return self.step(row) + self.rate", "return [self.step(each) for each in row]"
    )
    mixed = "class Mixin:\n    def step(self, name): return name + None\n\nclass Both(Mixin, Base): pass\n"
    assert overriding(f"{base}{mixed}Both().run([1])", tmp_path) == [12]


def test_an_attribute_that_is_set_in_one_case_only_is_not_said_to_be_set_by_what_did_not_run(
    tmp_path: Path,
) -> None:
    source = "class Own:\n    def __init__(self, sure):\n        if sure:\n            self.mine = 2\n\nOwn(False).mine\n"
    failure = failure_of(source, tmp_path)
    (clue,) = overriding_clues(failure, failure.error, Placing(str(tmp_path)))
    assert (
        clue.says
        == "`self.mine` is set in `Own.__init__` at program.py:4, but it's missing when the program asks for it: that line didn't run for this object, or something deleted it"
    )


# ---- how they are said ----


def test_the_failure_of_a_test_is_not_told_as_what_came_before_it() -> None:
    frame = Frame(path="/p/a.py", line=20, function="main", in_user_code=True)
    signature = FailureSignature(kind=FailureKind.TEST_FAILURE)
    failure = Failure(signature=signature, summary="test_a - assert 1 == 2", frames=(frame,))
    told = [raised(0, 20, "AssertionError", "main")]
    assert raised_clues(told, failure, AT, lambda _: "x = 1\n") == []


def test_what_other_tests_raised_was_told_by_the_runner() -> None:
    frame = Frame(path="/p/a.py", line=20, function="test_b", in_user_code=True)
    signature = FailureSignature(kind=FailureKind.TEST_FAILURE, exception="AssertionError")
    failure = Failure(signature=signature, summary="test_b - assert 1 == 2", frames=(frame,))
    told = [
        raised(0, 3, "AssertionError", "test_that_is_known_to_fail"),
        raised(1, 5, "Skipped", "needs_a_server"),
        raised(2, 9, "ValueError", "TestOwn.test_a"),
        {**raised(3, 12, "OSError", "test_in_a_thread"), "thread": "worker"},
        raised(4, 15, "KeyError", "job_of_a_pool"),
        raised(5, 20, "AssertionError", "test_b"),
    ]
    clues = raised_clues(told, failure, AT, lambda _: "x = 1\n")
    assert [clue.line for clue in clues] == [15, 12]


def test_a_shortage_is_told_also_where_its_kind_of_error_was_expected() -> None:
    told = [{**raised(0, 3, "OSError", "load"), "message": "No space left on device: /tmp/x"}]
    source = SWALLOWED.format(kind="OSError", deed="return None")
    assert [clue.line for clue in raised_clues(told, None, AT, lambda _: source)] == [3]


# What catches `ValueError` from the body of the first function, and as it was meant to.
MEANT = (
    "try:\n        return int('x')\n    except KeyError:\n        return 1\n    except Exception as error:\n        return error",
    "try:\n        return int('x')\n    except KeyError:\n        return 1\n    except (OSError, ValueError):\n        return 2",
    "try:\n        return int('x')\n    except* ValueError:\n        pass",
    "with suppress(ValueError):\n        return int('x')",
    "with contextlib.suppress(KeyError, ValueError), lock:\n        return int('x')",
    "with pytest.raises(ValueError, match='x'):\n        return int('x')",
    "with self.assertRaises(ValueError):\n        return int('x')",
    "try:\n        return int('x')\n    except KeyError:\n        return 1\n    except own.Problem:\n        return 2",
)


@pytest.mark.parametrize("body", MEANT)
def test_an_error_that_may_have_been_meant_to_come_is_not_told(body: str) -> None:
    assert told_of(f"def load():\n    {body}\n") == []


def test_an_error_whose_base_class_is_caught_was_expected() -> None:
    told = [raised(0, 3, "KeyError", "load")]
    handlers = (
        "    except IndexError:\n        return 1\n    except LookupError:\n        return 2\n"
    )
    source = f"def load():\n    try:\n        return d['a']\n{handlers}"
    assert raised_clues(told, None, AT, lambda _: source) == []


def test_a_group_that_is_taken_apart_was_expected() -> None:
    source = "def load():\n    try:\n        raise group\n    except* ValueError:\n        pass\n"
    told = [raised(0, 3, "ExceptionGroup", "load")]
    assert raised_clues(told, None, AT, lambda _: source) == []


@pytest.mark.parametrize(
    "body",
    [
        "with suppress(Exception):\n        return int('x')",
        "with suppress(KeyError):\n        return int('x')",
        "try:\n        return int('x')\n    except KeyError:\n        return 1",
    ],
)
def test_what_drops_everything_or_catches_something_else_hides_no_error(body: str) -> None:
    assert [clue.line for clue in told_of(f"def load():\n    {body}\n")] == [3]


def test_the_failure_of_a_test_is_known_again_by_a_relative_path() -> None:
    frame = Frame(path="tests/../a.py", line=20, function="main", in_user_code=True)
    signature = FailureSignature(kind=FailureKind.TEST_FAILURE, exception="AssertionError")
    failure = Failure(signature=signature, summary="test_a - assert 1 == 2", frames=(frame,))
    told = [raised(0, 20, "AssertionError", "main")]
    assert raised_clues(told, failure, AT, lambda _: "x = 1\n") == []
