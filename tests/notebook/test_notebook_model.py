"""The notebook against a plain list, with failures half way and restarts as moves."""

import shutil
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from record_builder import outcomes, same, trials

from whet.core.outcome import Outcome
from whet.core.output import BytesOutput
from whet.core.trial import Trial
from whet.core.verdict import Verdict
from whet.notebook.notebook import Notebook


@dataclass
class Recorded:
    trial: Trial
    investigation: int | None
    outcome: Outcome | None = None
    verdict: Verdict | None = None
    met: bool | None = None


class NotebookAgreesWithAList(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.notebook = Notebook.open(self.folder)
        self.expected: list[Recorded] = []
        self.searches: list[int] = []

    def teardown(self) -> None:
        self.notebook.close()
        shutil.rmtree(self.folder)

    def running(self) -> list[int]:
        return [at + 1 for at, each in enumerate(self.expected) if each.outcome is None]

    def ended(self) -> list[int]:
        return [at + 1 for at, each in enumerate(self.expected) if each.outcome is not None]

    @rule(trial=trials)
    def begin_search(self, trial: Trial) -> None:
        self.searches.append(self.notebook.begin_investigation(verb="shrink", trial=trial))

    @rule(trial=trials, data=st.data())
    def begin(self, trial: Trial, data: st.DataObject) -> None:
        investigation = data.draw(st.sampled_from([None, *self.searches]))
        number = self.notebook.begin(trial, verb="run", investigation=investigation)
        self.expected.append(Recorded(trial, investigation))
        assert number == len(self.expected)

    @precondition(lambda self: bool(self.running()))
    @rule(outcome=outcomes, data=st.data())
    def finish(self, outcome: Outcome, data: st.DataObject) -> None:
        number = data.draw(st.sampled_from(self.running()))
        self.notebook.finish(number, outcome)
        self.expected[number - 1].outcome = outcome

    @precondition(lambda self: bool(self.ended()))
    @rule(verdict=st.sampled_from(Verdict), met=st.none() | st.booleans(), data=st.data())
    def judge(self, verdict: Verdict, data: st.DataObject, *, met: bool | None) -> None:
        number = data.draw(st.sampled_from(self.ended()))
        self.notebook.judge(number, "an oracle", verdict, met)
        self.expected[number - 1].verdict, self.expected[number - 1].met = verdict, met

    @rule(trial=trials)
    def fail_to_begin(self, trial: Trial) -> None:
        with pytest.raises(OverflowError):
            self.notebook.begin(trial, verb="run", investigation=2**70)

    @precondition(lambda self: bool(self.running()))
    @rule(outcome=outcomes, data=st.data())
    def fail_after_the_streams_are_kept(self, outcome: Outcome, data: st.DataObject) -> None:
        number = data.draw(st.sampled_from(self.running()))
        with pytest.raises(OverflowError):  # a number that no SQLite integer can hold
            self.notebook.finish(number, replace(outcome, peak_rss_bytes=2**70))

    @precondition(lambda self: bool(self.ended()))
    @rule(outcome=outcomes, data=st.data())
    def fail_to_end_twice(self, outcome: Outcome, data: st.DataObject) -> None:
        with pytest.raises(ValueError, match="has ended before"):
            self.notebook.finish(data.draw(st.sampled_from(self.ended())), outcome)

    @precondition(lambda self: bool(self.running()))
    @rule(data=st.data())
    def lose_a_stream_before_it_is_kept(self, data: st.DataObject) -> None:
        class Lost(BytesOutput):
            def head(self, max_bytes: int, /) -> bytes:
                raise OSError(f"the disk is gone, with {max_bytes} bytes")

        number = data.draw(st.sampled_from(self.running()))
        with pytest.raises(OSError, match="the disk is gone"):
            self.notebook.finish(number, Outcome(stdout=Lost(b"never kept")))

    @rule(folded=st.booleans())
    def start_anew(self, *, folded: bool) -> None:
        before = self.notebook
        if folded:
            before.close()
        self.notebook = Notebook.open(self.folder)
        before.close()

    @invariant()
    def holds_every_trial_in_order(self) -> None:
        found = list(self.notebook.entries())
        assert [entry.number for entry in found] == list(range(len(self.expected), 0, -1))
        for entry, wanted in zip(reversed(found), self.expected, strict=True):
            assert entry.trial == wanted.trial
            assert entry.investigation == wanted.investigation
            assert (entry.verdict, entry.expectation_met) == (wanted.verdict, wanted.met)
            assert (entry.outcome is None) is (wanted.outcome is None)
            assert wanted.outcome is None or same(wanted.outcome, entry.outcome)

    @invariant()
    def finds_the_trial_before(self) -> None:
        for wanted in self.expected[-2:]:
            place = (wanted.trial.command, wanted.trial.cwd)
            last = max(
                at + 1
                for at, each in enumerate(self.expected)
                if (each.trial.command, each.trial.cwd) == place
            )
            previous = self.notebook.previous_of(wanted.trial)
            assert previous is not None
            assert previous.number == last

    @invariant()
    def answers_a_search_with_the_last_whole_outcome(self) -> None:
        for wanted in self.expected[-2:]:
            known = [
                each.outcome
                for each in self.expected
                if each.trial.key == wanted.trial.key
                and each.investigation is not None
                and each.outcome is not None
                and not each.outcome.interrupted
            ]
            found = self.notebook.outcome_for(wanted.trial)
            assert (found is None) is (not known)
            assert not known or same(known[-1], found)


@pytest.mark.slow
def test_the_notebook_agrees_with_a_list_whatever_happens() -> None:
    run_state_machine_as_test(
        NotebookAgreesWithAList, settings=settings(max_examples=30, stateful_step_count=25)
    )
