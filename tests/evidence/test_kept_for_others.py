"""A result that a function kept for some arguments and gave for others is found, with what its key lacks."""

from pathlib import Path

import pytest
from kept_programs import CHANGED, KEYWORDS, LACKING, SPELT
from recorded_runs import line_of, recorded

from whet.evidence.provenance.sentences.kept_for_others import KeptForOther, kept_for_others


def found(folder: Path, program: str) -> list[KeptForOther]:
    (folder / "main.py").write_text(program)
    return list(kept_for_others(recorded(folder)[0]))


@pytest.mark.slow
@pytest.mark.parametrize("name", LACKING)
def test_what_a_key_lacks_is_found_where_the_key_is_made(name: str, tmp_path: Path) -> None:
    program, key, lacks = LACKING[name]
    first, *_ = found(tmp_path, program)
    assert first.lacks == lacks
    assert first.wider[0][0].lineno == line_of(program, key)


def test_the_values_of_both_calls_are_said_also_of_a_default(tmp_path: Path) -> None:
    (only,) = found(tmp_path, KEYWORDS)
    assert only.says == "gave for tier='list' what it kept for tier='trade'"


def test_a_default_that_is_given_too_is_no_other_argument(tmp_path: Path) -> None:
    program = KEYWORDS.replace('tier="trade")', 'tier="list")')
    assert found(tmp_path, program) == []


def test_with_what_it_lacks_in_the_key_no_line_moves(tmp_path: Path) -> None:
    (only,) = found(tmp_path, KEYWORDS)
    text = only.text_of(KEYWORDS)
    was, now = KEYWORDS.splitlines(), text.splitlines()
    assert [(one, other) for one, other in zip(was, now, strict=True) if one != other] == [
        (
            "        key = (self, fn.__name__) + args",
            "        key = (((self, fn.__name__) + args), repr(kwargs))",
        )
    ]


def test_what_was_changed_after_it_was_kept_tells_nothing_of_the_key(tmp_path: Path) -> None:
    assert found(tmp_path, CHANGED) == []


def test_an_argument_that_is_in_the_key_in_other_words_is_not_lacking(tmp_path: Path) -> None:
    assert found(tmp_path, SPELT) == []
