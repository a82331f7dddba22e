"""Each promise of the page on trust names a test that is there."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "concepts" / "trust.md").read_text("utf-8")
ROWS = [line for line in PAGE.splitlines() if line.startswith("|") and ":--" not in line]


def test_each_promise_names_a_test_that_is_there() -> None:
    promises = [row for row in ROWS if "whet promises" not in row]
    assert len(promises) > 15
    for row in promises:
        named = re.search(r"`(tests/[\w/]+\.py)::(test_\w+)` \|$", row)
        assert named, row
        text = (ROOT / named[1]).read_text("utf-8")
        assert re.search(rf"^def {named[2]}\(", text, re.MULTILINE), row
