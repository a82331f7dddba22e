import itertools
import sqlite3
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from record_builder import a_trial, any_words, failing, same

from whet.core.budget import StopReason
from whet.core.errors import UnknownTrial
from whet.core.outcome import Outcome
from whet.core.output import BytesOutput
from whet.core.trial import Trial
from whet.core.verdict import Verdict
from whet.notebook.notebook import FILE_NAME, Notebook


@pytest.fixture
def notebook(tmp_path: Path) -> Iterator[Notebook]:
    with Notebook.open(tmp_path / ".whet") as notebook:
        yield notebook


def search(notebook: Notebook) -> int:
    return notebook.begin_investigation(verb="shrink", trial=a_trial())


def test_a_trial_is_there_before_it_has_ended(notebook: Notebook) -> None:
    number = notebook.begin(
        a_trial(), verb="run", name="n", note="fp16?", expectation="exit 0", changes="x.py +2 −1"
    )

    entry = notebook.trial(number)

    assert entry.trial == a_trial()
    assert (entry.outcome, entry.verdict, entry.expectation_met) == (None, None, None)
    assert (entry.verb, entry.name, entry.note) == ("run", "n", "fp16?")
    assert (entry.expectation, entry.changes) == ("exit 0", "x.py +2 −1")
    assert entry.investigation is None
    assert entry.pid > 0
    assert entry.host


def test_what_is_recorded_comes_back_whole_after_reopening(tmp_path: Path) -> None:
    outcome = failing(stdout=bytes(range(256)) * 1000)
    with Notebook.open(tmp_path) as notebook:
        number = notebook.begin(a_trial(), verb="run")
        notebook.finish(number, outcome)
        notebook.judge(number, "it fails in any way", Verdict.BAD, expectation_met=False)

    with Notebook.open(tmp_path) as notebook:
        entry = notebook.trial(number)

    assert same(outcome, entry.outcome)
    assert entry.verdict is Verdict.BAD
    assert entry.expectation_met is False


def test_times_are_utc_in_order_and_to_the_microsecond(notebook: Notebook) -> None:
    times = [notebook.trial(notebook.begin(a_trial(), verb="run")).started_at for _ in range(3)]

    assert times == sorted(times)
    assert all(len(time) == len("2026-08-21T09:30:00.123456Z") for time in times)
    assert all(time.endswith("Z") for time in times)


def test_the_last_judgement_counts_and_the_first_is_kept(
    notebook: Notebook, tmp_path: Path
) -> None:
    number = notebook.begin(a_trial(), verb="run")
    notebook.finish(number, failing())
    notebook.judge(number, "it fails in any way", Verdict.BAD, None)
    notebook.judge(number, "`seconds > 2`", Verdict.GOOD, expectation_met=True)

    entry = notebook.trial(number)

    assert (entry.verdict, entry.expectation_met) == (Verdict.GOOD, True)
    with sqlite3.connect(tmp_path / ".whet" / FILE_NAME) as connection:
        rows = connection.execute("SELECT verdict, oracle FROM judgement ORDER BY number")
        assert rows.fetchall() == [("bad", "it fails in any way"), ("good", "`seconds > 2`")]
    connection.close()


@pytest.mark.parametrize("number", [0, 2, -1, 10**12])
def test_a_number_that_no_trial_has_is_named(notebook: Notebook, number: int) -> None:
    notebook.begin(a_trial(), verb="run")

    for use in (
        lambda: notebook.trial(number),
        lambda: notebook.find(number),
        lambda: notebook.finish(number, Outcome()),
        lambda: notebook.judge(number, "", Verdict.GOOD, None),
    ):
        with pytest.raises(UnknownTrial, match=f"trial {number}$"):
            use()


def test_a_trial_that_has_not_ended_cannot_be_judged(notebook: Notebook) -> None:
    number = notebook.begin(a_trial(), verb="run")

    with pytest.raises(UnknownTrial):
        notebook.judge(number, "", Verdict.GOOD, None)


def test_a_trial_ends_once(notebook: Notebook) -> None:
    number = notebook.begin(a_trial(), verb="run")
    notebook.finish(number, failing())

    with pytest.raises(ValueError, match=f"trial {number} has ended before"):
        notebook.finish(number, Outcome())

    assert same(failing(), notebook.trial(number).outcome)


def test_entries_come_newest_first_and_as_many_as_asked(notebook: Notebook) -> None:
    numbers = [notebook.begin(a_trial(), verb="run") for _ in range(120)]

    newest_first = list(reversed(numbers))
    assert [entry.number for entry in notebook.entries()] == newest_first
    for limit in (0, 1, 50, 51, 100, 120, 121):
        assert [entry.number for entry in notebook.entries(limit)] == newest_first[:limit]


def test_entries_are_read_as_they_are_asked_for(notebook: Notebook) -> None:
    for _ in range(60):
        notebook.begin(a_trial(), verb="run")
    entries = notebook.entries()
    first = [entry.number for entry in itertools.islice(entries, 10)]

    # The reader holds nothing, so that a writer gets its turn; what is new is not in the past.
    newest = notebook.begin(a_trial(), verb="run")

    assert newest not in {entry.number for entry in entries}
    assert first == list(range(60, 50, -1))


def test_searches_and_what_is_not_bad_can_be_left_out(notebook: Notebook) -> None:
    investigation = search(notebook)
    own = notebook.begin(a_trial(), verb="run")
    searched = notebook.begin(a_trial(), verb="shrink", investigation=investigation)
    for number in (own, searched):
        notebook.finish(number, failing())
        notebook.judge(number, "", Verdict.BAD, None)
    good = notebook.begin(a_trial(), verb="run")
    notebook.finish(good, Outcome())
    notebook.judge(good, "", Verdict.GOOD, None)

    def numbers(**choice: bool) -> list[int]:
        return [entry.number for entry in notebook.entries(**choice)]

    assert numbers() == [good, searched, own]
    assert numbers(with_searches=False) == [good, own]
    assert numbers(only_bad=True) == [searched, own]
    assert numbers(with_searches=False, only_bad=True) == [own]
    assert [each.number for each in notebook.entries(investigation=investigation)] == [searched]


def test_the_latest_is_found_by_what_is_true_of_it(notebook: Notebook) -> None:
    assert notebook.latest() is None
    failed = notebook.begin(a_trial(), verb="run", name="base")
    notebook.finish(failed, failing())
    passed = notebook.begin(a_trial(), verb="again", name="base")
    notebook.finish(passed, Outcome())
    running = notebook.begin(a_trial(), verb="run")

    def number(**choice: str | bool) -> int | None:
        found = notebook.latest(**choice)  # type: ignore[arg-type]  # a shorter way to say it
        return None if found is None else found.number

    assert number() == running
    assert number(verb="again") == passed
    assert number(name="base") == passed
    assert number(name="base", verb="run") == failed
    assert number(failed=True) == failed
    assert number(failed=False) == passed
    assert number(name="other") is None


def test_the_last_trial_is_the_one_that_the_user_ran(notebook: Notebook) -> None:
    with pytest.raises(UnknownTrial, match="no trials yet"):
        notebook.find(None)
    searched = notebook.begin(a_trial(), verb="shrink", investigation=search(notebook))
    assert notebook.find(None).number == searched

    own = notebook.begin(a_trial(), verb="run")
    notebook.begin(a_trial(), verb="shrink", investigation=search(notebook))

    assert notebook.find(None).number == own
    assert notebook.find(searched).number == searched


def test_the_trial_before_has_the_same_command_and_folder(notebook: Notebook) -> None:
    assert notebook.previous_of(a_trial()) is None
    first = notebook.begin(a_trial(note="one"), verb="run")
    notebook.begin(a_trial("--more"), verb="run")
    notebook.begin(a_trial(cwd="/other"), verb="run")

    found = notebook.previous_of(a_trial(note="two"))

    assert found is not None
    assert found.number == first


def test_a_search_is_answered_with_what_a_search_has_seen(notebook: Notebook) -> None:
    investigation = search(notebook)
    trial = a_trial()

    def record(outcome: Outcome | None, *, by_search: bool) -> None:
        number = notebook.begin(
            trial, verb="shrink", investigation=investigation if by_search else None
        )
        if outcome is not None:
            notebook.finish(number, outcome)

    record(failing(b"by hand"), by_search=False)
    record(None, by_search=True)
    record(Outcome(interrupted=True), by_search=True)
    assert notebook.outcome_for(trial) is None

    record(failing(b"first"), by_search=True)
    record(failing(b"second"), by_search=True)
    record(Outcome(interrupted=True), by_search=True)
    record(failing(b"by hand"), by_search=False)

    assert same(failing(b"second"), notebook.outcome_for(trial))
    assert notebook.outcome_for(a_trial("other")) is None


@pytest.mark.parametrize(
    ("limit", "wanted", "outcome", "is_told"),
    [
        (16.0, 32.0, Outcome(exit_code=1, wall_seconds=3.0), True),
        (32.0, 16.0, Outcome(exit_code=1, wall_seconds=3.0), True),
        (32.0, 16.0, Outcome(exit_code=1, wall_seconds=20.0), False),
        (None, 16.0, Outcome(exit_code=1, wall_seconds=3.0), True),
        (16.0, None, Outcome(exit_code=1, wall_seconds=3.0), True),
        (16.0, 16.0, Outcome(timed_out=True, wall_seconds=16.1), True),
        (32.0, 16.0, Outcome(timed_out=True, wall_seconds=32.1), True),
        (16.0, 32.0, Outcome(timed_out=True, wall_seconds=16.1), False),
        (16.0, None, Outcome(timed_out=True, wall_seconds=16.1), False),
        (16.0, 32.0, Outcome(timed_out=True, hung_seconds=2.0, wall_seconds=3.0), True),
    ],
)
def test_a_search_is_told_of_what_was_seen_under_another_limit_if_that_decides_nothing(
    notebook: Notebook,
    limit: float | None,
    wanted: float | None,
    outcome: Outcome,
    *,
    is_told: bool,
) -> None:
    def under(seconds: float | None) -> Trial:
        trial = a_trial()
        return replace(trial, limits=replace(trial.limits, wall_seconds=seconds))

    number = notebook.begin(under(limit), verb="shrink", investigation=search(notebook))
    notebook.finish(number, outcome)

    assert (notebook.outcome_for(under(wanted)) is not None) is is_told
    assert bool(notebook.outcomes_for(under(wanted))) is is_told


def test_an_outcome_whose_streams_are_gone_answers_nothing(notebook: Notebook) -> None:
    number = notebook.begin(a_trial(), verb="shrink", investigation=search(notebook))
    notebook.finish(number, failing(b"out"))
    notebook.blobs.path_of(BytesOutput(b"out").digest).unlink()

    assert notebook.outcome_for(a_trial()) is None
    assert notebook.trial(number).outcome is not None


def test_a_search_has_a_start_and_an_end(notebook: Notebook, tmp_path: Path) -> None:
    ended, killed = search(notebook), search(notebook)
    notebook.end_investigation(ended, StopReason.MINIMAL, {"bytes": 3})

    with sqlite3.connect(tmp_path / ".whet" / FILE_NAME) as connection:
        rows = connection.execute(
            "SELECT number, stop_reason, result FROM investigation"
            " LEFT JOIN investigation_end ON investigation = number ORDER BY number"
        ).fetchall()
    connection.close()

    assert rows == [(ended, "MINIMAL", '{"bytes":3}'), (killed, None, None)]


def test_an_environment_is_kept_once(notebook: Notebook) -> None:
    variables = {"PATH": "/bin", "BYTES": "\udcff"}

    digests = {notebook.save_environment(dict(reversed(variables.items()))) for _ in range(2)}
    digests.add(notebook.save_environment(variables))

    (digest,) = digests
    assert notebook.environment(digest) == variables
    assert notebook.save_environment({}) != digest
    with pytest.raises(KeyError):
        notebook.environment("0" * 64)


@given(any_words, any_words)
def test_words_of_a_command_line_are_kept_whatever_their_bytes(
    tmp_path_factory: pytest.TempPathFactory, name: str, word: str
) -> None:
    with Notebook.open(tmp_path_factory.mktemp("state")) as notebook:
        number = notebook.begin(a_trial(word), verb="run", name=name)

        entry = notebook.trial(number)

    assert entry.trial == a_trial(word)
    assert entry.name == name.encode("utf-8", "backslashreplace").decode()


def test_threads_may_share_a_notebook(notebook: Notebook) -> None:
    found: list[int] = []

    def record(thread: int) -> None:
        for turn in range(25):
            number = notebook.begin(a_trial(str(thread)), verb="run")
            notebook.finish(number, failing(f"{thread} {turn}".encode()))
            found.append(number)
            assert notebook.trial(number).outcome is not None

    threads = [threading.Thread(target=record, args=[each]) for each in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(found) == list(range(1, 101))
    assert all(entry.outcome is not None for entry in notebook.entries())


def test_a_failing_row_leaves_the_notebook_usable(notebook: Notebook) -> None:
    number = notebook.begin(a_trial(), verb="run")

    with pytest.raises(OverflowError):
        notebook.finish(number, replace(failing(), exit_code=2**70))

    assert notebook.trial(number).outcome is None
    notebook.finish(number, failing())
    assert same(failing(), notebook.trial(number).outcome)
