"""What `whet probe` is asked for: places in a program, and what is to be done there."""

import ast
import difflib
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import NoReturn

from whet.core.condition import duration_seconds
from whet.core.errors import BadUsage
from whet.core.text.quantity import bounded
from whet.core.value_class import value_class

ACTIONS = ("print", "stack", "count", "mem", "sleep", "break", "die")
_MODIFIERS = ("if", "after", "every")
_WORDS = frozenset({*ACTIONS, *_MODIFIERS})
_LINE = re.compile(r"(?P<file>.*\.py):(?P<line>\d+)")
_MOST_DIGITS = 10  # no file has as many lines
_FILE = re.compile(r"(?P<file>.*\.py):(?P<name>[\w.*?\[\]]+)")
_MODULE = re.compile(r"(?P<module>[^\W\d]\w*(\.\w+)*):(?P<name>[\w.*?\[\]]+)")
_NAME = re.compile(r"[^\W\d]\w*(\.\w+)*")
_ERROR = re.compile(r"raise:(?P<name>[\w.*?]+)")
_RETURN = ":return"
_CHANGING_FUNCTIONS = frozenset({"next", "setattr", "delattr", "exec", "input", "open"})
_CHANGING_METHODS = frozenset({
    "add", "append", "backward", "clear", "close", "discard", "extend", "insert", "next", "pop",
    "popitem", "popleft", "read", "readline", "remove", "reverse", "send", "setdefault", "shuffle",
    "sort", "step", "throw", "update", "write", "zero_grad",
})  # fmt: skip
"""The methods of containers, iterators, files and PyTorch (whose in-place ones end in an underscore)."""


class TargetKind(Enum):
    """What is looked out for; the value is what the agent is told."""

    LINE = "line"
    CALL = "call"
    RETURN = "return"
    RAISE = "raise"
    TRACE = "trace"


@value_class(kw_only=True)
class Target:
    """A place in a program.

    Attributes:
        text: as the user wrote it.
        kind: what is looked out for there.
        file: a path; empty: it is named by its module.
        module: a module; with neither, a function is one of the command's script.
        line: a line of the file; 0: it is named otherwise.
        name: a function or an error, as a pattern.
    """

    text: str
    kind: TargetKind
    file: str = ""
    module: str = ""
    line: int = 0
    name: str = ""


@value_class(kw_only=True)
class Action:
    """Something to be done at a place.

    Attributes:
        name: one of `ACTIONS`.
        words: expressions to print, or seconds to wait.
    """

    name: str
    words: tuple[str, ...] = ()


@value_class(kw_only=True)
class Wish:
    """Places, and what is to be done at each of them.

    Attributes:
        targets: the places.
        actions: what is done, in order.
        condition: an expression that has to be true there; empty: any time counts.
        after: number of times to skip first.
        every: count only every Nth of the rest.
    """

    targets: tuple[Target, ...]
    actions: tuple[Action, ...]
    condition: str = ""
    after: int = 0
    every: int = 1


@dataclass(slots=True)
class _Group:
    """A wish on its way."""

    targets: list[Target] = field(default_factory=list[Target])
    actions: list[Action] = field(default_factory=list[Action])
    condition: str = ""
    after: int = 0
    every: int = 1
    is_open: bool = True

    def wish(self) -> Wish:
        return Wish(
            targets=tuple(self.targets),
            actions=tuple(self.actions) or (Action(name="count"),),
            condition=self.condition,
            after=self.after,
            every=self.every,
        )


def parse_wishes(words: Sequence[str]) -> tuple[Wish, ...]:
    """Return what the words of a command line ask for.

    Targets come first, then what is done at all of them; another target begins again.

    Raises:
        BadUsage: if they can't be read.
    """
    groups: list[_Group] = []
    left = list(words)
    while left:
        word = left.pop(0)
        target = None if word in _WORDS else target_of(word)
        if target is not None:
            if not groups or not groups[-1].is_open:
                groups.append(_Group())
            groups[-1].targets.append(target)
        elif not groups:
            _refuse_first(word)
        elif word in _WORDS:
            groups[-1].is_open = False
            _take(groups[-1], word, left)
        else:
            near = difflib.get_close_matches(word, _WORDS, n=1)
            raise BadUsage(
                f"`{word}` is neither a target nor an action",
                hint=f"did you mean `{near[0]}`?"
                if near
                else f"the actions are {', '.join(ACTIONS)}, with {', '.join(_MODIFIERS)}; an expression follows `print`",
            )
    if not groups:
        raise BadUsage(
            "there is no target", hint="name a line or a function: `whet probe train.py:40 stack`"
        )
    return tuple(each.wish() for each in groups)


def trace_wish(words: Sequence[str]) -> Wish:
    """Return what the words of `whet trace` ask for.

    Raises:
        BadUsage: if one names no function.
    """
    targets: list[Target] = []
    for word in words:
        target = target_of(word)
        if target is None or target.kind is not TargetKind.CALL:
            raise BadUsage(
                f"`{word}` doesn't name a function",
                hint="write `package.module:function`, 'file.py:*' or 'package.module:Class.*'",
            )
        targets.append(replace(target, kind=TargetKind.TRACE))
    return Wish(targets=tuple(targets), actions=())


def target_of(word: str) -> Target | None:
    """Return the place that a word names; None if it names none."""
    error = _ERROR.fullmatch(word)
    if error is not None:
        return Target(text=word, kind=TargetKind.RAISE, name=error["name"])
    kind, named = TargetKind.CALL, word
    if word.endswith(_RETURN) and word != _RETURN:
        kind, named = TargetKind.RETURN, word[: -len(_RETURN)]
    line = _LINE.fullmatch(named)
    if line is not None:
        number = line["line"].lstrip("0")
        if kind is TargetKind.RETURN or not 0 < len(number) < _MOST_DIGITS:
            return None
        return Target(text=word, kind=TargetKind.LINE, file=line["file"], line=int(number))
    for pattern in (_FILE, _MODULE):
        found = pattern.fullmatch(named)
        if found is not None:
            parts = found.groupdict()
            return Target(
                text=word,
                kind=kind,
                file=parts.get("file", ""),
                module=parts.get("module", ""),
                name=parts["name"],
            )
    if kind is TargetKind.RETURN and _NAME.fullmatch(named):
        return Target(text=word, kind=kind, name=named)
    return None


def check_expression(text: str) -> str:
    """Return an expression.

    Raises:
        BadUsage: if Python could not work it out.
    """
    try:
        compile(text.strip(), "<expression>", "eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        why = error.msg if isinstance(error, SyntaxError) else str(error) or "nested too deeply"
        raise BadUsage(
            f"`{text}` is not a Python expression: {why}",
            hint="write an expression with a value, such as 'loss.item()', not a statement",
        ) from error
    return text.strip()


def changes_something(text: str) -> bool:
    """Whether an expression looks as if working it out changed what the program continues with."""
    for node in ast.walk(ast.parse(text.strip(), mode="eval")):
        if isinstance(node, ast.NamedExpr):
            return True
        if isinstance(node, ast.Call):
            called = node.func
            if isinstance(called, ast.Name) and called.id in _CHANGING_FUNCTIONS:
                return True
            if isinstance(called, ast.Attribute) and (
                called.attr in _CHANGING_METHODS
                or (called.attr.endswith("_") and not called.attr.startswith("_"))
            ):
                return True
    return False


def _take(group: _Group, word: str, left: list[str]) -> None:
    """Take a word that says what to do, with those that belong to it."""
    if word == "if":
        if group.condition:
            raise BadUsage("there are two conditions", hint="join them: if 'A and B'")
        group.condition = check_expression(_next(word, left, "an expression, as in `if 'x > 3'`"))
    elif word in {"after", "every"}:
        number = _next(word, left, f"a number, as in `{word} 100`")
        if not number.isdecimal() or (word == "every" and bounded(number) < 1):
            raise BadUsage(f"`{word} {number}` is no number of times", hint=f"write `{word} 100`")
        setattr(group, word, bounded(number))
    elif word == "sleep":
        given = _next(word, left, "a time, as in `sleep 10`")
        seconds = duration_seconds(given)
        if seconds is None or seconds < 0:
            raise BadUsage(f"`{given}` is not a time", hint="write 10, 200ms or 5min")
        group.actions.append(Action(name=word, words=(f"{seconds:g}",)))
    elif word == "print":
        group.actions.append(Action(name=word, words=_expressions(left)))
    else:
        group.actions.append(Action(name=word))


def _expressions(left: list[str]) -> tuple[str, ...]:
    """Take the expressions behind `print`: the first word is one, whatever it is."""
    found: list[str] = []
    while left and (not found or (left[0] not in _WORDS and target_of(left[0]) is None)):
        if not found and target_of(left[0]) is not None:
            break
        found.append(check_expression(left.pop(0)))
    return tuple(found)


def _next(word: str, left: list[str], what: str) -> str:
    if not left:
        raise BadUsage(f"`{word}` needs an argument", hint=f"it takes {what}")
    return left.pop(0)


def _refuse_first(word: str) -> NoReturn:
    if word in _WORDS:
        raise BadUsage(
            f"`{word}` comes before any target",
            hint=f"name the place first: `whet probe train.py:40 {word} …`",
        )
    raise BadUsage(
        f"`{word}` is not a target",
        hint="a target is `file.py:LINE`, `module:function`, `file.py:Class.method`,"
        " `function:return` or `raise:ValueError`",
    )
