"""Whether the run used the code that the user sees in the editor: unsaved changes, and late saves."""

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

_MOST_ENTRIES = 4000
_LEFT_OUT = frozenset(
    {".git", ".hg", ".whet", ".venv", "venv", "node_modules", "__pycache__", "site-packages"}
)
_MOST_TOLD = 5
_CLOCK_SECONDS = 0.02  # the kernel's clock of files is that much behind, or less

# Block 0 of Vim's swap file (`src/memline.c` of Vim): its mark, and the byte that says "modified".
_VIM, _VIM_MODIFIED_AT, _VIM_MODIFIED = b"b0", 1007, 0x55


def unsaved_beside(file: str) -> str:
    """Return the file in which an editor holds changes that aren't saved; empty: there is none.

    Vim keeps `.name.swp` (and `.swo` where there is one already) as long as a file is open, and
    says in it whether anything was changed; Emacs keeps `.#name`, a link that leads nowhere, and
    `#name#`, which is older than the file if it was saved afterwards.
    """
    path = Path(file)
    for name in (f".{path.name}.swp", f".{path.name}.swo", f".#{path.name}", f"#{path.name}#"):
        swap_file = path.with_name(name)
        if os.path.lexists(swap_file) and _holds_changes(swap_file, path):
            return str(swap_file)
    return ""


def unsaved_below(folder: Path) -> list[str]:
    """Return the files of a folder, and of those in it, of which an editor holds changes.

    It reads only a part of a very large one.
    """
    names: list[str] = []
    for path in _editors_files(folder):
        name = path.name
        own = name[2:] if name.startswith(".#") else name.strip("#")
        if own == name:
            own = name[1:].rpartition(".")[0]
        file = path.with_name(own)
        if file.is_file() and _holds_changes(path, file) and str(file) not in names:
            names.append(str(file))
    return names[:_MOST_TOLD]


def saved_since(paths: Iterable[str], since: float) -> list[str]:
    """Return which files were saved after a moment, in seconds since the epoch."""
    names: list[str] = []
    for path in dict.fromkeys(paths):
        with suppress(OSError):
            if os.stat(path).st_mtime > since + _CLOCK_SECONDS:
                names.append(path)
    return names[:_MOST_TOLD]


def _editors_files(folder: Path) -> Iterator[Path]:
    budget = _MOST_ENTRIES
    for place, below, files in os.walk(folder):
        below[:] = sorted(each for each in below if each not in _LEFT_OUT)
        budget -= len(files) + 1
        for name in files:
            is_vim = name.startswith(".") and name.endswith((".swp", ".swo"))
            if is_vim or name.startswith(".#") or (name.startswith("#") and name.endswith("#")):
                yield Path(place, name)
        if budget < 0:
            return


def _holds_changes(held: Path, file: Path) -> bool:
    """Whether an editor's file says that there are changes, or doesn't say."""
    try:
        if held.is_symlink():
            return _is_locked(os.readlink(held))
        with held.open("rb") as stream:
            head = stream.read(_VIM_MODIFIED_AT + 1)
        if held.name.startswith("#"):
            return held.stat().st_mtime >= file.stat().st_mtime
    except OSError:
        return False
    is_vim = head.startswith(_VIM) and len(head) > _VIM_MODIFIED_AT
    return not is_vim or head[_VIM_MODIFIED_AT] == _VIM_MODIFIED


def _is_locked(target: str) -> bool:
    """Whether the editor that made a lock (`user@host.pid:boot`) still runs, as far as is known."""
    owner = target.partition(":")[0]
    host, _, pid = owner.partition("@")[2].rpartition(".")
    if host != os.uname().nodename or not pid.isdigit():
        return True
    return Path(f"/proc/{pid}").exists()
