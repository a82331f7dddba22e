"""What the words of `whet watch` name."""

import pytest

from whet.core.errors import BadUsage, UnknownPanel
from whet.core.threshold import Threshold
from whet.workbench.watch.panels import COMMAND, KINDS, panels_for, parse_panels


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_each_panel_can_be_had_by_its_name(kind: str) -> None:
    word = "name:python" if kind == "name" else kind
    (wish,) = parse_panels([word], has_program=True)
    assert wish.kind == kind


@pytest.mark.parametrize("word", ["df -h /tmp", "true", "no-such-program --at all"])
def test_a_word_of_several_words_or_a_program_is_a_command(word: str) -> None:
    (wish,) = parse_panels([word], has_program=False)
    assert (wish.kind, wish.argument) == (COMMAND, word)


@pytest.mark.parametrize(
    ("word", "hint"), [("memry", "`memory`"), ("proceses:python", "`processes`"), ("zzzz", "gpu")]
)
def test_an_unknown_panel_names_the_nearest_one(word: str, hint: str) -> None:
    with pytest.raises(UnknownPanel) as caught:
        parse_panels([word], has_program=False)
    assert f"`{word}`" in str(caught.value)
    assert hint in caught.value.hint


@pytest.mark.parametrize("word", ["gpu:first", "network:eth0", "name", "sections"])
def test_a_panel_that_cannot_be_had_so_is_refused(word: str) -> None:
    with pytest.raises(BadUsage) as caught:
        parse_panels([word], has_program=False)
    assert word.split(":", maxsplit=1)[0] in str(caught.value) + caught.value.hint


def test_a_panel_that_is_named_twice_is_shown_once() -> None:
    wishes = parse_panels(["cpu", "memory", "cpu"], has_program=False)
    assert [each.kind for each in wishes] == ["cpu", "memory"]


def test_a_threshold_brings_the_panel_that_measures_it() -> None:
    wishes = parse_panels(["cpu"], has_program=True)
    thresholds = [Threshold.parse(each, "bell") for each in ("rss > 1G", "cpu > 50", "rss > 2G")]
    assert [each.kind for each in panels_for(wishes, thresholds)] == ["cpu", "memory"]


def test_a_threshold_on_the_number_of_a_command_needs_one() -> None:
    threshold = Threshold.parse("value > 90", "bell")
    with pytest.raises(BadUsage, match="command"):
        panels_for(parse_panels(["cpu"], has_program=True), [threshold])
    wishes = parse_panels(["df -h"], has_program=True)
    assert panels_for(wishes, [threshold]) == wishes
