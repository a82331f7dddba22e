"""Each promise of the page on trust, and of the pages on the architecture, names a test that is there."""

import re
from pathlib import Path

import pytest

from .tree import ROOT, tracked

HEADER = "| whet promises | test |"
PAGES = tracked("docs/concepts/trust.md", "docs/architecture/*.md")


def _promises(page: Path) -> list[str]:
    """Return the rows below each header."""
    tables = page.read_text("utf-8").split(f"{HEADER}\n")[1:]
    return [row for table in tables for row in table.partition("\n\n")[0].splitlines()[1:]]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_each_promise_names_a_test_that_is_there(page: Path) -> None:
    promises = _promises(page)
    assert len(promises) > 5
    for row in promises:
        named = re.search(r"`(tests/[\w/]+\.py)::(test_\w+)` \|$", row)
        assert named, row
        text = (ROOT / named[1]).read_text("utf-8")
        assert re.search(rf"^def {named[2]}\(", text, re.MULTILINE), row
