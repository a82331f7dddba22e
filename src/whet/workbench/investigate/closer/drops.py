"""The trouble that the failing run dropped, among the other clues."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from whet.core.observations.clue import Clue, Mention, Placing, Sureness
from whet.core.outcome import Outcome
from whet.core.text.record import JsonObject
from whet.core.value_class import value_class
from whet.evidence.clues.dropped import Drop, Ties, dropped_clues, drops_in, is_raised_by_plan
from whet.evidence.provenance.events.shared import Shared
from whet.evidence.provenance.failure.way import Way
from whet.workbench.inspect.post_mortem import dead_in, likeliest
from whet.workbench.investigate.traces.origins import Recorded


@value_class
class Dropped:
    """What the failing run has dropped.

    Attributes:
        drops: the statements, the most telling first.
        trials: the run that was looked at.
        reported: where the errors came up that the failure reports: these weren't lost.
    """

    drops: Sequence[Drop] = ()
    trials: tuple[int, ...] = ()
    reported: frozenset[tuple[str, int]] = frozenset()


def dropped_in(told: Sequence[JsonObject], trial: int, failed: Outcome) -> Dropped:
    """Return what a run has dropped, by what it told, its trial's number, and the failure."""
    return Dropped(drops_in(told), (trial,), _reported_in(failed))


def _reported_in(outcome: Outcome) -> frozenset[tuple[str, int]]:
    """Return where the errors came up that a failure reports: its own, and those that it stands for."""
    dead = dead_in(outcome.evidence)
    told = {each.failure.pid for each in dead[likeliest(outcome, dead) :][:1]}
    places = (each.error.place for each in dead if each.failure.pid in told)
    return frozenset((each.frame.path, each.frame.line) for each in places if each is not None)


def with_drops(
    clues: Sequence[Clue],
    dropped: Dropped,
    traced: tuple[Recorded | None, Way | None],
    at: Placing,
    source_of: Callable[[str], str],
) -> tuple[list[Clue], list[Clue]]:
    """Return the clues with the trouble that was dropped and leads, and that which comes last.

    An error in it is told once.

    Args:
        clues: the others, the likeliest first.
        dropped: what the failing run has dropped.
        traced: the steps of that run, and the way of the bad value; None: not known.
        at: says where a line is.
        source_of: returns the text of a file.
    """
    recorded, way = traced
    shared = Shared(None if recorded is None else recorded.recording, way)
    clues = [_with_lost(each, shared, recorded, source_of) for each in clues]
    ties = Ties(given=shared.name, lost=shared.lost, has_passed=shared.has_passed)
    near: list[Clue] = []
    far: list[Clue] = []
    lost = [
        each
        for each in dropped.drops
        if each.raised is None or (each.raised.path, each.raised.number) not in dropped.reported
    ]
    for each in dropped_clues(lost, ties, at, source_of):
        is_near = recorded is not None and Mention.DROPPED in each.mentions
        trials = (*dropped.trials, *((recorded.number,) if is_near and recorded else ()))
        (near if is_near else far).append(replace(each, trials=trials))
    raised = [each.raised for each in dropped.drops if each.raised is not None]
    places = {(each.path, each.number) for each in raised}
    rest = [
        each
        for each in clues
        if Mention.CAUGHT not in each.mentions or (each.path, each.line) not in places
    ]
    return [*near, *rest], far


def _with_lost(
    clue: Clue, shared: Shared, recorded: Recorded | None, source_of: Callable[[str], str]
) -> Clue:
    """Return the clue of an error that was lost, such as in a thread, firmer where that had to do with the bad value."""
    name = shared.lost(clue.path, clue.line) if Mention.UNCAUGHT in clue.mentions else ""
    if not name or recorded is None:
        return clue
    says = f"{clue.says}; it was to change `{name}`, which the value that failed comes from"
    mentions = clue.mentions | {Mention.DROPPED}
    trials = (*clue.trials, recorded.number)
    is_planned = is_raised_by_plan(clue.path, clue.line, source_of)
    sureness = clue.sureness if is_planned else Sureness.SEEN
    return replace(clue, says=says, sureness=sureness, trials=trials, mentions=mentions)
