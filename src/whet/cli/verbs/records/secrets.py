"""``whet secrets``: what was masked, where and why."""

import click

from whet.cli.console import answer, answer_json, say
from whet.cli.options.trial import json_option
from whet.cli.options.trial_name import TrialCommand, TrialName
from whet.workbench.trials.bench import open_workbench
from whet.workbench.trials.secrets import masked_of

_HELP = """List the secrets that whet masked in the recorded trials (or in one), where and why.

It never shows their values. whet keeps them outside the notebook, so that a trial can run again. It
puts none into a one-liner, script or report.

Your own `~/.config/whet/settings.toml` can add secrets and make exceptions:

\b
  secrets = ["ACME_*", "prefix:acme_live_"]
  not_secrets = ["SESSION_NAME", "prefix:eyJ"]

An entry is the name of a variable, an option or an attribute, where `*` matches anything; after
`prefix:` comes the beginning of a value. A project's settings can only add secrets.

\b
Examples:
  whet secrets
  whet secrets 12
  whet secrets --all --json

whet can't recognize a secret that the program printed, or held under a harmless name:
`whet show TRIAL --output` shows all of its output.
"""


@click.command(cls=TrialCommand, help=_HELP)
@click.argument("trial", type=TrialName(), required=False)
@click.option("--all", "with_searches", is_flag=True, help="Include the trials of searches.")
@json_option
def command(trial: int | str | None, *, with_searches: bool, as_json: bool) -> None:
    """List the secrets that were masked; `_HELP` is what a user reads."""
    with open_workbench() as bench:
        entries = (
            bench.notebook.entries(with_searches=with_searches)
            if trial is None
            else [bench.notebook.find(trial)]
        )
        secrets = [each for entry in entries for each in masked_of(bench, entry)]
    if as_json:
        rows = [{"trial": each.trial, "place": each.place, "why": each.why} for each in secrets]
        answer_json({"secrets": rows})
        return
    if not secrets:
        say("whet masked nothing")
    for each in secrets:
        answer(f"{each.trial:>5}  {each.place}  ({each.why})")
