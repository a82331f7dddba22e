"""What is said of switches that may make a failure more frequent: no more than is known."""

from dataclasses import replace

import pytest

from whet.cli.display.amplified import amplified_lines
from whet.core.budget import StopReason
from whet.core.toggle import Toggle
from whet.search.flaky.failure_rates import Runs
from whet.workbench.toggle.amplified import AmplifyReport, Tried


def tried(name: str, runs: Runs) -> Tried:
    toggle = Toggle(name=name, does="what it does")
    return Tried(
        toggles=(toggle,), runs=runs, raises=False, took=None, slowdown=None,
        trial=7 if runs.failed else None,
    )  # fmt: skip


def report(*each: Tried) -> AmplifyReport:
    return AmplifyReport(
        summary="AssertionError", as_it_is=Runs(20, 6), tried=each, unread=(), run_off=(),
        places=(), error=0.05, stopped=StopReason.MEASURED, trials=40, wall_seconds=1.0,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("name", "option"),
    [("sleeps", "sleeps"), ("sleeps@threads", "sleeps"), ("hash-seed=3", "hash-seed")],
)
def test_what_is_not_proved_is_not_said_to_be_refuted(name: str, option: str) -> None:
    rarer, seldom = tried("cpu-load", Runs(2, 2)), tried("switch-often", Runs(4, 1))
    told = "\n".join(amplified_lines(report(rarer, seldom, tried(name, Runs(20, 0)))))

    assert "no switch made it fail more often" not in told
    assert "no switch is proved to make it more frequent" in told
    assert f"it failed most often with {name}: 20 of 20 runs (100 %)" in told
    assert f"`whet repeat --amplify --amplifier {option} -- COMMAND`" in told


def test_where_nothing_failed_more_often_no_switch_is_named() -> None:
    told = "\n".join(amplified_lines(report(tried("sleeps", Runs(3, 1)), tried("cpu", Runs()))))

    assert "no switch made it fail more often" in told
    assert "--amplifier" not in told


@pytest.mark.parametrize("names", [("sleeps",), ("sleeps", "sleeps@threads")])
def test_a_switch_that_was_tried_alone_is_to_be_run_more_often(names: tuple[str, ...]) -> None:
    told = "\n".join(amplified_lines(report(*map(tried, names, (Runs(20, 0), Runs(9, 1))))))

    assert "`whet repeat --amplify --amplifier" not in told
    assert "`-n 52`" in told


def test_a_switch_that_was_turned_once_is_not_said_not_to_have_been_run() -> None:
    turned = replace(tried("sleeps", Runs()), slowdown=1.1)
    told = "\n".join(amplified_lines(report(turned, tried("cpu", Runs()))))

    assert [line.split()[1] for line in told.splitlines()[1:3]] == ["unclear", "not"]


def test_a_search_that_was_stopped_says_so() -> None:
    stopped = replace(report(tried("sleeps", Runs(4, 0))), stopped=StopReason.OUT_OF_TRIALS)

    assert "before it was clear" in "\n".join(amplified_lines(stopped))
