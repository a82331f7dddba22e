"""Which words of a pytest command choose tests, and what pytest says of the tests, exactly."""

from pathlib import Path

import pytest

from whet.core.errors import BadUsage
from whet.core.outcome import Outcome
from whet.core.output import BytesOutput
from whet.core.verdict import Verdict
from whet.evidence.printed.reported_tests import (
    TestFails,
    collected_tests,
    exception_told,
    failed_tests,
)
from whet.workbench.shrink.pytest_command import read_pytest_command, without_memory, words_for


def outcome(text: str, exit_code: int = 1) -> Outcome:
    return Outcome(exit_code=exit_code, stdout=BytesOutput(text.encode()))


@pytest.mark.parametrize(
    ("command", "kept"),
    [
        ("pytest", "pytest"),
        ("pytest tests -x -q", "pytest -x -q"),
        ("python -m pytest -k tests tests/test_a.py::test_b", "python -m pytest -k tests"),
        ("uv run pytest --cov tests tests", "uv run pytest --cov tests"),
        ("pytest -n 4 --dist loadfile --maxprocesses=2 tests", "pytest"),
        ("pytest -nauto --lf --ff --sw tests -p no:x", "pytest -p no:x"),
        ("pytest --randomly-seed=3 -p randomly --random-order tests", "pytest -p randomly"),
        ("pytest --strict-markers tests --tb short", "pytest --strict-markers --tb short"),
        (
            "pytest -m tests --deselect tests/test_a.py",
            "pytest -m tests --deselect tests/test_a.py",
        ),
    ],
)
def test_what_chooses_tests_and_their_order_goes(tmp_path: Path, command: str, kept: str) -> None:
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests/test_a.py").touch()

    found = read_pytest_command(tuple(command.split()), tmp_path)

    assert " ".join(found.on(())) == kept
    assert found.on(("a", "b c"))[-2:] == ("a", "b c")


def test_no_pytest_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadUsage, match=r"`python x\.py` isn't a pytest command"):
        read_pytest_command(("python", "x.py"), tmp_path)


def test_what_looks_at_earlier_runs_goes() -> None:
    assert without_memory(("pytest", "--lf", "-x", "--ff", "tests")) == ("pytest", "-x", "tests")


def test_names_as_seen_from_the_folder_that_pytest_starts_in(tmp_path: Path) -> None:
    (tmp_path / "tests/unit").mkdir(parents=True)
    (tmp_path / "tests/test_a.py").touch()
    names = ("tests/test_a.py::test_b[x/y]",)

    assert words_for(names, tmp_path) == names
    assert words_for(names, tmp_path / "tests/unit") == ("../test_a.py::test_b[x/y]",)
    assert words_for((), tmp_path) == ()


def test_names_that_hold_what_stands_between_name_and_message() -> None:
    names = ("t.py::test[a - b]", "t.py::test[a", "t.py::test[c]")
    said = outcome(
        "FAILED t.py::test[a - b] - KeyError: 'x - y'\n"
        "\x1b[31mERROR\x1b[0m t.py::test[c] - assert 1 == 2\n"
        "FAILED elsewhere.py::test - no such name\n"
    )

    assert failed_tests(said, names) == {
        "t.py::test[a - b]": "KeyError: 'x - y'", "t.py::test[c]": "assert 1 == 2",
    }  # fmt: skip


def test_names_that_are_collected_end_at_an_empty_line() -> None:
    said = outcome(
        "printed by conftest\nt.py::test_a\nt.py::T::test[b c]\n\n"
        "=== warnings summary ===\nt.py::test_a\n  t.py::gone: warning\n2 tests collected\n", 0,
    )  # fmt: skip

    assert collected_tests(said) == ("t.py::test_a", "t.py::T::test[b c]")


@pytest.mark.parametrize(
    ("message", "exception"),
    [
        ("KeyError: 'x'", "KeyError"), ("json.JSONDecodeError: Expecting", "json.JSONDecodeError"),
        ("assert 1 == 2", ""), ("StopIteration", "StopIteration"), ("", ""), ("Failed: why", "Failed"),
    ],
)  # fmt: skip
def test_the_exception_of_a_summary(message: str, exception: str) -> None:
    assert exception_told(message) == exception


@pytest.mark.parametrize(
    ("text", "exit_code", "verdict"),
    [
        ("FAILED t.py::test - KeyError: 'x'", 1, Verdict.BAD),
        ("FAILED t.py::test - KeyError: 'other'", 1, Verdict.BAD),
        ("FAILED t.py::test - TypeError: x", 1, Verdict.SKIP),
        ("FAILED t.py::test_2 - KeyError: 'x'", 1, Verdict.GOOD),
        ("1 passed", 0, Verdict.GOOD),
        ("ERROR t.py - ImportError", 2, Verdict.SKIP),
        ("no tests ran", 5, Verdict.SKIP),
    ],
)
def test_one_test_decides_whatever_the_others_do(
    text: str, exit_code: int, verdict: Verdict
) -> None:
    assert TestFails("t.py::test", "KeyError").judge(outcome(text, exit_code)) is verdict


def test_a_run_that_was_cut_short_says_nothing() -> None:
    cut = Outcome(timed_out=True, stdout=BytesOutput(b"FAILED t.py::test - KeyError: 1"))

    assert TestFails("t.py::test", "KeyError").judge(cut) is Verdict.SKIP
