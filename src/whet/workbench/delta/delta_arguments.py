"""Two lists of arguments as cases."""

import shlex
from dataclasses import replace

from whet.core.difference import Change
from whet.core.errors import BadUsage, NothingDiffers
from whet.core.trial import Trial
from whet.reduction.between import Between, Leaf
from whet.reduction.commands.argument_changes import (
    argument_name,
    as_options,
    as_words,
    shown_argument,
)
from whet.reduction.commands.arguments import Words
from whet.workbench.delta.cases import Cases
from whet.workbench.trials.bench import Workbench
from whet.workbench.trials.payload import PLACEHOLDER
from whet.workbench.trials.request import TrialRequest


def cases_of_arguments(bench: Workbench, request: TrialRequest, good: str, bad: str) -> Cases:
    """Return two lists of arguments and the options and words that differ.

    Args:
        bench: the workbench.
        request: the command; they go instead of its `{}`, or behind it.
        good: arguments with which it passes, as a shell reads them.
        bad: arguments with which it fails.

    Raises:
        BadUsage: if a shell could not read them.
        NothingDiffers: if they are the same.
    """
    old, new = _split(good), _split(bad)
    trial = bench.build_trial(replace(request, command=_spliced(request.command, new)))
    return _cases(bench.for_search(trial), request.command, (good, old), (bad, new))


def _split(text: str) -> Words:
    try:
        return tuple(shlex.split(text))
    except ValueError as error:
        raise BadUsage(
            f"`{text}` isn't a list of arguments: {error}",
            hint="quote each list once for the shell: `--arguments '--lr 0.1' '--lr 9'`",
        ) from error


def _spliced(command: Words, words: Words) -> Words:
    if PLACEHOLDER not in command:
        return (*command, *words)
    at = command.index(PLACEHOLDER)
    return (*command[:at], *words, *command[at + 1 :])


def _cases(base: Trial, command: Words, good: tuple[str, Words], bad: tuple[str, Words]) -> Cases:
    (good_shown, old), (bad_shown, new) = good, bad
    between = Between(as_options(old), as_options(new))
    if as_words(between.made(range(len(between.leaves)))) != new:
        # Their order differs too: then the words count, one by one.
        between = Between(list(old), list(new))
    if not between.leaves:
        raise NothingDiffers(
            f"`{good_shown}` and `{bad_shown}` are the same arguments",
            hint="so neither decides: compare what else differs, such as `whet delta --env`",
        )
    is_named = isinstance(between.made(()), dict)

    def words(numbers: tuple[int, ...]) -> Words:
        arguments = between.made(numbers)
        return as_words(arguments if is_named else {"": arguments})

    return Cases(
        what="arguments", good=good_shown or "no arguments", bad=bad_shown or "no arguments",
        changes=tuple(map(_change, between.leaves)), paths=between.paths,
        trial=lambda numbers: replace(base, command=_spliced(command, words(numbers))),
        turned=lambda: _cases(base, command, bad, good),
    )  # fmt: skip


def _change(leaf: Leaf) -> Change:
    change = leaf.as_change("argument", shown_argument)
    name = argument_name(leaf) if isinstance(leaf.path[0], str) else f"argument {leaf.path[0] + 1}"
    return replace(change, name=name)
