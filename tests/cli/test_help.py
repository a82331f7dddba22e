"""A verb's help: examples and its own options first; shared ones in groups, explained on request."""

import shlex

import click
import pytest
from whet_command import Whet

from whet.cli.help_pages import EXAMPLES
from whet.cli.main import cli
from whet.cli.option_groups import GROUPS
from whet.cli.options.trial import TrialCommand


def test_a_verbs_own_options_come_first_and_shared_ones_are_explained_on_request(
    whet: Whet,
) -> None:
    brief, whole = whet("run", "--help").stdout, whet("run", "--help-all").stdout

    assert len(brief.splitlines()) < 40
    order = (
        "Examples:",
        "  whet run -- python train.py",
        "Options:",
        "--locals",
        "What counts as bad",
    )
    assert [brief.index(each) for each in order] == sorted(brief.index(each) for each in order)
    assert "--cpu-seconds" in brief
    assert "CPU time per process" not in brief
    for words in (*(f"\n{group}:\n" for group in GROUPS), "CPU time per process", "--locals"):
        assert words in whole


@pytest.mark.parametrize(
    ("verb", "line"), [(verb, line) for verb, lines in EXAMPLES.items() for line in lines]
)
def test_an_example_is_a_line_that_whet_takes(verb: str, line: str) -> None:
    command = cli.get_command(click.Context(cli), verb)
    assert command is not None

    _, named, *words = shlex.split(line)
    context = command.make_context(verb, words)

    assert named == verb
    assert context.params is not None


def test_each_verb_that_runs_trials_has_three_examples() -> None:
    context = click.Context(cli)
    commands = {verb: cli.get_command(context, verb) for verb in cli.list_commands(context)}
    verbs = {verb for verb, command in commands.items() if isinstance(command, TrialCommand)}

    assert {verb for verb in verbs if len(EXAMPLES.get(verb, ())) != 3} == set()


def test_a_verb_s_own_option_is_none_of_a_group_whatever_its_name() -> None:
    own = click.Option(["--name"], help="Name the verb's own.")
    command = TrialCommand("made", params=[own])
    context = command.make_context("made", [], parent=click.Context(cli))

    brief = command.get_help(context)

    assert "Name the verb's own." in brief


@pytest.mark.parametrize(
    "words", [("run", "--timeout"), ("shrink", "--budget"), ("loop", "--runs", "--", "true")]
)
def test_an_option_without_its_value_leads_to_the_help_of_the_verb(
    whet: Whet, words: tuple[str, ...]
) -> None:
    said = whet(*words)

    assert f"hint: `whet {words[0]} --help` shows its arguments" in said.stderr
