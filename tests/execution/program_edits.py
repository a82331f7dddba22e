"""Random edits of a random program, of each kind that people make, and sessions of several."""

import re
from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass

from hypothesis import strategies as st
from programs import (
    CONFIG,
    DATA,
    FRESH,
    LINK,
    SCRIPT,
    SNIPPET,
    Content,
    Line,
    Link,
    Program,
    Writer,
    choices,
    program_of,
)

_NUMBER = re.compile(r"(?<![\w.'%])\d+(?![\w.'])")
_GOES_ON = ("else:", "except", "finally:", "elif")
_HEADS = ("try:", "if ", "for ", "while ", "with ", "class ", "@", *_GOES_ON)


@dataclass(frozen=True, slots=True)
class Change:
    """A file as an edit leaves it.

    Attributes:
        path: which file.
        content: what it holds; None: it is gone.
        by_rename: another file takes its place; else it is written where it is.
        mode: its permissions; 0: as they are.
    """

    path: str
    content: Content | None
    by_rename: bool = True
    mode: int = 0


@dataclass(frozen=True, slots=True)
class Edit:
    """What is saved before a run.

    Attributes:
        kind: what people call it.
        changes: the files.
        at_once: the run begins before the clock of files has moved on.
    """

    kind: str
    changes: tuple[Change, ...]
    at_once: bool = False


@dataclass(frozen=True, slots=True)
class Session:
    """A program, and one edit after the other.

    Attributes:
        words: what follows ``python``.
        start: what each file holds at first.
        edits: what happens then.
    """

    words: tuple[str, ...]
    start: dict[str, Content]
    edits: tuple[Edit, ...]


class CannotEditError(Exception):
    """The program has no place for this kind of edit."""


@dataclass(slots=True)
class Editor:
    """A program that is being edited."""

    program: Program
    writer: Writer

    def places(self, *labels: str, script: bool | None = None) -> list[tuple[str, int]]:
        """Return file and line of all lines of some labels."""
        return [
            (path, number)
            for path, lines in self.program.sources.items()
            if script is None or script == (path == SCRIPT)
            for number, line in enumerate(lines)
            if line.label in labels
        ]

    def line(self, place: tuple[str, int]) -> Line:
        """Return a line."""
        return self.program.sources[place[0]][place[1]]

    def replace(self, place: tuple[str, int], *lines: Line, count: int = 1) -> None:
        """Put lines where others are."""
        path, number = place
        old = self.program.sources[path]
        self.program.sources[path] = (*old[:number], *lines, *old[number + count :])

    def pick(self, places: list[tuple[str, int]]) -> tuple[str, int]:
        """Return one of several places.

        Raises:
            CannotEditError: if there is none.
        """
        if not places:
            raise CannotEditError
        return self.writer.pick(places)

    def tweak(self, places: list[tuple[str, int]]) -> None:
        """Change one of some lines, or put another one above it."""
        place = self.pick(places)
        if self.writer.chance(60) and self.bump(place):
            return
        self.insert(place)

    def bump(self, place: tuple[str, int]) -> bool:
        """Change a number of a line, if it has one; it stays as long as it was."""
        line = self.line(place)
        numbers = list(_NUMBER.finditer(line.text))
        if not numbers:
            return False
        found = self.writer.pick(numbers)
        new = str((int(found[0]) + self.writer.number(1, 8)) % 10 ** len(found[0]))
        text = line.text[: found.start()] + new + line.text[found.end() :]
        self.replace(place, Line(text, line.label))
        return True

    def insert(self, place: tuple[str, int], text: str = "") -> None:
        """Put a statement above a line.

        Raises:
            CannotEditError: if none can stand there.
        """
        line = self.line(place)
        above = self.line((place[0], place[1] - 1)).text if place[1] else ""
        body = line.text.lstrip()
        if body.startswith(_GOES_ON) or above.lstrip().startswith("@") or "__future__" in body:
            raise CannotEditError
        indent = line.text[: len(line.text) - len(body)]
        text = text or f"print('edit {self.writer.fresh()}')"
        self.replace(place, Line(indent + text, line.label), line)


def _in_labels(*labels: str, script: bool | None = None) -> Callable[[Editor], None]:
    return lambda editor: editor.tweak(editor.places(*labels, script=script))


def _constant(editor: Editor) -> None:
    places = editor.places("top", "first", "second", "early", "late", "signature", "last")
    editor.bump(editor.pick([each for each in places if _NUMBER.search(editor.line(each).text)]))


def _signature(editor: Editor) -> None:
    places = [each for each in editor.places("signature") if _is_signature(editor.line(each).text)]
    place = editor.pick(places)
    line = editor.line(place)
    if editor.bump(place):
        return
    changed = line.text.replace("(x)", "(x=4)") if "(x)" in line.text else ""
    if line.text.startswith("@functools.lru_cache"):
        changed = "@functools.lru_cache(maxsize=2)"
    if '"""' in line.text:
        changed = line.text.replace("Text", "Words")
    if not changed:
        raise CannotEditError
    editor.replace(place, Line(changed, line.label))


def _is_signature(text: str) -> bool:
    return text.lstrip().startswith(("def ", "@", '"""', "class ", "factor")) or " = lambda" in text


def _data(editor: Editor) -> None:
    path = editor.writer.pick((*DATA, SNIPPET))
    number = editor.writer.fresh()
    is_code = path == SNIPPET
    editor.program.files[path] = f"print('snippet {number}')\n" if is_code else f"{number}\nnew\n"


def _configuration(editor: Editor) -> None:
    texts = ('{"size": 4, "name": "one"}\n', '{"size": 3, "name": "two"}\n', "{}\n", "{broken\n")
    size = editor.writer.fresh()
    editor.program.files[CONFIG] = editor.writer.pick((*texts, f'{{"size": {size}}}\n'))


def _added(editor: Editor) -> None:
    places = editor.places("top", "first", "second", "early", "late", "last")
    statements = ("x9 = 1", "import json", "print('added')", "x8 = [1, 2]; print(x8)")
    editor.insert(editor.pick(places), editor.writer.pick(statements))


def _removed(editor: Editor) -> None:
    place = editor.pick(editor.places("top", "first", "second", "early", "late", "import"))
    line = editor.line(place)
    body = line.text.lstrip()
    if body.startswith((*_HEADS, "def ", '"""')):
        raise CannotEditError
    indent = line.text[: len(line.text) - len(body)]
    lines = editor.program.sources[place[0]]
    above = lines[place[1] - 1].text if place[1] else ""
    if above.endswith(":"):  # it may be all there is in its block
        editor.replace(place, Line(f"{indent}pass", line.label))
    else:
        editor.replace(place, count=1)


def _renamed(editor: Editor) -> None:
    texts = editor.program.tree()
    found = re.findall(
        r"\b[fvgaKN]_?f?\d+\b", "".join(t for t in texts.values() if isinstance(t, str))
    )
    names = list(dict.fromkeys(found))
    if not names:
        raise CannotEditError
    name = re.compile(rf"\b{editor.writer.pick(names)}\b")
    new = f"{name.pattern[2:-2]}_new"
    sources = editor.program.sources
    everywhere = editor.writer.chance(80)
    for path in list(sources) if everywhere else [editor.writer.pick(list(sources))]:
        sources[path] = tuple(Line(name.sub(new, line.text), line.label) for line in sources[path])


def _moved(editor: Editor) -> None:
    path = editor.writer.pick([SCRIPT, *sorted(editor.program.sources)])
    if path not in editor.program.sources:
        raise CannotEditError  # a program of modules alone
    lines = editor.program.sources[path]
    number = editor.writer.number(0, len(lines))
    texts = editor.writer.pick((("",), ("", "", ""), ("# a comment",), ("    # indented",)))
    label = lines[min(number, len(lines) - 1)].label if lines else "top"
    new = [Line(text, label) for text in texts]
    editor.program.sources[path] = (*lines[:number], *new, *lines[number:])


def _appeared(editor: Editor) -> None:
    path = editor.writer.pick(FRESH)
    number = editor.writer.fresh()
    is_code = path.endswith(".py")
    editor.program.files[path] = f"NEW = {number}\nprint('new')\n" if is_code else f"new {number}\n"


def _deleted(editor: Editor) -> None:
    spare = [SCRIPT, *(path for path in editor.program.sources if path != SCRIPT)]
    paths = [*sorted(editor.program.files), *spare[1:]]
    if editor.writer.chance(5):
        paths = spare[:1]
    path = editor.writer.pick(paths)
    editor.program.files.pop(path, None)
    editor.program.sources.pop(path, None)


def _same_size(editor: Editor) -> None:
    paths = [path for path in (*DATA, CONFIG) if isinstance(editor.program.files.get(path), str)]
    path = editor.writer.pick(paths) if paths else ""
    text = editor.program.files.get(path)
    if not isinstance(text, str) or not re.search(r"\d", text):
        raise CannotEditError
    old = re.findall(r"\d", text)[0]
    editor.program.files[path] = text.replace(old, str((int(old) + 1) % 10), 1)


def _switched(editor: Editor) -> None:
    target = editor.program.files.get(LINK)
    others = [path for path in (*DATA, "nowhere") if target != Link(path)]
    editor.program.files[LINK] = Link(editor.writer.pick(others))


def _two_files(editor: Editor) -> None:
    first = editor.writer.pick((_in_labels("first", "second", script=True), _constant, _data))
    second = editor.writer.pick((_data, _configuration, _in_labels("early", "late", script=False)))
    first(editor)
    second(editor)


def _nothing(_editor: Editor) -> None:
    """Save a file as it is."""


EDITS: Mapping[str, Callable[[Editor], None]] = {
    "last lines of the script": _in_labels("last"),
    "script, second half": _in_labels("second"),
    "script, first half": _in_labels("first"),
    "function called late": _in_labels("late"),
    "function called early": _in_labels("early"),
    "function never called": _in_labels("never"),
    "module top level": _in_labels("top", "import", script=False),
    "decorator, default, docstring": _signature,
    "constant": _constant,
    "data file": _data,
    "configuration": _configuration,
    "statement added": _added,
    "statement removed": _removed,
    "name changed": _renamed,
    "lines moved": _moved,
    "file appeared": _appeared,
    "file deleted": _deleted,
    "same size, in place": _same_size,
    "link switched": _switched,
    "two files at once": _two_files,
    "nothing": _nothing,
}
UNDONE, SLIP, SLIP_MENDED = "edit undone", "syntax error", "syntax error mended"
MODE = "permissions"
KINDS = (*EDITS, UNDONE, SLIP, SLIP_MENDED, MODE)
_CHOICES = (*EDITS, UNDONE, UNDONE, SLIP, MODE)


def sessions() -> st.SearchStrategy[Session]:
    """Return random programs with three to six edits each."""
    return choices().map(session_of)


def session_of(choose: Callable[[int, int], int]) -> Session:
    """Return a random session."""
    program = program_of(choose)
    writer = Writer(choose, "")
    past = [program]
    edits: list[Edit] = []
    wanted = writer.number(3, 6)
    while len(edits) < wanted:
        kind = writer.pick(_CHOICES)
        editor = Editor(deepcopy(past[-1]), writer)
        if kind == MODE:
            mode = writer.pick((0o600, 0o644, 0o664))
            edits.append(Edit(kind, (Change(DATA[0], "1\n", by_rename=False, mode=mode),)))
            editor.program.files[DATA[0]] = "1\n"
            past.append(editor.program)
            continue
        if kind == UNDONE and len(past) > 1:
            editor.program = past[-2]
        elif kind == SLIP:
            good = past[-1]
            _slip(editor)
            edits.append(_edit(writer, SLIP, good, editor.program))
            past.append(editor.program)
            kind, editor.program = SLIP_MENDED, good
        else:
            kind = _edited(editor, kind)
        edits.append(_edit(writer, kind, past[-1], editor.program))
        past.append(editor.program)
    return Session(program.words, program.tree(), tuple(edits))


def _edited(editor: Editor, kind: str) -> str:
    """Edit, in another way if this one has no place here; return the kind."""
    while True:
        try:
            EDITS[kind if kind in EDITS else "data file"](editor)
        except CannotEditError:
            kind = editor.writer.pick(tuple(EDITS))
        else:
            return kind if kind in EDITS else "data file"


def _slip(editor: Editor) -> None:
    labels = ("first", "second", "late", "top", "frame", "last")
    editor.replace(editor.writer.pick(editor.places(*labels)), Line("print(1", "top"))


def _edit(writer: Writer, kind: str, before: Program, after: Program) -> Edit:
    old, new = before.tree(), after.tree()
    by_rename = kind != "same size, in place" and not writer.chance(30)
    changed = [path for path in {**old, **new} if old.get(path) != new.get(path)]
    if not changed:
        changed = [writer.pick([path for path in new if isinstance(new[path], str)])]
    changes = tuple(Change(path, new.get(path), by_rename) for path in changed)
    return Edit(kind, changes, at_once=writer.chance(15))
