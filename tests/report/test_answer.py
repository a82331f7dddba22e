"""The box at the top of each output of an investigation."""

import itertools
import json
import re
from contextlib import redirect_stdout
from dataclasses import replace
from html import unescape
from io import StringIO
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_pages import BARE, FULL

from whet.cli.verbs.searches.investigate import show
from whet.core.budget import StopReason
from whet.core.failure import Failure, FailureKind, FailureSignature, Frame
from whet.core.observations.clue import Clue, Sureness, TrailStep
from whet.report.answer import answer_of
from whet.report.facts import facts_of
from whet.report.pages import html, markdown
from whet.workbench.investigate.progress.mentioned import excerpts_of
from whet.workbench.trials.investigation import Investigation

WORDS = st.text("abcdefghij", min_size=6, max_size=12)
CLUES = st.lists(
    st.builds(
        Clue,
        says=WORDS,
        why=WORDS,
        sureness=st.sampled_from(Sureness),
        trials=st.lists(st.integers(1, 99), max_size=3, unique=True).map(tuple),
        next_step=WORDS,
    ),
    max_size=5,
    unique_by=lambda each: each.says,
)


def boxes(found: Investigation) -> list[str]:
    """Return the box of the terminal, of Markdown and of HTML as words."""
    terminal = StringIO()
    with redirect_stdout(terminal):
        show(found)
    page = re.search(r'<section class="answer">(.*?)</section>', html(found), re.DOTALL)
    assert page is not None
    told = [
        terminal.getvalue().split("  next: ")[0],
        markdown(found).split("\nNext: ")[0],
        unescape(re.sub(r"<[^>]*>", " ", page[1])),
    ]
    return [" ".join(each.split()) for each in told]


@given(CLUES)
def test_the_cause_in_the_box_is_the_first_clue_that_is_shown_else_the_first_seen(
    clues: list[Clue],
) -> None:
    found = replace(FULL, clues=tuple(clues))
    shown = [each for each in clues if each.sureness is Sureness.SHOWN]
    seen = [each for each in clues if each.sureness is Sureness.SEEN]
    first = next(iter(shown + seen), None)

    told = facts_of(found)["answer"]
    assert isinstance(told, dict)
    assert told["cause"] == (None if first is None else first.to_json())
    for box in boxes(found):
        assert ("Cause not found" in box) == (first is None)
        assert ("uled out" in box) == (first is None)
        if first is not None:
            named = re.search(rf"(?:cause: |Cause (?:\*\*)?){first.says}\b", box)
            assert named, box
            assert first.sureness.value in box
        for each in clues:
            assert each.says in box
            assert all(str(number) in box for number in each.trials)


@given(CLUES, WORDS)
def test_what_has_a_heading_of_its_own_is_never_called_the_cause(
    clues: list[Clue], heading: str
) -> None:
    symptoms = tuple(replace(each, heading=heading) for each in clues)
    found = replace(FULL, clues=symptoms)
    cause = Clue(says="the cause itself", why="why", sureness=Sureness.SEEN)

    told = answer_of(found)
    assert told.to_json()["cause"] is None
    for box in boxes(found):
        assert "cause: " not in box
        assert "Cause **" not in box
        letters = re.sub(r"\W", "", box.lower())
        assert told.cause is None or f"{heading}{told.cause.says}" in letters
    with_cause = answer_of(replace(FULL, clues=(*symptoms, cause)))
    assert with_cause.cause == cause
    assert with_cause.sure == Sureness.SEEN.value


def test_an_investigation_with_a_step_that_had_too_little_time_did_not_come_to_its_end() -> None:
    step = replace(FULL.steps[0], is_cut=True)

    assert FULL.stopped.is_complete
    assert not replace(FULL, steps=(step, *FULL.steps[1:])).stopped.is_complete


@given(CLUES)
def test_what_is_possible_is_never_among_the_evidence(clues: list[Clue]) -> None:
    told = answer_of(replace(FULL, clues=tuple(clues)))

    possible = {each.says for each in clues if each.sureness is Sureness.POSSIBLE}
    assert {each.says for each in told.possible} == possible
    assert told.cause is None or told.cause.says not in possible


def test_what_is_ruled_out_is_what_the_trials_have_shown() -> None:
    told = [each.says for each in answer_of(FULL).ruled_out]

    assert told == [
        "that it fails only rarely: it failed the same way in each of 3 runs",
    ]


def test_of_a_flaky_failure_the_next_step_says_how_often_the_script_shows_it() -> None:
    flaky = replace(FULL.reproduction, attempts=10, same_failures=6)

    told = answer_of(replace(FULL, clues=(), history=None, reproduction=flaky)).next_step

    assert "which shows the failure in about 6 of 10 runs" in told


def test_a_flaky_failure_rules_nothing_out() -> None:
    flaky = replace(BARE.reproduction, same_failures=2)
    found = replace(BARE, reproduction=flaky)

    assert answer_of(found).ruled_out == ()
    assert not any("uled out" in box for box in boxes(found))


@pytest.mark.parametrize(("line", "first", "last"), [(1, 1, 4), (5, 2, 8), (9, 6, 9)])
def test_the_source_around_the_line_stands_in_each_box(
    tmp_path: Path, line: int, first: int, last: int
) -> None:
    (tmp_path / "load.py").write_text("".join(f"row_{number}\n" for number in range(1, 10)))
    failure = Failure(
        signature=FailureSignature(kind=FailureKind.EXCEPTION, exception="KeyError"),
        summary="KeyError: 'price'",
        frames=(Frame(path="load.py", line=line, function="price", in_user_code=True),),
    )
    found = replace(BARE, failure=failure, excerpts=excerpts_of((), failure, str(tmp_path)))

    told = facts_of(found)["answer"]
    assert isinstance(told, dict)
    assert told["source"]["lines"] == [f"row_{each}" for each in range(first, last + 1)]
    assert json.dumps(told)
    for box in boxes(found):
        assert {int(each) for each in re.findall(r"row_(\d)", box)} == set(range(first, last + 1))


def test_a_source_that_is_gone_is_left_out(tmp_path: Path) -> None:
    clue = Clue(says="one", why="two", path="gone.py", line=3)

    assert excerpts_of((clue,), None, str(tmp_path)) == ()


def test_the_box_of_a_terminal_fits_into_80_columns() -> None:
    clue = Clue(says="word " * 50, why="reason " * 30, sureness=Sureness.SHOWN, trials=(1, 2))
    terminal = StringIO()
    with redirect_stdout(terminal):
        show(replace(FULL, clues=(clue,)))

    box = terminal.getvalue().split("  next: ")[0]
    assert max(map(len, box.splitlines())) <= 80


@pytest.mark.parametrize(("line", "title"), [(2, "load.py:2"), (0, "it fails at load.py:5")])
def test_a_cause_without_a_line_is_shown_with_the_place_of_the_failure_named_as_such(
    tmp_path: Path, line: int, title: str
) -> None:
    (tmp_path / "load.py").write_text("one\ntwo\nthree\nfour\nfive\n")
    failure = Failure(
        signature=FailureSignature(kind=FailureKind.EXCEPTION, exception="KeyError"),
        summary="KeyError: 'price'",
        frames=(Frame(path="load.py", line=5, function="price", in_user_code=True),),
    )
    clue = Clue(says="it", why="so", path="load.py", line=line, sureness=Sureness.SEEN)
    excerpts = excerpts_of((clue,), failure, str(tmp_path))
    found = replace(BARE, failure=failure, clues=(clue,), excerpts=excerpts)

    assert answer_of(found).source_title == title
    assert all(title.removeprefix("Cause not found. ") in box for box in boxes(found))


@given(CLUES)
def test_what_follows_a_list_of_the_box_is_no_part_of_its_last_item(clues: list[Clue]) -> None:
    box = markdown(replace(FULL, clues=tuple(clues))).split("\nNext: ")[0] + "\nNext: "
    lines = box.splitlines()

    for item, after in itertools.pairwise(lines):
        assert not item.startswith("- ") or after == "" or after.startswith("- ")


@pytest.mark.parametrize("sureness", Sureness)
def test_no_sentence_of_the_box_is_clipped(sureness: Sureness) -> None:
    says = " ".join(f"word{number}" for number in range(120))
    found = replace(FULL, clues=(Clue(says=says, why="why", sureness=sureness),))
    assert all(says in each for each in boxes(found))


TRAIL = tuple(
    TrailStep(says=f"said{n}", place=f"place{n}.py:{n}", source=f"text{n}", value=f"value{n}")
    for n in range(4)
)


@pytest.mark.parametrize("sureness", Sureness)
def test_each_step_of_a_trail_stands_in_each_box_in_its_order_with_place_source_and_value(
    sureness: Sureness,
) -> None:
    found = replace(FULL, clues=(Clue(says="it", why="so", sureness=sureness, trail=TRAIL),))
    told = facts_of(found)["answer"]
    assert isinstance(told, dict)
    (listed,) = told["possible" if sureness is Sureness.POSSIBLE else "evidence"]
    wanted = r".*".join(f"{s.place}.*{s.says}.*{s.value}.*{s.source}" for s in TRAIL)

    assert listed["trail"] == [step.to_json() for step in TRAIL]
    assert all(re.search(wanted, box) for box in boxes(found))


def test_what_a_program_says_in_a_trail_is_harmless_and_on_one_line() -> None:
    step = TrailStep(says="one\ntwo", place="a.py:1", source="\x1b[31m", value="\u202e")

    assert step.printable() == TrailStep(
        says="one two", place="a.py:1", source="\\x1b[31m", value="\\u202e"
    )


def test_what_to_look_at_next_is_named_as_the_clue_names_it() -> None:
    clue = Clue(says="it", why="so", path=f"{FULL.trial.cwd}/vendor/client.py", line=12)

    assert answer_of(replace(FULL, clues=(clue,))).next_step == "Check vendor/client.py:12."


RECORDED = Clue(
    says="`ms` is '12,5' at prog.py:5", why="w", path="prog.py", line=2,
    record="the record at app.log:7 (`ms=12,5`)", next_step="Check the record at app.log:7.",
    records=(("app.log", 7),),
)  # fmt: skip
WITHOUT = Clue(says="without app.log:7 the command passes", why="w", path="app.log", line=7)
CHANGE = Clue(says="with another test the command passes", why="w", path="prog.py", line=9)


@pytest.mark.parametrize(
    ("clues", "title"),
    [
        (
            [RECORDED],
            "Cause not found. The value that fails comes from the record at app.log:7 (`ms=12,5`)",
        ),
        (
            [WITHOUT, RECORDED],
            "Cause not found. The value that fails comes from the record at app.log:7 (`ms=12,5`)",
        ),
        (
            [replace(WITHOUT, says="without app.log:9 the command passes", line=9), RECORDED],
            "Cause not found. Without app.log:9 the command passes",
        ),
        ([WITHOUT, CHANGE], "Cause not found. Without app.log:7 the command passes"),
        ([CHANGE, RECORDED], "Cause not found"),
        ([replace(CHANGE, sureness=Sureness.SHOWN), RECORDED], CHANGE.says),
    ],
)
def test_without_a_cause_the_title_names_the_record_unless_a_line_of_code_is_likelier(
    clues: list[Clue], title: str
) -> None:
    found = replace(FULL, clues=tuple(clues))
    answer = answer_of(found)

    assert answer.title == title
    said = title.removeprefix("Cause not found. ").partition(" (`")[0]
    assert all(said in box for box in boxes(found))
    if RECORDED.record in title:
        assert answer.next_step == RECORDED.next_step


@pytest.mark.parametrize("ended", [None, StopReason.OUT_OF_TIME, StopReason.INTERRUPTED])
def test_an_exit_code_that_says_that_something_is_left_to_do_is_explained(
    ended: StopReason | None,
) -> None:
    found, terminal = replace(BARE, ended=ended), StringIO()
    with redirect_stdout(terminal):
        show(found)

    said = terminal.getvalue()
    assert ("exit code 75" in said) == (ended is not None)
    assert ended is None or ended.value in said
