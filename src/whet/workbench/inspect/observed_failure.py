"""What was seen of a failure while it was there, in lines to be read."""

from collections.abc import Sequence

from whet.core.observations.evidence import STACKS, Evidence
from whet.core.outcome import Outcome
from whet.evidence.stacks.stack_groups import (
    groups_of,
    sentence,
    stacks_in,
    task_groups,
    task_sentence,
)
from whet.evidence.variables.failure_text import failure_lines
from whet.workbench.inspect.post_mortem import dead_in, likeliest

_MOST_FRAMES = 3
_MOST_GROUPS = 6


def seen_lines(outcome: Outcome) -> list[str]:
    """Return what the variables of a failure held, and where the processes of a hang were."""
    return [*_variables(outcome), *stack_sentences(outcome.evidence)]


def stack_sentences(evidence: Sequence[Evidence]) -> list[str]:
    """Return who waits where, the largest group of main threads first, tasks of asyncio last."""
    stacks = [stacks_in(each) for each in evidence if each.kind == STACKS]
    groups = [group for each in stacks for group in groups_of(each)]
    tasks = [group for each in stacks for group in task_groups(each)]
    return [
        *(sentence(group) for group in groups[:_MOST_GROUPS]),
        *(task_sentence(group) for group in tasks[:_MOST_GROUPS]),
    ]


def _variables(outcome: Outcome) -> list[str]:
    dead = dead_in(outcome.evidence)
    if not dead:
        return []
    failure = dead[likeliest(outcome, dead)].failure
    _, *lines = failure_lines(failure, frames=_MOST_FRAMES)
    return lines
