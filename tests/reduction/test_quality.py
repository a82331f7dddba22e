"""Does it really find the smallest, and how many oracle calls does that take."""

import ast
import csv
import io
import json
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from odd_oracles import Judge, fails_if, shrunk

from whet.core.verdict import Verdict
from whet.reduction.reducer import reduce_payload


def minimum(payload: bytes, judge: Judge, most_calls: int = 10_000, name: str = "") -> bytes:
    """Return what is left of a payload that is BAD."""
    assert judge(payload) is Verdict.BAD
    done = shrunk(payload, judge, name=name)
    assert done.calls <= most_calls, "ask for the reason before raising this"
    return done.reduction.payload


def values_in(value: object) -> Iterator[object]:
    yield value
    children = value.values() if isinstance(value, dict) else value
    if isinstance(value, dict | list):
        for child in children:  # type: ignore[attr-defined]
            yield from values_in(child)


def json_that(holds: Callable[[dict[str, list[dict[str, float]]]], bool]) -> Judge:
    return fails_if(lambda payload: holds(json.loads(payload)))


def users(count: int, culprit: dict[str, object]) -> bytes:
    document: dict[str, object] = {
        "version": 3,
        "users": [
            {"id": each, "name": f"user {each}", "score": each * 0.5, "tags": ["x", "y"]}
            for each in range(count)
        ],
    }
    found = document["users"]
    assert isinstance(found, list)
    found[count // 3].update(culprit)
    return json.dumps(document, indent=2).encode()


@pytest.mark.parametrize(
    ("culprit", "judge", "expected", "most_calls"),
    [
        ({"score": None}, json_that(lambda it: None in values_in(it)), b"null", 60),
        (
            {"score": None},
            json_that(lambda it: any(user.get("score", 0) is None for user in it["users"])),
            b'{"users":[{"score":null}]}',
            200,
        ),
        (
            {"limit": 734.5},
            json_that(lambda it: any(user.get("limit", 0) > 256 for user in it["users"])),
            b'{"users":[{"limit":257}]}',
            260,
        ),
        (
            {"name": "Zoë, the 2nd"},
            json_that(lambda it: any(not str(user["name"]).isascii() for user in it["users"])),
            b'{"users":[{"name":"\\u00aa"}]}',
            260,
        ),
        ({}, json_that(lambda it: len(it) > 0), b'{"":0}', 60),
        ({"a": {"b": [{"c": 7}]}}, json_that(lambda it: 7 in values_in(it)), b"7", 60),
    ],
)
def test_one_bad_value_in_json_is_all_that_is_left(
    culprit: dict[str, object], judge: Judge, expected: bytes, most_calls: int
) -> None:
    assert minimum(users(400, culprit), judge, most_calls) == expected


def table(rows: int) -> bytes:
    file = io.StringIO()
    writer = csv.writer(file)
    writer.writerow(["name", "value", "comment"])
    for number in range(rows):
        value = "oops" if number == rows * 2 // 3 else number * 1.5
        writer.writerow([f"n{number}", value, f'text "{number}", quoted\nover two lines'])
    return file.getvalue().encode()


def dies_in_float(payload: bytes) -> bool:
    for row in csv.DictReader(io.StringIO(payload.decode(), newline="")):
        try:
            float(row["value"] or "0")
        except ValueError:
            return True
    return False


def test_one_bad_cell_in_csv_leaves_its_column_alone() -> None:
    assert minimum(table(1000), fails_if(dies_in_float), 120) == b"value\na"


def test_a_column_is_cut_as_a_whole() -> None:
    def holds(payload: bytes) -> bool:
        rows = list(csv.reader(io.StringIO(payload.decode(), newline="")))
        return len(rows) == 4 and all(row[-1] == "9" for row in rows)

    payload = b"1,x,9\n2,y,9\n3,z,9\n4,w,9\n"

    assert minimum(payload, fails_if(holds)) == b"9\n9\n9\n9"


def test_two_lines_of_thousands() -> None:
    payload = b"".join(b"%d: nothing to see here\n" % number for number in range(3000))
    payload = payload.replace(b"17: nothing", b"17: alpha", 1).replace(b"2900: nothing", b"omega")

    judge = fails_if(lambda it: b"alpha" in it and b"omega" in it)

    assert minimum(payload, judge, 150) == b"alphaomega"


def nodes(payload: bytes) -> Iterator[ast.AST]:
    return ast.walk(ast.parse(payload))


def is_del_of_item(node: ast.AST) -> bool:
    return isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Del)


def is_nested_loop(node: ast.AST) -> bool:
    return isinstance(node, ast.While) and any(
        isinstance(inner, ast.If) and isinstance(inner.test, ast.BoolOp) for inner in ast.walk(node)
    )


@pytest.mark.parametrize(
    ("wanted", "expected", "most_calls"),
    [
        (is_del_of_item, b"del a[0]", 200),
        (is_nested_loop, b"while a:\n if 0 and a:a", 420),
        (lambda node: isinstance(node, ast.DictComp), b"{0:0 for a in 0}", 200),
    ],
)
def test_python_source_leaves_the_shortest_of_its_kind(
    wanted: Callable[[ast.AST], bool], expected: bytes, most_calls: int
) -> None:
    source = Path(textwrap.__file__).read_bytes()
    source += b"\n\nTABLE = {str(word): len(word) for word in [__doc__, 'some', 'words']}\n"

    judge = fails_if(lambda payload: any(map(wanted, nodes(payload))))

    assert minimum(source, judge, most_calls, "x.py") == expected


def test_two_cuts_that_need_each_other_are_made_together() -> None:
    judge = fails_if(lambda it: it in (b"1 + (a - 2)", b"1 - 2"))

    assert minimum(b"1 + (a - 2)", judge, 200, "x.py") == b"1 - 2"


def has_two_members_of_one_name(payload: bytes) -> bool:
    def pairs(found: list[tuple[str, object]]) -> bool:
        return len(found) == 2 and found[0][0] == found[1][0]

    return json.loads(payload, object_pairs_hook=pairs) is True


@pytest.mark.parametrize(
    ("payload", "holds", "expected"),
    [
        (b"[" * 5000 + b"7" + b"]" * 5000, lambda it: b"7" in it, b"7"),
        (b'{"a":' * 5000 + b"[]" + b"}" * 5000, lambda it: b"[" in it, b"[]"),
        (bytes(range(256)) * 40, lambda it: b"\xfe\xff" in it, b"\xfe\xff"),
        (b"a\r\nb\r\n", lambda it: it.count(b"\n") == 2, b"\n\n"),
        (b"a\r\nb", lambda it: b"\r\n" in it, b"\r\n"),
        (b"\xef\xbb\xbfa,b\n1,2\n", lambda it: it.startswith(b"\xef\xbb\xbf"), b"\xef\xbb\xbf"),
        (b"x" * 50_000 + b"needle" + b"y" * 50_000, lambda it: b"needle" in it, b"needle"),
        (b'{"a": [1, 2}', lambda it: b"2}" in it, b"2}"),
        (b'{"a": 1, "a": 2}', has_two_members_of_one_name, b'{"":0,"":0}'),
        (b'{"a": NaN}', lambda it: b"NaN" in it, b"NaN"),
        (b"[%d]" % 10**40, lambda it: int(it.strip(b"[]")) >= 10**30, b"%d" % 10**30),
        (b"[%s]" % (b"9" * 5000), lambda it: it.count(b"9") >= 4500, b"9" * 4500),
        (b"f(a, g(b), [c, d])", lambda it: b"f(" in it and b"d" in it and b")" in it, b"f(d)"),
        (b"anything", lambda _it: True, b""),
        (b"", lambda _it: True, b""),
    ],
)
def test_named_cases(payload: bytes, holds: Callable[[bytes], bool], expected: bytes) -> None:
    assert minimum(payload, fails_if(holds)) == expected


def test_nothing_is_left_only_if_nothing_fails_too() -> None:
    assert minimum(b"a\n", fails_if(lambda it: len(it) > 0)) == b"a"


def test_what_is_skipped_is_not_taken() -> None:
    def judge(payload: bytes) -> Verdict:
        return Verdict.BAD if payload == b"xb" else Verdict.SKIP

    assert shrunk(b"xb", judge).reduction.payload == b"xb"


@pytest.mark.slow
def test_a_large_file_of_lines_with_one_culprit() -> None:
    payload = b"".join(b"line %d with some text that is longer\n" % each for each in range(130_000))

    assert len(payload) > 5_000_000
    assert minimum(payload, fails_if(lambda it: b"line 77777 " in it), 120) == b"line 77777 "


def test_a_deep_nesting_with_siblings_is_searched_at_once() -> None:
    payload = b'[0,{"a":"b"},' * 12 + b"7" + b"]" * 12

    def holds(it: bytes) -> bool:
        value, depth = json.loads(it), 0
        while isinstance(value, list):
            value, depth = value[-1], depth + 1
        return depth >= 10 and value == 7

    assert minimum(payload, fails_if(holds), 250) == b"[" * 10 + b"7" + b"]" * 10


@pytest.mark.slow
def test_a_batch_of_a_large_payload_is_narrow() -> None:
    line = b"some text\r" * 3000 + b"\n"
    search = reduce_payload(b"".join(b"%d" % number + line for number in range(100)))

    batch, widest = next(search), 0
    for _ in range(12):
        widest = max(widest, len(batch))
        assert sum(len(each.data) for each in batch) <= 64 * 1024 * 1024
        batch = search.send([Verdict.GOOD] * len(batch))

    assert widest > 8


@pytest.mark.slow
def test_candidates_are_made_when_they_are_asked_for() -> None:
    """A batch of a large payload is not rendered as a whole before its first one is judged."""
    search = reduce_payload(b"line\nother\n" * 50_000)
    first = next(search)

    assert isinstance(first[0].data, bytes)
    assert len(first) <= 64
