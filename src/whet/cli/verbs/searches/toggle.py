"""``whet toggle``: what becomes of a failure when a switch is turned."""

import sys
from typing import assert_never

import click

from whet.cli.console import answer, answer_json, styled
from whet.cli.display.pasted import show_line
from whet.cli.display.progress import Progress
from whet.cli.options.trial import (
    TrialCommand,
    budget_option,
    jobs_option,
    json_option,
    trial_options,
    trial_request,
)
from whet.core.budget import Budget
from whet.core.errors import INCOMPLETE, BadUsage
from whet.core.event import Notice
from whet.core.text.quantity import shown_count, shown_seconds
from whet.core.toggle import Toggle
from whet.workbench.toggle.toggle import (
    Choice,
    Effect,
    Fate,
    ToggleOptions,
    ToggleReport,
    Turned,
    TurnedTogether,
    toggle,
)
from whet.workbench.toggle.toggles import chosen, known_toggles
from whet.workbench.trials.bench import open_workbench

_STYLES = {Effect.GONE: "green", Effect.CLEARER: "green", Effect.RARER: "yellow"}
_ORDER = tuple(Effect)
_FATES = tuple(Fate)
_SLOW = 1.5
_WIDEST = 70


_LEFT_OUT = "this project's own switches don't run until you agree to them: see `whet settings`"


@click.command(cls=TrialCommand, options_metavar="[OPTIONS]", epilog="NAME... -- COMMAND...")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@trial_options
@click.option("--list", "is_list", is_flag=True, help="List the switches and what they do.")
@click.option(
    "--smallest", is_flag=True, help="Find the fewest switches that together change the failure."
)
@click.option(
    "--simplify",
    is_flag=True,
    help="Find the simplest setting (one process, one thread, no workers, CPU, float32, sync) that still fails the same way.",
)
@click.option(
    "--repeats",
    type=click.IntRange(1),
    default=None,
    metavar="N",
    help="Run each switch this often. [once, twice if that passes; more for a flaky failure]",
)
@jobs_option
@budget_option
@json_option
@click.pass_context
def command(
    ctx: click.Context,
    /,
    names: tuple[str, ...],
    *,
    is_list: bool,
    smallest: bool,
    simplify: bool,
    repeats: int | None,
    jobs: int | None,
    budget: float | None,
    as_json: bool,
    **_: object,
) -> int:
    """Run a failing command with one switch turned after another, and show the effect of each.

    If a switch makes the failure go away or makes it clearer, that tells where it comes from: with
    one thread, a race; with synchronous CUDA, an error that CUDA reports late. whet doesn't edit
    code: switches are environment variables, or whet turns them inside the program.
    """
    if is_list:
        with open_workbench() as bench:
            all_toggles = known_toggles(
                {**bench.settings.toggles, **bench.settings.switches_not_agreed}
            )
            # Those that amplify are turned by name only, and have to be known for that.
            toggles = chosen(names or tuple(all_toggles), all_toggles)
        _answer_list(toggles, as_json=as_json)
        return 0
    if smallest and simplify:
        raise BadUsage(
            "`--smallest` looks for switches that change the failure, `--simplify` for those that don't",
            hint="run them one after the other",
        )
    request = trial_request(ctx)
    with Progress(quiet=as_json) as progress, open_workbench(observer=progress) as bench:
        options = ToggleOptions(
            toggles=chosen(
                names, known_toggles(bench.settings.toggles), bench.settings.switches_not_agreed
            ),
            finds_smallest=smallest, simplifies=simplify, repeats=repeats,
            budget=Budget(wall_seconds=budget), jobs=jobs,
        )  # fmt: skip
        if bench.settings.switches_not_agreed and not names:
            bench.emit(Notice(text=_LEFT_OUT))
        report = toggle(bench, request, options)
    if as_json:
        answer_json(_report_json(report))
    else:
        _show(report)
    return 0 if report.stopped.is_complete else INCOMPLETE


def _answer_list(toggles: tuple[Toggle, ...], *, as_json: bool) -> None:
    if as_json:
        answer_json({"toggles": [_toggle_json(each) for each in toggles]})
        return
    width = max(len(each.name) for each in toggles)
    for each in toggles:
        answer(f"{styled(each.name.ljust(width), 'bold', sys.stdout)}  {each.does}")
        how = " ".join(f"{name}={value}" for name, value in each.variables.items())
        inside = "set inside the program" if each.inside else ""
        wrapped = f"started by `{' '.join(each.wrapper)}`" if each.wrapper else ""
        amplifies = "for `whet repeat --amplify`, or by name" if each.amplifies else ""
        words = "; ".join(filter(None, (how, inside, wrapped, f"read {each.read}", amplifies)))
        answer(styled(f"{'':{width}}  {words}", "dim", sys.stdout))


def _toggle_json(each: Toggle) -> dict[str, object]:
    return {
        "name": each.name,
        "does": each.does,
        "read": each.read,
        "variables": dict(each.variables),
        "inside": list(each.inside),
        "simplifies": each.simplifies,
        "amplifies": each.amplifies,
    }


def _show(report: ToggleReport) -> None:
    reproduction = report.reproduction
    times = f"{reproduction.same_failures} of {shown_count(reproduction.attempts, 'run')}"
    answer(f"as it is: {report.summary}, {times}, {shown_seconds(reproduction.wall_seconds)}")
    if report.turned:
        _show_turned(report.turned)
    if report.smallest is not None:
        _show_smallest(report.smallest)
    if report.simplest is not None:
        _show_simplest(report.simplest)


def _show_turned(turned: tuple[Turned, ...]) -> None:
    width = max(len(each.toggle.name) for each in turned)
    took = [each for each in turned if each.took is not False]
    for each in sorted(took, key=lambda each: _ORDER.index(each.effect)):
        word = f"{each.effect.value:9}"
        style = _STYLES.get(each.effect, "dim")
        slowdown = f"{each.slowdown:5.1f} x"
        runs = f" ({each.failures} of {each.runs})" if each.runs > 1 else ""
        sure = "" if each.took else "  took effect: unknown"
        summary = each.summary if each.effect not in {Effect.SAME, Effect.GONE} else ""
        if len(summary) > _WIDEST:
            summary = summary[: _WIDEST - 1] + "…"
        answer(
            f"{each.toggle.name:{width}}  {styled(word, style, sys.stdout)} {slowdown}"
            f"  #{each.trial}{runs}{sure}  {summary}".rstrip()
        )
        remark = _remark(each)
        if remark:
            answer(styled(f"{'':{width}}  {remark}", "dim", sys.stdout))
    unread = [each.toggle.name for each in turned if each.took is False]
    if unread:
        answer(styled(f"nothing reads: {', '.join(unread)}", "dim", sys.stdout))


def _remark(each: Turned) -> str:
    if each.effect not in {Effect.GONE, Effect.RARER}:
        return ""
    if each.toggle.only_slows:
        return "it mostly slows the program down, so a race is likely: check the code that runs at the same time"
    slows = "; it also slows the program, which can hide a race" if each.slowdown >= _SLOW else ""
    return f"{each.toggle.does}: look there{slows}"


def _show_smallest(together: TurnedTogether) -> None:
    if not together.holds:
        answer("with all of them together it fails the same way: none of them matters")
        return
    answer(f"the fewest that change it: {_names(together.toggles)}{_number(together)}")
    answer(f"  {together.stopped.value}")
    _show_line(together)


def _show_simplest(together: TurnedTogether) -> None:
    kept = tuple(each.toggle for each in together.choices if each.fate is Fate.KEPT)
    answer(f"it still fails the same way with: {_names(kept)}{_number(together)}")
    width = max((len(each.toggle.name) for each in together.choices), default=0)
    for each in sorted(together.choices, key=lambda each: _FATES.index(each.fate)):
        number = "" if each.trial is None else f"  #{each.trial}"
        answer(f"  {each.toggle.name:{width}}  {each.fate.value}: {_reason(each)}{number}")
    answer(f"  {together.stopped.value}")
    if together.line is not None:
        show_line(together.line)


def _reason(choice: Choice) -> str:
    match choice.fate:
        case Fate.KEPT:
            return "the failure stays"
        case Fate.UNREAD:
            return f"nothing in the program reads it ({_readers(choice.toggle)})"
        case Fate.NEEDED:
            return "the command passes with it, so the failure needs what it takes away"
        case Fate.OTHERWISE:
            is_refusal = choice.toggle.is_refusal(choice.summary)
            words = "the program can't do without: " if is_refusal else ""
            said = choice.summary
            return words + (said if len(said) <= _WIDEST else f"{said[: _WIDEST - 1]}…")
        case Fate.UNTRIED:
            return "the search ended first"
        case _:
            assert_never(choice.fate)


def _readers(toggle: Toggle) -> str:
    """Return what would show that a switch was read."""
    names = [sign.partition(":") for sign in toggle.signs]
    loaded = [name for kind, _, name in names if kind in {"module", "library"}]
    return f"{', '.join(loaded)} isn't loaded" if loaded else f"it is read {toggle.read}"


def _show_line(together: TurnedTogether) -> None:
    variables = {name: value for each in together.toggles for name, value in each.variables.items()}
    if variables:
        words = " ".join(f"{name}={value}" for name, value in variables.items())
        answer(f"  env {words} …")
    inside = [each.name for each in together.toggles if each.inside]
    if inside and together.trial is not None:
        answer(f"  {', '.join(inside)}: only whet can set this: `whet again {together.trial}`")


def _names(toggles: tuple[Toggle, ...]) -> str:
    return ", ".join(each.name for each in toggles) or "none"


def _number(together: TurnedTogether) -> str:
    return "" if together.trial is None else f"  (trial {together.trial})"


def _report_json(report: ToggleReport) -> dict[str, object]:
    reproduction = report.reproduction
    return {
        "failure": report.summary,
        "failures": reproduction.same_failures,
        "runs": reproduction.attempts,
        "wall_seconds": round(reproduction.wall_seconds, 3),
        "toggles": [
            {
                "name": each.toggle.name,
                "effect": each.effect.value,
                "took": each.took,
                "slowdown": round(each.slowdown, 2),
                "failures": each.failures,
                "runs": each.runs,
                "trial": each.trial,
                "summary": each.summary,
            }
            for each in report.turned
        ],
        "smallest": _together_json(report.smallest),
        "simplest": _together_json(report.simplest),
        "stopped": report.stopped.name.lower(),
    }


def _together_json(together: TurnedTogether | None) -> dict[str, object] | None:
    if together is None:
        return None
    return {
        "toggles": [each.name for each in together.toggles],
        "left_out": [each.name for each in together.left_out],
        "trial": together.trial,
        "holds": together.holds,
        **({} if together.line is None else together.line.facts()),
        "choices": [
            {
                "name": each.toggle.name,
                "fate": each.fate.name.lower(),
                "summary": each.summary,
                "trial": each.trial,
            }
            for each in together.choices
        ],
    }
