"""Whose code a frame belongs to, and a name for its file that doesn't depend on where the code is."""

import re
import shlex
from collections.abc import Sequence
from dataclasses import field
from enum import Enum
from functools import cache
from posixpath import basename, join, normpath, relpath

from whet.core.failure import Frame
from whet.core.trial import PayloadBinding, Trial
from whet.core.value_class import value_class
from whet.host.python.interpreters import is_python


class Owner(Enum):
    """Whose code a file holds."""

    USER = "the user's own code"
    LIBRARY = "a library"
    GENERATED = "code that a program wrote while it ran"


@value_class
class Location:
    """A source file by a name that doesn't depend on the machine.

    Attributes:
        file: ``package/module.py`` in a library, else relative to the project.
        owner: whose code it is.
    """

    file: str
    owner: Owner


_LIBRARY = re.compile(
    r".*[/\\](?:site|dist)-packages[/\\](?:[^/\\]+\.egg[/\\])?(?P<installed>.+)"
    r"|.*[/\\](?:lib|lib64)[/\\](?:python|pypy)\d[\d.]*t?[/\\](?P<standard>.+)"
    r"|.*[/\\]python\d{2,3}\.zip[/\\](?P<zipped>.+)"
    r"|[A-Za-z]:\\.*\\Lib\\(?P<windows>.+)"
)
_CYTHON = re.compile(r"[^/].*\.(?:pyx|pxi|pxd)")
_FROZEN = re.compile(r"<frozen (?P<module>[\w.]+)>")
_IMPORT_MACHINERY = re.compile(r"<frozen (?:importlib\.|zipimport)")
_WHETS_OWN = re.compile(r"(?:^|/)whet/agent/[\w/]+\.py$")
# A cell of a notebook: ipykernel gives it a file name of numbers.
_CELL = re.compile(r".*/ipykernel_\d+/\d+\.py|<ipython-input-[^>]*>|Cell In ?\[\d+\]")
# What `whet.host.process.cleanup_journal` and a reproducer's script call their folders; below them stand checkouts and payloads.
_WHETS_FOLDER = re.compile(
    r"(?:/whet-[A-Za-z0-9]{8})+/(?:(?:\d+|[a-z-]*(?:tree|copy|slot)[\w-]*)/)*"
)
_SLOT = re.compile(r"/whet-[A-Za-z0-9]{8}/(?P<number>\d{1,4})/")
_ELSEWHERE = re.compile(
    r"^(?:/(?:private/)?(?:var/)?tmp/[^/]+/|/(?:private/)?var/folders/[^/]+/[^/]+/T/[^/]+/"
    r"|/dev/shm/[^/]+/|/(?:home|Users)/[^/]+/|/root/|/)"
)
# As `tempfile.mkdtemp` calls a folder: another name each time, wherever temporary files go.
_TEMPORARY = re.compile(r"^(?:.*/)?tmp[a-z0-9_]{8}/(?=.)")
# Modules that moved between versions.
_MOVED = (
    (re.compile(r"^pathlib/(?:__init__|_local|_abc)\.py$"), "pathlib.py"),
    (re.compile(r"^re/_(parser|compiler)\.py$"), r"sre_\1.py"),
    (re.compile(r"^sre_compile\.py$"), "sre_compiler.py"),
    (re.compile(r"^sre_parse\.py$"), "sre_parser.py"),
    (re.compile(r"^re/__init__\.py$"), "re.py"),
    (re.compile(r"^numpy/core/"), "numpy/_core/"),
)


@value_class
class Ownership:
    """Tells the user's code from libraries for the frames of one trial.

    Attributes:
        cwd: folder that the command started in.
        roots: folders that hold the project, or a copy of it; paths are relative to them.
        payloads: files that a search varies; the program may see them at any place.
        runs_text: the command holds the program itself (``python -c``, or read from stdin).
    """

    cwd: str
    roots: tuple[str, ...] = ()
    payloads: tuple[PayloadBinding, ...] = ()
    runs_text: bool = False
    _located: dict[str, Location] = field(default_factory=dict[str, Location], compare=False)

    @classmethod
    def of(cls, trial: Trial, roots: Sequence[str] = ()) -> "Ownership":
        """Return the ownership of the code that ``trial`` runs.

        Args:
            trial: what was run.
            roots: other folders in which its project stood, such as a worktree.
        """
        repository = () if trial.code is None else (trial.code.repository,)
        return cls(
            cwd=trial.cwd,
            roots=(*roots, *repository),
            payloads=trial.payloads,
            runs_text=_holds_text(trial.command),
        )

    def locate(self, path: str) -> Location:
        """Return whose file ``path`` is, and its name; ``path`` is as a traceback prints it."""
        location = self._located.get(path)
        if location is None:
            location = self._located[path] = self._locate(path)
        return location

    def is_of_one_run(self, path: str) -> bool:
        """Whether a file is in a temporary folder that the program has made, outside the project."""
        if any(_is_below(path, root) for root in (self.cwd, *self.roots)):
            return False
        return _TEMPORARY.match(_WHETS_FOLDER.split(path)[-1]) is not None

    def test_name(self, test: str) -> str:
        """Return a test's identifier as it is where its file has not been copied."""
        path, colons, name = test.partition("::")
        if not _WHETS_FOLDER.search(path):
            return test
        return f"{self._project_file(path)}{colons}{name}"

    def _locate(self, path: str) -> Location:
        if _CELL.fullmatch(path):
            return Location("<cell>", Owner.USER)
        if path.startswith("<"):
            return self._without_file(path)
        if _CYTHON.fullmatch(path):
            # Cython names its source by its path on the machine that built the library.
            return Location(path.removeprefix("src/"), Owner.LIBRARY)
        library = _LIBRARY.fullmatch(path)
        if library is not None:
            inside = next(part for part in library.groups() if part is not None)
            return Location(_unmoved(inside.replace("\\", "/")), Owner.LIBRARY)
        if _WHETS_OWN.search(path):
            return Location("whet/agent", Owner.GENERATED)
        file = self._project_file(path.replace("\\", "/"))
        return Location(_TEMPORARY.sub("", file), Owner.USER)

    def _without_file(self, path: str) -> Location:
        if _IMPORT_MACHINERY.match(path):
            # How many of these frames there are changes with every version of Python.
            return Location("<import>", Owner.GENERATED)
        frozen = _FROZEN.fullmatch(path)
        if frozen is not None:
            return Location(_unmoved(frozen["module"].replace(".", "/") + ".py"), Owner.LIBRARY)
        if path == "<stdin>" or (path == "<string>" and self.runs_text):
            return Location(path, Owner.USER)
        return Location(re.sub(r"\d+", "", path), Owner.GENERATED)

    def _project_file(self, path: str) -> str:
        absolute = normpath(join(self.cwd, path))
        for root in self.roots:
            if _is_below(absolute, root):
                return relpath(absolute, root)
        neighbour = self._neighbour(absolute)
        if neighbour:
            return self._project_file(neighbour)
        whets = list(_WHETS_FOLDER.finditer(absolute))
        for payload in self.payloads:
            if basename(absolute) == payload.name and (whets or not _is_below(absolute, self.cwd)):
                return self._payload_file(payload)
        if whets:
            return absolute[whets[-1].end() :]
        if _is_below(absolute, self.cwd):
            return relpath(absolute, self.cwd)
        return _ELSEWHERE.sub("", absolute, count=1)

    def _neighbour(self, path: str) -> str:
        """Return where a file lies that is linked beside a payload's copy, the copy included.

        So does a file in the copy of a folder.
        """
        match = _SLOT.search(path)
        number = -1 if match is None else int(match["number"])
        if match is None or number >= len(self.payloads):
            return ""
        place = self.payloads[number].folder or self.payloads[number].beside
        return join(place, path[match.end() :]) if place else ""

    def _payload_file(self, payload: PayloadBinding) -> str:
        """Name a payload's copy as the original is named, where the command says that."""
        if basename(payload.text) != payload.name:
            return payload.name
        return self._project_file(payload.text)


_SHELL = re.compile(r"(?:ba|da|k|z)?sh")
_WITH_VALUE = frozenset("WX")


def _holds_text(command: Sequence[str]) -> bool:
    """Whether a command has Python run a text, itself or in the text of a shell."""
    for index, word in enumerate(command):
        if is_python(word):
            return _is_given_text(command[index + 1 :])
        if _SHELL.fullmatch(basename(word)) and "-c" in command[index:-1]:
            words = _shell_words(command[command.index("-c", index) + 1])
            return any(
                is_python(each) and _is_given_text(words[number:])
                for number, each in enumerate(words, 1)
            )
    return False


def _is_given_text(arguments: Sequence[str]) -> bool:
    """Whether Python takes its program from among its arguments, or from its input."""
    words = iter(arguments)
    for word in words:
        if word[:1] != "-" or word == "-":
            return word == "-"
        letters = "" if word[:2] == "--" else word[1:]
        for index, letter in enumerate(letters, 1):
            if letter in "cm":
                return letter == "c"
            if letter in _WITH_VALUE:
                if index == len(letters):
                    next(words, "")
                break
        if word == "--check-hash-based-pycs":
            next(words, "")
    return False


def _shell_words(text: str) -> list[str]:
    try:
        return list(shlex.shlex(text, posix=True, punctuation_chars=True))
    except ValueError:
        return []


def _is_below(path: str, folder: str) -> bool:
    return folder not in {"", "/"} and path.startswith(folder.rstrip("/") + "/")


@cache
def _unmoved(file: str) -> str:
    for pattern, replacement in _MOVED:
        file = pattern.sub(replacement, file)
    return file


@value_class
class OwnedFrame:
    """A frame with its file's name and owner; its function under one name in all versions.

    Attributes:
        frame: as printed.
        place: ``file.py:function``.
        owner: whose code it is.
        repeats: how often it is in the stack, one after the other.
    """

    frame: Frame
    place: str
    owner: Owner
    repeats: int = 1


_COMPREHENSIONS = frozenset({"<listcomp>", "<setcomp>", "<dictcomp>"})


def own(stack: Sequence[tuple[Frame, int]], ownership: Ownership) -> list[OwnedFrame]:
    """Return the frames of a stack with their owners, outermost first.

    Frames of comprehensions count to the function that holds them, because from 3.12 on they
    are no frames any more.

    Args:
        stack: frames, outermost first, each with the number of its repetitions.
        ownership: whose files they are.
    """
    owned: list[OwnedFrame] = []
    for frame, repeats in stack:
        location = ownership.locate(frame.path)
        function = _plain(frame.function)
        if function in _COMPREHENSIONS:
            if owned and owned[-1].frame.path == frame.path:
                continue
            function = "<comprehension>"
        in_user_code = location.owner is Owner.USER
        owned.append(
            OwnedFrame(
                frame=Frame(
                    path=frame.path,
                    line=frame.line,
                    function=frame.function,
                    in_user_code=in_user_code,
                ),
                place=f"{location.file}:{function}",
                owner=location.owner,
                repeats=repeats,
            )
        )
    return owned


def _plain(function: str) -> str:
    """Return ``function`` without the classes and functions that it is in."""
    return function.rsplit(".", 1)[-1] if not function.startswith("<") else function
