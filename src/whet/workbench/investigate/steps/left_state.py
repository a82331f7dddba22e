"""Which state an earlier test leaves, at which line, and whether the test that fails passes with it put back."""

from collections.abc import Sequence
from dataclasses import replace

from whet.core.observations.clue import Clue, Placing, Sureness
from whet.core.text.quantity import listed
from whet.core.text.record import items_of, text
from whet.core.trial import Trial
from whet.core.value_class import value_class
from whet.core.verdict import Verdict
from whet.evidence.clues.closer_look import Line, line_of, of_kind, told_in
from whet.evidence.printed.reported_tests import told_to_pass
from whet.host.trial.agent_tasks import AgentTasks
from whet.workbench.investigate.progress.investigating import Work
from whet.workbench.shrink.shrink_tests import FewestTests
from whet.workbench.trials.tested import Tested

_ASKED = "left:"
_MOST_ALONE, _MOST_SHOWN = 6, 3
_WHY = "what a test changes stays changed for the tests after it"


@value_class(kw_only=True)
class LeftState:
    """A place that holds something else after a test than before it.

    Attributes:
        test: the test.
        place: what it is, as the agent reads it.
        shown: what it is, in words.
        before: what it held before.
        after: what it held after.
    """

    test: str
    place: tuple[str, ...]
    shown: str
    before: str
    after: str

    @property
    def says(self) -> str:
        """What it held, in words."""
        return f"{self.shown} as `{self.after}` (it was `{self.before}`)"


@value_class
class _Look:
    """The tests that are looked at.

    Attributes:
        work: the investigation.
        fewest: the test that fails, and the tests that bring the failure.
        trial: runs them, and tells which of them pass.
    """

    work: Work
    fewest: FewestTests
    trial: Trial

    def passes(self, ran: Tested[None]) -> bool:
        """Whether the test that failed has passed."""
        return told_to_pass(ran.outcome, self.fewest.failing)


def left_state(work: Work, fewest: FewestTests, trial: Trial) -> tuple[Clue, ...]:
    """Return what the earlier tests leave, if the test that fails passes once it is put back.

    Args:
        work: the investigation.
        fewest: the test that fails, and the tests that bring the failure.
        trial: runs them, and tells which of them pass.
    """
    look = _Look(work, fewest, trial)
    first = _looked_at(look, ())
    states = _states(first)
    if first.verdict is not Verdict.BAD or not states:
        return ()
    whole = _looked_at(look, states)
    if not look.passes(whole):
        return ()
    for each in states[:_MOST_ALONE] if len(states) > 1 else ():
        alone = _looked_at(look, (each,))
        if look.passes(alone):
            return (_clue(look, (each,), (first, whole, alone)),)
    again = _looked_at(look, states)
    return (_clue(look, states, (first, whole, again)),) if look.passes(again) else ()


def _looked_at(look: _Look, states: Sequence[LeftState]) -> Tested[None]:
    """Run the tests; see what the others leave, and put some of it back before the one that fails."""
    failing, kept = look.fewest.failing, look.fewest.kept
    others = [each for each in kept if each != failing]
    places = ["\t".join(each.place) for each in states]
    asked = "\n".join([failing, str(len(places)), *places, *others])
    tasks = AgentTasks(closer=f"{_ASKED}{asked}")
    return replace(look.work.session, tasks=tasks).run(
        look.trial, look.fewest.oracle, "state looked at"
    )


def _states(ran: Tested[None]) -> tuple[LeftState, ...]:
    return tuple(
        LeftState(
            test=text(each, "test"),
            place=tuple(map(str, items_of(each.get("place")))),
            shown=text(each, "shown"),
            before=text(each, "before"),
            after=text(each, "after"),
        )
        for each in of_kind(told_in(ran.outcome.evidence), "left")
    )


def _clue(look: _Look, states: Sequence[LeftState], runs: Sequence[Tested[None]]) -> Clue:
    at = Placing(look.trial.cwd)
    lines = _lines_that_leave(states[0], runs[-1])
    line = next(iter(lines), None)
    places = [at(each.path, each.number) for each in lines[:_MOST_SHOWN]]
    where = f", changed at {listed(places)}" if places else ""
    left = " and ".join(each.says for each in states[:_MOST_SHOWN])
    more = f" and {len(states) - _MOST_SHOWN} more" if len(states) > _MOST_SHOWN else ""
    them = "it" if len(states) == 1 else "them"
    return Clue(
        says=f"`{states[0].test}` leaves {left}{more}{where}: with {them} put back, `{look.fewest.failing}` passes",
        why=_WHY,
        path=line.path if line else "",
        line=line.number if line else 0,
        sureness=Sureness.POSSIBLE,
        trials=tuple(each.own_number for each in runs),
        next_step=f"restore {states[0].shown} after `{states[0].test}`, with `monkeypatch` or in a fixture,"
        " or don't share it between tests.",
    )


def _lines_that_leave(state: LeftState, ran: Tested[None]) -> list[Line]:
    """Return the lines in the user's code after which the place held something else."""
    lines: dict[Line, None] = {}
    for each in of_kind(told_in(ran.outcome.evidence), "left at"):
        line = line_of(each.get("at"))
        if line and tuple(map(str, items_of(each.get("place")))) == state.place:
            lines[line] = None
    return list(lines)
