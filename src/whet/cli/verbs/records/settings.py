"""``whet settings``: what holds here, and agreeing to what a project sets."""

import json
from dataclasses import fields

import click

from whet.cli.console import answer, answer_json, say
from whet.cli.options.trial import json_option
from whet.host.code.settings import Settings, agree
from whet.workbench.trials.bench import open_workbench


@click.command()
@click.option(
    "--agree",
    "is_agreed",
    is_flag=True,
    help="Let whet use this project's switches and wider limits.",
)
@json_option
def command(*, is_agreed: bool, as_json: bool) -> None:
    """Show the settings that apply here.

    A project can come from anyone. Switches in its `whet.toml` or `pyproject.toml` set variables for
    commands, and its limits can allow more than your own settings or whet's defaults do. whet uses
    either only after you agree, and asks again when one changes.
    """
    with open_workbench() as bench:
        settings = bench.settings
        if is_agreed and settings.not_agreed:
            agree(bench.project, settings)
    if as_json:
        answer_json({**_shown(settings), "agreed": is_agreed or not settings.not_agreed})
        return
    for name, value in _shown(settings).items():
        if name != "not_agreed":
            answer(f"{name} = {json.dumps(value, default=str)}")
    for name, value in settings.wider_limits.items():
        answer(f"this project's `{name} = {json.dumps(value, default=str)}` allows more")
    for name, table in settings.switches_not_agreed.items():
        answer(f"this project's switch `{name}` sets {json.dumps(table, default=str)}")
    if settings.not_agreed:
        say(
            "agreed: whet now uses them"
            if is_agreed
            else "whet doesn't use them until you agree: `whet settings --agree`"
        )


def _shown(settings: Settings) -> dict[str, object]:
    """Return the settings as data."""
    return {each.name: getattr(settings, each.name) for each in fields(settings)}
