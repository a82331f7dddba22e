"""The loop that a program doesn't leave: each sample of a profile is in it."""

import ast
from collections.abc import Callable, Mapping

from whet.core.failure import Frame
from whet.core.observations.profile import Profile
from whet.core.value_class import value_class
from whet.measurement.profiles.line_table import innermost_own

_ALL, _NOT_CHANCE = 0.95, 0.02
"""The share of the samples that a loop has which does not end; and that a line has which belongs to it."""

_Loop = ast.While | ast.For | ast.AsyncFor
_Function = tuple[str, str]


@value_class(kw_only=True)
class EndlessLoop:
    """A loop in which a program was in nearly all samples.

    Attributes:
        path: its file.
        line: its first line.
        is_counted: it goes through something, and doesn't test a condition: it may only take long.
        share: how much of the time the program was in it.
        busiest: the line of the user's own in which it was most.
        busiest_share: how much of the time.
    """

    path: str
    line: int
    is_counted: bool
    share: float
    busiest: Frame
    busiest_share: float


def endless_loop(profile: Profile, source_of: Callable[[str], str]) -> EndlessLoop | None:
    """Return the innermost loop that has nearly all samples; None: there is none.

    Args:
        profile: of a run that did not end.
        source_of: returns the text of a file.
    """
    total = profile.total(profile.unit)
    if not total:
        return None
    inside: dict[_Function, dict[int, float]] = {}
    depth: dict[_Function, int] = {}
    own: dict[Frame, float] = {}
    for stack in profile.stacks:
        frames, cost = profile.lines_of(stack), stack.number(profile.unit)
        innermost: Mapping[_Function, tuple[int, Frame]] = {
            (each.path, each.function): (number, each)
            for number, each in enumerate(frames)
            if each.in_user_code
        }
        for function, (number, frame) in innermost.items():
            lines = inside.setdefault(function, {})
            lines[frame.line] = lines.get(frame.line, 0.0) + cost
            depth[function] = max(depth.get(function, 0), number)
        place = innermost_own(frames)
        if place is not None:
            own[place] = own.get(place, 0.0) + cost
    always = [each for each, lines in inside.items() if sum(lines.values()) >= _ALL * total]
    for function in sorted(always, key=lambda each: -depth[each]):
        met = {line for line, cost in inside[function].items() if cost >= _NOT_CHANCE * total}
        loop = _loop_around(source_of(function[0]), met)
        if loop is not None:
            busiest = max(own, key=lambda each: own[each])
            return EndlessLoop(
                path=function[0], line=loop.lineno, is_counted=not isinstance(loop, ast.While), share=sum(inside[function].values()) / total,
                busiest=busiest, busiest_share=own[busiest] / total,
            )  # fmt: skip
    return None


def _loop_around(source: str, lines: set[int]) -> _Loop | None:
    """Return the innermost loop that holds all of some lines; None: there is none."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    loops = [
        node
        for node in ast.walk(tree)
        if isinstance(node, _Loop)
        and all(node.lineno <= line <= (node.end_lineno or node.lineno) for line in lines)
    ]
    return max(loops, key=lambda node: node.lineno, default=None) if lines else None
