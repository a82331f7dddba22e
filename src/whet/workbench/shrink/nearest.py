"""The most similar payload, or argument, with which a command passes."""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace as replaced
from functools import partial
from pathlib import Path

from whet.core.observations.clue import Placing
from whet.core.trial import PayloadBinding, Trial
from whet.core.value_class import value_class
from whet.evidence.provenance.sentences.wording import cut as shortened
from whet.reduction.variants import Cut, Units, cuts, units_of
from whet.workbench.files.named_files import first_argument
from whet.workbench.trials.bench import Workbench

_MOST_BYTES = 1 << 20
_MOST_VALUES = 12
_INTEGER = re.compile(r"(?P<before>(?:--?[\w-]+=)?)(?P<number>\d{1,9})")

Passes = Callable[[Callable[[], Trial]], bool]
"""Whether a trial passes. One beyond the budget doesn't, and isn't made: its payload would be kept for nothing."""


@value_class
class Near:
    """A trial that passes, and differs little from one that fails.

    Attributes:
        trial: the one that passes.
        says: how it differs.
        path: the file in which it differs; empty: it is an argument.
        line: the line there.
        is_single: it lacks one part alone, or has another one: of several, each may be innocent.
    """

    trial: Trial
    says: str
    path: str = ""
    line: int = 0
    is_single: bool = True


def near_payloads(bench: Workbench, trial: Trial, passes: Passes, at: Placing) -> Iterator[Near]:
    """Yield the nearest payload with which a command passes, of each that it has.

    Args:
        bench: the workbench.
        trial: what fails.
        passes: whether a trial passes.
        at: says where a line is.
    """
    for position, bound in enumerate(trial.payloads):
        content = bench.payload_store.payload_of(bound.digest)
        if bound.folder or not isinstance(content, bytes) or len(content) > _MOST_BYTES:
            continue

        def on(data: bytes, position: int = position) -> Trial:
            return trial.with_payload(bench.payload_store.keep(data), position)

        for units in units_of(content, bound.name):
            cut = _smallest(units, lambda make: passes(lambda: on(make())))
            if cut is not None:
                yield _near(units, cut, bound, on, passes, at)
                break


def _smallest(units: Units, passes: Callable[[Callable[[], bytes]], bool]) -> Cut | None:
    """Return the smallest cut without which a payload passes."""
    search = cuts(len(units.spans))
    try:
        question = next(search)
        while True:
            question = search.send(passes(partial(units.without, question)))
    except StopIteration as ended:
        cut: Cut | None = ended.value
        return cut


def _near(
    units: Units,
    cut: Cut,
    bound: PayloadBinding,
    on: Callable[[bytes], Trial],
    passes: Passes,
    at: Placing,
) -> Near:
    """Return the payload with one other value, where that passes too, else that without the cut."""
    path = _path_of(bound)
    first, behind = cut
    for unit, left in zip(range(first, behind), (_MOST_VALUES, 0), strict=False):
        for count, (span, text) in enumerate(units.others(unit)):
            if count >= left:
                break
            variant = partial(on, units.with_value(span, text))
            if passes(variant):
                there = _shown(units.payload[span[0] : span[1]])
                line = units.line(span[0])
                says = f"with {_shown(text)} instead of {there} at {at(path, line)}"
                return Near(variant(), says, path, line)
    start = units.spans[first][0]
    line = units.line(start)
    own = _shown(units.payload[start : units.spans[first][1]])
    more = f" and the {behind - first - 1} after it" if behind - first > 1 else ""
    says = f"without {at(path, line)} ({own}){more}"
    return Near(on(units.without(cut)), says, path, line, behind - first == 1)


def _path_of(bound: PayloadBinding) -> str:
    return str(Path(bound.beside, bound.name)) if bound.beside else bound.text or bound.name


def _shown(data: bytes) -> str:
    return f"`{shortened(' '.join(data.decode('utf-8', 'backslashreplace').split()))}`"


def near_arguments(trial: Trial, passes: Passes) -> Iterator[Near]:
    """Yield the command with one other number, or without one of its options.

    Args:
        trial: what fails.
        passes: whether a trial passes.
    """
    words, bound = trial.command, {p.argument for each in trial.payloads for p in each.places}
    cwd = Path(trial.cwd)
    for index in range(first_argument(words, cwd), len(words)):
        if index in bound or (cwd / words[index]).exists():
            continue
        for word in _like(words[index]):
            command = (*words[:index], *([word] if word else []), *words[index + 1 :])
            variant = partial(replaced, trial, command=command)
            if passes(variant):
                how = f"with `{word}` instead of" if word else "without"
                yield Near(variant(), f"{how} `{words[index]}`")
                break


def _like(word: str) -> list[str]:
    """Return words that may stand instead of another one; empty: none."""
    match = _INTEGER.fullmatch(word)
    if match is None:
        return [""] if word.startswith("--") and "=" not in word else []
    number = int(match["number"])
    numbers = dict.fromkeys(
        [number - 1, number + 1, number // 2, 1, 2, 0, number // 10, number * 2]
    )
    return [f"{match['before']}{each}" for each in numbers if each != number and each >= 0]
