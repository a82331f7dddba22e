"""A pytest command: which of its words select tests, and how to make it run others."""

import os
import re
from collections.abc import Sequence
from pathlib import Path

from whet.core.errors import BadUsage
from whet.core.value_class import value_class

_NAMES = frozenset({"pytest", "py.test"})

_FLAGS = frozenset(
    {"--cache-clear", "--continue-on-collection-errors", "--disable-warnings", "--doctest-modules",
     "--durations-min", "--exitfirst", "--full-trace", "--keep-duplicates", "--no-cov",
     "--no-header", "--no-summary", "--noconftest", "--pdb", "--pyargs", "--quiet", "--runxfail",
     "--setup-show", "--show-capture", "--showlocals", "--strict", "--strict-config",
     "--strict-markers", "--trace", "--verbose"}
)  # fmt: skip
"""Long options that take no word of their own; behind others a word is taken for theirs."""

_SHORT_WITH_VALUE = frozenset({"-W", "-c", "-k", "-m", "-n", "-o", "-p", "-r"})

_OF_MEMORY = frozenset(
    {"--ff", "--failed-first", "--lf", "--last-failed", "--nf", "--new-first", "--stepwise",
     "--stepwise-skip", "--sw", "--sw-skip"}
)  # fmt: skip
"""Options that choose tests or their order by earlier runs, which whet's runs change, too."""

_OF_ORDER = re.compile(
    r"--(?:co|collect-only|random-order(?:-.*)?(?:=.*)?|randomly-.*|(?:dist|numprocesses|maxprocesses)(?:=.*)?)"
    r"|-n(?:\d+|auto|logical)?"
)
"""Options that choose tests or their order, or run them side by side."""

_OF_ORDER_WITH_VALUE = frozenset(
    {"-n", "--dist", "--numprocesses", "--maxprocesses", "--randomly-seed", "--random-order-bucket",
     "--random-order-seed"}
)  # fmt: skip


@value_class(kw_only=True)
class PytestCommand:
    """A command that runs pytest.

    Attributes:
        program: the words up to and including ``pytest``.
        options: those that say how tests are run.
    """

    program: tuple[str, ...]
    options: tuple[str, ...]

    def on(self, words: Sequence[str]) -> tuple[str, ...]:
        """Return the command that runs these tests, in this order."""
        return (*self.program, *self.options, *words)


def read_pytest_command(command: tuple[str, ...], cwd: Path) -> PytestCommand:
    """Tell the words that choose tests and their order from the others.

    Raises:
        BadUsage: if the command runs no pytest.
    """
    place = next((index for index, word in enumerate(command) if Path(word).name in _NAMES), None)
    if place is None:
        raise BadUsage(
            f"`{' '.join(command)}` isn't a pytest command",
            hint="write it after `--`: `whet shrink --tests -- pytest tests`, or `python -m "
            "pytest`",
        )
    return PytestCommand(
        program=command[: place + 1], options=tuple(_options(command[place + 1 :], cwd))
    )


def _options(words: Sequence[str], cwd: Path) -> list[str]:
    options: list[str] = []
    index = 0
    while index < len(words):
        word = words[index]
        count = 1 + _takes_next(words, index)
        is_order = (
            word in _OF_ORDER_WITH_VALUE | _OF_MEMORY or _OF_ORDER.fullmatch(word) is not None
        )
        if not is_order and (word.startswith("-") or not (cwd / word.partition("::")[0]).exists()):
            options += words[index : index + count]
        index += count
    return options


def _takes_next(words: Sequence[str], index: int) -> bool:
    """Whether the next word is the value of this option."""
    word = words[index]
    if not word.startswith("-") or index + 1 == len(words) or words[index + 1].startswith("-"):
        return False
    if word.startswith("--"):
        is_order = word not in _OF_ORDER_WITH_VALUE and _OF_ORDER.fullmatch(word) is not None
        is_flag = word in _FLAGS | _OF_MEMORY or is_order
        return "=" not in word and not is_flag
    return word in _SHORT_WITH_VALUE


def without_memory(command: Sequence[str]) -> tuple[str, ...]:
    """Return a command that doesn't look at what came of earlier runs."""
    return tuple(word for word in command if word not in _OF_MEMORY)


def words_for(tests: Sequence[str], cwd: Path) -> tuple[str, ...]:
    """Return the words that name tests for a pytest that starts in ``cwd``.

    When it collects, pytest shows them as seen from its own root, which may stand above.
    """
    root = _root_of(tests[0], cwd) if tests else cwd
    if root == cwd:
        return tuple(tests)
    return tuple(_seen_from(cwd, root, each) for each in tests)


def _root_of(test: str, cwd: Path) -> Path:
    file = test.partition("::")[0]
    return next((folder for folder in (cwd, *cwd.parents) if (folder / file).exists()), cwd)


def _seen_from(cwd: Path, root: Path, test: str) -> str:
    file, border, rest = test.partition("::")
    return f"{os.path.relpath(root / file, cwd)}{border}{rest}"
