"""Text in brackets that are nested 100,000 deep: whatever language it is, it is searched."""

import pytest
from odd_oracles import fails_if, shrunk

DEPTH = 100_000


@pytest.mark.parametrize(
    ("name", "parts", "smallest"),
    [
        ("deep.py", (b"x = ", b"(", b"1/0", b")"), b"1/0"),
        pytest.param(
            "deep.c",
            (b"int main() ", b"{", b"int a = needle;", b"}"),
            b"needle",
            marks=pytest.mark.long,
        ),
        pytest.param(
            "deep.sql", (b"select ", b"(", b"needle", b")"), b"needle", marks=pytest.mark.long
        ),
        pytest.param("", (b"", b"[", b"needle here", b"]"), b"needle", marks=pytest.mark.long),
    ],
)
def test_what_matters_is_found_in_a_source_nested_100_000_deep(
    name: str, parts: tuple[bytes, ...], smallest: bytes
) -> None:
    head, opening, inner, closing = parts
    payload = head + DEPTH * opening + inner + DEPTH * closing + b"\n"

    done = shrunk(payload, fails_if(lambda it: smallest in it), name=name)

    assert done.reduction.payload == smallest
    assert done.calls <= 80


def deepest(text: bytes) -> int:
    depth = most = 0
    for sign in text:
        depth += (sign == ord("(")) - (sign == ord(")"))
        most = max(most, depth)
    return most


def test_a_depth_that_matters_is_kept_and_no_more_of_it() -> None:
    payload = b"x = " + 20_000 * b"(" + b"1" + 20_000 * b")" + b"\n"

    done = shrunk(payload, fails_if(lambda it: deepest(it) >= 600 and b"1" in it), name="deep.py")

    assert deepest(done.reduction.payload) == 600
    assert len(done.reduction.payload) <= 1203
    assert done.calls <= 3000
