"""What would read a payload as what it is, and isn't installed."""

import importlib
from pathlib import PurePosixPath

from whet.reduction.formats.source.grammars import LANGUAGES, parser_for

_READERS = {
    "yaml": (".yaml", ".yml"),
    "numpy": (".npy", ".npz", ".safetensors", ".pt", ".pth"),
    "h5py": (".h5", ".hdf5"),
    "pyarrow": (".parquet", ".feather", ".arrow"),
    "openpyxl": (".xlsx",),
    "PIL": (".png", ".jpg", ".jpeg", ".gif", ".bmp", ".tif", ".tiff", ".webp"),
}
_SIGNS = {
    "numpy": (b"\x93NUMPY",),
    "h5py": (b"\x89HDF\r\n\x1a\n",),
    "pyarrow": (b"PAR1", b"ARROW1", b"FEA1"),
    "PIL": (b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"GIF87a", b"GIF89a"),
}
"""The first bytes of a format's files, whatever their names."""


def lacking_reader(payload: bytes, name: str) -> str:
    """Return the library that reads a payload, if it isn't installed; else an empty text.

    Args:
        payload: its first bytes may tell.
        name: its file name, whose suffix may tell.
    """
    suffix = PurePosixPath(name).suffix.lower()
    for library, suffixes in _READERS.items():
        is_its_own = suffix in suffixes or payload.startswith(_SIGNS.get(library, ()))
        if is_its_own and not _is_there(library):
            return library
    for language in LANGUAGES:
        if suffix in language.suffixes and parser_for(language) is None:
            return f"tree-sitter-{language.grammar or language.name}".replace("_", "-")
    return ""


def _is_there(library: str) -> bool:
    try:
        importlib.import_module(library)
    except ImportError:
        return False
    return True
