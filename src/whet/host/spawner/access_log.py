"""The file system accesses of the programs of one run, each with the mark of that moment.

The observer marks a path before the call that looks it up continues, so every later change shows. It
doesn't mark files that the kernel generates (`/proc`, `/sys`, devices), byte code next to its source,
which Python checks itself, or files that the run created (`whet.host.spawner.file_effects`).
"""

import errno
import re
import stat

from whet.host.files.marks import (
    NO_LINK,
    is_of_link,
    is_of_package,
    listing,
    of_file,
    of_kind,
    of_link,
    sure,
    with_contents,
    without_contents,
)
from whet.host.spawner.file_effects import FileEffects

TYPE_CHECKING = False  # importing `typing` would add 5 ms to the start of a spawner
if TYPE_CHECKING:
    from typing import TypeAlias

    from whet.host.files.marks import Listing, Mark

    # new since they were last asked for: marks of what paths led to, and of links themselves; how
    # often each was opened, and each source looked up; what folders held; how often each was listed
    Sightings: TypeAlias = tuple[
        "dict[str, Mark]",
        "dict[str, Mark]",
        "dict[str, int]",
        "dict[str, int]",
        "dict[str, Listing]",
        "dict[str, int]",
    ]

SCRIPT_BEGINS = "/dev/null/begins"
"""The agent looks this up with the script's name: Python itself made the accesses to the script so far
Python itself, which would do the same with any script."""

LOOKUP_IS_FREE = "/dev/null/free"
"""Looked up with a source behind it by a process that the program has forked: its next look-up of that
doesn't count. Those of the program itself are counted by its agent, which whet asks."""

SOURCE_IS_SEEN = "/dev/null/seen"
"""Looked up with a source behind it by such a process when it shows lines of that: it has read it."""

_MANY = 1 << 40
_MOST_BYTES = 1 << 24
"""How much the observer reads of a run's files, while the program waits."""
_LEAST_BYTES = 1 << 14
"""A file counts as that large at least: to open a small one takes about as long."""

_SOURCE = ".py"
_MADE_UP = ("/proc/", "/sys/", "/dev/")
_REAL = tuple(f"/dev/{name}/" for name in ("shm", "mqueue"))


class AccessLog:
    """Paths that were looked up, opened or listed."""

    def __init__(self, deeds: FileEffects) -> None:
        self._file_effects = deeds
        self.begin("")

    def begin(self, cache: str) -> None:
        """Begin again.

        Args:
            cache: folder of byte code by content, which never changes a program; empty: none.
        """
        self.cache = cache or "\0"
        self._known: dict[str, int] = {}
        self._read: dict[str, Mark] = {}  # files that were opened and not looked up otherwise
        self._bytes_left = _MOST_BYTES
        self._known_kinds: set[str] = set()
        self._known_links: set[str] = set()
        self._known_folders: set[str] = set()
        self._marks: dict[str, Mark] = {}
        self._links: dict[str, Mark] = {}
        self._opened: dict[str, int] = {}
        self._looked: dict[str, int] = {}
        self._script = ""
        self._listings: dict[str, Listing] = {}
        self._listed: dict[str, int] = {}

    def take(self) -> "Sightings":
        """Return what is new since this was last asked for."""
        new = (
            self._marks, self._links, self._opened, self._looked, self._listings, self._listed
        )  # fmt: skip
        self._marks, self._links, self._opened, self._looked = {}, {}, {}, {}
        self._listings, self._listed = {}, {}
        return new

    def look(self, path: str, *, at_link: bool) -> None:
        """Note that the program looks a path up, a link at its end followed or not."""
        self._count(path)
        if at_link:
            self.see_link(path)
        else:
            self.see(path)

    def look_for_kind(self, path: str) -> None:
        """Note that the program asks whether a path leads to a file or folder, and nothing else of it."""
        self._count(path)
        if path in self._known or path in self._known_kinds or self._file_effects.owns(path):
            return
        self._known_kinds.add(path)
        if not self.is_made_up(path):
            self._marks[path] = of_kind(path)

    def _count(self, path: str) -> None:
        if path.startswith(SCRIPT_BEGINS):
            self._begin_script(path[len(SCRIPT_BEGINS) :])
        elif path.startswith(LOOKUP_IS_FREE):
            source = path[len(LOOKUP_IS_FREE) :]
            self._looked[source] = self._looked.get(source, 0) - 1
        elif path.startswith(SOURCE_IS_SEEN):
            self._opened[path[len(SOURCE_IS_SEEN) :]] = _MANY
        elif path.endswith(_SOURCE) or path == self._script:
            self._looked[path] = self._looked.get(path, 0) + 1

    def _begin_script(self, path: str) -> None:
        self._script = path
        self._known.pop(path, None)
        self._read.pop(path, None)
        self._known_kinds.discard(path)
        self._known_links.discard(path)
        for counts in (self._opened, self._looked):
            counts.pop(path, None)
        self._marks.pop(path, None)
        if path in self._links:  # where its modules are looked for depends on what it leads to
            self._links[path] = self._links[path] if is_of_link(self._links[path]) else NO_LINK

    def see(self, path: str) -> None:
        """Note that a path is looked up, links followed."""
        self._file_effects.looks_at(path)
        if path in self._read:
            self._marks[path] = without_contents(self._read.pop(path))
        if path in self._known or self._file_effects.owns(path):
            return
        self._known[path] = 0
        if not self.is_made_up(path):
            mark = of_file(path)
            self._marks[path] = sure(mark)
            if mark[0] == 0 and isinstance(mark[1], int):
                self._known[path] = stat.S_IFMT(mark[1])

    def see_link(self, path: str) -> None:
        """Note that a path is looked up, a link at its end not followed."""
        self._file_effects.looks_at(path)
        if path not in self._known_links and not self._file_effects.owns(path):
            self._known_links.add(path)
            if not self.is_made_up(path):
                self._links[path] = sure(of_link(path))

    def knows(self, path: str) -> bool:
        """Whether a path has been looked up by now."""
        return path in self._known or path in self._known_kinds or path in self._known_links

    def knows_more_than_kind(self, path: str) -> bool:
        """Whether more than the kind of what is at a path has been looked at by now: of code it has."""
        is_code = path.endswith(_SOURCE) or path == self._script
        return is_code or path in self._known or path in self._known_links

    def was_absent(self, path: str) -> None:
        """Note that it has made a difference that nothing was at a path, which is made by now."""
        self._known_links.add(path)
        self._links.setdefault(path, (-1, errno.ENOENT))

    def read(self, path: str) -> bool:
        """Note that a file or folder is opened to be read; say whether what it gives is marked."""
        if self.is_made_up(path) or is_byte_code(path) or self._file_effects.owns(path):
            return True
        if path not in self._read:
            is_first = path not in self._known
            self.see(path)
            if is_first:
                self._see_contents(path)
        kind = self._known[path]
        if kind == stat.S_IFDIR:
            self._listed[path] = self._listed.get(path, 0) + 1
            if path not in self._known_folders:
                self._known_folders.add(path)
                self._listings[path] = listing(path)
        else:
            self._opened[path] = self._opened.get(path, 0) + 1
        return kind != stat.S_IFIFO

    def _see_contents(self, path: str) -> None:
        """Let only what a file holds count, as long as the program doesn't look it up otherwise."""
        if path.endswith(_SOURCE) or is_of_package(path):
            return
        mark = self._marks[path]
        size = mark[2] if len(mark) > len(NO_LINK) else 0  # UNSURE or no file: it has no contents
        if isinstance(size, int) and max(size, _LEAST_BYTES) <= self._bytes_left:
            marked = with_contents(path, mark)
            if marked != mark:
                self._bytes_left -= max(size, _LEAST_BYTES)
                self._marks[path] = self._read[path] = marked

    def is_made_up(self, path: str) -> bool:
        """Whether the kernel makes up what is there, or whet keeps byte code there."""
        return path.startswith((self.cache, *_MADE_UP)) and not path.startswith(_REAL)


def is_byte_code(path: str) -> bool:
    """Whether a path is where Python keeps the byte code of a source, or the folder of it."""
    name = path.rpartition("/")[2]
    return name == "__pycache__" or _BYTE_CODE.search(name) is not None


# As in `module.cpython-311.opt-1.pyc`, and with a number of its own until it is whole.
_BYTE_CODE = re.compile(r"\.[a-z]+-\d+(\.opt-\w+)?(-pytest-[\w.]+)?\.pyc(\.\d+)?$")
