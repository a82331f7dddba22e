import json
import shutil
import sys
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from unicodedata import category

import jinja2
import pytest
from hypothesis import given
from hypothesis import strategies as st

import whet.report
from whet.core.budget import StopReason
from whet.core.failure import Failure, FailureKind, FailureSignature, Frame
from whet.core.text.shown_text import visible
from whet.core.trial import Trial
from whet.core.verdict import Verdict
from whet.report.pages import html, markdown, page_renderer, report_files, shown_payload
from whet.report.wording import fence, one_line
from whet.workbench.trials.investigation import (
    AlsoFound,
    Investigation,
    Reproducer,
    Reproduction,
    ShrunkPayload,
    Size,
    Step,
    TestedVersion,
    VersionSearch,
)

VOID_TAGS = {"meta", "br", "link", "img", "hr", "input"}

FULL = Investigation(
    number=7,
    trial=Trial(command=("python", "load.py", "prices.csv"), cwd="/home/ada/shop"),
    command_line="python load.py prices.csv",
    started_at="2026-11-21T09:30:00+00:00",
    wall_seconds=42.5,
    oracle="it fails the same way: KeyError in load.py:price",
    failure=Failure(
        signature=FailureSignature(kind=FailureKind.EXCEPTION, exception="KeyError"),
        summary="KeyError: 'price'",
        frames=(Frame(path="load.py", line=12, function="price", in_user_code=True),),
    ),
    last_lines="Traceback (most recent call last):\n  ...\nKeyError: 'price'",
    reproduction=Reproduction(
        attempts=3,
        same_failures=3,
        other_failures=(),
        wall_seconds=0.21,
        peak_rss_bytes=31_000_000,
        exit_code=1,
        trials=(1, 2, 3),
    ),
    history=VersionSearch(
        kind="release",
        subject="pricelib",
        good="1.2",
        bad="2.0",
        first_bad="1.4",
        first_bad_description="released 2026-01-05",
        between=5,
        tested=(
            TestedVersion(label="1.2", verdict=Verdict.GOOD, trial=4),
            TestedVersion(label="2.0", verdict=Verdict.BAD, trial=5, remark="KeyError: 'price'"),
            TestedVersion(label="1.3", verdict=Verdict.SKIP, trial=None, remark="was yanked"),
        ),
        picture="1.2 good -- 1.4 first bad -- 2.0 bad",
    ),
    history_remark="",
    payloads=(
        ShrunkPayload(
            original="prices.csv",
            result="/home/ada/shop/whet-report/prices.csv",
            before_bytes=102_400,
            content=b"a,b\n0,\n",
            stopped=StopReason.MINIMAL,
            trials=83,
            cached=2,
            wall_seconds=11.0,
            guarded_by="pricelib 1.3",
            also_found=(AlsoFound(summary="ValueError: x", place="load.py:3", payload=b"a"),),
        ),
    ),
    reproducer=Reproducer(
        line="printf 'a,b\\n0,\\n' > prices.csv && python load.py prices.csv",
        script="reproduce.sh",
        is_verified=True,
        remark="run in an empty folder, it failed the same way.",
        wall_seconds=0.2,
    ),
    steps=(
        Step(
            title="Reproduce",
            reason="run it again, to see whether it fails the same way each time",
            result="it fails the same way in 3 of 3 runs",
            trials=3,
            wall_seconds=0.7,
        ),
    ),
    conclusions=("Look at what pricelib 1.4 changed.",),
    interpreter="CPython 3.11.7",
    platform="Linux x86_64",
    packages=(("pricelib", "2.0"),),
    folder="/home/ada/shop/whet-report",
)
BARE = replace(
    FULL,
    failure=None,
    last_lines="",
    history=None,
    history_remark="no good version was named",
    payloads=(),
    reproducer=None,
    conclusions=(),
    interpreter="",
    packages=(),
)
anything = st.text(max_size=30) | st.sampled_from(
    [
        "<script>alert(1)</script>",
        "```\n# x",
        "| a | b |",
        "\x1b[31m",
        "\u202e",
        "\udcff",
        "{{ 7 }}",
    ]
)


class Balanced(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: set[str] = set()

    def handle_starttag(self, tag: str, _attrs: object) -> None:
        self.seen.add(tag)
        if tag not in VOID_TAGS:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def tags_of(page: str) -> set[str]:
    parser = Balanced()
    parser.feed(page)
    parser.close()
    assert parser.open == []
    return parser.seen


def filled_with(text: str, payload: bytes) -> Investigation:
    assert FULL.history is not None
    assert FULL.reproducer is not None
    tested = TestedVersion(label=text, verdict=Verdict.BAD, trial=1, description=text, remark=text)
    return replace(
        FULL,
        command_line=text,
        oracle=text,
        last_lines=text,
        history=replace(
            FULL.history, first_bad=text, first_bad_description=text, tested=(tested,), picture=text
        ),
        payloads=(replace(FULL.payloads[0], original=text, content=payload),),
        reproducer=replace(FULL.reproducer, line=text, remark=text),
        steps=(replace(FULL.steps[0], title=text, result=text),),
        conclusions=(text,),
        platform=text,
    )


@given(anything, st.binary(max_size=40))
def test_nothing_that_a_program_says_becomes_markup(text: str, payload: bytes) -> None:
    tags = tags_of(html(filled_with(text, payload)))

    assert tags <= tags_of(html(FULL))


@given(anything, st.binary(max_size=40))
def test_every_fence_that_is_opened_is_closed(text: str, payload: bytes) -> None:
    opened = ""
    for line in markdown(filled_with(text, payload)).split("\n"):
        if opened:
            opened = "" if line == opened else opened
        elif line.startswith("```"):
            opened = line[: len(line) - len(line.lstrip("`"))]

    assert opened == ""


@given(st.text(max_size=60))
def test_what_is_shown_holds_no_control_characters(text: str) -> None:
    shown = visible(text)
    assert not [each for each in shown if category(each) == "Cc" and each not in "\n\t"]
    assert "\n" not in one_line(text)


def test_a_fence_is_longer_than_any_within() -> None:
    assert fence("a ```` b").startswith("`````\n")


def test_bytes_that_are_no_text_are_dumped() -> None:
    assert "ff 00" in shown_payload(b"\xff\x00a")
    assert shown_payload(b"a" * 5000).endswith("1.0 kB more")


def test_the_pages_tell_the_same_facts() -> None:
    files = {name: data.decode() for name, data in report_files(FULL).items()}

    facts = json.loads(files["report.json"])
    page, text = files["report.html"], files["report.md"]
    assert facts["history"]["first_bad"] == "1.4"
    assert facts["payloads"][0]["content"] == {"text": "a,b\n0,\n"}
    for words in ("1.4", "pricelib 1.3", "102 kB", "7 B", "prices.csv", "3 of 3 runs"):
        assert words in page
        assert words in text


def test_what_is_unknown_is_left_out() -> None:
    page = report_files(BARE)["report.html"].decode()
    assert "None" not in page
    assert "no good version was named" in page
    assert "Reproduce it" not in page
    tags_of(page)


def test_several_suspects_are_all_named() -> None:
    assert FULL.history is not None
    history = replace(
        FULL.history, first_bad=None, suspects=("1.3", "1.4"), stopped=StopReason.AMBIGUOUS
    )

    assert "1.3, 1.4" in html(replace(FULL, history=history))
    assert "1.3, 1.4" in markdown(replace(FULL, history=history))


def test_what_passes_beside_the_result_stands_in_each_page() -> None:
    payload = replace(
        FULL.payloads[0],
        content=b"id,<1/2>\n",
        nearest_passing=b"id,<12>\n",
        sizes=(Size(seconds=0.0, bytes=900), Size(seconds=1.5, bytes=9)),
    )
    found = replace(FULL, payloads=(payload,))

    assert "```diff\n-id,<1/2>\n+id,<12>\n```" in markdown(found)
    assert ">-id,&lt;1/2&gt;</span>\n" in html(found)
    assert ">+id,&lt;12&gt;</span>" in html(found)
    assert "<svg " in html(found)
    assert "<svg " not in html(FULL)


@pytest.mark.parametrize("template", ["report.md.jinja", "report.html.jinja"])
def test_a_template_is_compiled_again_only_if_it_or_jinja_is_another_one(
    template: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    templates = tmp_path / "templates"
    shutil.copytree(Path(whet.report.__file__).with_name("templates"), templates)
    monkeypatch.setattr("whet.report.pages._TEMPLATES", templates)
    monkeypatch.setattr(sys, "pycache_prefix", str(tmp_path / "kept"))
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    compiled: list[str | None] = []
    compile_page = jinja2.Environment.compile

    def counted(own: jinja2.Environment, source: str, name: str, path: str) -> object:
        compiled.append(name)
        return compile_page(own, source, name, path)

    monkeypatch.setattr(jinja2.Environment, "compile", counted)

    def compiles() -> int:
        """Fill in a page as the next whet does."""
        page_renderer.cache_clear()
        page_renderer(template)
        count = len(compiled)
        compiled.clear()
        return count

    assert [compiles(), compiles()] == [1, 0]
    with (templates / template).open("a") as file:
        file.write("more")
    assert [compiles(), compiles()] == [1, 0]
    monkeypatch.setattr(jinja2, "__version__", "0")
    assert [compiles(), compiles()] == [1, 0]
    page_renderer.cache_clear()
