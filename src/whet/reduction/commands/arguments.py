"""Fewer and plainer arguments: which of the words of a command the failure needs."""

import re
from collections.abc import Sequence
from typing import TypeAlias

from whet.reduction.candidates import keep_few, never_twice, plainer_text
from whet.search.proposal import Search

Words: TypeAlias = tuple[str, ...]

_OPTION = re.compile(r"--?[A-Za-z]")  # `-1` is a number, `-` and `--` are words
_WITH_VALUE = re.compile(r"(?P<name>[^=\s]+)=(?P<value>.*)", re.DOTALL)


def reduce_arguments(command: Words, first: int) -> Search[Words, Words]:
    """Look for a shorter command that still fails; the order of its words stays.

    An option goes with all that follows it, then with the first word that follows it, then word
    by word. What is left is made plain: the texts and numbers, and the values in ``--name=value``.

    Args:
        command: the argument vector; it fails.
        first: index of the first word that may go: the words before it are the program.
    """
    return never_twice(_reduce(command, first), command)


def _reduce(command: Words, first: int) -> Search[Words, Words]:
    while True:
        start = command
        for grouped in (options_with_all, options_with_one, single_words):
            program, groups = command[:first], grouped(command[first:])

            def render(kept: Sequence[Words], program: Words = program) -> Words:
                return (*program, *(word for group in kept for word in group))

            command = yield from keep_few(groups, render, command)
        for index in range(first, len(command)):
            command = yield from _plainer_word(command, index)
        if command == start:
            return command


def options_with_all(words: Words) -> list[Words]:
    """Return options, each with all words up to the next one; words before the first are single."""
    groups: list[Words] = []
    for word in words:
        if groups and not _OPTION.match(word) and _OPTION.match(groups[-1][0]):
            groups[-1] = (*groups[-1], word)
        else:
            groups.append((word,))
    return groups


def options_with_one(words: Words) -> list[Words]:
    """Return options, each with the word behind it unless that is an option too."""
    groups: list[Words] = []
    for word in words:
        last = groups[-1] if groups else ()
        if len(last) == 1 and _OPTION.match(last[0]) and not _OPTION.match(word):
            groups[-1] = (*last, word)
        else:
            groups.append((word,))
    return groups


def single_words(words: Words) -> list[Words]:
    """Return each word alone."""
    return [(word,) for word in words]


def _plainer_word(command: Words, index: int) -> Search[Words, Words]:
    """Make one word plain: of ``--name=value`` its value, of an option without one nothing."""
    valued = _WITH_VALUE.fullmatch(command[index])
    if valued is not None:
        before, text = f"{valued['name']}=", valued["value"]
    elif _OPTION.match(command[index]):
        return command
    else:
        before, text = "", command[index]

    def put(plain: str) -> Words:
        return (*command[:index], before + plain, *command[index + 1 :])

    return (yield from plainer_text(text, put, command))
