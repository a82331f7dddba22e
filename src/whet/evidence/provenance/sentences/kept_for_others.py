"""Results that a function kept for some arguments and gave for others: its key lacks one of them."""

import ast
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from whet.core.text.code_lines import module_of
from whet.core.text.quantity import listed
from whet.core.value_class import value_class
from whet.evidence.provenance.run.recording import CONTAINER, SCALAR, Call, Recording, Step, Value
from whet.evidence.provenance.run.source import Sources, default_of, names_in
from whet.evidence.provenance.sentences.wording import cut
from whet.evidence.provenance.trace.moments import Moments

_MOST_DEEP, _MOST_FOUND = 4, 3
_FIRST = "__import__('sys').__dict__.setdefault('whet_first', {{}}).setdefault(({}, {}), {})"
_FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef
_Spot = tuple[ast.expr, ast.expr]


@value_class(eq=False)
class KeptForOther:
    """A function that gave what it had kept for other arguments.

    Attributes:
        path: its file.
        function: its name.
        gave: where it looked up what it gave.
        says: what happened, in words.
        lacks: what the key lacks, as the program calls it.
        wider: the parts of the file that are the key, and what makes a text of each argument that they lack.
        lines: its lines by which the value came.
        read: each thing that is lacking, with a function that reads it to make the result.
        spot: where it keeps what it gave: expressions of the container and of the key.
        is_asked: whether to give what is kept depends on what the key lacks: nothing is forgotten there.
    """

    path: str
    function: str
    gave: int
    says: str
    lacks: str
    wider: tuple[tuple[ast.expr, ...], tuple[str, ...]]
    lines: frozenset[tuple[str, int]]
    read: tuple[tuple[str, ast.AST], ...] = ()
    spot: str = ""
    is_asked: bool = False

    def with_the_first(self, source: str) -> str:
        """Return the text in which the key has what it lacks, and results are made with what that was first.

        What fails with it does so because of what is lacking, and not because something else has
        changed since a result was kept. No line moves. Empty: it can't be written.
        """
        with suppress(SyntaxError, ValueError, RecursionError):
            editor = _First(self)
            editor.visit(module_of(source))
            return _with_instead(source, editor.instead) if editor.is_done else ""
        return ""

    def text_of(self, source: str) -> str:
        """Return the text of the file with what is lacking in the key; no line moves."""
        lines = [each.encode() for each in source.splitlines(keepends=True)]
        more = f"), {', '.join(self.wider[1])})".encode()
        ends = [
            place
            for each in self.wider[0]
            for place in (
                (each.end_lineno or each.lineno, each.end_col_offset or 0, more),
                (each.lineno, each.col_offset, b"(("),
            )
        ]
        for line, column, text in sorted(ends, reverse=True):
            own = lines[line - 1]
            lines[line - 1] = own[:column] + text + own[column:]
        return b"".join(lines).decode()


class _First(ast.NodeTransformer):
    """Puts what is lacking into the key, and what it was at first where a result is made."""

    def __init__(self, found: KeptForOther) -> None:
        parts, more = found.wider
        self._parts, self._more = {_place(each) for each in parts}, ", ".join(more)
        self._names: dict[tuple[object, ...], dict[str, str]] = {}
        for number, (name, function) in enumerate(found.read):
            own = self._names.setdefault(_place(function), {})
            own[name] = found.spot if function is found.read[0][1] else str(number)
        self._now: dict[str, str] = {}
        self.instead: list[tuple[ast.expr, str]] = []
        self.is_done = False

    def visit(self, node: ast.AST) -> ast.AST:
        place = _place(node)
        if place in self._parts:
            return self._put(node, f"(({ast.unparse(node)}), {self._more})")
        if isinstance(node, ast.expr) and isinstance(getattr(node, "ctx", None), ast.Load):
            spot = self._now.get(ast.unparse(node))
            if spot is not None:
                self.is_done = True
                return self._put(node, _FIRST.format(place[1:3], spot, ast.unparse(node)))
        before, self._now = self._now, self._names.get(place, self._now)
        count = len(self.instead)
        inner: ast.AST = self.generic_visit(node)
        self._now = before
        if isinstance(node, ast.JoinedStr) and len(self.instead) > count:
            # Before Python 3.12 no place in such a text is known, but that of the whole.
            del self.instead[count:]
            return self._put(node, ast.unparse(inner))
        return inner

    def _put(self, node: ast.AST, text: str) -> ast.expr:
        assert isinstance(node, ast.expr), "only an expression has another one in its place"
        self.instead.append((node, text))
        return _expression(text)


def _with_instead(source: str, instead: Sequence[tuple[ast.expr, str]]) -> str:
    """Return a text with other expressions in the place of some, none of which is inside another."""
    lines = [each.encode() for each in source.splitlines(keepends=True)]
    last_first = sorted(
        instead, key=lambda each: (each[0].lineno, each[0].col_offset), reverse=True
    )
    for node, text in last_first:
        first, last = node.lineno - 1, (node.end_lineno or node.lineno) - 1
        before, after = lines[first][: node.col_offset], lines[last][node.end_col_offset or 0 :]
        more = "\n" * (last - first)
        lines[first : last + 1] = [before + f"({text}{more})".encode() + after]
    return b"".join(lines).decode()


@dataclass(slots=True, eq=False)
class _Store:
    """What a function looks up and keeps under one key."""

    holder: ast.expr
    key: ast.expr
    spots: list[ast.expr] = field(default_factory=list[ast.expr])
    reads: list[ast.expr] = field(default_factory=list[ast.expr])
    writes: list[ast.expr] = field(default_factory=list[ast.expr])
    made: ast.Assign | None = None

    @property
    def parts(self) -> tuple[ast.expr, ...]:
        """What the key is, wherever it stands."""
        return tuple(self.spots) if self.made is None else (self.made.value,)

    @property
    def said(self) -> ast.expr:
        """What makes the key."""
        return self.key if self.made is None else self.made.value

    @property
    def names(self) -> set[str]:
        """The variables that are in the key, but for those of which it has only a part."""
        nodes = list(ast.walk(self.said))
        called = {id(each.func) for each in nodes if isinstance(each, ast.Call)}
        picked = {
            id(each.value)
            for each in nodes
            if isinstance(each, ast.Attribute | ast.Subscript) and id(each) not in called
        }
        return {each.id for each in nodes if isinstance(each, ast.Name) and id(each) not in picked}


@value_class(eq=False)
class _Kept:
    """A call that has kept its result."""

    call: Call
    step: Step
    result: Value


class KeptForOthers:
    """Finds calls that were given what an earlier call with other arguments has kept."""

    def __init__(self, recording: Recording, sources: Sources) -> None:
        """Make ready what looks values up."""
        self._all, self._sources = recording, sources
        self._now = Moments(recording, sources)
        self._stores: dict[int, list[_Store]] = {}

    def found(self) -> list[KeptForOther]:
        """Return what was found, each lacking argument of a key once; first where the key lacks least."""
        kept: dict[object, _Kept] = {}
        found: dict[object, KeptForOther] = {}
        for call in self._all.calls:
            given = next((each.result for each in call.results), None)
            for store in self._stores_of(call) if given is not None else ():
                at = self._at(store.writes, call) or self._at(store.reads, call)
                place = None if at is None else self._place(store, call, at)
                if at is None or place is None or given is None:
                    continue
                if self._at(store.writes, call) is not None:
                    kept[place] = _Kept(call, at, given)
                elif place in kept and self._is_unchanged(kept[place], given):
                    other = self._lacking(store, call, at, kept[place])
                    if other is not None:
                        found.setdefault((id(store), other.lacks), other)
        return sorted(found.values(), key=lambda each: len(each.wider[1]))[:_MOST_FOUND]

    # ---- what a function keeps ----

    def _stores_of(self, call: Call) -> list[_Store]:
        known = self._stores.get(id(call.code))
        if known is None:
            node = self._sources[call.code.path].node_of(call.code)
            known = list(_stores_in(node)) if isinstance(node, _FUNCTIONS) else []
            self._stores[id(call.code)] = known
        return known

    def _at(self, nodes: Iterable[ast.expr], call: Call) -> Step | None:
        """Return when a call last came to one of some nodes."""
        source = self._sources[call.code.path]
        statements = {id(source.statement(each.lineno)) for each in nodes}
        for step in reversed(call.steps):
            if step.result is None and id(source.statement(step.line)) in statements:
                return step
        return None

    def _place(self, store: _Store, call: Call, step: Step) -> object:
        """Return what is the same only of the same store and key; None: not known."""
        holder = self._now.value(store.holder, call, step)
        whole = self._now.value(store.key, call, step)
        parts = [whole] if whole is not None else [
            each for _, each in self._now.operands(ast.Expr(store.key), call, step)
        ]  # fmt: skip
        if holder is None or not holder.number or not parts:
            return None
        return (id(store), holder.number, *(self._same(each) for each in parts))

    def _same(self, value: Value | None, deep: int = _MOST_DEEP) -> object:
        """Return what is equal only of values that are."""
        if value is None or value.kind == SCALAR:
            return value and (value.type, value.words)
        if not deep or value.kind != CONTAINER or not value.is_whole:
            return value.number
        return (
            value.type,
            tuple((key, self._same(part, deep - 1)) for key, part in self._all.parts(value)),
        )

    def _is_unchanged(self, kept: _Kept, given: Value) -> bool:
        """Whether a call gave what was kept, and nobody has changed that in between, or does so later."""
        if not kept.result.is_same(given):
            return False
        states = [each.value for each in self._all.history(given.number)] if given.number else []
        seen = [each for each in states if each.type == given.type]
        return all(self._same_parts(each) == self._same_parts(seen[0]) for each in seen)

    def _same_parts(self, value: Value) -> object:
        return (
            value.size,
            value.words,
            {k: self._same(part, 1) for k, part in self._all.parts(value)},
        )

    # ---- what the key lacks ----

    def _lacking(self, store: _Store, call: Call, at: Step, kept: _Kept) -> KeptForOther | None:
        node = self._sources[call.code.path].node_of(call.code)
        assert isinstance(node, _FUNCTIONS), node
        more, told = list[str](), list[tuple[str, str, str]]()
        read: list[tuple[str, ast.AST]] = []
        for name in _parameters(node):
            one, other = (self._all.held(each, name, each.began) for each in (call, kept.call))
            if name in store.names or one is None or other is None:
                continue
            if self._same(one) == self._same(other):
                continue
            is_named = node.args.kwarg is not None and node.args.kwarg.arg == name
            pairs = list(self._named(one, other, kept)) if is_named else [
                (name, _words(one), _words(other))
            ]  # fmt: skip
            if pairs:
                more.append(_as_text(name, one))
                told += pairs
                read.append((name, node))
        for expr, one, other, inside in self._read(node, store, (call, at), kept):
            more.append(_as_text(expr, one))
            told.append((expr, _words(one), _words(other)))
            if inside is not None:
                read.append((expr, inside))
        if not told:
            return None
        gave = listed([_with(name, words, "one") for name, words, _ in told])
        had = listed([_with(name, words, "another") for name, _, words in told])
        return KeptForOther(
            path=call.code.path, function=call.code.short, gave=at.line,
            says=f"gave {gave} what it kept {had}", lacks=listed([f"`{each[0]}`" for each in told]),
            wider=(store.parts, tuple(more)),
            lines=frozenset({(call.code.path, each.line) for each in call.steps}),
            read=tuple(read),
            spot=f"id({ast.unparse(store.holder)}), {ast.unparse(store.said)}",
            is_asked=any(_is_asked(node, store, name) for name, _ in read),
        )  # fmt: skip

    def _named(self, one: Value, other: Value, kept: _Kept) -> Iterator[tuple[str, str, str]]:
        """Yield the keyword arguments that are others, with the default of one that isn't given."""
        for key in dict.fromkeys((*one.parts, *other.parts)):
            pair = [self._all.part(each, key) for each in (one, other)]
            name = key.strip("'")
            words = [_words(each) if each else self._default(name, kept) for each in pair]
            is_default = None in pair and words[0] == words[1]
            if self._same(pair[0]) != self._same(pair[1]) and not is_default:
                yield name, words[0], words[1]

    def _default(self, name: str, kept: _Kept) -> str:
        """Return what the function that made what was kept takes for an argument that isn't given."""
        for made in self._all.called_in(kept.step):
            node = self._sources[made.code.path].node_of(made.code)
            default = default_of(node, name) if isinstance(node, _FUNCTIONS) else None
            if default is not None:
                return ast.unparse(default)
        return ""

    def _read(
        self, node: ast.FunctionDef | ast.AsyncFunctionDef, store: _Store, at: tuple[Call, Step],
        kept: _Kept,
    ) -> Iterator[tuple[str, Value, Value, ast.AST | None]]:  # fmt: skip
        """Yield what else was read to make the result, and was another plain value by then; and the function there."""
        own, *below = [
            (node, kept.call, kept.step),
            *(
                (inner, each, each.steps[0])
                for each in self._all.called_in(kept.step)
                if each.steps
                for inner in (self._sources[each.code.path].node_of(each.code),)
            ),
        ]
        key = ast.unparse(store.said)
        bound = {each for every in ast.walk(node) for each in names_in(every) if _is_stored(every)}
        changed = {
            ast.unparse(each)
            for each in ast.walk(node)
            if isinstance(each, ast.expr) and _is_stored(each)
        }
        seen = set[str]()
        for inside, call, step in (own, *below):
            parameters = set(_parameters(inside)) if isinstance(inside, _FUNCTIONS) else set[str]()
            for each in ast.walk(inside) if inside is not None else ():
                if not isinstance(each, ast.Attribute | ast.Name | ast.Subscript):
                    continue
                root, said = _root(each), ast.unparse(each)
                is_global = (
                    call.code.path == kept.call.code.path and root not in call.code.variables
                )
                is_shared = (
                    root in parameters
                    and root in _parameters(node)
                    and call.code.variables >= {root}
                )
                if said in seen or said in key or said in changed or root in bound or not root:
                    continue
                if isinstance(each, ast.Name) and not is_global:
                    continue
                if not (is_global or is_shared):
                    continue
                seen.add(said)
                one = self._now.value(each, *at)
                other = self._now.value(each, call, step)
                if one is None or other is None or {one.kind, other.kind} != {SCALAR}:
                    continue
                if not one.is_same(other) and not (is_shared and self._is_other(root, at, kept)):
                    is_here = call.code.path == kept.call.code.path
                    yield said, one, other, inside if is_here else None

    def _is_other(self, root: str, at: tuple[Call, Step], kept: _Kept) -> bool:
        """Whether an argument itself is another one: then that is what the key lacks."""
        one, other = (self._all.held(call, root, call.began) for call in (at[0], kept.call))
        return one is None or not one.is_same(other)


def kept_for_others(recording: Recording | None) -> Sequence[KeptForOther]:
    """Return where a run gave what it had kept for other arguments."""
    return [] if recording is None else KeptForOthers(recording, Sources()).found()


def _stores_in(node: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[_Store]:
    """Yield what a function both looks up and keeps, by its words."""
    stores: dict[tuple[str, str], _Store] = {}
    own = list(_own(node))
    for each in own:
        for (holder, key), how in _uses(each):
            words = ast.unparse(holder), ast.unparse(key)
            store = stores.setdefault(words, _Store(holder, key))
            store.spots.append(key)
            if how:
                (store.reads if how == "read" else store.writes).append(key)
    for store in stores.values():
        if isinstance(store.key, ast.Name):
            binds = [
                each
                for each in own
                if isinstance(each, ast.Name) and each.id == store.key.id and _is_stored(each)
            ]
            made = [each for each in own if isinstance(each, ast.Assign) and binds == each.targets]
            store.made = made[0] if made else None
        if store.reads and store.writes and not isinstance(store.key, ast.Constant):
            yield store


def _uses(node: ast.AST) -> Iterator[tuple[_Spot, str]]:
    """Yield a container and a key, and what a node does with them: it reads, writes, or does something else."""
    match node:
        case ast.Subscript(value=holder, slice=key, ctx=ast.Load()):
            yield (holder, key), "read"
        case ast.Subscript(value=holder, slice=key, ctx=ast.Store()):
            yield (holder, key), "write"
        case ast.Subscript(value=holder, slice=key):
            yield (holder, key), ""
        case ast.Call(func=ast.Attribute(value=holder, attr="get"), args=[key, *_]):
            yield (holder, key), "read"
        case ast.Call(func=ast.Attribute(value=holder), args=[key, _]):
            yield (holder, key), "write"
        case ast.Compare(left=key, ops=[ast.In() | ast.NotIn()], comparators=[holder]):
            yield (holder, key), ""
        case ast.Call(func=ast.Attribute(value=holder, attr="pop" | "move_to_end"), args=[key]):
            yield (holder, key), ""
        case _:
            pass


def _own(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of a function without those of the functions in it."""
    for each in ast.iter_child_nodes(node):
        if not isinstance(each, _FUNCTIONS | ast.Lambda):
            yield each
            yield from _own(each)


def _is_asked(node: ast.AST, store: _Store, name: str) -> bool:
    """Whether something is asked about before what is kept is given; that its object has that doesn't count."""
    if _root(store.holder) == _root(expression := _expression(name)) and isinstance(
        expression, ast.Name
    ):
        return False
    reads, own = {id(each) for each in (*store.spots, *store.reads)}, list(_own(node))
    bound = {
        ast.unparse(target)
        for each in own
        if isinstance(each, ast.Assign | ast.NamedExpr) and _has(each.value, reads)
        for target in (each.targets if isinstance(each, ast.Assign) else [each.target])
    }
    for each in own:
        if isinstance(each, ast.If | ast.IfExp | ast.While):
            inside = {ast.unparse(one) for one in ast.walk(each.test) if isinstance(one, ast.expr)}
            before = [
                one
                for one in own
                if isinstance(one, ast.Assign)
                and one.lineno < each.lineno
                and inside & set(map(ast.unparse, one.targets))
                and not _has(one, {id(spot) for spot in store.writes})
            ]
            for one in before:
                inside |= {
                    ast.unparse(part) for part in ast.walk(one.value) if isinstance(part, ast.expr)
                }
            gives = _has(each, {id(spot) for spot in store.reads}) or bound & inside
            if name in inside and gives:
                return True
    return False


def _has(node: ast.AST, some: set[int]) -> bool:
    return any(id(each) in some for each in ast.walk(node))


def _place(node: ast.AST) -> tuple[object, ...]:
    own = [
        getattr(node, each, None)
        for each in ("lineno", "col_offset", "end_lineno", "end_col_offset")
    ]
    return (type(node), *own)


def _expression(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def _parameters(node: ast.FunctionDef | ast.AsyncFunctionDef) -> list[str]:
    own = node.args
    others = [each for each in (own.vararg, own.kwarg) if each is not None]
    return [each.arg for each in (*own.posonlyargs, *own.args, *own.kwonlyargs, *others)]


def _is_stored(node: ast.AST) -> bool:
    return isinstance(getattr(node, "ctx", None), ast.Store)


def _root(node: ast.AST) -> str:
    """Return the name that an attribute or an item with a constant key is reached from; empty: another way."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        if isinstance(node, ast.Subscript) and not isinstance(node.slice, ast.Constant):
            return ""
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _as_text(name: str, value: Value) -> str:
    """Return what the program has in its key for a value: one that can't be hashed as a text."""
    if value.kind == SCALAR:
        return name
    return f"repr({name})" if value.kind == CONTAINER else f"id({name})"


def _words(value: Value) -> str:
    return cut(value.words) if value.kind == SCALAR else ""


def _with(name: str, words: str, which: str) -> str:
    return f"for {name}={words}" if words else f"for {which} `{name}`"
