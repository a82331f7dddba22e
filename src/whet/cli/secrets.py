"""``whet secrets``: what was masked, where and why."""

import click

from whet.cli.console import answer, answer_json, say
from whet.cli.options import json_option
from whet.workbench.bench import open_workbench
from whet.workbench.secrets import masked_of


@click.command()
@click.argument("trial", type=int, required=False)
@click.option("--all", "with_searches", is_flag=True, help="Also those of the trials of searches.")
@json_option
def command(trial: int | None, *, with_searches: bool, as_json: bool) -> None:
    r"""List what was masked of the recorded trials (or of one), where it stands and why.

    What a secret is, is never shown. It is kept beside the notebook, so that its trial can run again,
    and no one-liner, script or report holds it.

    Your own `~/.config/whet/settings.toml` says what else is a secret, and what is none:

    \b
      secrets = ["ACME_*", "prefix:acme_live_"]
      not_secrets = ["SESSION_NAME", "prefix:eyJ"]

    A text is the name of a variable, an option or an attribute, `*` stands for anything, and what
    stands behind `prefix:` is how values begin. The settings of a project may only add secrets.

    \b
    Examples:
      whet secrets
      whet secrets 12
      whet secrets --all --json

    What the program has printed or held under a harmless name may be a secret that nobody knows for
    one: `whet show TRIAL --output` shows all that it has printed.
    """
    with open_workbench() as bench:
        entries = (
            bench.notebook.entries(with_searches=with_searches)
            if trial is None
            else [bench.notebook.find(trial)]
        )
        found = [each for entry in entries for each in masked_of(bench, entry)]
    if as_json:
        rows = [{"trial": each.trial, "place": each.place, "why": each.why} for each in found]
        answer_json({"secrets": rows})
        return
    if not found:
        say("nothing was masked")
    for each in found:
        answer(f"{each.trial:>5}  {each.place}  ({each.why})")
