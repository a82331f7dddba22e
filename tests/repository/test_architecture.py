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
