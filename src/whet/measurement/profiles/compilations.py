"""Sentences on what JAX and torch compile again and again, and why."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from whet.core.observations.profile import Compilation, Profile
from whet.core.text.quantity import shown_count, shown_seconds
from whet.core.value_class import value_class

_AGAIN = 3
"""From so many versions of one function on, it is said: two may be training and evaluation."""

_LEAST_SECONDS, _LEAST_SHARE, _MUCH = 0.1, 0.05, 0.3
_MOST_FUNCTIONS, _MOST_TYPES, _MOST_REASONS = 3, 3, 2
_SIZES = "size mismatch"


@value_class(kw_only=True)
class CompiledFunction:
    """A function with all its compilations from one place.

    Attributes:
        compilations: each of them, the first one first.
    """

    compilations: tuple[Compilation, ...]

    @property
    def seconds(self) -> float:
        """What all of them took."""
        return sum(each.seconds for each in self.compilations)

    @property
    def first(self) -> Compilation:
        """The first one, which names the function and the place."""
        return self.compilations[0]

    def to_json(self) -> dict[str, object]:
        """Return it as JSON data."""
        first = self.first
        return {
            "compiler": first.compiler, "function": first.function, "file": first.path,
            "line": first.line, "caller": first.caller, "count": len(self.compilations),
            "seconds": self.seconds,
            "types": [list(each.types) for each in self.compilations],
            "reasons": [each.reason for each in self.compilations if each.reason],
        }  # fmt: skip


def compiled_functions(profile: Profile) -> Sequence[CompiledFunction]:
    """Return the functions that were compiled, the one that took longest first."""
    groups: dict[tuple[object, ...], list[Compilation]] = {}
    for each in profile.compilations:
        key = (each.pid, each.compiler, each.function, each.path, each.line)
        groups.setdefault(key, []).append(each)
    functions = [CompiledFunction(compilations=tuple(each)) for each in groups.values()]
    return sorted(functions, key=lambda each: -each.seconds)


def compiling_sentences(profile: Profile, wall_seconds: float) -> Iterator[str]:
    """Say what is compiled again and again, if that takes long.

    Args:
        profile: the profile.
        wall_seconds: how long the program took.
    """
    compilations = _of_slowest(profile)
    seconds = sum(each.seconds for each in compilations)
    if seconds < max(_LEAST_SECONDS, _LEAST_SHARE * wall_seconds):
        return
    if seconds > _MUCH * wall_seconds:
        count = shown_count(len(compilations), "compilation")
        yield f"Compiling takes {shown_seconds(seconds)} of {shown_seconds(wall_seconds)} ({count})."
    for each in functions_again(profile, wall_seconds)[:_MOST_FUNCTIONS]:
        yield sentence_of(each)


def functions_again(profile: Profile, wall_seconds: float) -> Sequence[CompiledFunction]:
    """Return the functions that one process compiles again and again for long, the longest first."""
    profile = replace(profile, compilations=_of_slowest(profile))
    least = max(_LEAST_SECONDS, _LEAST_SHARE * wall_seconds)
    return [
        each
        for each in compiled_functions(profile)
        if len(each.compilations) >= _AGAIN and each.seconds >= least
    ]


def _of_slowest(profile: Profile) -> tuple[Compilation, ...]:
    """Return the compilations of the process that compiles longest: the ranks of a job do the same."""
    by_process: dict[int, list[Compilation]] = {}
    for each in profile.compilations:
        by_process.setdefault(each.pid, []).append(each)
    if not by_process:
        return ()
    return tuple(max(by_process.values(), key=lambda own: sum(each.seconds for each in own)))


def sentence_of(function: CompiledFunction) -> str:
    """Say how often a function is compiled, how long that takes, and what changes."""
    first, count = function.first, len(function.compilations)
    took = shown_seconds(function.seconds)
    if first.compiler == "JAX":
        called = f", called at {_place(first)}" if first.path else ""
        what = f"JAX compiles `{first.function}` {count} times ({took}){called}: "
        return f"{what}{_types(function.compilations)}"
    at = f" ({_place(first)})" if first.path else ""
    reasons = [each.reason.partition(": ")[2] or each.reason for each in function.compilations]
    kinds = list(dict.fromkeys(" ".join(each.split()) for each in reasons if each))
    said = "; ".join(kinds[:_MOST_REASONS]) or "torch gives no reason"
    step = ""
    if any(_SIZES in each for each in kinds):
        step = " `torch.compile(dynamic=True)` compiles one version for all sizes."
    return f"torch.compile compiles `{first.function}`{at} {count} times ({took}): {said}.{step}"


def _types(compilations: Sequence[Compilation]) -> str:
    """Say which argument has another type each time."""
    if any(each.reason for each in compilations):
        return "whet couldn't see the types of its arguments."
    rows = [each.types for each in compilations]
    if len({len(row) for row in rows}) > 1:
        return "it has another number of arguments each time."
    for place, column in enumerate(zip(*rows, strict=True), 1):
        kinds = list(dict.fromkeys(column))
        if kinds == [column[0]]:
            continue
        shown = ", ".join(kinds[:_MOST_TYPES])
        others = f" and {shown_count(len(kinds) - _MOST_TYPES, 'other')}"
        more = others if len(kinds) > _MOST_TYPES else ""
        return f"argument {place} is {shown}{more}. Pad it to a few sizes."
    return (
        "the types of its arguments are the same each time, so a static argument changes, such as a"
        " shape, or each call makes a new function (a lambda, a partial)."
    )


def _place(compilation: Compilation) -> str:
    where = f"{compilation.path.rpartition('/')[2]}:{compilation.line}"
    caller = compilation.caller
    return f"{where} in {caller}" if caller and caller != "<module>" else where
