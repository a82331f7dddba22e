"""Edits of JSON that deletion cannot make: what stands deep takes the place of what is above."""

import json
from collections.abc import Iterator

import pytest
from odd_oracles import fails_if, shrunk

from whet.reduction.edit import Edit, siblings, splice
from whet.reduction.formats.documents.json_passes import JSON_PASSES
from whet.reduction.formats.documents.json_tree import JSON, parse_json
from whet.reduction.payload_kind import lifted
from whet.testing.reduction import check_pass


def expression(depth: int) -> dict[str, object]:
    """A call in a call in a call, as a parser would write it."""
    if depth == 0:
        return {"op": "bad", "args": []}
    return {"op": "add", "args": [{"op": "num", "args": []}, expression(depth - 1)]}


def evaluated(node: dict[str, object]) -> Iterator[object]:
    """Walk over calls as an evaluator does: what is no call is another failure."""
    yield node["op"]
    arguments = node["args"]
    if not isinstance(arguments, list):
        raise TypeError(arguments)
    for each in arguments:
        yield from evaluated(each)


def test_a_call_takes_the_place_of_the_call_around_the_list_around_it() -> None:
    payload = json.dumps(expression(30)).encode()
    judge = fails_if(lambda it: "bad" in list(evaluated(json.loads(it))))

    done = shrunk(payload, judge)

    assert json.loads(done.reduction.payload) == {"op": "bad", "args": []}
    assert done.calls < 150


def test_lists_in_a_list_are_put_together() -> None:
    payload = json.dumps([[1, 2, 3], [4, [5, 6]], [7]] * 3).encode()

    def flattened(value: object) -> Iterator[object]:
        for each in value if isinstance(value, list) else [value]:
            yield from flattened(each) if isinstance(each, list) else [each]

    done = shrunk(payload, fails_if(lambda it: len(list(flattened(json.loads(it)))) >= 4))

    assert json.loads(done.reduction.payload) == [0, 0, 0, 0]
    assert done.calls < 100


def test_members_are_lifted_into_the_object_around_them() -> None:
    payload = b'{"settings": {"left": {"x": 1}, "right": {"y": 2, "z": 3}}}'

    def has_both(value: object) -> bool:
        text = json.dumps(value)
        return isinstance(value, dict) and '"x"' in text and '"z"' in text

    done = shrunk(payload, fails_if(lambda it: has_both(json.loads(it))))

    assert json.loads(done.reduction.payload) == {"x": 0, "z": 0}
    assert done.calls < 120


def test_siblings_within_siblings_are_cut_together() -> None:
    outer = siblings([(1, 6), (7, 8), (9, 10)])
    inner = siblings([(2, 3), (4, 5)])

    edits: list[Edit] = [outer[0], inner[0], inner[1], outer[1]]
    assert splice(b"[[1,2],3,4]", edits) == b"[4]"


@pytest.mark.parametrize(
    "name", ["hoist largest alike values", "hoist alike values", "lift items", "lift values"]
)
def test_every_candidate_is_json(name: str) -> None:
    examples = [
        b'[{"a":[{"b":[1,{"c":[]}]},{"d":{"e":[{"f":0}]}}]}]',
        b'{"a":{"b":{"c":1,"d":[2]}},"e":[{"g":1,"h":{"i":[{"j":2},3]}}]}',
        b'[[[],[1,[2,[3]]]],[{}]]\n{"a":{"b":0}}\n',
    ]
    for each in lifted(JSON, [each for each in JSON_PASSES if each.name == name]):
        check_pass(each, examples, is_valid=lambda it: parse_json(it) is not None)


@pytest.mark.parametrize(
    ("opening", "closing"),
    [
        pytest.param(b"[", b"]", marks=pytest.mark.long),
        (b'{"a":', b"}"),
        pytest.param(b'[{"a":', b"}]", marks=pytest.mark.long),
    ],
)
def test_a_nesting_of_100_000_levels_is_searched(opening: bytes, closing: bytes) -> None:
    levels = 100_000 // opening.count(b"[") if opening != b'{"a":' else 100_000
    payload = opening * levels + b"7" + closing * levels

    done = shrunk(payload, fails_if(lambda it: b"7" in it))

    assert done.reduction.payload == b"7"
    assert done.calls < 20


@pytest.mark.slow
@pytest.mark.parametrize(
    ("filler", "needle", "ends"),
    [
        pytest.param(b"12,", b'"needle",', (b"[", b"1]"), marks=pytest.mark.long),
        (b'{"a":[1],"b":"x]y"},', b'{"needle":1},', (b'{"rows":[', b"1]}")),
        pytest.param(b"<b>xy</b>", b"<b>needle</b>", (b"<a>", b"</a>"), marks=pytest.mark.long),
        (b"ab ", b"needle ", (b"", b"")),
    ],
)
def test_a_single_long_line_is_cut_coarsely_first(
    filler: bytes, needle: bytes, ends: tuple[bytes, bytes]
) -> None:
    half = filler * (3 * 2**20 // len(filler))
    payload = ends[0] + half + needle + half + ends[1]
    sizes: list[int] = []

    def holds(payload: bytes) -> bool:
        sizes.append(len(payload))
        return b"needle" in payload

    done = shrunk(payload, fails_if(holds))

    assert done.reduction.payload == b"needle"
    assert done.calls < 160
    # The first cuts are large: what is run after some calls is a tenth.
    assert sum(size > len(payload) // 10 for size in sizes) < 20


def test_what_only_looks_like_json_is_cut_as_text() -> None:
    payload = b"[" + b"no json here\n" * 100_000 + b"needle\n}"

    assert shrunk(payload, fails_if(lambda it: b"needle" in it)).reduction.payload == b"needle"
