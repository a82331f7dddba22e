"""Every format and every pass keeps the promises that the public kits check."""

from collections.abc import Callable
from pathlib import Path

import pytest

from whet.reduction.formats.documents.json_tree import JSON, parse_json
from whet.reduction.formats.source.grammars import LANGUAGES
from whet.reduction.formats.tables.csv_table import CSV, parse_csv
from whet.reduction.formats.text.blocks import BLOCKS
from whet.reduction.formats.text.brackets import BRACKETS
from whet.reduction.formats.text.pieces import BYTES, LINES, TOKENS, WORDS, Pieces
from whet.reduction.payload_kinds import KINDS
from whet.reduction.reduction_pass import Format, ReductionPass, Stage
from whet.search.proposal import Search
from whet.testing.reduction import check_format, check_pass

EXAMPLES = [
    b"",
    b"\n",
    b"one line without an end",
    b"a\r\nb\r\n\r\nc",
    b"old\rmac\r",
    b"\xef\xbb\xbf{}",
    b"\xff\xfe\x00 not \x80 UTF-8 \xc3",
    b'{"a": [1, 2.50, -3e5, "x\\u00e9\\"y", true, null], "a": {"": {}}, "n": NaN}',
    b'{"big": 123456789012345678901234567890, "e": [], "s": "' + "\u00e9\u4e00".encode() + b'"}',
    b'{"id": 1}\n{"id": 2, "tags": ["a"]}\n',
    b"[[[[[7]]]], [0, [1, [2]]]]",
    b'{"broken": [1, 2}',
    b'name,value,note\r\nx,1.5,"a, ""quoted""\r\nnote"\r\ny,2,\r\n"z",3,plain',
    b"a;b;c\n1;2;3\n4;5;6\n",
    b"a\tb\n1\t2\n",
    b"\xef\xbb\xbfa,b\n1,2\n\n3,4\n",
    b"def f(a, b=(1, 2)):\n    if a:\n        return [b, {'x': a}]\n\n    # note\n\treturn 'x'\n",
    b'"""doc\nstring"""\nx = """open\ny = \'it\'s\'\nz = 300.25e3 + 17\n',
    b"for (i = 0; i < 10; i++) { if (x[i]) { f(i, 'c'); } }\n}\n",
]

FORMATS = [BYTES, LINES, TOKENS, WORDS, BLOCKS, BRACKETS, CSV, JSON]


@pytest.mark.parametrize("format_", FORMATS, ids=lambda format_: format_.name)
def test_formats_keep_their_promises(format_: Format[object]) -> None:
    check_format(format_, EXAMPLES)


@pytest.mark.parametrize("format_", [BYTES, LINES, TOKENS, WORDS], ids=lambda format_: format_.name)
@pytest.mark.parametrize("payload", EXAMPLES)
def test_pieces_leave_nothing_out(format_: Format[Pieces], payload: bytes) -> None:
    pieces = format_.parse(payload)

    assert pieces is not None
    assert payload[: pieces.bounds[0]] + b"".join(pieces.texts()) == payload


def _is_json(payload: bytes) -> bool:
    """Return whether it is JSON; nothing is what is left when all JSON lines have gone."""
    return parse_json(payload) is not None or not payload.strip()


# All have passes of the same make; in the long run each of them on the grammar of each language.
LIKE_OTHERS = {each.name for each in LANGUAGES} - {"c", "kotlin", "php"}
VALID: dict[str, Callable[[bytes], bool]] = {"json": _is_json}


@pytest.mark.parametrize(
    ("name", "reduction_pass"),
    [
        pytest.param(name, each, marks=pytest.mark.long if name in LIKE_OTHERS else ())
        for name, kind in KINDS.items()
        for each in kind.passes
    ],
    ids=lambda value: value.name if isinstance(value, ReductionPass) else value,
)
def test_passes_keep_their_promises(name: str, reduction_pass: ReductionPass[bytes]) -> None:
    is_valid = VALID.get(name, lambda _payload: True)

    check_pass(reduction_pass, EXAMPLES, is_valid=is_valid)


def test_the_columns_and_rows_that_are_left_are_whole_cells() -> None:
    cells = {b"a", b"b", b'"1,1"', b"2"}

    def is_made_of_cells(payload: bytes) -> bool:
        table = parse_csv(payload)
        spans = [] if table is None else [cell for row in table.rows for cell in row.cells]
        return all(payload[start:end] in cells for start, end in spans)

    for each in KINDS["csv"].passes[:2]:
        check_pass(each, [b'a,b\n"1,1",2\n2,a\n'], is_valid=is_made_of_cells)


def test_names_of_passes_are_unique() -> None:
    names = [each.name for kind in KINDS.values() for each in kind.passes]

    assert len(set(names)) == len(names)


def test_the_kit_refuses_examples_that_are_not_of_the_format() -> None:
    with pytest.raises(AssertionError, match="no example"):
        check_format(JSON, [b"nonsense"])


def test_the_kit_refuses_a_pass_that_leaves_its_format_or_remembers() -> None:
    def emptying(payload: bytes) -> Search[bytes, bytes]:
        yield [b""]
        return payload

    def counting(payload: bytes) -> Search[bytes, bytes]:
        counted.append(payload)
        yield [payload + b"." * len(counted)]
        return payload

    counted: list[bytes] = []
    with pytest.raises(AssertionError, match="last BAD"):
        check_pass(ReductionPass(name="empty", stage=Stage.BYTES, search=emptying), [b"ab"])
    with pytest.raises(AssertionError, match="no memory"):
        check_pass(ReductionPass(name="count", stage=Stage.BYTES, search=counting), [b"ab"])
    with pytest.raises(AssertionError, match="makes"):
        check_pass(KINDS["bytes"].passes[0], [b'{"a":0}'], is_valid=_is_json)


def test_the_examples_of_the_standard_library_survive() -> None:
    source = Path(check_pass.__code__.co_filename).read_bytes()

    check_format(BLOCKS, [source])
    check_format(BRACKETS, [source])
