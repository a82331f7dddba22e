"""A line that is shown says all that is in it, and a shell that it is pasted into gets the same."""

import shutil
import subprocess

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from whet.core.text.shell_words import joined, quoted
from whet.core.text.shown_text import visible, visible_line

_HOSTILE = "a\x1b[2Jb\x9bc\u202ed\ne'f\\x1b\udc9bg\u2028 \t$(h)"
_WORDS = st.text(
    st.sampled_from("\x1b\x00\x07\n\r\t'\\\"$`x1bu202e \x9b\u202e\u2069\u2028\udc9b\udcffé")
    | st.characters(codec="utf-8"),
    max_size=20,
)


@given(_WORDS)
@example(_HOSTILE)
def test_nothing_that_is_obeyed_or_not_seen_is_left_in_a_line(text: str) -> None:
    for shown in (visible_line(text), quoted(text), joined([text, text])):
        assert visible_line(shown) == shown
        assert not any(each in shown for each in "\x1b\x9b\n\r\x00\u202e\u2069\u2028\udc9b")
    assert not set(visible(text)) & set("\x1b\x9b\r\x00\u202e\u2069\u2028\udc9b")
    shown = visible_line(text)
    assert shown == text or "\\" in shown


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs `bash`")
@given(_WORDS)
@example(_HOSTILE)
def test_a_line_that_is_pasted_gives_the_words_that_it_shows(word: str) -> None:
    word = word.replace("\x00", "")
    done = subprocess.run(
        ["bash", "-c", f"printf '%s|' {joined(['--', word])}"],
        capture_output=True, check=True, env={"LC_ALL": "C.UTF-8"},
    )  # fmt: skip
    assert done.stdout == f"--|{word}|".encode("utf-8", "surrogateescape")
