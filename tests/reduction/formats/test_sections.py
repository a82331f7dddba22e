"""TOML, INI, environment files and logs."""

import configparser
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from odd_oracles import Judge, fails_if, odd_judges, shrunk

from whet.core.verdict import Verdict
from whet.reduction.formats.documents.sections import INI, LOG, TOML, parse_toml
from whet.reduction.formats.documents.toml_arrays import arrays_in_toml
from whet.reduction.payload_kinds import KINDS, kinds_of
from whet.reduction.validity import validity_of
from whet.testing.reduction import check_format, check_pass

PYPROJECT = Path(__file__).parents[3].joinpath("pyproject.toml").read_bytes()

TOMLS = [
    PYPROJECT,
    b'a = """\n[not a table]\nb = 1\n"""\r\n[t] # note\r\nc = [\r\n  1, # ]\r\n  "]",\r\n]\r\n[[u]]\nd = {e = \'\'\'x\ny\'\'\'}',
    b"\xef\xbb\xbf# only\nx = 1\n",
]
INIS = [
    b"[a]\nx = 1\n  more\n; note\ny: 2\n\n[b]\nempty\n",
    b"export A=1\r\n# note\r\nB=two words\r\n",
    b"\xef\xbb\xbf[a]\nx=1",
]
LOGS = [
    b"".join(
        b"2026-01-02 03:04:%02d,123 ERROR no %d\nTraceback (most recent call last):\n  boom\n"
        % (n, n)
        for n in range(50)
    ),
    b"Jan  2 03:04:05 host x: a\nJan  2 03:04:06 host x: b\n",
    b"# head\n[03:04:05] a\n  b\n[03:04:06] c",
]


def is_toml(payload: bytes) -> bool:
    try:
        tomllib.loads(payload.decode("utf-8-sig"))
    except ValueError:
        return False
    return True


def test_formats_keep_their_promises() -> None:
    check_format(TOML, TOMLS)
    check_format(INI, INIS)
    check_format(LOG, LOGS)


@pytest.mark.parametrize(
    ("payload", "name", "kind"),
    [
        *((each, "", "toml") for each in TOMLS[:2]),
        (INIS[0], "setup.cfg", "ini"),
        (INIS[1], ".env", "ini"),
        *((each, "", "log") for each in LOGS),
        (b"[a]\nx = 1 2\n= 3\n", "a.toml", "blocks"),
        (b"[a\nx = 1\n", "a.ini", "blocks"),
        (b"03:04:05 once\n", "a.log", "blocks"),
        (b"[a]\nx = " + b"[" * 9000 + b"]" * 9000, "a.toml", "ini"),
        (b"for x in y:\n    z = [\n        1]\n", "x.py", "python"),
    ],
)
def test_the_content_decides(payload: bytes, name: str, kind: str) -> None:
    assert kinds_of(payload, name=name)[0].name == kind


@pytest.mark.parametrize("name", ["toml", "ini", "log"])
def test_passes_keep_their_promises(name: str) -> None:
    examples = {"toml": TOMLS[1:], "ini": INIS, "log": LOGS[1:]}[name]
    for each in KINDS[name].passes:
        check_pass(each, examples, is_valid=is_toml if name == "toml" else lambda _: True)


def test_two_tools_of_a_real_pyproject_are_left() -> None:
    def is_wrong(payload: bytes) -> bool:
        tools = tomllib.loads(payload.decode())["tool"]
        return bool(tools["ruff"]["line-length"]) and bool(tools["mypy"]["strict"])

    done = shrunk(PYPROJECT, fails_if(is_wrong), name="pyproject.toml")

    assert tomllib.loads(done.reduction.payload.decode())["tool"].keys() == {"ruff", "mypy"}
    assert len(done.reduction.payload) < 60
    assert done.calls < 400


def test_one_option_of_many_sections() -> None:
    payload = b"".join(
        b"[part %d]\n; note\nname = x\npath = /a/b\n  /c/d\n\n" % n for n in range(200)
    ).replace(b"[part 77]", b"[part 77]\nlimit = many")

    def is_wrong(payload: bytes) -> bool:
        config = configparser.ConfigParser()
        try:
            config.read_string(payload.decode())
        except configparser.Error as error:
            raise ValueError from error
        return any(not config[each].get("limit", "1").isdigit() for each in config.sections())

    done = shrunk(payload, fails_if(is_wrong), name="parts.ini")

    assert done.reduction.payload == b"[a]\nlimit="
    assert done.calls < 160


def test_a_record_goes_with_its_traceback() -> None:
    done = shrunk(LOGS[0], fails_if(lambda it: b"no 31\nTraceback" in it), format_name="log")

    assert done.reduction.payload == (
        b"2026-01-02 03:04:31,123 ERROR no 31\nTraceback (most recent call last):\n  boom\n"
    )
    assert done.calls < 30


@pytest.mark.slow
@given(
    st.lists(st.sampled_from([b"[a]\n", b"[[b]]\n", b"x = 1\n", b"y = [\n1,\n]\n", b"# c\n"])),
    odd_judges(),
)
def test_no_entry_can_go_alone_and_a_second_shrink_changes_nothing(
    lines: list[bytes], judge: Judge
) -> None:
    payload = b"".join(lines)
    smallest = shrunk(payload, judge, format_name="toml").reduction.payload

    assert smallest == payload or judge(smallest) is Verdict.BAD
    assert shrunk(smallest, judge, format_name="toml").reduction.payload == smallest
    text = TOML.parse(smallest)
    for start, end in () if text is None else (*text.entries, *text.sections):
        assert judge(smallest[:start] + smallest[end:]) is not Verdict.BAD


def test_an_array_of_toml_is_reduced_as_a_tree() -> None:
    payload = b'[tool]\nmatrix = [\n  [1, 2],\n  [4, [5, [6, "deep", 8]]],\n]\nother = 3\n'

    def depth(value: object) -> int:
        return 1 + max(map(depth, value), default=0) if isinstance(value, list) else 0

    def holds(text: bytes) -> bool:
        found = tomllib.loads(text.decode())
        tables = [found, *(each for each in found.values() if isinstance(each, dict))]
        values = [value for table in tables for value in table.values()]
        return any("deep" in str(value) and depth(value) >= 2 for value in values)

    done = shrunk(payload, fails_if(holds))

    assert done.reduction.payload == b'a=[["deep"]]'
    assert any(each.name == "reduce inside toml" for each in done.reduction.passes)


@pytest.mark.parametrize("value", [b"[1, # note\n 2]", b"[1979-05-27]", b"['a']", b"3", b'"[1]"'])
def test_what_is_no_json_is_left_to_other_passes(value: bytes) -> None:
    assert arrays_in_toml(b"a = " + value + b"\n") == []


def test_an_array_of_toml_is_put_back_where_it_lay() -> None:
    (part,) = arrays_in_toml(b"a = [1, 2,] \nb = 3\n")

    assert (part.content, part.put(b"7")) == (b"[1, 2]", b"a = 7 \nb = 3\n")
    assert part.put(b"null") is None


def test_a_key_of_thousands_of_parts_is_no_toml_to_whet() -> None:
    """The standard library takes the square of their number, in time and memory: a fuzzer has found it."""
    payload = b"[t]\n" + b"a." * 15_000 + b"a = 1\n"

    assert parse_toml(payload) is None
    assert parse_toml(payload.replace(b"a." * 14_900, b"")) is not None
    assert validity_of(payload, "a.toml") is None
