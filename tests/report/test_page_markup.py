"""What a program says has colours, folds and links in the page, and is never markup itself."""

import re
from base64 import b64encode
from dataclasses import replace
from hashlib import sha256
from html import unescape
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_pages import FULL, anything

from whet.core.failure import Failure, FailureKind, FailureSignature, Frame
from whet.core.observations.clue import Clue, Sureness
from whet.core.text.shown_text import visible
from whet.core.verdict import Verdict
from whet.report import markup
from whet.report.answer import answer_of
from whet.report.pages import html, markdown
from whet.report.wording import unbroken
from whet.workbench.investigate.progress.mentioned import excerpts_of
from whet.workbench.trials.investigation import (
    Investigation,
    Step,
    TestedVersion,
    TriedTrial,
    VersionPlace,
)


def text_of(page: str) -> str:
    return unescape(re.sub(r"<[^>]*>", "", page))


def with_source(folder: Path, name: str, text: str) -> Investigation:
    (folder / name).write_text(text, "utf-8", "surrogateescape")
    failure = Failure(
        signature=FailureSignature(kind=FailureKind.EXCEPTION, exception="KeyError"),
        summary="KeyError: 'price'",
        frames=(Frame(path=str(folder / name), line=1, function="price", in_user_code=True),),
    )
    trial = replace(FULL.trial, cwd=str(folder))
    excerpts = excerpts_of((), failure, str(folder))
    return replace(FULL, failure=failure, trial=trial, excerpts=excerpts)


@given(anything)
def test_no_character_of_a_sentence_a_diff_or_an_output_is_lost(text: str) -> None:
    lines = visible(text).rstrip("\n")

    assert text_of(markup.prose(text)) == re.sub(markup.CODE, r"\1", unbroken(text))
    assert text_of(markup.block(text)) == lines
    assert text_of(markup.diff(text)) == lines


@pytest.mark.parametrize("name", ["load.py", "load.yaml", "load", "load.unheard-of"])
@pytest.mark.parametrize(
    "text",
    [
        'def f(x):\n\treturn "a <b>"  # &\n\n',
        '"""never closed\n',
        "\x1b[31m = '\u202e'\n",
        "\n\n\n\n",
    ],
)
def test_a_source_in_colours_says_what_the_file_says(name: str, text: str, tmp_path: Path) -> None:
    answer = answer_of(with_source(tmp_path, name, text))
    shown = re.findall(r'<span class="src">(.*?)</span></span>', f"{markup.source(answer)}")

    assert [text_of(each) for each in shown] == [
        visible(each) for _, each, _ in answer.source_lines
    ]


def test_words_strings_and_numbers_of_a_source_have_their_colours(tmp_path: Path) -> None:
    shown = markup.source(
        answer_of(with_source(tmp_path, "load.py", "def price(): return 'a', 12\n"))
    )

    for kind, word in (("k", "def"), ("f", "price"), ("s", "a"), ("n", "12")):
        assert f'<span class="{kind}">{word}</span>' in shown
    assert "load.py:1" in answer_of(with_source(tmp_path, "load.py", "x\n")).source_title
    assert str(tmp_path) not in answer_of(with_source(tmp_path, "load.py", "x\n")).source_title


def test_what_goes_and_what_comes_in_a_diff_has_its_colour() -> None:
    shown = markup.diff("--- a\n+++ b\n@@ -1 +1 @@\n same\n-<old>\n+new\n")

    assert '<span class="gone">-&lt;old&gt;</span>\n<span class="new">+new</span>' in shown
    assert shown.count('class="hunk"') == 3
    assert "\n same\n" in shown


@pytest.mark.parametrize(("lines", "folds"), [(30, 0), (31, 1), (500, 1)])
def test_a_long_output_is_folded_and_nothing_of_it_is_left_out(lines: int, folds: int) -> None:
    text = "\n".join(f"line {number}" for number in range(lines))
    page = html(replace(FULL, last_lines=text))

    assert text in page
    assert page.count(f"<summary>{lines} lines</summary>") == folds


@given(anything)
def test_one_script_runs_whatever_a_program_says(text: str) -> None:
    page = html(replace(FULL, last_lines=text, command_line=text, conclusions=(text,)))
    (script,) = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    digest = b64encode(sha256(script.encode()).digest()).decode()

    assert page.count("<script") == 1
    assert f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'" in page
    assert "clipboard" in script
    assert not re.search(r'(?:src|href)="(?!#)', page)


def test_each_number_of_a_trial_leads_to_its_row_and_from_there_to_its_step() -> None:
    clue = Clue(says="it", why="so", sureness=Sureness.SHOWN, trials=(3, 2, 3, 99))
    tried = tuple(
        TriedTrial(number=number, step="Reproduce", verdict=Verdict.BAD, did="KeyError: 'price'")
        for number in (1, 2, 3)
    )
    found = replace(FULL, clues=(clue,), trials=tried)
    page = html(found)

    assert text_of(page).count("trials 2, 3, 99") == 1
    links = set(re.findall(r'href="#([\w-]+)"', page))
    assert {"trial-2", "trial-3", "step-1"} <= links
    assert all(page.count(f'id="{each}"') == 1 for each in links)
    assert "| 3 | bad | KeyError: 'price' | Reproduce |" in markdown(found)


def test_versions_stand_in_their_order_whatever_the_order_of_testing() -> None:
    assert FULL.history is not None
    tested = tuple(
        TestedVersion(label=label, verdict=verdict, trial=None)
        for label, verdict in (
            ("1.0", Verdict.GOOD), ("2.0", Verdict.BAD), ("1.10", Verdict.BAD), ("1.9", Verdict.GOOD)
        )
    )  # fmt: skip
    places = tuple(
        VersionPlace(label=label, position=position, told="", is_suspect=False)
        for position, label in enumerate(("1.2", "1.9", "1.10", "2.0"))
    )
    found = replace(FULL, history=replace(FULL.history, tested=tested, places=places))

    for page in (html(found), markdown(found).replace("| ", "<code>")):
        rows = [
            each for each in re.findall(r"<code>(\d[.\d]+)\b", page) if each in "1.0 1.9 1.10 2.0"
        ]
        assert rows[:4] == ["1.0", "1.9", "1.10", "2.0"]


@given(st.text("`ab|*_<", max_size=12))
def test_code_in_a_sentence_of_markdown_is_code_and_the_rest_no_markup(text: str) -> None:
    page = markdown(replace(FULL, conclusions=(text,)))
    line = page.partition("## Next steps\n\n- ")[2].partition("\n")[0]
    without_code = re.sub(r"(?<![`\\])`[^`]+`(?!`)", "", line)

    assert not re.search(r"(?<!\\)[`*_<|]", without_code)


def test_a_step_is_said_in_full() -> None:
    said = " ".join(f"word{number}" for number in range(200))
    step = Step(title="Look", reason=said, result=f"{said}.", trials=0, wall_seconds=0.0)
    page = html(replace(FULL, steps=(step,)))

    assert f"{said}." in page
