"""The tree says nothing about the machine that it was written on."""

import re
from pathlib import Path

import pytest

from .tree import ROOT, tracked

TEXTS = tuple(path for path in tracked() if path.suffix not in {".png", ".svg", ".db", ".bin"})

HOSTS = {  # who may be linked to; ask whether a new one will still be there in ten years
    "docs.python.org",
    "www.w3.org",  # names of XML, which nobody follows
    "www.speedscope.app",  # the name of its file format, by which viewers know it; nobody follows it
    "example.com",
    "example.org",
    "github.com",
    "packaging.python.org",
    "peps.python.org",
    "pypi.org",
}
_URL = re.compile(r"https?://([A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+)")


@pytest.fixture(scope="module")
def contents() -> dict[Path, str]:
    return {path: path.read_text("utf-8", "replace") for path in TEXTS}


def test_no_file_names_the_folder_that_this_clone_stands_in(contents: dict[Path, str]) -> None:
    naming = re.compile(re.escape(str(ROOT)) + r"(?![\w-])")

    assert [str(path) for path, text in contents.items() if naming.search(text)] == []


def test_links_lead_to_lasting_places_only(contents: dict[Path, str]) -> None:
    strange = {
        f"{path.relative_to(ROOT)}: {host}"
        for path, text in contents.items()
        for host in _URL.findall(text)
        if host not in HOSTS and not _is_local(host)
    }

    assert sorted(strange) == []


def _is_local(host: str) -> bool:
    reserved = (".example", ".invalid", ".test")  # RFC 2606: names that will never be anybody's
    return host in {"localhost", "0.0.0.0"} or host.startswith("127.") or host.endswith(reserved)


def test_a_change_says_its_word_in_changes() -> None:
    fragments = tracked("changes/*.md")
    released = "\n## " in (ROOT / "CHANGELOG.md").read_text("utf-8")

    assert fragments or released
    for fragment in fragments:
        assert re.fullmatch(r"(\d+|\+[\w-]+)\.(feature|bugfix|removal|doc)\.md", fragment.name)
        assert fragment.read_text("utf-8").strip()
