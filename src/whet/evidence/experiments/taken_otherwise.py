"""Small changes of a program for a value that it takes for something else.

A text that should be a number or a truth value; an iterator that should be a list; an object that
changes later and should be a copy; output in a buffer that should be in the file.
"""

import ast
import builtins
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import chain

from whet.evidence.experiments.changes import (
    Change,
    Needed,
    edit_at,
    expression,
    name_of,
    receiver_of,
    replacing,
)

TWICE, ITERATOR, MARKED, SPELT = "held twice", "an iterator", "a byte order mark", "a text"
TRUTH, MAKES_KEYS = "bool", "a dict that makes its keys"

_NUMBERED = (
    "(lambda re, get: lambda each: (lambda own: tuple(map(own, get(each))) if isinstance(get(each),"
    " (tuple, list)) else own(get(each)))(lambda value: value if not isinstance(value, str) else"
    " ['', float(value), ''] if re.fullmatch(' *[+-]?[0-9]+([.][0-9]+)? *', value) else"
    " [float(part) if place % 2 else part for place, part in"
    " enumerate(re.split('([0-9]+)', value))]))(__import__('re'), {get})"
)
"""A key for sorting: the numbers in texts are compared as numbers."""
_AS_TRUTH = (
    "(lambda value: value.strip().lower() not in ('', '0', 'false', 'no', 'off')"
    " if isinstance(value, str) else bool(value))"
)
_NEAR = (
    "(lambda one, other: one == other or (all(isinstance(each, (int, float)) for each in (one, "
    "other))"
    " and __import__('math').isclose(one, other, rel_tol=1e-9, abs_tol=1e-9)))({one}, {other})"
)
_SAID_TRUTH = "the texts `0`, `false`, `no` and `off` taken as false"
_MOST_ITEMS = 100_000
"""An iterator may have no end: one that has more items than these isn't made a list."""
_AS_LIST = (
    "(lambda own: own if not hasattr(own, '__next__') else (lambda items: items if len(items) <"
    f" {_MOST_ITEMS} else 1 / 0)(list(__import__('itertools').islice(own, "
    f"{_MOST_ITEMS}))))({{own}})"
)
_ORDERS = frozenset({"sorted", "min", "max", "sort", "nsmallest", "nlargest"})
_PUTS = frozenset({"append", "appendleft", "insert", "add", "put"})
_ASKED = ("environ.get", "getenv")
_BUILT_IN = frozenset(dir(builtins))
_WRITES = frozenset("wax+")
_KINDS = frozenset("rwaxbt+")
_THROUGH = frozenset(
    {"sum", "list", "tuple", "set", "sorted", "max", "min", "any", "all", "dict", "join", "len", "map",
     "zip", "filter", "enumerate", "frozenset", "Counter", "extend", "update", "fmean", "mean"}
)  # fmt: skip
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_ONLY_READS = (
    ast.Return, ast.Compare, ast.BoolOp, ast.UnaryOp, ast.If, ast.While, ast.IfExp, ast.comprehension,
)  # fmt: skip
_READS = _THROUGH | {"bool", "int", "str"}


def taken_otherwise(tree: ast.Module) -> Iterator[Change]:
    """Yield the changes that a module offers."""
    yield from _encoded(tree)
    dropped = {id(each.value) for each in ast.walk(tree) if isinstance(each, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            yield from _ordered(node)
            yield from _true(node)
            yield from _true_by(node) if id(node) not in dropped else ()
            yield from _held_back(node)
        yield from _asked(node)
        yield from _rounded(node)
        yield from _kept_live(node)
        if isinstance(node, _ONLY_READS) or (
            isinstance(node, ast.Call) and name_of(node.func) in _READS
        ):
            yield from chain.from_iterable(map(_looked_up, ast.iter_child_nodes(node)))
        if isinstance(node, _FUNCTIONS):
            yield from _used_up(node)
            yield from _used_up_locally(node)
            yield from _spelt(node)


def _ordered(node: ast.Call) -> Iterator[Change]:
    """Yield what puts texts in the order of their signs: `"10"` comes before `"9"`."""
    if name_of(node.func) not in _ORDERS or not (node.args or name_of(node.func) == "sort"):
        return
    get = next((ast.unparse(each.value) for each in node.keywords if each.arg == "key"), "")
    numbering = expression(_NUMBERED.replace("{get}", get or "(lambda own: own)"))

    def edit(found: ast.AST) -> ast.AST:
        assert isinstance(found, ast.Call)
        found.keywords = [each for each in found.keywords if each.arg != "key"]
        found.keywords.append(ast.keyword(arg="key", value=numbering))
        return found

    yield Change(
        node=node, what=f"`{ast.unparse(node)}` compares text character by character, even the numbers in it",
        instead="these numbers compared as numbers", edit=edit_at(node, edit),
    )  # fmt: skip


def _true(node: ast.Call) -> Iterator[Change]:
    """Yield `bool` of a text: only an empty one is false."""
    what = "`bool` takes any text but an empty one as true"
    types = [each.value for each in node.keywords if each.arg == "type"]
    for each in (node.func, *types):
        if isinstance(each, ast.Name) and each.id == "bool" and (node.args or types):
            yield replace(replacing(each, what, _AS_TRUTH), instead=_SAID_TRUTH)


def _true_by(node: ast.Call) -> Iterator[Change]:
    """Yield what converts a text and is looked up, or given: it may be `bool`."""
    name = node.func.id if isinstance(node.func, ast.Name) else ""
    if len(node.args) != 1 or node.keywords or isinstance(node.func, ast.Call) or name in _BUILT_IN:
        return
    source = ast.unparse(node.func)
    what = (
        f"`{ast.unparse(node)}` takes any text but an empty one as true, where `{source}` is `bool`"
    )
    making = f"(lambda kind: {_AS_TRUTH} if kind is bool else kind)({source})"
    change = replace(replacing(node.func, what, making), instead=_SAID_TRUTH)
    yield replace(change, needs=Needed(TRUTH, source, (node.lineno,)))


def _asked(node: ast.AST) -> Iterator[Change]:
    """Yield the variables of the environment that are taken as true or false."""
    tests: list[ast.expr] = []
    if isinstance(node, ast.If | ast.IfExp | ast.While):
        tests = [node.test]
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        tests = [node.operand]
    elif isinstance(node, ast.BoolOp):
        tests = node.values[:-1]
    for each in tests:
        if isinstance(each, ast.Call) and ast.unparse(each.func).endswith(_ASKED):
            source = ast.unparse(each)
            what = f"`{source}` is text, and any text that isn't empty is true"
            truth = f"{_AS_TRUTH}({source})"
            yield replace(replacing(each, what, truth), instead=_SAID_TRUTH)


def _rounded(node: ast.AST) -> Iterator[Change]:
    """Yield what compares numbers exactly that may have been rounded."""
    match node:
        case ast.Compare(ops=[ast.Eq() | ast.NotEq() as how], comparators=[right], left=left):
            pass
        case _:
            return
    if any(
        isinstance(each, ast.Constant) and type(each.value) is not float for each in (left, right)
    ):
        return
    one, other = ast.unparse(left), ast.unparse(right)
    near = _NEAR.replace("{one}", one).replace("{other}", other)
    comparison = near if isinstance(how, ast.Eq) else f"not {near}"
    yield replace(
        replacing(node, f"`{ast.unparse(node)}` compares rounded numbers exactly", comparison),
        instead="a difference of a billionth allowed",
        is_seldom=True,
    )


def _encoded(tree: ast.Module) -> Iterator[Change]:
    """Yield the texts that are read in another encoding than others of the module are written in."""
    encodings = [
        each.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        for each in node.keywords
        if each.arg == "encoding" and isinstance(each.value, ast.Constant)
    ]
    names = list(dict.fromkeys(each.value for each in encodings if isinstance(each.value, str)))
    for each in encodings:
        for other in [name for name in names if name != each.value][:2]:
            what = f"`encoding={ast.unparse(each)}` is not the `{other}` of another line"
            yield replacing(each, what, repr(other), f"encoding={other!r}")
        if str(each.value).replace("-", "").casefold() == "utf8":
            source = f"encoding={ast.unparse(each)}"
            change = replacing(each, f"`{source}` keeps a byte order mark as text", "'utf-8-sig'")
            yield replace(change, needs=Needed(MARKED, "", ()))


def _held_back(node: ast.Call) -> Iterator[Change]:
    """Yield the files that are written through a buffer."""
    is_method = isinstance(node.func, ast.Attribute)
    if name_of(node.func) != "open" or (is_method and receiver_of(node) in {"gzip", "bz2", "io"}):
        return
    path, arguments = ("", node.args) if not is_method else (receiver_of(node), node.args)
    if not is_method and arguments:
        path, arguments = ast.unparse(arguments[0]), arguments[1:]
    mode = next((each.value for each in node.keywords if each.arg == "mode"), None)
    mode = mode or (arguments[0] if arguments else None)
    mode_text = mode.value if isinstance(mode, ast.Constant) else None
    if (
        not path
        or not isinstance(mode_text, str)
        or not set(mode_text) <= _KINDS
        or not set(mode_text) & _WRITES
    ):
        return
    raw = f"__import__('io').FileIO({path}, {mode_text.replace('t', '')!r})"
    others = [
        f", {each.arg}={ast.unparse(each.value)}"
        for each in node.keywords
        if each.arg in {"encoding", "errors", "newline"}
    ]
    text = f"__import__('io').TextIOWrapper({raw}, write_through=True{''.join(others)})"
    yield replace(
        replacing(
            node, f"what is written to `{ast.unparse(node)}` waits in a buffer until the file is "
            "flushed or closed, but something looks for it earlier", raw if "b" in mode_text else text,
        ),
        instead="no buffer", is_seldom=True,
        advice="by closing the file, or flushing it, before something looks for what is in it",
    )  # fmt: skip


def _looked_up(node: ast.AST) -> Iterator[Change]:
    """Yield a look-up that puts a key there which is not, as those of a `defaultdict` do."""
    if not isinstance(node, ast.Subscript) or not isinstance(node.ctx, ast.Load):
        return
    if isinstance(node.slice, ast.Constant | ast.Slice | ast.UnaryOp):
        return
    holder, key = ast.unparse(node.value), ast.unparse(node.slice)
    made = f"(lambda own, key: own[key] if key in own else own.default_factory())({holder}, {key})"
    yield replace(
        replacing(
            node, f"`{ast.unparse(node)}` adds a key that `{holder}`, a `defaultdict`, doesn't have", made
        ),
        instead="a look-up that adds no key", advice=f"with `in` or `get`, which add no key to `{holder}`",
        needs=Needed(MAKES_KEYS, holder, (node.lineno,)),
    )  # fmt: skip


def _kept_live(node: ast.AST) -> Iterator[Change]:
    """Yield the objects that are kept more than once, as the same object, while they change."""
    view: ast.expr | None = None
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        call = node.value
        is_put = isinstance(call.func, ast.Attribute) and call.func.attr in _PUTS
        view = call.args[-1] if is_put and call.args else None
    elif isinstance(node, ast.Yield):
        view = node.value
    for each in _held_by(view):
        source = ast.unparse(each)
        yield replace(
            replacing(
                each, f"`{source}` itself is stored, not a copy: several entries are the same"
                " object, which keeps changing", f"__import__('copy').deepcopy({source})",
            ),
            needs=Needed(TWICE, source, (each.lineno,)),
        )  # fmt: skip


def _held_by(kept: ast.expr | None) -> Iterator[ast.expr]:
    """Yield stored values, and those in a stored record."""
    match kept:
        case ast.Name() | ast.Attribute():
            yield kept
        case ast.Dict(values=parts) | ast.Tuple(elts=parts) | ast.List(elts=parts):
            for each in parts:
                yield from _held_by(each)
        case _:
            return


def _used_up(node: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[Change]:
    """Yield what a function goes through more than once, though it may only be gone through once."""
    arguments = node.args
    parameters = {
        each.arg for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
    }
    uses: dict[str, list[int]] = {}
    for name, line in sorted(_handed_on(node), key=lambda each: each[1]):
        uses.setdefault(name, []).append(line)
    for name, lines in uses.items():
        if name not in parameters or not (lines[1:] or _is_in_loop(node, name)):
            continue

        def edit(found: ast.AST, name: str = name) -> ast.AST:
            assert isinstance(found, _FUNCTIONS)
            source = _AS_LIST.replace("{own}", name)
            found.body[:0] = ast.parse(f"{name} = {source}").body
            return found

        first = next(
            each for each in ast.walk(node) if isinstance(each, ast.Name) and each.id == name
            and each.lineno == lines[0]
        )  # fmt: skip
        more = f", and is used again at line {lines[1]}" if lines[1:] else ", and is in a loop"
        yield Change(
            node=first, what=f"`{name}` can be iterated only once{more}",
            instead=f"`{name} = list({name})` before it", edit=edit_at(node, edit),
            needs=Needed(ITERATOR, name, tuple(lines)),
        )  # fmt: skip


def _spelt(node: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[Change]:
    """Yield what a function goes through, and one caller gives as a text alone: that is its characters."""
    arguments = node.args
    parameters = {
        each.arg for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
    }
    for name, line in dict(sorted(_gone_through(node), reverse=True)).items():
        if name not in parameters:
            continue

        def edit(found: ast.AST, name: str = name) -> ast.AST:
            assert isinstance(found, _FUNCTIONS)
            source = f"{name} = [{name}] if isinstance({name}, str) else {name}"
            found.body[:0] = ast.parse(source).body
            return found

        first = next(
            each for each in ast.walk(node) if isinstance(each, ast.Name) and each.id == name
            and each.lineno == line
        )  # fmt: skip
        yield Change(
            node=first, what=f"`{node.name}` goes through `{name}`, one character after the other where that is a text",
            instead=f"`[{name}]` for a text", edit=edit_at(node, edit), needs=Needed(SPELT, name, (line,)),
        )  # fmt: skip


def _used_up_locally(node: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[Change]:
    """Yield what a call has given, and a function goes through more than once."""
    uses = [name for name, _ in _handed_on(node)]
    for each in ast.walk(node):
        match each:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call() as call):
                pass
            case _:
                continue
        if uses.count(name) > 1 or (name in uses and _is_in_loop(node, name)):
            source = _AS_LIST.replace("{own}", ast.unparse(call))
            change = replacing(call, f"`{name}` can be iterated only once", source)
            lines = tuple(line for one, line in _handed_on(node) if one == name)
            words = f"`list({ast.unparse(call)})`"
            yield replace(change, instead=words, needs=Needed(ITERATOR, name, lines))


def _gone_through(node: ast.AST) -> Iterator[tuple[str, int]]:
    """Yield the names that a function goes through, with their lines."""
    return _uses(node, lambda call: name_of(call.func) in _THROUGH)


def _handed_on(node: ast.AST) -> Iterator[tuple[str, int]]:
    """Yield the names that a function goes through, hands on to what may do so, or gives back."""
    yield from _uses(node, lambda _: True)
    for each in ast.walk(node):
        if isinstance(each, ast.Return) and isinstance(each.value, ast.Name):
            yield each.value.id, each.lineno


def _uses(node: ast.AST, uses_up: Callable[[ast.Call], bool]) -> Iterator[tuple[str, int]]:
    for each in ast.walk(node):
        iterables: list[ast.expr] = []
        if isinstance(each, ast.For | ast.comprehension):
            iterables = [each.iter]
        elif isinstance(each, ast.Call) and uses_up(each):
            iterables = each.args
        for one in iterables:
            if isinstance(one, ast.Name):
                yield one.id, one.lineno


def _is_in_loop(node: ast.AST, name: str) -> bool:
    loops = [each for each in ast.walk(node) if isinstance(each, ast.For | ast.While)]
    return any(
        name in {iterated for part in each.body for iterated, _ in _handed_on(part)}
        for each in loops
    )
