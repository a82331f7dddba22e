"""The recorded states of the code as a history: which of my last attempts broke it?"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from whet.core.outcome import Outcome
from whet.core.trial import STDIN_EMPTY, STDIN_INHERITED, CodeState, Trial
from whet.core.value_class import value_class
from whet.core.verdict import Verdict


@value_class(kw_only=True)
class Attempt:
    """A state of the code that a trial was recorded on.

    Attributes:
        number: of the first trial on it; 0: the code of now, which none was recorded on.
        code: the state.
        outcome: what came of the last trial on it that has ended; None if there is none.
        started_at: UTC; empty: now.
        note: what its author thought; may be empty.
    """

    number: int
    code: CodeState
    outcome: Outcome | None = None
    started_at: str = ""
    note: str = ""

    @property
    def name(self) -> str:
        """What it is called."""
        return f"trial {self.number}" if self.number else "now"

    @property
    def commit(self) -> str:
        """The commit that holds the code."""
        return self.code.snapshot or self.code.commit


def is_same_but_for_code(one: Trial, other: Trial) -> bool:
    """Whether two trials differ in nothing but the code that they ran on."""
    return _without_code(one) == _without_code(other)


def states_of(attempts: Iterable[Attempt]) -> tuple[Attempt, ...]:
    """Return the attempts, oldest first, of which neighbours on the same code are one.

    Args:
        attempts: oldest first.
    """
    states: list[Attempt] = []
    for attempt in attempts:
        if states and states[-1].code.tree == attempt.code.tree:
            known = attempt.outcome or states[-1].outcome
            states[-1] = replace(states[-1], outcome=known)
        else:
            states.append(attempt)
    return tuple(states)


def since_it_passed(
    states: Sequence[Attempt], judge: Callable[[Outcome], Verdict]
) -> tuple[Attempt, ...]:
    """Return the states from the last one that is known to be good; all if none is."""
    for place in range(len(states) - 1, -1, -1):
        outcome = states[place].outcome
        if outcome is not None and judge(outcome) is Verdict.GOOD:
            return tuple(states[place:])
    return tuple(states)


def _without_code(trial: Trial) -> Trial:
    bare = replace(trial.surroundings, files_digest="", environment_digest="")
    # What the user typed then a search can't type again; the ends show whether it matters.
    stdin = STDIN_EMPTY if trial.stdin == STDIN_INHERITED else trial.stdin
    return replace(trial, code=None, revision=None, stdin=stdin, surroundings=bare)
