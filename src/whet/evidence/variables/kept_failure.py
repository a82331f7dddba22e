"""A failure as the agent recorded it: the errors, their frames, and the value of each variable."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field

from whet.core.failure import Frame
from whet.core.text.record import (
    JsonObject,
    MalformedRecordError,
    as_record,
    decoded,
    integer,
    items_of,
    optional_integer,
    optional_record,
    record,
    records,
    rows,
    text,
    text_map,
    whole,
)
from whet.core.value_class import value_class
from whet.host.inspect.stacks import is_user_code

_POSITION_NUMBERS = 4
_VARIABLE_ITEMS = (2, 3)  # the third one says that it is global


@value_class(kw_only=True)
class Variable:
    """A variable of a frame.

    Attributes:
        name: what it is called.
        value: as `whet.evidence.variables.kept_value` reads it.
        is_global: the function uses it, but it is the module's.
    """

    name: str
    value: object
    is_global: bool = False


@value_class(kw_only=True)
class KeptFrame:
    """A frame of a failure.

    Attributes:
        frame: where it stood.
        name: the function's own name, without its class.
        module: the module's name.
        first_line: where the function begins.
        position: first line, last line, first and last column (in bytes) of what was being
            evaluated; None: not known.
        variables: their values; None: not recorded.
        parameters: each with a number, which the same object has in each frame; only where calls
            were as deep as they can be.
    """

    frame: Frame
    name: str
    module: str
    first_line: int
    position: tuple[int, int, int, int] | None
    variables: tuple[Variable, ...] | None
    parameters: tuple[tuple[str, int], ...] = ()


@value_class(kw_only=True)
class KeptError:
    """An error with its frames, innermost last.

    Attributes:
        type: its qualified type.
        arguments: what it was raised with.
        frames: where it came through.
        skipped: how many frames are left out in the middle.
        relation: what it is to the error that led here: ``cause``, ``context``, ``member``.
        earlier: the error that it was raised from, or while handling which.
        members: the errors of a group.
    """

    type: str
    arguments: tuple[object, ...]
    frames: tuple[KeptFrame, ...]
    skipped: int = 0
    relation: str = ""
    earlier: "KeptError | None" = None
    members: "tuple[KeptError, ...]" = ()

    @property
    def place(self) -> KeptFrame | None:
        """The innermost frame of the user's own code, else the innermost."""
        own = [each for each in self.frames if each.frame.in_user_code]
        return own[-1] if own else self.frames[-1] if self.frames else None


@value_class(kw_only=True)
class KeptClass:
    """One of the user's classes.

    Attributes:
        name: its qualified name.
        methods: file and first line of its methods, by name.
    """

    name: str
    methods: Mapping[str, tuple[str, int]]


@value_class(kw_only=True)
class KeptFailure:
    """What has failed in one process.

    Attributes:
        pid: the process.
        rank: its place in a distributed job, if it had one.
        where: what has caught the error: ``main``, ``thread``, ``pytest`` and so on.
        thread: name of the thread or the test.
        error: what was raised.
        sources: text of the user's files by path, as the trial ran them.
        classes: those that the innermost frames are methods of, each with what it inherits from,
            in the order in which Python looks; first those of the object of a missing attribute.
        modules: files by name, of the user's modules and of installed packages.
        search: where Python looked for modules.
    """

    pid: int
    rank: int | None
    where: str
    thread: str
    error: KeptError
    sources: dict[str, str]
    classes: tuple[tuple[KeptClass, ...], ...] = ()
    modules: Mapping[str, str] = field(default_factory=dict[str, str])
    search: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """Where it was, in words."""
        parts = [self.where if not self.thread else f"{self.where} {self.thread}"]
        parts += [f"rank {self.rank}"] if self.rank is not None else []
        return ", ".join([*parts, f"process {self.pid}"])


def kept_failures(data: bytes) -> tuple[KeptFailure, ...]:
    """Return the failures in an observation of the kind ``failures``; broken ones are left out.

    Raises:
        MalformedRecordError: if it is something else.
    """
    contents = as_record(decoded(data), "failures")
    sources = text_map(contents, "sources")
    return tuple(_failures(records(contents, "failures"), sources))


def _failures(items: Sequence[JsonObject], sources: dict[str, str]) -> Iterator[KeptFailure]:
    for item in items:
        try:
            yield KeptFailure(
                pid=integer(item, "pid"),
                rank=optional_integer(item, "rank"),
                where=text(item, "where"),
                thread=text(item, "thread"),
                error=_error(record(item, "error")),
                sources=sources,
                classes=tuple(map(_line_of_classes, items_of(item.get("classes")))),
                modules={str(name): str(path) for name, path in rows(item.get("modules"), 2)},
                search=tuple(map(str, items_of(item.get("search")))),
            )
        except MalformedRecordError:
            continue


def _line_of_classes(line: object) -> tuple[KeptClass, ...]:
    classes = [as_record(each, "class") for each in items_of(line)]
    return tuple(
        KeptClass(
            name=text(each, "class"),
            methods={
                str(name): (str(path), whole(number))
                for name, path, number in rows(each.get("methods"), 3)
            },
        )
        for each in classes
    )


def _error(data: JsonObject) -> KeptError:
    earlier = optional_record(data, "earlier")
    return KeptError(
        type=text(data, "type"),
        arguments=tuple(items_of(data.get("arguments"))),
        frames=tuple(_frame(each) for each in records(data, "frames")),
        skipped=integer(data, "skipped"),
        relation=text(data, "relation"),
        earlier=None if earlier is None else _error(earlier),
        members=tuple(_error(each) for each in records(data, "members"))
        if "members" in data
        else (),
    )


def _frame(data: JsonObject) -> KeptFrame:
    path = text(data, "path")
    position = [each for each in items_of(data.get("at")) if isinstance(each, int)]
    variables = data.get("variables")
    return KeptFrame(
        frame=Frame(
            path=path,
            line=optional_integer(data, "line") or 0,
            function=text(data, "function"),
            in_user_code=is_user_code(path),
        ),
        name=text(data, "name"),
        module=text(data, "module"),
        first_line=integer(data, "first_line"),
        position=(position[0], position[1], position[2], position[3])
        if len(position) == _POSITION_NUMBERS
        else None,
        variables=None if variables is None else tuple(map(_variable, items_of(variables))),
        parameters=tuple(
            (str(name), whole(number)) for name, number in rows(data.get("parameters"), 2)
        ),
    )


def _variable(item: object) -> Variable:
    items = items_of(item)
    if len(items) not in _VARIABLE_ITEMS:
        raise MalformedRecordError("not a name with its value")
    return Variable(name=str(items[0]), value=items[1], is_global=len(items) > min(_VARIABLE_ITEMS))
