"""``whet repeat``: how often a command fails."""

from collections.abc import Mapping

import click

from whet.cli.console import answer, answer_json
from whet.cli.display.amplified import amplified_json, amplified_lines
from whet.cli.display.progress import Progress
from whet.cli.options.line_of_request import line_of_request
from whet.cli.options.trial import (
    Share,
    TrialCommand,
    budget_option,
    json_option,
    trial_options,
    trial_request,
)
from whet.core.budget import Budget
from whet.core.errors import INCOMPLETE, BadUsage
from whet.core.text.quantity import shown_count, shown_seconds
from whet.core.verdict import Verdict
from whet.host.process.own_command import own_words
from whet.search.flaky.rates import Enough
from whet.workbench.toggle.amplify import FIRST_RUNS, AmplifyOptions, amplify
from whet.workbench.trials.bench import open_workbench
from whet.workbench.trials.repeat import (
    CONFIDENCE,
    RepeatOptions,
    Repetition,
    SameEnding,
    Times,
    repeat,
)
from whet.workbench.trials.request import TrialRequest

_RUNS = 10
_MOST_SHOWN = 8
_FEW_NUMBERS = 3
_ONE_DIGIT = 10


@click.command(cls=TrialCommand, options_metavar="[OPTIONS] -- COMMAND...")
@click.option(
    "-n",
    "--runs",
    type=click.IntRange(1),
    help="Number of runs; the maximum with --until-…; with --amplify, the first runs without a switch. [10]",
)
@click.option("--until-failure", is_flag=True, help="Run until it fails, however long that takes.")
@click.option(
    "--until-sure",
    type=Share(),
    metavar="95%",
    help="Run until whet knows the failure rate to --within, with this confidence.",
)
@click.option(
    "--within",
    type=Share(),
    default="10%",
    metavar="10%",
    help="Measure the failure rate this precisely.",
)
@click.option(
    "--jobs",
    "-j",
    type=click.IntRange(1),
    default=1,
    help="Number of runs at once; with 1, no run disturbs another.",
)
@click.option(
    "--amplify",
    "is_amplified",
    is_flag=True,
    help="Look for what makes it fail more often: sleeps, load, one core, a different order.",
)
@click.option(
    "--amplifier",
    "amplifiers",
    multiple=True,
    metavar="NAME",
    help="With --amplify: try only these switches (`whet toggle --list` shows all).",
)
@trial_options
@budget_option
@json_option
@click.pass_context
def command(
    ctx: click.Context,
    /,
    *,
    runs: int | None,
    until_failure: bool,
    until_sure: float | None,
    within: float,
    jobs: int,
    is_amplified: bool,
    amplifiers: tuple[str, ...],
    budget: float | None,
    as_json: bool,
    **_: object,
) -> int:
    """Run a command again and again, and report how often it fails.

    The result is the failure rate with its interval, the failures by kind, the run times, and how many
    passes in a row would show a fix. Ctrl-C and --budget end it with the results so far (exit 75).
    Each run is recorded: `whet show NUMBER`.

    --amplify tries one switch after another, alternating with plain runs, until it is clear which
    of them make the failure more frequent. It names the trial that fails most often, for `whet
    again NUMBER` or `whet shrink --like NUMBER`.
    """
    if is_amplified:
        _refuse(until_failure=until_failure, until_sure=until_sure)
        amplify_options = AmplifyOptions(
            first_runs=runs or FIRST_RUNS,
            names=amplifiers,
            budget=Budget(wall_seconds=budget),
            jobs=jobs,
        )
        return _amplify(trial_request(ctx), amplify_options, as_json=as_json)
    if amplifiers:
        raise BadUsage(f"`--amplifier {amplifiers[0]}` does nothing alone", hint="add `--amplify`")
    options = RepeatOptions(
        enough=_enough(runs, until_failure=until_failure, sure=until_sure, within=within),
        confidence=until_sure or CONFIDENCE,
        budget=Budget(wall_seconds=budget),
        jobs=jobs,
    )
    request = trial_request(ctx)
    with Progress(quiet=as_json) as progress, open_workbench(observer=progress) as bench:
        repetition = repeat(bench, request, options)
    if as_json:
        answer_json(_facts(repetition))
    else:
        _show(repetition, request)
    return 0 if repetition.stopped.is_complete else INCOMPLETE


def _refuse(*, until_failure: bool, until_sure: float | None) -> None:
    if until_failure or until_sure is not None:
        raise BadUsage(
            "`--amplify` decides on its own when to stop",
            hint="leave out `--until-failure` and `--until-sure`; `--budget` limits it",
        )


def _amplify(request: TrialRequest, options: AmplifyOptions, *, as_json: bool) -> int:
    with Progress(quiet=as_json) as progress, open_workbench(observer=progress) as bench:
        report = amplify(bench, request, options)
    if as_json:
        answer_json(amplified_json(report))
    else:
        for line in amplified_lines(report):
            answer(line)
    return 0 if report.stopped.is_complete else INCOMPLETE


def _enough(runs: int | None, *, until_failure: bool, sure: float | None, within: float) -> Enough:
    if until_failure and sure is not None:
        raise BadUsage(
            "`--until-failure` and `--until-sure` exclude each other",
            hint="keep one of them; `-n` limits either",
        )
    if sure is not None and not 0 < sure < 1:
        raise BadUsage(
            f"`--until-sure {sure:g}`: no number of runs is enough for that",
            hint="write a share between 0 and 1, such as 95% or 0.99",
        )
    if within <= 0:
        raise BadUsage(
            f"`--within {within:g}`: no number of runs is enough for that",
            hint="write a share above 0, such as 10% or 0.05",
        )
    if runs is None and not until_failure and sure is None:
        runs = _RUNS
    return Enough(most=runs, at_failure=until_failure, sure=sure, within=within)


# ---- what is shown ----


def _show(repetition: Repetition, request: TrialRequest) -> None:
    answer(_rate_sentence(repetition))
    if repetition.skipped:
        answer(f"{shown_count(repetition.skipped, 'run')} without a verdict")
    for ending in repetition.endings[:_MOST_SHOWN]:
        answer(_ending_line(ending))
    if len(repetition.endings) > _MOST_SHOWN:
        answer(
            f"  and {len(repetition.endings) - _MOST_SHOWN} other endings (`--json` has them all)"
        )
    for word, times in (("failing", repetition.failing), ("passing", repetition.passing)):
        if times is not None:
            answer(f"{word} runs take {_times_words(times)}")
    answer(_advice(repetition, request))


def _rate_sentence(repetition: Repetition) -> str:
    if repetition.rate is None:
        return "no run has a verdict yet"
    low, high = _percent(repetition.interval.low), _percent(repetition.interval.high)
    return (
        f"failed in {repetition.failed} of {shown_count(repetition.judged, 'run')}:"
        f" {_percent(repetition.rate)} ({low} to {high} with {_percent(repetition.confidence)} confidence)"
    )


def _ending_line(ending: SameEnding) -> str:
    where = f" at {ending.place}" if ending.place else ""
    numbers = ", ".join(map(str, ending.trials[:_FEW_NUMBERS]))
    more = " …" if len(ending.trials) > _FEW_NUMBERS else ""
    word = "" if ending.verdict is not Verdict.SKIP else " (no verdict)"
    noun = "trial" if len(ending.trials) == 1 else "trials"
    return f"  {len(ending.trials):>4} x  {ending.summary}{where}{word}  [{noun} {numbers}{more}]"


def _times_words(times: Times) -> str:
    if times.shortest == times.longest:
        return shown_seconds(times.median)
    return (
        f"a median of {shown_seconds(times.median)}"
        f" ({shown_seconds(times.shortest)} to {shown_seconds(times.longest)})"
    )


def _advice(repetition: Repetition, request: TrialRequest) -> str:
    sure = _percent(repetition.confidence)
    if repetition.rate is None:
        return f"run it again: `{_again(request, _RUNS)}`"
    if repetition.passes_to_be_sure is None:
        return (
            f"it didn't fail: with {sure} confidence, it fails in less than"
            f" {_percent(repetition.interval.high)} of runs"
        )
    likely, most = repetition.passes_to_be_sure, repetition.passes_at_most
    careful = f" ({most} for the lowest rate in the interval)" if most != likely else ""
    return (
        f"to be {sure} sure of a fix: {shown_count(likely, 'run')} without a"
        f" failure{careful}: `{_again(request, most or likely)}`"
    )


def _again(request: TrialRequest, runs: int) -> str:
    """Return the line that repeats it ``runs`` times, in the same way."""
    return line_of_request([*own_words(), "repeat", "-n", str(runs)], request)


def _percent(share: float) -> str:
    """Return a share as a person reads it: ``50 %``, ``0.3 %``."""
    hundredths = 100 * share
    return (
        f"{hundredths:.0f} %"
        if hundredths >= _ONE_DIGIT or hundredths == 0
        else f"{hundredths:.2g} %"
    )


def _facts(repetition: Repetition) -> Mapping[str, object]:
    return {
        "bad_means": repetition.bad_means,
        "runs": repetition.judged + repetition.skipped,
        "failed": repetition.failed,
        "passed": repetition.passed,
        "skipped": repetition.skipped,
        "rate": repetition.rate,
        "interval": [repetition.interval.low, repetition.interval.high],
        "confidence": repetition.confidence,
        "endings": [
            {
                "verdict": each.verdict.value,
                "summary": each.summary,
                "place": each.place,
                "runs": len(each.trials),
                "trials": list(each.trials),
            }
            for each in repetition.endings
        ],
        "failing_seconds": _times_facts(repetition.failing),
        "passing_seconds": _times_facts(repetition.passing),
        "passes_to_be_sure": repetition.passes_to_be_sure,
        "passes_to_be_sure_at_most": repetition.passes_at_most,
        "stopped": repetition.stopped.name.lower(),
        "reason": repetition.stopped.value,
        "wall_seconds": round(repetition.wall_seconds, 3),
    }


def _times_facts(times: Times | None) -> dict[str, float] | None:
    if times is None:
        return None
    return {"median": times.median, "shortest": times.shortest, "longest": times.longest}
