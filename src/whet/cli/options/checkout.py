"""The options of the verbs that check out other versions of the code."""

import click

repo_option = click.option(
    "--repo", default="", metavar="DIR", help="The git repository. [the current folder's]"
)
carry_option = click.option(
    "--carry",
    multiple=True,
    metavar="PATH",
    help="Copy this untracked file or folder into each checkout.",
)
