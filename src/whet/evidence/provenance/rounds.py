"""Which round of a comprehension made a value."""

import ast
from collections.abc import Callable, Sequence

from whet.evidence.provenance.moments import Moments
from whet.evidence.provenance.recording import Call, Step, Value
from whet.evidence.provenance.source import Comprehension, element_of
from whet.evidence.provenance.trail import is_passed_on, words_of


def chosen_round(
    expr: Comprehension,
    rounds: Sequence[tuple[Call, Step]],
    now: Moments,
    wanted: tuple[str, Value | None],
    is_flawed: Callable[[Value | None], bool],
) -> tuple[Call, Step, Value | None] | None:
    """Return the round whose element has the key, or is the target, or has the flaw.

    Args:
        expr: the comprehension.
        rounds: where each element was made, the last first.
        now: tells what an expression was then.
        wanted: the key, if there is one, and the target.
        is_flawed: whether a value has the flaw.
    """
    element, (key, target) = element_of(expr), wanted
    for inner, at in rounds:
        value = now.value(element, inner, at)
        if key and isinstance(expr, ast.DictComp):  # a round may have been left out
            is_other = value and target and not is_passed_on(value, target)
            is_it = not is_other and words_of(now.value(expr.key, inner, at)) == key
        elif value is not None:
            is_it = is_passed_on(value, target) or is_flawed(value)
        else:
            operands = [each for _, each in now.operands(element, inner, at)]
            is_it = any(is_passed_on(each, target) or is_flawed(each) for each in operands)
        if is_it:
            return inner, at, value
    return None
