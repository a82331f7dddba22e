"""Tables of bars and dashes lose whole columns, whatever stands around them."""

import pytest
from odd_oracles import fails_if, shrunk

from whet.core.verdict import Verdict

ROWS = [f"| `&n{n};` | U+{n:04X} | {chr(0x3B1 + n % 20)} | name of {n} |" for n in range(200)]
PAGE = "\n".join(
    [
        "# Names",
        "",
        "| Name | Code points | Character | Words |",
        "|---|---|---|---|",
        *ROWS,
        "",
        "end",
    ]
)


def cells(line: str) -> list[str]:
    return line.strip().strip("|").split("|")


def test_a_column_of_a_table_in_markdown_goes_in_one_step() -> None:
    def holds(payload: bytes) -> bool:
        lines = payload.decode().split("\n")
        tables = zip(lines, lines[1:], lines[2:], strict=False)
        return any(
            set(rule) <= set("|-") and "|" in rule and len(cells(head)) == len(cells(rule))
            and len(cells(head)) == len(cells(row)) and "\u03b1" in row
            for head, rule, row in tables
        )  # fmt: skip

    payload = PAGE.encode()
    assert holds(payload)

    done = shrunk(payload, fails_if(holds), name="a.md")

    taken = {each.by_pass for each, verdict in done.told if verdict is Verdict.BAD}
    assert "delete columns between bars" in taken
    assert done.reduction.payload == "\n|\n\u03b1".encode()
    assert done.calls <= 140


@pytest.mark.parametrize(
    "text", [b"", b"a | b\n", b"|\n", b"||||\n||||", b"| a |\r\n| b |\r\n", b"\n|"]
)
def test_odd_bars_are_no_trouble(text: bytes) -> None:
    assert shrunk(text, fails_if(lambda _: True)).reduction.payload == b""
