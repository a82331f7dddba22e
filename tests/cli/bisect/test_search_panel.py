"""What a terminal shows of a search for the first bad version while it works."""

from whet.cli.display.search_panel import SearchState
from whet.core.event import HistoryNarrowed, Stretch, SuspicionChanged
from whet.core.verdict import Verdict


def line(*stretches: tuple[Verdict | None, float]) -> tuple[Stretch, ...]:
    return tuple(Stretch(told=told, probability=chance) for told, chance in stretches)


def test_marks_of_what_was_tested_stand_on_the_line_of_what_is_left() -> None:
    state = SearchState()
    state.note(
        HistoryNarrowed(
            label="abc", verdict=Verdict.BAD, remaining=2, steps_left=1,
            line=line((Verdict.GOOD, 0), (None, 0.5), (None, 0.5), (Verdict.SKIP, 0), (None, 0),
                      (Verdict.BAD, 0)),
        )
    )  # fmt: skip

    assert "".join(sign for sign, _ in state.marks()) == "●██-·✗"
    assert state.words().startswith("2 suspects left, about 1 step to go · 1 step done · ")


def test_the_likelier_a_stretch_the_higher_its_bar() -> None:
    state = SearchState()
    state.note(
        SuspicionChanged(
            tested=(("abc", Verdict.BAD), ("def", Verdict.GOOD)), suspect="abc",
            probability=0.6, runs_left=9,
            line=line((None, 0.0001), (None, 0.1), (None, 0.6), (None, 0.3)),
        )
    )  # fmt: skip

    assert "".join(sign for sign, _ in state.marks()) == "·▂█▅"
    assert state.words().startswith("abc is likeliest (60%), about 9 runs to go · 2 steps done · ")
