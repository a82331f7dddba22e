"""``whet diff``: two trials side by side."""

import sys

import click

from whet.cli.console import answer, answer_json, styled
from whet.cli.display.summary import entry_line
from whet.cli.options.trial import json_option
from whet.cli.options.trial_name import TrialCommand, TrialName
from whet.workbench.trials.bench import open_workbench
from whet.workbench.trials.compare import TrialDifference, compare_trials

_STYLES = {"+": "green", "-": "red", "@": "cyan"}


@click.command(cls=TrialCommand)
@click.argument("a", type=TrialName(), default="last~1")
@click.argument("b", type=TrialName(), default="last")
@json_option
def command(a: int | str, b: int | str, *, as_json: bool) -> None:
    """Compare two trials: the command, the code, the environment, and the outcome.

    Without arguments, it compares the last two; with one, that trial and the last one.
    """
    with open_workbench() as bench:
        first, second = (bench.notebook.find(each).number for each in (a, b))
        comparison = compare_trials(bench, first, second)
    if as_json:
        answer_json(_json(comparison))
        return
    answer(entry_line(comparison.before))
    answer(entry_line(comparison.after))
    answer("")
    for line in comparison.difference.lines() or (
        "the two trials have the same command and settings",
    ):
        answer(f"  {line}")
    if comparison.before.trial.code is None and comparison.after.trial.code is None:
        answer("  code: not recorded, so it may have changed")
    outcome = () if comparison.outcome is None else comparison.outcome.lines()
    for line in outcome:
        answer(f"  {line}")
    if comparison.code:
        answer("")
        for line in comparison.code.rstrip("\n").splitlines():
            answer(styled(line, _STYLES[line[0]], sys.stdout) if line[:1] in _STYLES else line)


def _json(comparison: TrialDifference) -> dict[str, object]:
    return {
        "before": comparison.before.number,
        "after": comparison.after.number,
        "changes": [change.to_json() for change in comparison.difference.changes],
        "outcome": [] if comparison.outcome is None else list(comparison.outcome.lines()),
        "code": comparison.code,
    }
