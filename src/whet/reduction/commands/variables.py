"""Fewer and plainer environment variables: which of them the failure needs."""

from collections.abc import Collection, Mapping, Sequence
from typing import TypeAlias

from whet.reduction.candidates import keep_few, never_twice, plainer_text
from whet.search.proposal import Search

Variables: TypeAlias = tuple[tuple[str, str], ...]
"""Names and values, sorted by name: a whole environment."""

_LIST_SIGN = ":"


def reduce_variables(
    environment: Mapping[str, str], clean: Mapping[str, str], untouched: Collection[str] = ()
) -> Search[Variables, Variables]:
    """Look for a smaller environment in which the command still fails.

    Each variable gets the value that it has in a clean environment, or is unset if it has none
    there; then those of the clean environment are unset too. A list of paths loses its parts, and
    other texts are made plain.

    Args:
        environment: all variables; with them the command fails.
        clean: those of a clean environment.
        untouched: names of those whose values aren't cut, as secrets.
    """
    start = as_variables(environment)
    return never_twice(_reduce(start, clean, untouched), start)


def as_variables(environment: Mapping[str, str]) -> Variables:
    """Return an environment as a candidate."""
    return tuple(sorted(environment.items()))


def _reduce(
    variables: Variables, clean: Mapping[str, str], untouched: Collection[str]
) -> Search[Variables, Variables]:
    while True:
        start = variables
        variables = yield from _back_to(variables, clean)
        variables = yield from _back_to(variables, {})
        for name, _ in variables:
            if name not in untouched:
                variables = yield from _plainer(variables, name)
        if variables == start:
            return variables


def _back_to(variables: Variables, clean: Mapping[str, str]) -> Search[Variables, Variables]:
    own = [(name, value) for name, value in variables if clean.get(name) != value]
    same = {name: value for name, value in variables if clean.get(name) == value}
    # A variable of the clean environment that was unset before stays so.
    known = {name for name, _ in variables}
    rest = {name: value for name, value in clean.items() if name in known}

    def render(kept: Sequence[tuple[str, str]]) -> Variables:
        return as_variables({**rest, **same, **dict(kept)})

    return (yield from keep_few(own, render, variables))


def _plainer(variables: Variables, name: str) -> Search[Variables, Variables]:
    value = dict(variables)[name]

    def put(plain: str) -> Variables:
        return as_variables({**dict(variables), name: plain})

    parts = value.split(_LIST_SIGN)
    if "/" in value and len(parts) > 1 and "://" not in value:

        def join(kept: Sequence[str]) -> Variables:
            return put(_LIST_SIGN.join(kept))

        return (yield from keep_few(parts, join, variables))
    return (yield from plainer_text(value, put, variables))
