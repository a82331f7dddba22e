"""Which library would read a payload, and is not installed."""

import sys

import pytest

from whet.reduction.formats.source.grammars import parser_of
from whet.reduction.lacking import lacking_reader


@pytest.mark.parametrize(
    ("payload", "name", "library"),
    [
        (b"a: 1", "a.YAML", "yaml"),
        (b"\x93NUMPY...", "data", "numpy"),
        (b"", "model.pt", "numpy"),
        (b"\x89HDF\r\n\x1a\n", "data", "h5py"),
        (b"PAR1", "data", "pyarrow"),
        (b"PK", "book.xlsx", "openpyxl"),
        (b"GIF89a", "data", "PIL"),
        (b"int main() {}", "a.c", "tree-sitter-c"),
    ],
)
def test_what_is_not_installed_is_named(
    payload: bytes, name: str, library: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for each in ("yaml", "numpy", "h5py", "pyarrow", "openpyxl", "PIL", "tree_sitter"):
        monkeypatch.setitem(sys.modules, each, None)
    parser_of.cache_clear()

    try:
        assert lacking_reader(payload, name) == library
    finally:
        parser_of.cache_clear()


@pytest.mark.parametrize("name", ["a.json", "a.py", "a.txt", "", "a.own"])
def test_what_needs_no_library_lacks_none(name: str) -> None:
    assert not lacking_reader(b"a = 1\n", name)
