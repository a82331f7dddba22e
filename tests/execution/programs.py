"""Random small programs, as Hypothesis writes them: a script, modules, data, a configuration.

Every line of a program knows what it is to an edit: a statement of the script before or after its
middle, the body of a function that is called early, late or never, a module's top level. What a
program does depends on nothing but its files, so that two runs of it agree.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from hypothesis import strategies as st
from program_oddities import ODDITIES
from program_statements import FUNCTIONS, LASTS, STATEMENTS

T = TypeVar("T")

SCRIPT = "main.py"
DATA = ("data_a.txt", "data_b.txt", "data/deep.txt")
CONFIG = "config.json"
LINK = "current"
SNIPPET = "snippet.txt"
FRESH = (
    "later_0.txt", "maybe_0.py", "maybe_1/__init__.py", "data/extra.txt", "colorsys.py",
    "alpha/__init__.py",
)  # fmt: skip
_ODD_PERCENT = 25
_ENTROPY_BYTES = 500  # the longest session needs a little less; then the simplest follows
MODULES = ("alpha", "beta", "pack.gamma")


@dataclass(frozen=True, slots=True)
class Line:
    """A line of source.

    Attributes:
        text: what it says.
        label: what it is to an edit: ``import``, ``top``, ``signature``, ``early``, ``late``,
            ``never``, ``first``, ``second``, ``last`` or ``frame``.
    """

    text: str
    label: str


@dataclass(frozen=True, slots=True)
class Link:
    """A symbolic link as the content of a file."""

    target: str


Content = str | Link
Sources = dict[str, tuple[Line, ...]]


@dataclass(frozen=True, slots=True)
class Function:
    """A function that others may call.

    Attributes:
        name: its name, the only one of its kind in the whole program.
        module: where it stands; the script is empty.
        when: whether the script calls it ``early``, ``late`` or ``never``.
    """

    name: str
    module: str
    when: str


@dataclass(slots=True)
class Program:
    """A program.

    Attributes:
        words: what follows ``python``.
        sources: its source files.
        files: all its other files.
    """

    words: tuple[str, ...]
    sources: Sources
    files: dict[str, Content]

    def tree(self) -> dict[str, Content]:
        """Return what every file holds."""
        texts = {
            path: "".join(f"{line.text}\n" for line in lines)
            for path, lines in self.sources.items()
        }
        return {**self.files, **texts}


@dataclass(slots=True)
class Writer:
    """Writes one block of statements: it knows what may be named there.

    Attributes:
        choose: returns a number of a range.
        functions: what may be called.
        module: the module that is written; the script is empty.
        style: for each module how its names are reached: ``import``, ``from`` or ``inside``.
        names: variables that are bound by now.
        needs: modules of the standard library that the file has to import.
    """

    choose: Callable[[int, int], int]
    module: str
    functions: list[Function] = field(default_factory=list[Function])
    style: dict[str, str] = field(default_factory=dict[str, str])
    names: list[str] = field(default_factory=list[str])
    needs: set[str] = field(default_factory=set[str])
    is_script: bool = False
    _next: list[int] = field(default_factory=lambda: [0])

    def number(self, low: int, high: int) -> int:
        """Return a number."""
        return self.choose(low, high)

    def pick(self, choices: Sequence[T]) -> T:
        """Return one of several things; the first is the simplest."""
        return choices[self.choose(0, len(choices) - 1)]

    def chance(self, percent: int) -> bool:
        """Return True in about so many of a hundred cases."""
        return self.choose(0, 99) >= 100 - percent

    def fresh(self) -> int:
        """Return a number that no other name of this program has."""
        self._next[0] += 1
        return self._next[0]

    def block(self, functions: list[Function], names: list[str]) -> "Writer":
        """Return the writer of a block inside this file."""
        return Writer(
            self.choose, self.module, functions, self.style, names, self.needs, self.is_script,
            self._next,
        )  # fmt: skip

    def data(self) -> str:
        """Return a file to read."""
        return FRESH[0] if self.chance(4) else self.pick((*DATA, LINK))

    def callee(self) -> tuple[list[str], str]:
        """Return statements that must come first, and an expression that is a function."""
        if not self.functions:
            return [], "abs"
        function = self.pick(self.functions)
        if function.module == self.module:
            return [], function.name
        style = self.style.get(function.module, "inside")
        if style == "from":
            return [], function.name
        before = [f"import {function.module}"] if style == "inside" else []
        return before, f"{function.module}.{function.name}"

    def value(self) -> str:
        """Return a simple expression that is a number."""
        number = self.number(0, 40)
        if not self.names or self.chance(30):
            return str(number)
        name = self.pick(self.names)
        return self.pick((name, f"{name} + {number}", f"({name} * {number}) % 997"))


def choices() -> st.SearchStrategy[Callable[[int, int], int]]:
    """Return what makes all choices of one session.

    They come out of a single value. Were each drawn by itself, Hypothesis would repeat some of
    them elsewhere in five sessions of six: good for lists, but programs become much alike.
    """
    return st.binary(min_size=_ENTROPY_BYTES, max_size=_ENTROPY_BYTES).map(_chooser)


def _chooser(entropy: bytes) -> Callable[[int, int], int]:
    pairs = zip(entropy[::2], entropy[1::2], strict=True)

    def choose(low: int, high: int) -> int:
        upper, lower = next(pairs, (0, 0))
        return low + (256 * upper + lower) % (high - low + 1)

    return choose


def program_of(choose: Callable[[int, int], int]) -> Program:
    """Return a random program."""
    writer = Writer(choose, "", is_script=True)
    modules = MODULES[: writer.number(1, len(MODULES))]
    is_late = {module: writer.chance(30) for module in modules}
    functions: list[Function] = []
    sources: Sources = {}
    for module in modules:
        sources.update(_module(writer, module, functions, can_be_early=not is_late[module]))
    sources[SCRIPT] = _script(writer, functions, is_late)
    files: dict[str, Content] = {path: f"{path}\n{7 * i}\n" for i, path in enumerate(DATA, 1)}
    files[CONFIG] = '{"size": 3, "name": "one"}\n'
    files[LINK] = Link(DATA[0])
    files[SNIPPET] = "snip = 5\nprint('snippet', snip)\n"
    words = writer.pick(((SCRIPT,), (SCRIPT,), (SCRIPT, "word"), ("-m", SCRIPT.partition(".")[0])))
    return Program(words, sources, files)


def _module(
    writer: Writer, module: str, functions: list[Function], *, can_be_early: bool
) -> Sources:
    own = Writer(writer.choose, module, style=_styles(writer, functions), _next=writer._next)
    body: list[Line] = []
    for _ in range(own.number(1, 3)):
        when = own.pick(("late", "early", "never") if can_be_early else ("late", "never"))
        body += _function(own, functions, when)
    body += _labelled(_constants(own), "top")
    if own.chance(40):
        at_import = "early" if can_be_early else "late"
        usable = [each for each in functions if each.when == at_import]
        body += _labelled(_statement(own.block(usable, [])), "top")
    path = module.replace(".", "/")
    made: Sources = {f"{path}.py": (*_head(own), *body)}
    if "." in module:
        made[f"{path.partition('/')[0]}/__init__.py"] = (Line("PACK = 1", "top"),)
    return made


def _styles(writer: Writer, functions: list[Function]) -> dict[str, str]:
    modules = dict.fromkeys(each.module for each in functions)
    return {module: writer.pick(("import", "from", "inside", "star")) for module in modules}


def _head(writer: Writer) -> list[Line]:
    """Return the docstring and the imports of a file whose body is written."""
    lines = [Line('"""Text 1."""', "signature")] if writer.chance(30) else []
    if writer.chance(15):
        lines.append(Line("from __future__ import annotations", "import"))
    lines += [Line(f"import {name}", "import") for name in sorted(writer.needs)]
    return lines + _imports(writer.style)


def _imports(style: dict[str, str]) -> list[Line]:
    lines: list[Line] = []
    for module, how in style.items():
        if how == "import":
            lines.append(Line(f"import {module}", "import"))
        elif how in {"from", "star"}:
            lines.append(Line(f"from {module} import *", "import"))
            style[module] = "from"
    return lines


def _constants(writer: Writer) -> list[str]:
    number = writer.fresh()
    return [f"K{number} = {writer.number(0, 2000)}", f"T{number} = 'a text with blanks'"]


def _function(writer: Writer, functions: list[Function], when: str) -> list[Line]:
    """Write a function that calls only what is called no later than itself."""
    earlier = {"early": ("early",), "late": ("early", "late"), "never": ("early", "late", "never")}
    name = f"f{writer.fresh()}"
    usable = [each for each in functions if each.when in earlier[when]]
    # Modules below know nothing of those above, so nothing calls in a circle.
    inside = writer.block(usable, ["x"])
    signature, body = writer.pick(FUNCTIONS)(inside, name)
    functions.append(Function(name, writer.module, when))
    return [*_labelled(signature, "signature"), *_labelled(body, when)]


def _labelled(texts: Sequence[str], label: str) -> list[Line]:
    return [Line(text, label) for text in texts]


def _statement(writer: Writer) -> list[str]:
    return writer.pick(ODDITIES if writer.chance(_ODD_PERCENT) else STATEMENTS)(writer)


def _script(
    writer: Writer, functions: list[Function], is_late: dict[str, bool]
) -> tuple[Line, ...]:
    early = {module: writer.pick(("import", "from", "inside")) for module in is_late}
    late = {module: early.pop(module) for module, later in is_late.items() if later}
    writer.style = {**early, **dict.fromkeys(late, "inside")}
    own: list[Line] = []
    for _ in range(writer.number(0, 2)):
        own += _function(writer, functions, writer.pick(("late", "early", "never")))
    writer.style = dict(early)
    first = _statements(writer, [each for each in functions if each.when == "early"], "first")
    late_imports = [Line(each.text, "second") for each in _imports(late)]
    writer.style.update(late)
    second = _statements(writer, [each for each in functions if each.when != "never"], "second")
    last = _labelled(writer.pick(LASTS)(writer.block([], writer.names)), "last")
    writer.style = early
    if writer.chance(40):
        # What `from … import *` binds cannot be bound in a function.
        stays, goes = (late_imports, []) if "from" in late.values() else ([], late_imports)
        body = [Line(f"    {line.text}", line.label) for line in (*first, *goes, *second, *last)]
        call = [Line("if __name__ == '__main__':", "frame"), Line("    main()", "frame")]
        start = [Line("def main():", "frame"), *body, *call]
        return (*_head(writer), *stays, *own, *start)
    return (*_head(writer), *own, *first, *late_imports, *second, *last)


def _statements(writer: Writer, functions: list[Function], label: str) -> list[Line]:
    block = writer.block(functions, writer.names)
    lines: list[Line] = []
    for _ in range(writer.number(2, 6)):
        lines += _labelled(_statement(block), label)
    return lines
