"""``whet completion``: what a shell needs to complete whet's words."""

import click

from whet.cli.completion import VARIABLE
from whet.cli.console import answer_lines

SHELLS = ("bash", "zsh", "fish")


@click.command()
@click.argument("shell", type=click.Choice(SHELLS))
def command(shell: str) -> None:
    """Print the script that makes a shell complete verbs, options, files, trials and revisions.

    Once: `eval "$(whet completion bash)"`, in `~/.bashrc` to keep it; `whet completion fish | source` in fish.
    """
    from click.shell_completion import get_completion_class

    from whet.cli.main import cli

    kind = get_completion_class(shell)
    assert kind is not None
    answer_lines(kind(cli, {}, "whet", VARIABLE).source().rstrip())
