"""What each format sees in a payload, odd ones included."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.core.errors import UnknownFormat
from whet.reduction.formats.documents.json_tree import parse_json
from whet.reduction.formats.tables.csv_table import parse_csv
from whet.reduction.formats.text.blocks import parse_blocks
from whet.reduction.formats.text.brackets import parse_brackets
from whet.reduction.formats.text.pieces import parse_lines, parse_tokens, parse_words
from whet.reduction.payload_kinds import KINDS, kinds_of

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@given(value=json_values, indent=st.sampled_from([None, 1]), ascii_=st.booleans())
def test_json_is_what_json_dumps_writes(value: object, indent: int | None, *, ascii_: bool) -> None:
    tree = parse_json(
        json.dumps(value, indent=indent, ensure_ascii=ascii_).encode("utf-8", "replace")
    )

    assert tree is not None
    assert len(tree.roots) == 1


@given(st.text(alphabet='{}[]",: 1a\\nul\n', max_size=12))
def test_json_is_what_json_loads_reads(text: str) -> None:
    def loads(part: str) -> bool:
        try:
            json.loads(part, strict=False)
        except ValueError:
            return False
        return True

    tree = parse_json(text.encode())

    if loads(text):
        assert tree is not None
    elif tree is not None:  # JSON lines: each of its values is JSON
        assert len(tree.roots) > 1
        assert all(loads(text[root.start : root.end]) for root in tree.roots)


@pytest.mark.parametrize(
    "payload",
    [b"", b" ", b"{", b"[1,]", b'{"a":}', b'{"a"}', b"{1:2}", b"01", b"1 2", b"[1}", b"nul", b"[]]",
     b'"a', b"[1 2]", b'{"a":1,}', b",", b":", b'{"a" "b"}', b"[,1]", b"+1", b"truex"],
)  # fmt: skip
def test_what_is_no_json_is_refused(payload: bytes) -> None:
    assert parse_json(payload) is None


def test_a_nesting_of_thousands_of_levels_is_read() -> None:
    tree = parse_json(b'{"a":[' * 5000 + b"]}" * 5000)

    assert tree is not None
    assert max(node.depth for node in tree.nodes) == 9999


def test_several_objects_are_json_lines() -> None:
    tree = parse_json(b'{"a":1}\n[2]\n')

    assert tree is not None
    assert [root.kind for root in tree.roots] == [b"{", b"["]


def cells(payload: bytes) -> list[list[bytes]]:
    table = parse_csv(payload)
    assert table is not None
    return [[payload[a:b] for a, b in row.cells] for row in table.rows]


def test_quoted_cells_hold_delimiters_quotes_and_line_ends() -> None:
    assert cells(b'a,b\r\n"x,""y""\r\nz",2\r\n') == [[b"a", b"b"], [b'"x,""y""\r\nz"', b"2"]]


def test_a_quote_that_is_never_closed_is_a_cell_like_any_other() -> None:
    assert cells(b'a,b\n"x,2\n') == [[b"a", b"b"], [b'"x', b"2"]]


@pytest.mark.parametrize("delimiter", [b",", b";", b"\t", b"|"])
def test_the_delimiter_is_the_one_that_makes_columns(delimiter: bytes) -> None:
    rows = [[b"a b", b"c", b"d"], [b"1", b"", b"3"]]
    payload = b"\n".join(delimiter.join(row) for row in rows)

    assert cells(payload) == rows


def test_a_byte_order_mark_is_no_part_of_the_first_cell() -> None:
    assert cells(b"\xef\xbb\xbfa,b\n1,2\n")[0] == [b"a", b"b"]


@pytest.mark.parametrize(
    "payload", [b"", b"a\nb\n", b"a,b\nc\nd\ne,f,g\n", b"just text, with a comma\nand more\n"]
)
def test_what_has_no_columns_is_no_csv(payload: bytes) -> None:
    assert parse_csv(payload) is None


@given(st.binary(max_size=40))
def test_lines_end_behind_their_line_end(payload: bytes) -> None:
    pieces = parse_lines(payload)
    mark = payload[: pieces.bounds[0]]

    assert mark + b"".join(pieces.texts()) == payload
    assert pieces.texts() == payload[len(mark) :].splitlines(keepends=True)


def test_tokens_are_those_of_a_programming_language() -> None:
    assert parse_tokens(b'x1 = f("a\\"b", 1.5e3)  \n').texts() == [
        b"x1", b" ", b"=", b" ", b"f", b"(", b'"a\\"b"', b",", b" ", b"1.5e3", b")", b"  ", b"\n",
    ]  # fmt: skip
    assert parse_tokens(b"'''a\nb''' 'c\n").texts() == [
        b"'''a\nb'''", b" ", b"'", b"c", b"\n",
    ]  # fmt: skip


def test_words_are_those_of_a_text() -> None:
    text = "don't été\r\n".encode()

    assert parse_words(text).texts() == [
        b"don", b"'", b"t", b" ", "été".encode(), b"\r\n",
    ]  # fmt: skip


def test_blocks_are_lines_with_what_stands_deeper() -> None:
    text = parse_blocks(b"if a:\n  b\n\n  while c:\n    d\ne\n")

    assert text is not None
    assert [(block.first, block.stop, block.depth) for block in text.blocks] == [
        (0, 5, 0), (1, 2, 1), (3, 5, 1), (4, 5, 2), (5, 6, 0),
    ]  # fmt: skip
    assert parse_blocks(b"flat\ntext\n") is None


def test_brackets_in_strings_and_without_a_partner_are_passed_over() -> None:
    text = parse_brackets(b"f(a, [b, c], ')') + (")

    assert text is not None
    assert [(group.start, group.end, group.commas) for group in text.groups] == [
        (1, 17, (3, 11)), (5, 11, (7,)),
    ]  # fmt: skip
    assert parse_brackets(b"no ( pair ]") is None


@pytest.mark.parametrize(
    ("payload", "name", "expected"),
    [
        (b'{"a": 1}', "data.txt", "json"),
        (b"a,b\n1,2\n", "data.txt", "csv"),
        (b"[1,2]\n[3,4]\n", "data.csv", "csv"),
        (b"[1,2]\n[3,4]\n", "data", "json"),
        (b"import os\n", "data.json", ""),
    ],
)
def test_the_content_decides_on_the_format(payload: bytes, name: str, expected: str) -> None:
    assert {each.name for each in kinds_of(payload, name=name)} & {"json", "csv"} == (
        {expected} if expected else set()
    )


def test_a_format_can_be_asked_for_by_name() -> None:
    assert {each.name for each in kinds_of(b"", format_name="lines")[0].passes} == {
        "delete lines",
        "delete duplicate lines",
        "copy lines",
        "empty alike lines",
    }
    with pytest.raises(UnknownFormat, match="no format `nonsense`") as raised:
        kinds_of(b"", format_name="nonsense")
    assert all(name in raised.value.hint for name in KINDS)
