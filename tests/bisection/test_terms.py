import pytest

from whet.bisection.terms import Terms
from whet.core.errors import BadUsage
from whet.core.verdict import Verdict


@pytest.mark.parametrize("text", ["fixed,broken", "broken,fixed", " Fixed , broken "])
def test_fixed_is_the_new_side_wherever_it_stands(text: str) -> None:
    terms = Terms.parse(text)

    assert (terms.old, terms.new.lower()) == ("broken", "fixed")
    assert terms.is_fix


@pytest.mark.parametrize(
    ("text", "old_verdict"),
    [
        ("good,bad", Verdict.GOOD),
        ("fast,slow", Verdict.GOOD),
        ("slow,fast", Verdict.BAD),
        ("red,blue", Verdict.BAD),
        ("green,blue", Verdict.GOOD),
        ("before,after", None),
    ],
)
def test_the_words_say_which_side_fails_where_they_can(
    text: str, old_verdict: Verdict | None
) -> None:
    assert Terms.parse(text).old_verdict is old_verdict


@pytest.mark.parametrize("old_end", [Verdict.GOOD, Verdict.BAD])
def test_the_old_end_settles_what_the_words_leave_open(old_end: Verdict) -> None:
    terms = Terms.parse("before,after")

    settled = terms.settled_by(old_end)

    assert settled.old_verdict is old_end
    assert settled.settled_by(Verdict.GOOD) == settled


def test_a_search_is_told_good_for_the_old_side_whichever_fails() -> None:
    regression, fix = Terms(), Terms.parse("broken,fixed")

    assert [regression.for_search(verdict) for verdict in Verdict] == list(Verdict)
    assert fix.for_search(Verdict.BAD) is Verdict.GOOD
    assert fix.for_search(Verdict.GOOD) is Verdict.BAD
    assert fix.for_search(Verdict.SKIP) is Verdict.SKIP
    assert [fix.word_for(told) for told in Verdict] == ["broken", "fixed", "skip"]


@pytest.mark.parametrize("text", ["", "fixed", "a,b,c", "same,same", ",new"])
def test_terms_that_are_no_pair_are_refused_with_their_text(text: str) -> None:
    with pytest.raises(BadUsage, match="does not name two different sides") as refused:
        Terms.parse(text)

    assert f"`--terms {text}`" in str(refused.value)
