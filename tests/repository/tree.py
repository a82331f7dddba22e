"""The files of this repository, as git knows them."""

import ast
import gc
import subprocess
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]


def syntax_of(path: Path) -> ast.Module:
    """Return the tree of a file. Looking for garbage meanwhile would take longer than making it."""
    gc.disable()
    try:
        return ast.parse(path.read_text("utf-8"))
    finally:
        gc.enable()


@cache
def tracked(*patterns: str) -> tuple[Path, ...]:
    """Return the files that git tracks and that stand on disk, by pathspec."""
    listing = subprocess.run(
        ["git", "-C", str(ROOT), "ls-files", "-z", "--", *patterns],
        check=True,
        capture_output=True,
        text=True,
    )
    paths = (ROOT / name for name in listing.stdout.split("\0") if name)
    return tuple(path for path in paths if path.is_file())
