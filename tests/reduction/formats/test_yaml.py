"""YAML: read where PyYAML reads it, cut without a change of what is not touched."""

import json
from collections.abc import Callable
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from odd_oracles import Judge, odd_judges, shrunk
from odd_oracles import fails_if as fails_if_python

from whet.core.verdict import Verdict
from whet.reduction.formats.documents import yaml_passes
from whet.reduction.formats.documents.yaml_passes import YAML_PASSES
from whet.reduction.formats.documents.yaml_tree import YAML, parse_yaml, rest_of_line
from whet.reduction.payload_kind import lifted
from whet.reduction.payload_kinds import KINDS, kinds_of
from whet.reduction.reduction_pass import Stage
from whet.testing.reduction import check_format, check_pass

WORKFLOW = b"""\
# What runs on each push.
name: tests
on:
  push: {branches: [main, "release/**"]}   # not on tags
  pull_request:
env: &env
  CI: "true"
  PYTHON: '3.12'
jobs:
  lint:
    runs-on: ubuntu-latest
    env: *env
    steps:
    - uses: actions/checkout@v4
    - name: lint
      run: |
        ruff check .
        ruff format --check .
  test:   # the slow one
    needs: [lint]
    runs-on: ${{ matrix.os }}
    strategy:
      matrix:
        os: [ubuntu-latest, windows-latest]
        include:
          - os: macos-14
            python: "3.13"   # only here
          - {os: windows-2022, python: '3.9'}
    env:
      <<: *env
      EXTRA: >-
        folded
        text
    steps:
      # First the code.
      - uses: actions/checkout@v4
        with:
          fetch-depth: 0
      -
        run: pytest -q
"""

EXAMPLES = [
    WORKFLOW,
    WORKFLOW.replace(b"\n", b"\r\n"),
    b"\xef\xbb\xbf" + "é: [ü, {ö: 1}]\nä:\n- 1\n- \u4e00 # \U0001f600\nb: 2\n".encode(),
    b"---\na: 1\nb: [1, 2]\n...\n---\n- x\n- - y\n  - z\n--- {c: 3}\n",
    b"- a: 1\n  b: 2\n-\n  - 1\n  - 2\n- !!set {x, y}\n- &n\n  k: v\n- *n\n",
    b"a:\n  b:\n    c:\n      d: 'it''s'\n      e: \"x\\ty\"\n",
]


def fails_if(holds: Callable[[bytes], bool]) -> Judge:
    """An oracle of a predicate over what PyYAML loads."""

    def judge(payload: bytes) -> Verdict:
        try:
            return fails_if_python(holds)(payload)
        except yaml.YAMLError:
            return Verdict.SKIP

    return judge


def is_yaml(payload: bytes) -> bool:
    """Return whether PyYAML reads it; aliases may have lost their anchors."""
    try:
        list(yaml.parse(payload, Loader=yaml.SafeLoader))
    except yaml.YAMLError:
        return False
    return True


def test_nodes_are_where_pyyaml_sees_them() -> None:
    payload = EXAMPLES[2]
    tree = parse_yaml(payload)

    assert tree is not None
    assert [payload[each.start : each.end].decode() for each in tree.nodes[1:]] == [
        payload[3:].decode().rsplit("\n", 1)[0], "[ü, {ö: 1}]", "ü", "{ö: 1}", "1",
        "- 1\n- \u4e00", "1", "\u4e00", "2",
    ]  # fmt: skip


def test_a_format_keeps_its_promises() -> None:
    check_format(YAML, EXAMPLES)


@pytest.mark.parametrize("payload", EXAMPLES)
@pytest.mark.parametrize("reduction_pass", lifted(YAML, YAML_PASSES), ids=lambda it: it.name)
def test_every_candidate_is_yaml(reduction_pass: Any, payload: bytes) -> None:
    check_pass(reduction_pass, [payload], is_valid=is_yaml)


@pytest.mark.parametrize(
    "payload",
    [b"", b"text", b"a: [1", b"a: b: c", b"? [a]\n: b\n", b"- a\n b: c\n", b"a: \x01\n", b"a: \xff\n",
     b"[" * 20_000 + b"]" * 20_000, b"- " * 20_000 + b"a", b"- [a: 1]\n", b"\ttab: 1\n"],
)  # fmt: skip
def test_what_is_not_read_is_text(payload: bytes) -> None:
    assert parse_yaml(payload) is None
    assert "yaml" not in {each.name for each in kinds_of(payload, name="x.yaml")}


@pytest.mark.parametrize(
    ("payload", "name", "expected"),
    [
        (WORKFLOW, "", True),
        (b"a: 1\n", "a.yml", True),
        (b"a: 1\n", "notes", False),
        (b"def f(a):\n    return {a: 1}\n\n\nx: int = 1\n", "x.py", False),
        (b"a,b\n1,2\n3,4\n5,6\n", "", False),
    ],
)
def test_the_content_decides(payload: bytes, name: str, expected: object) -> None:
    assert ("yaml" in {each.name for each in kinds_of(payload, name=name)}) is expected


def test_one_step_of_a_workflow_is_all_that_is_left_of_it() -> None:
    def is_wrong(payload: bytes) -> bool:
        jobs = yaml.safe_load(payload)["jobs"].values()
        return any("fetch-depth" in step["with"] for job in jobs for step in job["steps"])

    payload = WORKFLOW + b"".join(
        b"  job%d:\n    steps: [{uses: a, with: {a: b}}]\n" % n for n in range(40)
    )
    done = shrunk(payload, fails_if(is_wrong), name="ci.yml")

    (job,) = yaml.safe_load(done.reduction.payload)["jobs"].values()
    assert job in ({"steps": [{"with": each}]} for each in ({"fetch-depth": None}, "fetch-depth"))
    assert len(done.reduction.payload) <= 50
    assert done.calls < 750


def test_comments_stay_with_what_is_kept() -> None:
    def is_wrong(payload: bytes) -> bool:
        is_said = b"# the slow one" in payload and b"# What runs" in payload
        return is_said and "test" in yaml.safe_load(payload)["jobs"]

    done = shrunk(WORKFLOW, fails_if(is_wrong), format_name="yaml")

    assert (
        done.reduction.payload
        == b"# What runs on each push.\njobs:\n  test:   # the slow one\n    \n"
    )


def test_an_anchor_goes_with_its_aliases() -> None:
    payload = b"base: &b {x: 1}\nleft: {use: *b, keep: 1}\nright:\n  <<: *b\n  keep: 2\n"

    def is_wrong(payload: bytes) -> bool:
        document = yaml.safe_load(payload)
        return {"left", "right"} <= set(document)

    done = shrunk(payload, fails_if(is_wrong), format_name="yaml")

    assert yaml.safe_load(done.reduction.payload) == {"left": None, "right": None}
    assert done.calls < 30


def test_an_alias_costs_no_look_at_all_its_siblings(monkeypatch: pytest.MonkeyPatch) -> None:
    payload = b"a: &a {x: 1}\n" + b"".join(
        b"k%d: *a\nb%d: &a {x: 1}\n" % (n, n) for n in range(300)
    )
    calls = 0

    def counted(text: bytes, place: int) -> int:
        nonlocal calls
        calls += 1
        return rest_of_line(text, place)

    monkeypatch.setattr(yaml_passes, "rest_of_line", counted)
    tree = parse_yaml(payload)
    assert tree is not None
    for each in YAML_PASSES:
        next(each.search(tree), None)

    assert 600 < calls < 20 * 600  # it was 600 for each of 300 aliases


def test_a_tree_of_mappings_and_lists_is_peeled_at_once() -> None:
    lines = [f"{'  ' * n}- name: n{n}\n{'  ' * n}  children:" for n in range(40)]
    payload = ("\n".join(lines) + "\n" + "  " * 40 + "- bad: 1\n").encode()

    def is_wrong(payload: bytes) -> bool:
        level = yaml.safe_load(payload)
        while True:
            if not isinstance(level, list):
                raise TypeError(level)
            if "bad" in level[0]:
                return True
            level = level[0]["children"]

    done = shrunk(payload, fails_if(is_wrong), name="tree.yaml")

    assert yaml.safe_load(done.reduction.payload) in ([{"bad": None}], ["bad"])
    assert done.calls < 80


def test_json_in_a_literal_block_and_a_quoted_string_is_reduced_where_it_lies() -> None:
    value = {"a": {"deep": [1, 2]}, "b": [{"c": 1}] * 5}
    block = "\n".join("    " + line for line in json.dumps(value, indent=1).splitlines())
    payload = f"kind: ConfigMap\ndata:\n  x.json: |\n{block}\n  y: '{json.dumps(value)}'\n".encode()

    def is_wrong(payload: bytes) -> bool:
        data = yaml.safe_load(payload)["data"].values()
        return sum("deep" in json.loads(each)["a"] for each in data) == 2

    done = shrunk(payload, fails_if(is_wrong), name="map.yaml")

    values = yaml.safe_load(done.reduction.payload)["data"].values()
    assert [json.loads(each) for each in values] in (
        [{"a": {"deep": 0}}] * 2,
        [{"a": "deep"}] * 2,
        [{"a": ["deep"]}] * 2,
    )
    assert done.calls < 780


values = st.recursive(
    st.none()
    | st.integers(0, 300)
    | st.sampled_from(["a", "b c", "- x", "#", "é", "two\nlines\n"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner),
    max_leaves=6,
)


styles = st.sampled_from([None, "block", "flow"])


@pytest.mark.slow
@given(values, styles, odd_judges())
def test_structure_passes_leave_yaml_and_a_second_shrink_changes_nothing(
    value: object, style: str | None, judge: Judge
) -> None:
    payload = yaml.dump(
        value, allow_unicode=True, default_flow_style=None if style is None else style == "flow"
    ).encode()
    structure = {each.name for each in KINDS["yaml"].passes if each.stage is Stage.STRUCTURE}
    done = shrunk(payload, judge, format_name="yaml")

    for candidate, _ in done.told:
        if candidate.by_pass in structure:
            assert is_yaml(candidate.data)
    smallest = done.reduction.payload
    assert smallest == payload or judge(smallest) is Verdict.BAD
    assert shrunk(smallest, judge, format_name="yaml").reduction.payload == smallest
