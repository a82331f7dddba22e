"""The map of the code names files and folders that are there."""

import re
from pathlib import Path

import pytest

from .tree import ROOT, tracked

PAGES = (ROOT / "ARCHITECTURE.md", *tracked("docs/architecture/*.md"))
PATH = re.compile(r"(?<![\w/.<>$-])((?:[\w-]+/)*[\w-]+\.py|(?:[\w-]+/)+)(?![\w<])")


def _ends() -> set[str]:
    """Return each tracked file and folder, folders with a slash, under all ends of its path."""
    files = (path.relative_to(ROOT).parts for path in tracked("*"))
    return {
        "/".join(parts[start:stop]) + ("" if stop == len(parts) else "/")
        for parts in files
        for stop in range(1, len(parts) + 1)
        for start in range(stop)
    }


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_each_path_that_a_page_names_is_there(page: Path) -> None:
    named = set(PATH.findall(page.read_text("utf-8")))

    assert len(named) > 20
    assert named - _ends() == set()


def test_each_place_that_a_newcomer_asks_for_is_there() -> None:
    table = (ROOT / "ARCHITECTURE.md").read_text("utf-8").partition("\n## Where is …?\n")[2]
    rows = table.partition("\n\n\n")[0].strip().splitlines()[2:]

    assert len(rows) >= 10
    for row in rows:
        paths = re.findall(r"`([\w/]+(?:\.py|/))`", row.split("|")[2])
        assert paths, row
        assert [path for path in paths if not (ROOT / "src" / "whet" / path).exists()] == []
