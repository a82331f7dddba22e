"""The variables and limits of a trial that its failure needs, found by leaving them out."""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from typing import TypeAlias

from whet.core.failure import FailureKind
from whet.core.limits import Limits
from whet.core.oracle import Oracle, SameFailure
from whet.core.trial import Trial
from whet.core.verdict import Verdict
from whet.reduction.candidates import keep_few, never_twice

Setting: TypeAlias = tuple[str, str]
"""What kind of setting it is, and its name."""

_TELLING = re.compile(
    r"TZ|LANG|LANGUAGE|LC_\w+|PYTHON(?!UNBUFFERED|DONTWRITEBYTECODE|PYCACHEPREFIX|HISTORY|STARTUP)\w+"
)
_LOCALE = re.compile(r"L(?:ANG|C_)")
USUAL_LOCALES = frozenset({"C", "POSIX", "C.UTF-8", "C.utf8", "en_US.UTF-8", "en_US.utf8"})
"""With these, programs do the same nearly everywhere."""

_VARIABLE, _UNSET, _LIMIT = "variable", "unset", "limit"
_OF_NO_LINE = frozenset({"output_bytes", "spares_command"})
_PROTECTS = frozenset({"room"})
"""A sandbox stays: without it a run would change what the user has put out of its reach."""


def fewest_settings(
    trial: Trial, oracle: Oracle, needed: Collection[str], fails: Callable[[Trial], bool]
) -> Trial:
    """Return the trial with few variables and limits of its own, with which it still fails.

    First it is run without all of them: most failures need none.

    Args:
        trial: fails with all of them.
        oracle: what failing means.
        needed: variables that stay, as it is known that the failure needs them.
        fails: runs a trial.
    """
    settings = tuple(_settings_of(trial, oracle, needed))

    def with_only(kept: Sequence[Setting]) -> Trial:
        return _without(trial, {*settings} - {*kept})

    search = never_twice(keep_few(settings, tuple, settings), settings)
    try:
        batch = next(search)
        while True:
            verdicts: list[Verdict] = []
            for kept in batch:
                verdicts.append(Verdict.BAD if fails(with_only(kept)) else Verdict.GOOD)
                if verdicts[-1] is Verdict.BAD:
                    break
            batch = search.send(verdicts)
    except StopIteration as end:
        return with_only(end.value)


def telling_variables(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that decide what the C library and Python do, but for usual values."""
    return {
        name: value
        for name, value in environment.items()
        if value
        and _TELLING.fullmatch(name)
        and not (_LOCALE.match(name) and value in USUAL_LOCALES)
    }


def is_hang(oracle: Oracle) -> bool:
    """Whether BAD means that it hangs: then the limit of time is a part of the failure."""
    return isinstance(oracle, SameFailure) and oracle.reference.kind is FailureKind.TIMEOUT


def _settings_of(trial: Trial, oracle: Oracle, needed: Collection[str]) -> Iterator[Setting]:
    yield from ((_VARIABLE, name) for name in trial.environment if name not in needed)
    yield from ((_UNSET, name) for name in trial.unset)
    for each in fields(Limits):
        may_go = each.name not in _OF_NO_LINE | _PROTECTS
        is_set = getattr(trial.limits, each.name) is not None and may_go
        if is_set and not (each.name == "wall_seconds" and is_hang(oracle)):
            yield _LIMIT, each.name


def _without(trial: Trial, gone: Collection[Setting]) -> Trial:
    return replace(
        trial,
        environment={
            name: value
            for name, value in trial.environment.items()
            if (_VARIABLE, name) not in gone
        },
        unset=tuple(name for name in trial.unset if (_UNSET, name) not in gone),
        limits=Limits.from_json(
            {
                name: value
                for name, value in trial.limits.to_json().items()
                if (_LIMIT, name) not in gone
            }
        ),
    )
