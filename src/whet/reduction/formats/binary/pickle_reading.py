"""Pickles read by their opcodes: nothing that is in one is imported, called or restored.

The values on the stack are those of JSON, objects of one key for what it has no word for
(`whet.reduction.formats.documents.packed`), and nodes for what holds others.
"""

import io
import pickletools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from whet.reduction.formats.documents.packed import Pairs, tagged

NO_STATE = object()
"""The state of an object that was given none."""

OBJECTS = ("!call", "!new", "!instance")
"""What makes an object: a call, ``__new__``, or the class as Python 2 called it."""

_PRINTABLE = frozenset(b"\t\n\r" + bytes(range(32, 127)))
_FIRST_WITHOUT_OLD_NAMES = 3
"""The first protocol whose pickles name modules as Python 3 does."""


@dataclass(slots=True, eq=False)
class Node:
    """What holds other values; the same node in two places is one object.

    Attributes:
        mark: what it is.
        items: what is in it in order; of an object, what is appended to it.
        pairs: keys with values.
        state: what an object is given in the end.
        made_by: what is called for an object.
        args: its arguments.
        kwargs: its arguments by name; None: it takes none.
    """

    mark: str
    items: list[object] = field(default_factory=list[object])
    pairs: list[tuple[object, object]] = field(default_factory=list[tuple[object, object]])
    state: object = NO_STATE
    made_by: object = None
    args: list[object] = field(default_factory=list[object])
    kwargs: object = None

    def inner(self) -> Iterator[object]:
        """Yield what is in it, in the order in which it is written."""
        yield from (self.made_by, *self.args, self.kwargs, *self.items)
        for pair in self.pairs:
            yield from pair
        if self.state is not NO_STATE:
            yield self.state


def read_pickles(payload: bytes) -> list[object]:
    """Return the values of pickles that stand one behind the other.

    Raises:
        ValueError: if it is something else.
    """
    stream = io.BytesIO(payload)
    values: list[object] = []
    try:
        while stream.tell() < len(payload):
            values.append(_Machine().run(stream))
    except (IndexError, KeyError, AttributeError, TypeError) as error:
        raise ValueError("it takes what isn't there") from error
    return values


class _Machine:
    """What a pickle runs on, with stand-ins for all that it makes."""

    def __init__(self) -> None:
        self.stack: list[object] = []
        self.marks: list[int] = []
        self.memo: dict[int, object] = {}
        self.protocol = 0
        self.has_names = False

    def run(self, stream: io.BytesIO) -> object:
        """Return the value of the next pickle."""
        for opcode, argument, _ in pickletools.genops(stream):
            _STEPS[opcode.name](self, argument)
        (value,) = self.stack
        if self.has_names and self.protocol < _FIRST_WITHOUT_OLD_NAMES:
            value = tagged("!protocol2", value)
        return value

    def push(self, value: object) -> None:
        self.stack.append(value)

    def pop(self) -> object:
        return self.stack.pop()

    def top(self, *marks: str) -> Node:
        """Return the node on top, which must be one of these."""
        node = self.stack[-1]
        if not isinstance(node, Node) or node.mark not in marks:
            raise ValueError("it adds to what takes nothing")
        return node

    def many(self) -> list[object]:
        """Take what was pushed since the last mark."""
        start = self.marks.pop()
        taken = self.stack[start:]
        del self.stack[start:]
        return taken

    def some(self, size: int) -> list[object]:
        return [self.pop() for _ in range(size)][::-1]

    def name(self, module: object, name: object) -> None:
        if not isinstance(module, str) or not isinstance(name, str) or " " in module:
            raise TypeError("a name is a text")
        self.has_names = True
        self.push(tagged("!global", f"{module} {name}"))

    def append(self, values: list[object]) -> None:
        node = self.top("!list", *OBJECTS)
        if node.pairs or node.state is not NO_STATE:
            raise ValueError("it adds to an object that is complete")
        node.items += values

    def add(self, values: list[object]) -> None:
        self.top("!set").items += values

    def put_pairs(self, values: list[object]) -> None:
        node = self.top("!dict", *OBJECTS)
        if node.state is not NO_STATE:
            raise ValueError("it adds to an object that is complete")
        node.pairs += zip(values[::2], values[1::2], strict=True)

    def build(self, state: object) -> None:
        node = self.top(*OBJECTS)
        if node.state is not NO_STATE:
            raise ValueError("it is given two states")
        node.state = state

    def make(self, mark: str, args: object, kwargs: object = None) -> None:
        """Push an object of what is on the stack, with a tuple of arguments."""
        if not isinstance(args, Node) or args.mark != "!tuple":
            raise ValueError("its arguments are no tuple")
        self.push(Node(mark, made_by=self.pop(), args=args.items, kwargs=kwargs))

    def make_old(self, made_by: object, args: list[object]) -> None:
        self.push(Node("!instance", made_by=made_by, args=args))

    def get(self, argument: object) -> None:
        self.push(self.memo[int(str(argument))])

    def put(self, argument: object) -> None:
        self.memo[int(str(argument))] = self.stack[-1]

    def set_protocol(self, number: object) -> None:
        self.protocol = int(str(number))

    def read_only(self) -> None:
        if self.pop() != tagged("!buffer", 0):
            raise ValueError("it is no buffer")
        self.push(tagged("!buffer", 1))

    def mark(self) -> None:
        self.marks.append(len(self.stack))

    def drop(self) -> None:
        """Take the last mark or value."""
        if self.marks and self.marks[-1] == len(self.stack):
            self.marks.pop()
        else:
            self.pop()

    def drop_many(self) -> None:
        self.many()


def _bytes(raw: bytes) -> Pairs:
    return tagged("!b", raw.decode()) if _PRINTABLE.issuperset(raw) else tagged("!bytes", raw.hex())


def _inst(machine: _Machine, argument: object) -> None:
    args = machine.many()
    machine.name(*str(argument).split(" ", 1))
    machine.make_old(machine.pop(), args)


def _obj(machine: _Machine, _argument: object) -> None:
    made_by, *args = machine.many()
    machine.make_old(made_by, args)


def _new_with_names(machine: _Machine, _argument: object) -> None:
    kwargs = machine.pop()
    machine.make("!new", machine.pop(), kwargs)


def _pairs(machine: _Machine, _argument: object) -> None:
    values = machine.many()
    machine.push(Node("!dict"))
    machine.put_pairs(values)


_Step = Callable[[_Machine, object], None]


def _constant(value: object) -> _Step:
    return lambda machine, _: machine.push(value)


def _empty(mark: str) -> _Step:
    return lambda machine, _: machine.push(Node(mark))


def _filled(mark: str) -> _Step:
    return lambda machine, _: machine.push(Node(mark, machine.many()))


def _tuple_of(size: int) -> _Step:
    return lambda machine, _: machine.push(Node("!tuple", machine.some(size)))


def _raw(argument: object) -> bytes:
    if not isinstance(argument, bytes | bytearray):
        raise TypeError("bytes are bytes")
    return bytes(argument)


def _persistent(machine: _Machine, value: object) -> None:
    machine.push(Node("!persistent", [value]))


_CONSTANTS = {"NONE": None, "NEWTRUE": True, "NEWFALSE": False, "NEXT_BUFFER": tagged("!buffer", 0)}
_NUMBERS = ("INT", "BININT", "BININT1", "BININT2", "LONG", "LONG1", "LONG4", "FLOAT", "BINFLOAT")
_TEXTS = ("UNICODE", "SHORT_BINUNICODE", "BINUNICODE", "BINUNICODE8")
_EMPTY = {
    "EMPTY_LIST": "!list",
    "EMPTY_TUPLE": "!tuple",
    "EMPTY_DICT": "!dict",
    "EMPTY_SET": "!set",
}
_FILLED = {"LIST": "!list", "TUPLE": "!tuple", "FROZENSET": "!frozenset"}

_STEPS: dict[str, _Step] = {
    **dict.fromkeys(("STOP", "FRAME"), lambda _, __: None),
    **{name: _constant(value) for name, value in _CONSTANTS.items()},
    **dict.fromkeys((*_NUMBERS, *_TEXTS), _Machine.push),
    **dict.fromkeys(
        ("STRING", "BINSTRING", "SHORT_BINSTRING"),
        lambda machine, text: machine.push(tagged("!string", text)),
    ),
    **dict.fromkeys(
        ("BINBYTES", "SHORT_BINBYTES", "BINBYTES8"),
        lambda machine, raw: machine.push(_bytes(_raw(raw))),
    ),
    **{name: _empty(mark) for name, mark in _EMPTY.items()},
    **{name: _filled(mark) for name, mark in _FILLED.items()},
    **{f"TUPLE{size}": _tuple_of(size) for size in (1, 2, 3)},
    **dict.fromkeys(("GET", "BINGET", "LONG_BINGET"), _Machine.get),
    **dict.fromkeys(("PUT", "BINPUT", "LONG_BINPUT"), _Machine.put),
    **dict.fromkeys(
        ("EXT1", "EXT2", "EXT4"), lambda machine, code: machine.push(tagged("!extension", code))
    ),
    "PROTO": _Machine.set_protocol,
    "BYTEARRAY8": lambda machine, raw: machine.push(tagged("!bytearray", _raw(raw).hex())),
    "READONLY_BUFFER": lambda machine, _: machine.read_only(),
    "MARK": lambda machine, _: machine.mark(),
    "POP": lambda machine, _: machine.drop(),
    "POP_MARK": lambda machine, _: machine.drop_many(),
    "DUP": lambda machine, _: machine.push(machine.stack[-1]),
    "MEMOIZE": lambda machine, _: machine.put(len(machine.memo)),
    "APPEND": lambda machine, _: machine.append(machine.some(1)),
    "APPENDS": lambda machine, _: machine.append(machine.many()),
    "ADDITEMS": lambda machine, _: machine.add(machine.many()),
    "SETITEM": lambda machine, _: machine.put_pairs(machine.some(2)),
    "SETITEMS": lambda machine, _: machine.put_pairs(machine.many()),
    "DICT": _pairs,
    "GLOBAL": lambda machine, name: machine.name(*str(name).split(" ", 1)),
    "STACK_GLOBAL": lambda machine, _: machine.name(*machine.some(2)),
    "REDUCE": lambda machine, _: machine.make("!call", machine.pop()),
    "NEWOBJ": lambda machine, _: machine.make("!new", machine.pop()),
    "NEWOBJ_EX": _new_with_names,
    "BUILD": lambda machine, _: machine.build(machine.pop()),
    "INST": _inst,
    "OBJ": _obj,
    "PERSID": _persistent,
    "BINPERSID": lambda machine, _: _persistent(machine, machine.pop()),
}
"""What each opcode does."""
