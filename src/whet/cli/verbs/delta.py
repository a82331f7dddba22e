"""``whet delta``: what decides between a case that passes and one that fails."""

import sys

import click

from whet.cli.console import answer, answer_json, styled
from whet.cli.options import (
    TrialCommand,
    budget_option,
    jobs_option,
    json_option,
    trial_options,
    trial_request,
)
from whet.cli.progress import Progress
from whet.core.budget import Budget
from whet.core.difference import Change
from whet.core.errors import INCOMPLETE, BadUsage
from whet.core.text.quantity import shown_count, shown_seconds
from whet.workbench.delta.delta import Delta, Side, delta
from whet.workbench.delta.delta_cases import ARGUMENTS, ENVIRONMENT, cases_of
from whet.workbench.trials.bench import open_workbench
from whet.workbench.trials.command_search import CommandOptions

_MOST_SHOWN = 40
_ENDS = 2


@click.command(cls=TrialCommand, options_metavar="[OPTIONS]", epilog="GOOD BAD -- COMMAND...")
@click.argument("ends", nargs=-1, metavar="GOOD BAD")
@click.option(
    "--environment", is_flag=True, help="GOOD and BAD are environments: what `env` prints, or .env."
)
@click.option(
    "--arguments",
    nargs=2,
    default=None,
    metavar="GOOD BAD",
    help="Two lists of arguments, each quoted as one word.",
)
@click.option("-o", "--output", default="", metavar="DIR", help="Where the results go.")
@trial_options
@budget_option
@jobs_option
@json_option
@click.pass_context
def command(
    ctx: click.Context,
    /,
    ends: tuple[str, ...],
    *,
    environment: bool,
    arguments: tuple[str, str] | None,
    output: str,
    budget: float | None,
    jobs: int | None,
    as_json: bool,
    **_: object,
) -> int:
    """Find the differences between GOOD and BAD that matter.

    The two are configurations (JSON, YAML, TOML, INI, .env, Python literals, or any text), where the
    command names one of them or has `{}`; folders; with `--env`, environments; with `--arguments`,
    arguments that replace `{}` or end the command; or, without a command, recorded trials.

    The result is two smallest sets: the differences that make GOOD fail, and those without which BAD
    passes. whet runs both, and writes the two configurations next to BAD.
    """
    ends, is_environment = _environment_files(ctx, ends)
    ends = (*(arguments or ()), *ends)
    request = trial_request(ctx)
    if len(ends) != _ENDS:
        raise BadUsage(
            f"`{' '.join(ends)}` does not name two cases" if ends else "two cases are missing",
            hint="write `whet delta GOOD BAD -- COMMAND {}`; the command stands behind `--`",
        )
    kind = ENVIRONMENT if environment or is_environment else ARGUMENTS if arguments else ""
    options = CommandOptions(budget=Budget(wall_seconds=budget), jobs=jobs)
    with Progress(quiet=as_json) as progress, open_workbench(observer=progress) as bench:
        cases = cases_of(bench, request, *ends, kind=kind, output=output)
        found = delta(bench, request, cases, options)
    if as_json:
        answer_json(delta_json(found))
    else:
        show_delta(found)
    return 0 if found.stopped.is_complete else INCOMPLETE


def _environment_files(ctx: click.Context, ends: tuple[str, ...]) -> tuple[tuple[str, ...], bool]:
    """Take `--env a.env b.env` for two environments: a value that is no `NAME=VALUE` is a file."""
    words: tuple[str, ...] = ctx.params["env"]
    files = tuple(word for word in words if "=" not in word)
    ctx.params["env"] = tuple(word for word in words if "=" in word)
    return (*files, *ends), bool(files)


def delta_json(found: Delta) -> dict[str, object]:
    """Return what was found as JSON data."""
    return {
        "what": found.what,
        "good": found.good,
        "bad": found.bad,
        "failure": found.failure,
        "differences": found.differences,
        "fails": _side_json(found.fails),
        "passes": None if found.passes is None else _side_json(found.passes),
        "left_out": list(found.left_out),
        "stopped": found.stopped.name.lower(),
        "reason": found.stopped.value,
        "trials": found.trials,
        "cached": found.cached,
        "wall_seconds": round(found.wall_seconds, 3),
    }


def _side_json(side: Side) -> dict[str, object]:
    return {
        "changes": [each.to_json() for each in side.changes],
        "file": side.file,
        "line": side.line,
        "stopped": side.stopped.name.lower(),
    }


def show_delta(found: Delta) -> None:
    """Show what was found."""
    count = shown_count(found.differences, found.what.removesuffix("s"))
    differ = "" if found.what == "differences" else " differ" + "s" * (found.differences == 1)
    answer(f"{found.good} → {found.bad}: {count}{differ}")
    for line in found.left_out:
        answer(f"  {styled('not switched', 'yellow', sys.stdout)}: {line}")
    answer("")
    answer(f"{found.good} with {_these(found.fails)} fails: {found.failure}")
    _show_side(found.fails, undone=False)
    if found.passes is not None:
        answer("")
        answer(f"{found.bad} without {_these(found.passes)} passes:")
        _show_side(found.passes, undone=True)
    trials = shown_count(found.trials, "trial")
    why = "" if found.stopped.is_complete else f"; {found.stopped.value}"
    answer("")
    answer(f"{trials} in {shown_seconds(found.wall_seconds)}{why}")


def _these(side: Side) -> str:
    return "this one difference" if len(side.changes) == 1 else f"these {len(side.changes)}"


def _show_side(side: Side, *, undone: bool) -> None:
    for change in side.changes[:_MOST_SHOWN]:
        answer(f"  {change_line(change, undone=undone)}")
    if len(side.changes) > _MOST_SHOWN:
        answer(f"  and {len(side.changes) - _MOST_SHOWN} more")
    if side.file:
        answer(f"  written to {side.file}")
    answer(f"  $ {side.line}")


def change_line(change: Change, *, undone: bool = False) -> str:
    """Return a change as a line of a diff of keys, such as ``model.layers: 2 → 4``."""
    old, new = (change.after, change.before) if undone else (change.before, change.after)
    name = change.name or change.what
    if change.what in {"line", "hunk"}:
        name = f"line {name}" if change.what == "line" else name
    if old is None:
        return styled(f"+ {name}: {new}", "green", sys.stdout)
    if new is None:
        return styled(f"- {name}: {old}", "red", sys.stdout)
    return f"  {name}: {old} → {new}"
