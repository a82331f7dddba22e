"""A notebook that is made smaller opens still."""

import json
from collections.abc import Callable, Iterable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from odd_oracles import Judge, odd_judges

from whet.core.verdict import Verdict
from whet.reduction.formats.documents.json_passes import texts_in_json
from whet.reduction.preference import Preference
from whet.reduction.problem import Reduced
from whet.reduction.reducer import reducer_of
from whet.reduction.statistics import Reduction
from whet.reduction.validity import validity_of
from whet.search.proposal import run_search


def code(
    number: int, text: str, *, as_lines: bool = True, outputs: Iterable[object] = ()
) -> dict[str, Any]:
    return {
        "cell_type": "code",
        "id": f"c{number}",
        "metadata": {"tags": []},
        "execution_count": number,
        "source": text.splitlines(keepends=True) if as_lines else text,
        "outputs": list(outputs),
    }


def notebook(*cells: dict[str, Any], minor: int = 5) -> bytes:
    if minor < 5:
        cells = tuple({key: each[key] for key in each if key != "id"} for each in cells)
    whole = {
        "cells": cells,
        "metadata": {"kernelspec": {"name": "python3", "display_name": "Python 3"}},
        "nbformat": 4,
        "nbformat_minor": minor,
    }
    return json.dumps(whole, indent=1).encode() + b"\n"


OUTPUTS: tuple[dict[str, Any], ...] = (
    {"output_type": "stream", "name": "stdout", "text": ["a\n", "b\n"]},
    {"output_type": "error", "ename": "E", "evalue": "x", "traceback": ["t"]},
    {"output_type": "display_data", "data": {"text/plain": "x"}, "metadata": {}},
    {"output_type": "execute_result", "data": {}, "metadata": {}, "execution_count": 1},
)
HEAD: dict[str, Any] = {
    "cell_type": "markdown",
    "id": "m",
    "metadata": {},
    "source": ["# Head\n", "text"],
}


def many(minor: int, *, as_lines: bool) -> bytes:
    """Return a notebook of many cells, one of which divides by zero."""
    text = "import math\nx = {0}\n\ndef f_{0}(y):\n    if y > {0}:\n        return math.sqrt(y)\n    return y\nf_{0}(x)\n"
    cells = [
        code(number, text.format(number), as_lines=as_lines, outputs=OUTPUTS)
        for number in range(40)
    ]
    wrong = "def share(total, among):\n    part = total / among\n    return part\nshare(1, 0)\n"
    return notebook(*cells[:17], HEAD, code(99, wrong, as_lines=as_lines), *cells[17:], minor=minor)


def reduced(payload: bytes, judge: Judge) -> tuple[Reduction, list[bytes]]:
    is_valid = validity_of(payload, "a.ipynb")
    assert is_valid is not None
    told: list[bytes] = []

    def test(candidate: Reduced) -> Verdict:
        told.append(candidate.data)
        return judge(candidate.data)

    preference = Preference(is_valid=is_valid)
    return run_search(
        reducer_of(payload, name="a.ipynb", preference=preference).reduce(), test
    ), told


def divides_by_zero(payload: bytes) -> Verdict:
    """Run the cells of code, as a kernel does."""
    cells = json.loads(payload)["cells"]
    text = "\n".join("".join(each["source"]) for each in cells if each["cell_type"] == "code")
    try:
        exec(compile(text, "cells", "exec"), {})
    except ZeroDivisionError:
        return Verdict.BAD
    except (
        NameError,
        TypeError,
        ValueError,
        AttributeError,
        LookupError,
        SyntaxError,
        ImportError,
        RecursionError,
    ):
        return Verdict.SKIP
    return Verdict.GOOD


@pytest.mark.filterwarnings("ignore::SyntaxWarning")
@pytest.mark.parametrize(("minor", "as_lines"), [(5, True), (4, False)])
def test_one_cell_of_many_is_left_with_one_expression(minor: int, *, as_lines: bool) -> None:
    reduction, told = reduced(many(minor, as_lines=as_lines), divides_by_zero)

    (cell,) = json.loads(reduction.payload)["cells"]
    assert len(cell["source"]) < 25
    assert cell["outputs"] == []
    assert len(reduction.payload) < 190
    assert len(told) <= 650, "ask for the reason before raising this"


@given(minor=st.integers(4, 5), as_lines=st.booleans(), judge=odd_judges())
@settings(max_examples=5)
def test_every_candidate_opens(minor: int, *, as_lines: bool, judge: Judge) -> None:
    payload = notebook(
        code(1, "a = 1\nb = 2\n", as_lines=as_lines, outputs=OUTPUTS), HEAD, minor=minor
    )

    _, told = reduced(payload, judge)

    for each in told:
        found = json.loads(each)
        assert found["nbformat"] == 4
        for cell in found["cells"]:
            assert cell["cell_type"] in {"code", "markdown", "raw"}
            assert isinstance(cell["source"], str | list)
            assert (found["nbformat_minor"] < 5) == ("id" not in cell)
            for output in cell.get("outputs", ()):
                assert output["output_type"] in {each["output_type"] for each in OUTPUTS}


CHANGES: list[Callable[[Any], object]] = [
    lambda it: it.pop("nbformat"),
    lambda it: it.update(nbformat=3),
    lambda it: it.update(metadata=0),
    lambda it: it["cells"][0].pop("outputs"),
    lambda it: it["cells"][0].update(cell_type="heading"),
    lambda it: it["cells"][0].update(source=[0]),
    lambda it: it["cells"][0].update(execution_count=True),
    lambda it: it["cells"][0].update(id="m"),
    lambda it: it["cells"][0].update(id="not an id"),
    lambda it: it["cells"][0].pop("id"),
    lambda it: it["cells"][0]["outputs"][0].pop("name"),
    lambda it: it["cells"][0]["outputs"].append({"output_type": "x"}),
    lambda it: it["cells"].append(0),
]


@pytest.mark.parametrize("change", CHANGES)
def test_what_no_longer_opens_is_not_tried(change: Callable[[Any], object]) -> None:
    payload = notebook(code(1, "a", outputs=OUTPUTS), HEAD)
    is_valid = validity_of(payload, "a.ipynb")
    assert is_valid is not None
    found = json.loads(payload)
    change(found)

    assert is_valid(payload)
    assert not is_valid(json.dumps(found).encode())


def test_what_is_only_json_stays_json() -> None:
    is_valid = validity_of(b'{"nbformat": 3}', "a.ipynb")

    assert is_valid is not None
    assert is_valid(b"0")
    assert not is_valid(b"{")


def test_the_lines_of_a_list_are_one_text() -> None:
    payload = b'{"a": ["x = 1\\n", "y"], "b": ["x", "y"], "c": "long enough", "d": ["z\\n", 1]}'

    first, *others = texts_in_json(payload)

    assert first.content == b"x = 1\ny"
    assert [each.content for each in others] == [b"long enough"]
    assert first.put(b"p\nq\n") == payload.replace(b'"x = 1\\n", "y"', b'"p\\n", "q\\n"')
