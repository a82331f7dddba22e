"""``whet make``: a small payload from nothing."""

import click

from whet.cli.console import answer, answer_json
from whet.cli.options.trial import json_option
from whet.cli.verbs.payloads.making_arrays import make_array, make_image, make_sound, make_tokens
from whet.cli.verbs.payloads.making_files import make_bytes, make_json, make_text, make_tree
from whet.cli.verbs.payloads.making_tables import make_sqlite, make_table
from whet.core.errors import BadUsage
from whet.make.words import unknown_word


class Kinds(click.Group):
    """The kinds of payload; an unknown one is answered with the closest names."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the kinds, those of numbers first."""
        return list(self.commands)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the kind that ``args`` begin with, or name the closest ones."""
        if args[0] not in self.commands and not args[0].startswith("-"):
            raise unknown_word("kind of payload", args[0], self.commands)
        return super().resolve_command(ctx, args)


@click.group(cls=Kinds, invoke_without_command=True, subcommand_metavar="KIND [OPTIONS]")
@click.option(
    "--explain",
    metavar="VALUE",
    help="Say which element of which payload a coordinate is, or that a value is a guard.",
)
@json_option
@click.pass_context
def command(context: click.Context, *, explain: str | None, as_json: bool) -> None:
    """Make a small payload from nothing.

    The same options give the same bytes on every machine. Without `-o`, whet prints the payload.

    `whet make array --shape 2,2 -o a.npy` is [[1, 2], [3, 4]].
    """
    if explain is None:
        if context.invoked_subcommand is None:
            raise BadUsage("which kind of payload?", hint=f"one of {', '.join(command.commands)}")
        return
    from whet.workbench.make.explained import explained
    from whet.workbench.trials.bench import open_workbench

    with open_workbench() as bench:
        lines = explained(bench, explain)
    if as_json:
        answer_json({"value": explain, "explained": lines})
        return
    for line in lines:
        answer(line)


command.add_command(make_array)
command.add_command(make_array, "tensor")
for _each in (
    make_table, make_text, make_tokens, make_json, make_image, make_sound, make_bytes, make_tree,
    make_sqlite,
):  # fmt: skip
    command.add_command(_each)
