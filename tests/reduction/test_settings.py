"""Configurations towards their defaults: exact settings, calls, and texts that stay what they are."""

import json
from datetime import UTC, date, datetime, time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.core.verdict import Verdict
from whet.reduction.between import Between
from whet.reduction.problem import Reduced
from whet.reduction.settings.documents import UnreadableError, data_of, document_kind_of
from whet.reduction.settings.towards import changes_towards, reduce_towards
from whet.search.proposal import run_search

_TOML = document_kind_of("a.toml")
assert _TOML is not None
TOML = _TOML

DEFAULTS = {"lr": 0.1, "optim": {"name": "adam", "betas": [0.9, 0.99]},
            **{f"k{number}": number for number in range(30)}}  # fmt: skip
MINE = {**DEFAULTS, "lr": 10, "optim": {"name": "sgd", "betas": [0.9, 0.5]},
        "extra": {"a": 1, "b": {"c": 2}},
        **{f"k{number}": -number for number in range(1, 20)}}  # fmt: skip
del MINE["k25"]


def diverges(settings: object) -> bool:
    assert isinstance(settings, dict)
    found = settings["lr"] > 5 and settings["optim"]["betas"][1] < 0.9
    return bool(found and settings.get("extra", {}).get("b"))


def towards(payload: bytes, defaults: bytes, name: str) -> tuple[bytes, int]:
    """Return the smallest configuration, and the calls that it took."""
    kind = document_kind_of(name)
    calls = 0

    def test(candidate: Reduced) -> Verdict:
        nonlocal calls
        calls += 1
        return Verdict.BAD if diverges(data_of(kind, candidate.data)) else Verdict.GOOD

    return run_search(reduce_towards(payload, defaults, name=name), test).payload, calls


def written(data: object, name: str) -> bytes:
    kind = document_kind_of(name)
    assert kind is not None
    return kind.write(data).encode()


@pytest.mark.parametrize("name", ["c.json", "c.toml", "c.yaml", "C.YML"])
def test_the_settings_that_matter_in_few_calls(name: str) -> None:
    if name.lower().endswith(("yaml", "yml")):
        pytest.importorskip("yaml")
    payload, defaults = written(MINE, name), written(DEFAULTS, name)

    found, calls = towards(payload, defaults, name)

    assert [
        (each.name, each.before, each.after) for each in changes_towards(found, defaults, name=name)
    ] == [("lr", "0.1", "10"), ("optim.betas.1", "0.99", "0.5"), ("extra.b.c", None, "2")]
    assert calls <= 32


def test_ini_keeps_the_case_of_names_and_its_default_section() -> None:
    base = b"[DEFAULT]\nLevel = 1\n[a]\nX = 1\nempty\n"
    mine = b"[DEFAULT]\nLevel = 2\n[a]\nX = 1\nempty\n[b]\nY = %(Z)s\n"

    assert [str(each) for each in changes_towards(mine, base, name="c.ini")] == [
        'setting DEFAULT.Level: `"1"` → `"2"`',
        'setting b.Y: new, `"%(Z)s"`',
    ]


def test_other_files_go_back_line_by_line_and_keep_the_rest_to_the_byte() -> None:
    base = b"\xef\xbb\xbfa 1\r\nb 2\r\n# why\r\nc 3\r\nd 4"
    mine = b"\xef\xbb\xbfa 1\r\nb 9\r\n# why\r\nx 7\r\ny 8\r\nc 3\r\n"
    calls = 0

    def test(candidate: Reduced) -> Verdict:
        nonlocal calls
        calls += 1
        return Verdict.BAD if b"y 8" in candidate.data else Verdict.GOOD

    found = run_search(reduce_towards(mine, base, name="app.conf"), test).payload

    assert found == b"\xef\xbb\xbfa 1\r\nb 2\r\n# why\r\ny 8\r\nc 3\r\nd 4"
    assert calls <= 10
    (change,) = changes_towards(found, base, name="app.conf")
    assert str(change) == "lines line 4: new, `y 8`"


def test_where_only_the_text_as_it_stands_fails_its_lines_count() -> None:
    base, mine = b'{"a": 1,\n "b": 1}\n', b'{"a": 2,\n  "b": 2}\n'

    def test(candidate: Reduced) -> Verdict:
        return (
            Verdict.BAD
            if b'\n  "b"' in candidate.data
            and b"," in candidate.data
            and candidate.data.count(b"\n") == 2
            else Verdict.GOOD
        )

    found = run_search(reduce_towards(mine, base, name="c.json"), test).payload

    assert found == b'{"a": 1,\n  "b": 2}\n'


@pytest.mark.parametrize(
    ("name", "text"),
    [("c.json", b"{"), ("c.toml", b"a = \n"), ("c.ini", b"a = 1\n"), ("c.json", b"\xff\xfe{")],
)
def test_what_does_not_parse_says_so(name: str, text: bytes) -> None:
    with pytest.raises(UnreadableError):
        changes_towards(text, text, name=name)


def test_yaml_that_does_not_parse_says_where_and_that_with_tags_is_compared_by_lines() -> None:
    pytest.importorskip("yaml")

    with pytest.raises(UnreadableError, match="line 2, column 2"):
        changes_towards(b"a: [1\nb: 2", b"", name="c.yaml")
    (change,) = changes_towards(b"a: !mine 1\n", b"a: !mine 2\n", name="c.yaml")
    assert (change.before, change.after) == ("a: !mine 2", "a: !mine 1")


VALUES = st.recursive(
    st.booleans() | st.integers(-99, 99) | st.floats() | st.text(max_size=5) | st.dates()
    | st.times().map(lambda each: each.replace(fold=0))
    | st.datetimes(timezones=st.just(UTC)).map(lambda each: each.replace(fold=0)),
    lambda inner: st.lists(inner, max_size=4)
    | st.dictionaries(st.text(max_size=3), inner, max_size=4),
    max_leaves=12,
)  # fmt: skip
TABLES = st.dictionaries(st.text(max_size=3), VALUES, max_size=5)


@given(TABLES)
def test_toml_reads_as_it_was_written(data: dict[str, object]) -> None:
    assert _plain(TOML.read(TOML.write(data))) == _plain(data)


def _plain(data: object) -> object:
    if isinstance(data, dict):
        return {key: _plain(data[key]) for key in sorted(data)}
    if isinstance(data, list):
        return [_plain(each) for each in data]
    return repr(data)


@given(TABLES, TABLES)
def test_all_differences_make_the_one_of_the_other(
    before: dict[str, object], after: dict[str, object]
) -> None:
    between = Between(before, after)

    everything = range(len(between.leaves))
    assert _plain(between.made(())) == _plain(before)
    assert _plain(between.made(everything)) == _plain(after)
    assert bool(between.leaves) == (_plain(before) != _plain(after))


def test_values_of_toml_that_json_has_not() -> None:
    data = {"d": date(2020, 1, 2), "t": time(1, 2, 3), "m": datetime(2020, 1, 2, tzinfo=UTC),
            "rows": [{"a": 1, "in": {"b": [1.5]}}], "odd key": {"x\n": "é\x7f"}, "none": {}}  # fmt: skip

    assert TOML.read(TOML.write(data)) == data
    assert json.dumps(data["none"]) == "{}"
