"""``whet run``: one recorded trial."""

from typing import TYPE_CHECKING

import click

from whet.cli.console import answer_json, report_error, say
from whet.cli.display.summary import entry_json, run_line
from whet.cli.options.trial import (
    TrialCommand,
    json_option,
    locals_option,
    trial_options,
    trial_request,
    verdict_option,
)
from whet.core.errors import CannotWrite
from whet.core.observations.evidence import FAILURES, STACKS, TIMELINE
from whet.core.verdict import Verdict
from whet.host.process.console import Console
from whet.host.trial.agent_tasks import AgentTasks
from whet.workbench.trials.bench import open_workbench
from whet.workbench.trials.run import RunResult, run

if TYPE_CHECKING:
    from whet.core.condition import Condition

_VERDICT_CODES = {Verdict.GOOD: 0, Verdict.BAD: 1, Verdict.SKIP: 125}
"""The exit codes of a script that judges, as in `git bisect run`."""


@click.command(cls=TrialCommand, options_metavar="[OPTIONS] -- COMMAND...")
@trial_options
@locals_option
@verdict_option
@json_option
@click.pass_context
def command(
    ctx: click.Context, /, *, keeps_locals: bool, exit_verdict: bool, as_json: bool, **_: object
) -> int:
    """Run a command once, and record everything about it.

    The program's output and exit code pass through unchanged. One line on stderr then gives the
    verdict, how the program ended, its time and peak memory, the failure, the trial's number, and
    what changed since the last trial of the same command.
    """
    request = trial_request(ctx)
    with open_workbench() as bench:
        tasks = AgentTasks(keeps_locals=keeps_locals)
        result = run(bench, request, None if as_json else Console(), tasks=tasks)
    code = show(result, as_json=as_json, condition=request.judging.condition)
    return _VERDICT_CODES[result.entry.verdict or Verdict.SKIP] if exit_verdict else code


def show(result: RunResult, *, as_json: bool, condition: "Condition | None" = None) -> int:
    """Show one trial that was run, and return the program's own exit code, come what may."""
    outcome = result.entry.outcome
    assert outcome is not None
    if as_json:
        from whet.cli.display.sections import sections_json, timelines_in

        try:
            answer_json(
                {
                    **entry_json(result.entry),
                    "notes": list(result.notes),
                    "sections": sections_json(timelines_in(result.evidence)),
                }
            )
        except BrokenPipeError:
            pass  # `whet run --json … | head`: the program has run all the same
        except CannotWrite as error:
            report_error(error)
        return outcome.shell_exit_code
    for note in dict.fromkeys(result.notes):
        say(f"whet: note: {note}")
    measured = "" if condition is None else condition.measured(outcome)
    say(
        run_line(
            result.entry, result.previous, is_same_failure=result.is_same_failure, measured=measured
        )
    )
    number = result.entry.number
    for line in _expected_lines(result):
        say(line)
    for line in _section_lines(result):
        say(f"whet: {line}")
    for line in _stack_lines(result):
        say(line)
    if any(each.kind == FAILURES for each in result.evidence):
        say(f"whet: its variables: `whet show {number}`; in pdb: `whet post-mortem {number}`")
    return outcome.shell_exit_code


def _expected_lines(result: RunResult) -> list[str]:
    """Return what was expected beside what came, a line each; one alone is in the line of the run."""
    if "\n" not in result.entry.expectation:
        return []
    from whet.cli.display.expected import score_lines

    return [f"whet:   {each}" for each in score_lines(result.entry.scores)]


def _section_lines(result: RunResult) -> list[str]:
    """Return the table of the program's sections; nothing if it has none."""
    if not any(each.kind == TIMELINE for each in result.evidence):
        return []
    from whet.cli.display.sections import FEW, section_lines, timelines_in

    return section_lines(timelines_in(result.evidence), FEW)


def _stack_lines(result: RunResult) -> list[str]:
    """Return lines on the stacks of a trial that hung: who waits where."""
    if not any(each.kind == STACKS for each in result.evidence):
        return []
    from whet.workbench.inspect.observed_failure import stack_sentences

    lines = [f"whet: {each}" for each in stack_sentences(result.evidence)]
    return [*lines, f"whet: all stacks: `whet stacks --trial {result.entry.number}`"]
