"""Arguments, variables and tests: exact minima and calls."""

from collections.abc import Callable, Hashable
from typing import TypeVar

import pytest

from whet.core.verdict import Verdict
from whet.reduction.candidates import never_twice
from whet.reduction.commands.arguments import (
    options_with_all,
    options_with_one,
    reduce_arguments,
)
from whet.reduction.commands.selection import reduce_tests
from whet.reduction.commands.variables import reduce_variables
from whet.search.proposal import Search, run_search
from whet.search.subsets.delta import minimize

CandidateT = TypeVar("CandidateT", bound=Hashable)
ResultT = TypeVar("ResultT")


def told(
    search: Search[CandidateT, ResultT], fails: Callable[[CandidateT], bool]
) -> tuple[ResultT, list[CandidateT]]:
    """Run a search; return its result and what it asked, none of it twice."""
    asked: list[CandidateT] = []

    def test(candidate: CandidateT) -> Verdict:
        asked.append(candidate)
        return Verdict.BAD if fails(candidate) else Verdict.GOOD

    result = run_search(search, test)
    assert len(set(asked)) == len(asked)
    return result, asked


def value_of(option: str, command: tuple[str, ...]) -> str:
    """Return the word behind an option, or what follows `=`; empty if it is not there."""
    for index, word in enumerate(command):
        if word == option:
            return "".join(command[index + 1 : index + 2])
        if word.startswith(f"{option}="):
            return word.partition("=")[2]
    return ""


LONG = ("prog", "train", "--lr", "0.1", "--epochs", "12", "--files", "a", "b", "c", "--name=hello world",
        "-v", "--seed", "4711")  # fmt: skip


@pytest.mark.parametrize(
    ("command", "fails", "smallest", "calls"),
    [
        (LONG, lambda _: True, "prog", 1),
        (LONG, lambda c: "-v" in c, "prog -v", 11),
        (LONG, lambda c: "train" in c and "-v" in c, "prog train -v", 19),
        (LONG, lambda c: value_of("--epochs", c).isdigit() and int(value_of("--epochs", c)) > 5,
         "prog --epochs 6", 15),
        (LONG, lambda c: "e" in value_of("--name", c), "prog --name=e", 20),
        (LONG, lambda c: "b" in c, "prog b", 14),
        (LONG, lambda c: len(c) == len(LONG), "prog train --lr  --epochs  --files a b c --name= -v --seed ", 65),
        (("prog", "--shift", "-1"), lambda c: "-1" in c, "prog -1", 9),
        (("prog", "--out", "/tmp/some/where"), lambda c: "/" in value_of("--out", c),
         "prog --out /tmp/some/where", 3),
    ],
)  # fmt: skip
def test_the_shortest_command(
    command: tuple[str, ...], fails: Callable[[tuple[str, ...]], bool], smallest: str, calls: int
) -> None:
    found, asked = told(reduce_arguments(command, 1), fails)

    assert " ".join(found) == smallest
    assert len(asked) <= calls
    for each in asked:
        assert each[0] == "prog"


def test_an_option_goes_with_what_follows_it() -> None:
    words = ("in.txt", "--files", "a", "b", "--n", "-1", "--flag", "--x=1")

    assert options_with_all(words) == [
        ("in.txt",), ("--files", "a", "b"), ("--n", "-1"), ("--flag",), ("--x=1",),
    ]  # fmt: skip
    assert options_with_one(words) == [
        ("in.txt",), ("--files", "a"), ("b",), ("--n", "-1"), ("--flag",), ("--x=1",),
    ]  # fmt: skip


def test_variables_go_back_to_a_clean_environment_and_then_go() -> None:
    clean = {"HOME": "/home/ada", "PATH": "/usr/bin:/bin"}
    environment = {
        "HOME": "/elsewhere", "PATH": "/opt/x/bin:/opt/y/bin:/usr/bin:/bin", "MODE": "debugging all",
        **{f"V{number}": "x" for number in range(40)},
    }  # fmt: skip

    found, asked = told(
        reduce_variables(environment, clean),
        lambda v: "HOME" in dict(v) and "/opt/y/bin" in dict(v).get("PATH", "").split(":")
        and "g" in dict(v).get("MODE", ""),
    )  # fmt: skip

    assert found == (("HOME", "/home/ada"), ("MODE", "g"), ("PATH", "/opt/y/bin"))
    assert len(asked) <= 45


def test_a_secret_is_never_cut() -> None:
    found, asked = told(
        reduce_variables({"A": "x", "TOKEN": "abcdef"}, {}, {"TOKEN"}),
        lambda v: "TOKEN" in dict(v),
    )

    assert found == (("TOKEN", "abcdef"),)
    assert {dict(each).get("TOKEN", "abcdef") for each in asked} == {"abcdef"}


def test_no_variable_matters() -> None:
    found, asked = told(reduce_variables({"A": "x", "B": "y"}, {"A": "z"}), lambda _: True)

    assert found == ()
    assert len(asked) == 2


TESTS = tuple(f"test_{number}" for number in range(200))


def test_a_test_that_fails_alone_takes_one_call() -> None:
    assert told(reduce_tests(TESTS, "test_150"), lambda t: "test_150" in t) == (
        ("test_150",), [("test_150",)],
    )  # fmt: skip


def test_the_one_test_that_spoils_it() -> None:
    found, asked = told(
        reduce_tests(TESTS, "test_150"), lambda t: t[-1] == "test_150" and "test_77" in t
    )

    assert found == ("test_77", "test_150")
    assert asked[:2] == [("test_150",), TESTS[:151]]
    assert len(asked) <= 14


def test_two_tests_in_their_order() -> None:
    found, asked = told(
        reduce_tests(TESTS, "test_150"), lambda t: {"test_9", "test_77"} <= set(t[:-1])
    )

    assert found == ("test_9", "test_77", "test_150")
    assert len(asked) <= 40


def test_what_is_imported_for_a_later_test_may_matter() -> None:
    found, _ = told(reduce_tests(TESTS, "test_150"), lambda t: {"test_150", "test_199"} <= set(t))

    assert found == ("test_150", "test_199")


def test_a_failure_that_the_tests_do_not_explain_ends_the_search() -> None:
    found, asked = told(reduce_tests(TESTS, "test_150"), lambda _: False)

    assert found is None
    assert len(asked) == 3


def test_nothing_is_asked_twice_and_the_search_learns_what_is_known() -> None:
    def search() -> Search[int, int]:
        verdicts = yield [1, 2, 1]
        assert verdicts == [Verdict.GOOD, Verdict.GOOD, Verdict.GOOD]
        verdicts = yield [2, 3, 4]
        assert verdicts == [Verdict.GOOD, Verdict.BAD]
        verdicts = yield [3, 0]
        assert verdicts == [Verdict.GOOD, Verdict.GOOD]
        return 3

    assert told(never_twice(search(), 0), lambda number: number == 3) == (3, [1, 2, 3])
    assert minimize(0) is not None
