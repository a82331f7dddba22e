"""The order of clues rests on what they are, and on no word of theirs."""

from hypothesis import given
from hypothesis import strategies as st

from whet.core.observations.clue import Clue, Mention, Sureness
from whet.workbench.investigate.closer.joined_clues import on_the_way, with_changes
from whet.workbench.investigate.experiments.varied import Varied
from whet.workbench.investigate.traces.origins import Origins

SENTENCES = st.sampled_from(
    ["which stands in line 4, too,", "which stands at a.json:1:9, too,", "without the record", ""]
)


@given(says=st.tuples(SENTENCES, SENTENCES, SENTENCES), is_twin=st.booleans())
def test_of_several_records_one_that_stands_twice_leads_and_no_sentence_decides_that(
    *, says: tuple[str, str, str], is_twin: bool
) -> None:
    mentions = frozenset({Mention.LEFT_OUT, Mention.TWIN} if is_twin else {Mention.LEFT_OUT})
    first, second, change = (
        Clue(says=each, why="w", path=f"{name}.json", line=1, mentions=mentions)
        for each, name in zip(says, "abc", strict=True)
    )
    varied = Varied(likely=(change,))
    joined = with_changes(varied, [], [first, second], clues_first=False)
    assert joined == ([first, second, change] if is_twin else [change, first, second])


@given(st.integers(1, 30), st.integers(1, 30))
def test_a_record_without_which_it_passes_leads_where_the_value_was_read_from_another_one(
    read: int, left_out: int
) -> None:
    value = Clue(
        says="s", why="w", path="/main.py", line=3,
        record=f"the record at a.csv:{read} (`1,2`)", records=(("/a.csv", read),),
    )  # fmt: skip
    record = Clue(says="r", why="w", path="/a.csv", line=left_out)
    joined = with_changes(Varied(), [value], [record, record], clues_first=True)
    assert joined == ([value, record, record] if read == left_out else [record, record, value])


@given(
    odd=st.integers(1, 30), changed=st.integers(1, 30), is_odd=st.booleans(),
    folder=st.sampled_from(["", "/data/"]),
)  # fmt: skip
def test_a_record_that_stands_out_and_with_a_change_of_which_it_passes_comes_before_a_changed_line(
    *, odd: int, changed: int, is_odd: bool, folder: str
) -> None:
    value = Clue(
        says="s", why="w", path="/main.py", line=3, record="r", records=(("/data/a.csv", odd),),
        mentions=frozenset({Mention.OTHERS} if is_odd else ()),
    )  # fmt: skip
    record = Clue(says="r", why="w", path=f"{folder}a.csv", line=changed)
    line = Clue(says="l", why="w", path="/other.py", line=5)
    varied = Varied(likely=(line,), is_on_the_way=True)

    joined = with_changes(varied, [record, value], [], clues_first=True)

    is_agreed = is_odd and odd == changed
    assert joined == ([record, value, line] if is_agreed else [line, record, value])


@given(mentions=st.frozensets(st.sampled_from(Mention)), why=SENTENCES)
def test_only_an_error_that_was_caught_is_firmer_on_the_way_of_the_value(
    mentions: frozenset[Mention], why: str
) -> None:
    clue = Clue(says="s", why=why, path="/a.py", line=4, mentions=mentions)
    firmer = on_the_way(clue, Origins(fallbacks=frozenset({("/a.py", 4)})))
    assert (firmer.sureness is Sureness.SEEN) == (Mention.CAUGHT in mentions)
    assert on_the_way(clue, Origins()) == clue
