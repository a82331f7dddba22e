"""Test sessions, really run: which tests failed, and how the first of them did."""

import os
import re
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import pytest
from failed_runs import SPECIMENS, outcome_of, run, trial_of

from whet.core.failure import Failure, FailureKind
from whet.evidence.signature.classify import classify

SUITE = SPECIMENS / "suite"
ENVIRONMENT = {
    **{name: value for name, value in os.environ.items() if not name.startswith("PYTEST")},
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
}
PYTEST = (sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-c", os.devnull,
          "--rootdir", ".", "--noconftest")  # fmt: skip


@cache
def failure_of(*command: str) -> Failure:
    failure = classify(trial_of(*command, cwd=SUITE), run(command, SUITE, ENVIRONMENT))
    assert failure is not None
    return failure


def session(*options: str) -> Failure:
    return failure_of(*PYTEST, *options)


@pytest.mark.slow
@pytest.mark.parametrize("style", ["--tb=long", "--tb=short", "--tb=native"])
def test_the_style_of_the_report_does_not_count(style: str) -> None:
    signature = session(style, "check_shop.py").signature

    assert signature.kind is FailureKind.TEST_FAILURE
    assert signature.exception == "KeyError"
    assert signature.message == "<str>"
    assert signature.user_function == (
        "check_shop.py::test_of_missing_price, check_shop.py::test_total in shop.py:price_of"
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "message"), [((), "assert <n> == <n>"), (("--tb=line",), "assert <n> == <n>"),
                             (("--tb=no",), "")],
)  # fmt: skip
def test_a_failed_assertion_is_signed_by_its_test(options: Sequence[str], message: str) -> None:
    signature = session(*options, "check_shop.py::test_total").signature

    assert signature.kind is FailureKind.TEST_FAILURE
    assert signature.exception == "AssertionError"
    assert signature.message == message
    assert signature.user_function == "check_shop.py::test_total"


@pytest.mark.slow
def test_a_test_module_that_cannot_be_imported_is_a_broken_import() -> None:
    signature = session("check_import.py").signature

    assert signature.kind is FailureKind.BROKEN_IMPORT
    assert signature.message == "No module named 'no_such_module_anywhere'"
    assert signature.user_function == "check_import.py"


@pytest.mark.slow
@pytest.mark.parametrize("arguments", [("--no-such-option",), ("no_such_file.py",)])
def test_a_session_that_was_called_wrongly_is_a_usage_error(arguments: Sequence[str]) -> None:
    assert session(*arguments).kind is FailureKind.USAGE_ERROR


@pytest.mark.slow
def test_a_conftest_that_cannot_be_imported_is_a_broken_import() -> None:
    command = [option for option in PYTEST if option != "--noconftest"]
    signature = failure_of(*command, "no_conftest").signature

    assert signature.kind is FailureKind.BROKEN_IMPORT
    assert signature.user_function == "no_conftest/conftest.py:<module>"


@pytest.mark.slow
@pytest.mark.parametrize("style", ["--tb=long", "--tb=short"])
def test_the_last_exception_of_a_chain_counts_with_or_without_a_summary(style: str) -> None:
    signature = session(style, "check_chain.py").signature

    assert signature.exception == "LookupError"
    assert signature.message == "no number in <str>"
    assert signature.user_function == "check_chain.py::test_parse in check_chain.py:parse"
    unnamed = session(style, "-rN", "check_chain.py").signature
    assert unnamed.exception == "LookupError"
    assert unnamed.user_function == "test_parse in check_chain.py:parse"


def report(*tests: str) -> Failure:
    summary = "".join(f"FAILED {test} - ValueError: bad\n" for test in tests)
    said = f"short test summary info\n{summary}{len(tests)} failed in 0.03s\n"
    failure = classify(trial_of("pytest", cwd=SUITE), outcome_of(stdout=said))
    assert failure is not None
    return failure


def test_the_order_in_which_tests_failed_does_not_count() -> None:
    assert report("a.py::t", "b.py::t").signature == report("b.py::t", "a.py::t").signature
    assert report("a.py::t").signature != report("b.py::t").signature


def test_of_very_many_failed_tests_some_are_named() -> None:
    signature = report(*(f"a.py::t{number:02}" for number in range(25))).signature

    assert signature.user_function.endswith("a.py::t19 and 5 more")


def test_an_end_without_any_failed_test_is_no_test_failure() -> None:
    failure = classify(
        trial_of("pytest", cwd=SUITE),
        outcome_of(stdout="ERROR: Coverage failure: 70 is less than 80\n3 passed in 0.03s\n"),
    )

    assert failure is not None
    assert failure.signature.message == "ERROR: Coverage failure: <n> is less than <n>"


@pytest.mark.slow
def test_a_session_without_tests_is_just_an_exit() -> None:
    signature = session("-k", "no_such_test", "check_shop.py").signature

    assert (signature.kind, signature.exit_code) == (FailureKind.EXIT, 5)


@pytest.mark.slow
def test_a_unittest_session_is_signed_by_its_tests() -> None:
    failure = failure_of(sys.executable, "check_unittest.py")

    assert failure.kind is FailureKind.TEST_FAILURE
    assert failure.signature.exception == "KeyError"
    assert failure.signature.user_function == (
        "__main__.ShopCase.test_of_missing_price, __main__.ShopCase.test_total in shop.py:price_of"
    )
    assert re.fullmatch(r"__main__\S+test_of_missing_price - KeyError: 'price'", failure.summary)


@pytest.mark.slow
@pytest.mark.parametrize("key", ["acc-0215-of-the-month", "acc-0216-of-the-month"])
def test_a_message_that_pytest_cuts_to_its_width_is_said_in_full(key: str, tmp_path: Path) -> None:
    name = "test_the_balances_of_all_accounts_cover_the_money"
    (tmp_path / "check_it.py").write_text(f"def {name}():\n    {{}}[{key!r}]\n")
    command = (*PYTEST, "check_it.py")

    # On a build server pytest cuts nothing.
    terminal = {k: v for k, v in ENVIRONMENT.items() if k not in {"CI", "BUILD_NUMBER"}}

    outcome = run(command, tmp_path, {**terminal, "COLUMNS": "80"})
    failure = classify(trial_of(*command, cwd=tmp_path), outcome)

    assert f"KeyError: '{key}'".encode() not in outcome.stdout.tail(1 << 20).splitlines()[-2]
    assert failure is not None
    assert failure.summary == f"check_it.py::{name} - KeyError: '{key}'"
