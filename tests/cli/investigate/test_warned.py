"""`whet investigate`: what the program itself warned of, in the user's own code, is told."""

import json
import sys

import pytest
from whet_command import Whet

FORGOTTEN = """
import asyncio

found = {}


async def load():
    found["rate"] = 2


async def main():
    load()
    return found.get("rate") * 3


asyncio.run(main())
"""


def clues(whet: Whet, text: str) -> list[dict[str, object]]:
    whet.write("main.py", text)
    whet("investigate", "--", sys.executable, "main.py")
    found: list[dict[str, object]] = json.loads(
        (whet.folder / "whet-report" / "report.json").read_text()
    )["clues"]
    return found


def test_a_coroutine_that_was_never_awaited_is_the_cause(whet: Whet) -> None:
    first = clues(whet, FORGOTTEN)[0]
    assert (first["line"], first["sureness"]) == (12, "seen")
    assert "coroutine 'load' was never awaited" in str(first["says"])


@pytest.mark.long
def test_another_warning_is_possible_and_one_of_the_next_release_is_not_told(whet: Whet) -> None:
    text = "import warnings\nwarnings.warn('odd', {}, stacklevel=1)\nprint({{}}['a'])\n"
    told = clues(whet, text.format("RuntimeWarning"))
    (odd,) = (each for each in told if "odd" in str(each["says"]))
    assert (odd["line"], odd["sureness"]) == (2, "possible")
    told = clues(whet, "import warnings\nwarnings.simplefilter('always')\n"
                 + text.format("DeprecationWarning").partition("\n")[2])  # fmt: skip
    assert not [each for each in told if "odd" in str(each["says"])]
