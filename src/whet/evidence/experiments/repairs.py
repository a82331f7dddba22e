"""Small changes of a program that each remove one way to leave state behind or to lose it.

Each is an experiment: only a run with it shows whether that matters for the failure. The kinds come
from the language, not from any program: values that several calls, instances or names share;
exhausted iterators; methods that change their object and return nothing, or return something new that
the program drops; numbers that are too small; changes of the whole process.
"""

import ast
from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from whet.evidence.experiments.bound_otherwise import bound_in, bound_otherwise, early
from whet.evidence.experiments.changes import (
    IN_PLACE,
    Change,
    Needed,
    changed_in_place,
    edit_at,
    expression,
    name_of,
    parsed,
    receiver_of,
    replacing,
    root_of,
)
from whet.evidence.experiments.default_otherwise import false_kept
from whet.evidence.experiments.given_otherwise import given_otherwise
from whet.evidence.experiments.inherited_otherwise import inherited_otherwise
from whet.evidence.experiments.merged_otherwise import merged_otherwise
from whet.evidence.experiments.restored_otherwise import restored_otherwise
from whet.evidence.experiments.shaped_otherwise import shaped_otherwise, widened
from whet.evidence.experiments.taken_otherwise import taken_otherwise
from whet.evidence.experiments.wrapped_otherwise import wrapped_otherwise

_MUTABLE = (ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp)
_MAKERS = frozenset(
    {"list", "dict", "set", "bytearray", "defaultdict", "deque", "Counter", "OrderedDict"}
)
_ONCE = frozenset({"map", "filter", "zip", "iter", "reversed", "enumerate", "reader", "DictReader"})
_NEW_TEXT = frozenset(
    {
        "replace",
        "strip",
        "lstrip",
        "rstrip",
        "upper",
        "lower",
        "title",
        "casefold",
        "removeprefix",
        "removesuffix",
        "zfill",
    }
)
_SHALLOW = frozenset({"copy", "dict", "list", "set"})
_PROCESS = frozenset({"setlocale", "seterr", "setrecursionlimit", "setdefaulttimeout"})
"""Without these a program computes otherwise. One without `chdir`, `umask` or `putenv` would read,
write or delete elsewhere: such a change is never tried.
"""
_KEEPS = frozenset({"lru_cache", "cache"})
_KEEPS_ONCE = "cached_property"
_WIDER = {
    "int8": ("int64",), "int16": ("int64",), "int32": ("int64",), "intc": ("int64",),
    "uint8": ("int64",), "uint16": ("int64",), "uint32": ("int64",),
    "float16": ("float32", "bfloat16", "float64"), "float32": ("float64",),
}  # fmt: skip
SETS_MODULES = "variables of modules"
_ANEW = frozenset({"spawn", "forkserver"})
_HAVE_BFLOAT16 = frozenset({"torch", "jnp", "jax.numpy"})
_MOST_ITEMS = 100_000
"""An iterator may have no end: one that has more items than these isn't made a list."""


def repairs_of(source: str) -> list[Change]:
    """Return the changes that a module offers, by their lines; none if it can't be read."""
    tree = parsed(source)
    if tree is None:
        return []
    changed = _changed_names(tree)
    changes = [change for node in ast.walk(tree) for change in _changes(node, changed)]
    changes += [
        *merged_otherwise(tree),
        *taken_otherwise(tree),
        *bound_otherwise(tree),
        *widened(tree),
    ]
    changes += [*wrapped_otherwise(tree), *false_kept(tree)]
    return sorted(changes, key=lambda change: change.line)


def _changes(node: ast.AST, changed: set[str]) -> Iterator[Change]:
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            yield from _defaults(node)
            yield from _kept_results(node)
            yield from restored_otherwise(node)
        case ast.ClassDef():
            yield from _class_values(node)
            yield from inherited_otherwise(node)
        case ast.Assign() | ast.Return():
            yield from _values(node, changed)
        case ast.Expr():
            yield from _statements(node)
        case ast.For() | ast.While():
            yield from _late(node, bound_in(node))
        case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
            names = {name for each in node.generators for name in _stored(each.target)}
            yield from _late(node, names)
            yield from _copied_in(node)
        case _:
            yield from _of_operands(node)
    if isinstance(node, ast.For):
        yield from _loops(node)


def _of_operands(node: ast.AST) -> Iterator[Change]:
    yield from shaped_otherwise(node)
    match node:
        case ast.BinOp():
            yield from _repeated(node)
        case ast.Call():
            yield from _from_keys(node)
            yield from given_otherwise(node)
        case ast.Attribute() | ast.Constant():
            yield from _small_numbers(node)
            yield from _imported_anew(node)
        case _:
            return


# ---- what several share ----


def _defaults(node: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[Change]:
    arguments = node.args
    positional = [*arguments.posonlyargs, *arguments.args]
    pairs = [
        *zip(
            positional[len(positional) - len(arguments.defaults) :], arguments.defaults, strict=True
        ),
        *zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True),
    ]
    for argument, default in pairs:
        is_call = isinstance(default, ast.Call)
        if default is None or not (is_call or _is_mutable(default)):
            continue
        name, source = argument.arg, ast.unparse(default)
        what = f"all calls of `{node.name}` share the default of `{name}`, `{source}`"
        if is_call and not _is_mutable(default):
            what = f"the default of `{name}`, `{source}`, is computed once, when `{node.name}` is defined"

        def edit(found: ast.AST, name: str = name, made: str = source) -> ast.AST:
            assert isinstance(found, ast.FunctionDef | ast.AsyncFunctionDef)
            _undefault(found.args, name)
            found.body[:0] = ast.parse(f"{name} = ({made}) if {name} is ... else {name}").body
            return found

        yield Change(
            node=default, what=what,
            instead="a new one for each call", edit=edit_at(node, edit), frees=True,
        )  # fmt: skip


def _undefault(arguments: ast.arguments, name: str) -> None:
    positional = [*arguments.posonlyargs, *arguments.args]
    first = len(positional) - len(arguments.defaults)
    for place, each in enumerate(positional):
        if each.arg == name:
            arguments.defaults[place - first] = ast.Constant(value=...)
    for place, each in enumerate(arguments.kwonlyargs):
        if each.arg == name:
            arguments.kw_defaults[place] = ast.Constant(value=...)


def _kept_results(node: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[Change]:
    for keeper in node.decorator_list:
        if name_of(keeper) == _KEEPS_ONCE:
            what = f"what `{node.name}` was at first is kept"
            yield replace(replacing(keeper, what, "property", "property"), frees=True)
        if name_of(keeper.func if isinstance(keeper, ast.Call) else keeper) in _KEEPS:

            def edit(found: ast.AST, text: str = ast.unparse(keeper)) -> ast.AST:
                assert isinstance(found, ast.FunctionDef | ast.AsyncFunctionDef)
                found.decorator_list = [
                    each for each in found.decorator_list if ast.unparse(each) != text
                ]
                return found

            yield Change(
                node=keeper, what=f"what `{node.name}` returns is kept and given out again",
                instead="a new result for each call", edit=edit_at(node, edit), frees=True,
            )  # fmt: skip


def _class_values(node: ast.ClassDef) -> Iterator[Change]:
    for each in node.body:
        value = each.value if isinstance(each, ast.Assign | ast.AnnAssign) else None
        target = each.targets[0] if isinstance(each, ast.Assign) else getattr(each, "target", None)
        if value is None or not isinstance(target, ast.Name):
            continue
        if isinstance(each, ast.AnnAssign) and any(
            "dataclass" in ast.unparse(e) for e in node.decorator_list
        ):
            yield from _field_defaults(node, target.id, value)
        if not _is_mutable(value):
            continue
        name, source = target.id, ast.unparse(value)

        def edit(found: ast.AST, name: str = name, made: str = source) -> ast.AST:
            assert isinstance(found, ast.ClassDef)
            setting = ast.parse(f"self.{name} = {made}").body
            for method in found.body:
                if (
                    isinstance(method, ast.FunctionDef)
                    and method.name == "__init__"
                    and method.args.args
                ):
                    setting = ast.parse(f"{method.args.args[0].arg}.{name} = {made}").body
                    method.body[:0] = setting
                    return found
            made_new = ast.parse(
                "def __init__(self, *a, **k):\n    super().__init__(*a, **k)"
            ).body[0]
            assert isinstance(made_new, ast.FunctionDef)
            made_new.body += setting
            found.body.append(made_new)
            return found

        yield Change(
            node=each,
            what=f"instances of `{node.name}` that have no `{name}` of their own share one, `{source}`",
            instead="one for each instance", edit=edit_at(node, edit),
        )  # fmt: skip


def _field_defaults(node: ast.ClassDef, name: str, value: ast.expr) -> Iterator[Change]:
    if isinstance(value, ast.Call) and name_of(value.func) != "field":
        source = ast.unparse(value)
        what = (
            f"the default of `{name}`, `{source}`, is computed once, when `{node.name}` is defined"
        )
        field = f"__import__('dataclasses').field(default_factory=lambda: {source})"
        yield replacing(value, what, field, f"field(default_factory=lambda: {source})")


def _repeated(node: ast.BinOp) -> Iterator[Change]:
    is_list = isinstance(node.op, ast.Mult) and isinstance(node.left, ast.List)
    if not is_list or not isinstance(node.left, ast.List) or len(node.left.elts) != 1:
        return
    row, times = node.left.elts[0], ast.unparse(node.right)
    is_row = _is_mutable(row) or (isinstance(row, ast.BinOp) and isinstance(row.left, ast.List))
    if is_row:
        comprehension = f"[{ast.unparse(row)} for _ in range({times})]"
        yield Change(
            node=node, what=f"`{ast.unparse(node)}` repeats the same object",
            instead=f"`{comprehension}`", edit=edit_at(node, lambda _: expression(comprehension)),
        )  # fmt: skip


def _from_keys(node: ast.Call) -> Iterator[Change]:
    """Yield `dict.fromkeys(keys, [])`, which gives every key the same object."""
    match node:
        case ast.Call(func=ast.Attribute(attr="fromkeys"), args=[keys, value]) if _is_mutable(
            value
        ):
            comprehension = f"{{key: {ast.unparse(value)} for key in {ast.unparse(keys)}}}"
            source = ast.unparse(node)
            yield replacing(node, f"`{source}` gives every key the same object", comprehension)
        case _:
            return


def _values(node: ast.Assign | ast.Return, names: set[str]) -> Iterator[Change]:
    value = node.value
    if value is None:
        return
    source = ast.unparse(value)
    name = name_of(value.func) if isinstance(value, ast.Call) else ""
    roots = {root_of(each) for each in (node.targets if isinstance(node, ast.Assign) else [])}
    if isinstance(value, ast.Call) and name in IN_PLACE and receiver_of(value):
        receiver = receiver_of(value)

        def edit(found: ast.AST) -> list[ast.stmt]:
            assert isinstance(found, ast.Assign | ast.Return)
            found.value = expression(receiver)
            return [*ast.parse(source).body, found]

        yield Change(
            node=node, what=f"`{source}` changes `{receiver}` and returns `None`",
            instead=f"`{receiver}` itself in its place", edit=edit_at(node, edit),
        )  # fmt: skip
    elif isinstance(node, ast.Assign) and (name in _ONCE or isinstance(value, ast.GeneratorExp)):
        bounded = f"list(__import__('itertools').islice({source}, {_MOST_ITEMS}))"
        guard = f"(lambda items: items if len(items) < {_MOST_ITEMS} else 1 / 0)({bounded})"
        yield replacing(value, f"`{source}` can be iterated only once", guard, f"list({source})")
    elif (isinstance(value, ast.Name | ast.Attribute | ast.Subscript) or name in _SHALLOW) and (
        root_of(value) in names or roots & names
    ):
        what = "is a shallow copy: what it holds is shared" if name else "is shared, not copied"
        copying = replacing(value, f"`{source}` {what}", f"__import__('copy').deepcopy({source})")
        yield replace(copying, is_telling=bool(name))
    elif isinstance(node, ast.Assign) and isinstance(value, ast.Call | ast.IfExp) and roots & names:
        copying = replacing(
            value,
            f"what `{source}` gives is shared, not copied",
            f"__import__('copy').deepcopy({source})",
        )
        yield replace(copying, is_telling=False)


def _copied_in(node: ast.AST) -> Iterator[Change]:
    """Yield the shallow copies that a comprehension makes."""
    elements = [node.value] if isinstance(node, ast.DictComp) else [getattr(node, "elt", None)]
    for each in elements:
        if isinstance(each, ast.Call) and name_of(each.func) in _SHALLOW:
            source = ast.unparse(each)
            copying = f"__import__('copy').deepcopy({source})"
            yield replacing(each, f"`{source}` is a shallow copy: what it holds is shared", copying)


def _loops(node: ast.For) -> Iterator[Change]:
    source = ast.unparse(node.iter)
    changes = {root_of(each) for each in changed_in_place(node)}
    is_shared = isinstance(node.iter, ast.Attribute | ast.Subscript) and _calls(node.body)
    is_changed = isinstance(node.iter, ast.Name | ast.Attribute | ast.Call) and (
        root_of(node.iter) in changes
    )
    if is_changed or is_shared:
        what = f"`{source}` is changed while the loop iterates over it"
        yield replacing(node.iter, what, f"list({source})")


def _calls(body: list[ast.stmt]) -> bool:
    return any(isinstance(node, ast.Call) for each in body for node in ast.walk(each))


def _late(node: ast.AST, names: set[str]) -> Iterator[Change]:
    """Yield the functions made in a loop that look its variable up when they are called."""
    late = [
        (each, late_names)
        for each in ast.walk(node)
        if isinstance(each, ast.Lambda) and (late_names := _looked_up_late(each, names))
    ]
    for each, late_names in late:
        words = " and ".join(f"`{name}`" for name in late_names)
        yield Change(
            node=each, what=f"the function made here looks {words} up when it is called, after the loop has moved on",
            instead=early(late_names, "the function"),
            edit=edit_at(each, partial(_bound_early, names=names)),
        )  # fmt: skip
    if len(late) > 1:
        every = sorted({name for _, own in late for name in own})
        words = " and ".join(f"`{name}`" for name in every)

        def edit(found: ast.AST) -> ast.AST:
            for each in ast.walk(found):
                _bound_early(each, names)
            return found

        lines = " and ".join(sorted({f"line {each.lineno}" for each, _ in late}))
        yield Change(
            node=late[0][0],
            what=f"the functions made here ({lines}) look {words} up when they are called, after "
            "the loop has moved on",
            instead=early(every, "each function"), edit=edit_at(node, edit),
        )  # fmt: skip


def _looked_up_late(made: ast.Lambda, names: set[str]) -> list[str]:
    loads = sorted({x.id for x in ast.walk(made.body) if isinstance(x, ast.Name)} & names)
    own = {x.arg for x in ast.walk(made.args) if isinstance(x, ast.arg)}
    return [name for name in loads if name not in own]


def _bound_early(found: ast.AST, names: set[str]) -> ast.AST:
    if isinstance(found, ast.Lambda):
        late_names = _looked_up_late(found, names)
        found.args.kwonlyargs += [ast.arg(arg=name) for name in late_names]
        found.args.kw_defaults += [ast.Name(id=name, ctx=ast.Load()) for name in late_names]
    return found


# ---- what is lost, or changed for all ----


def _statements(node: ast.Expr) -> Iterator[Change]:
    call = node.value
    if isinstance(call, ast.BinOp | ast.Compare):
        yield from _unused(node, call)
    if not isinstance(call, ast.Call):
        return
    name, receiver, source = name_of(call.func), receiver_of(call), ast.unparse(call)
    if name in _NEW_TEXT and isinstance(call.func, ast.Attribute) and receiver.isidentifier():
        assignment = ast.parse(f"{receiver} = {source}").body
        yield Change(
            node=node, what=f"nothing uses what `{source}` returns, and `{receiver}` stays as it was",
            instead=f"`{receiver} = {source}`", edit=edit_at(node, lambda _: assignment),
        )  # fmt: skip
    elif name in _PROCESS:
        yield Change(
            node=node, what=f"`{source}` changes something for the whole process",
            instead="that call left out", edit=edit_at(node, lambda _: ast.parse("pass").body),
        )  # fmt: skip


def _unused(node: ast.Expr, value: ast.BinOp | ast.Compare) -> Iterator[Change]:
    """Yield a value that nothing uses given to what it was made from, or `=` where `==` stands."""
    if not isinstance(value.left, ast.Name | ast.Attribute | ast.Subscript):
        return
    source, target = ast.unparse(value), ast.unparse(value.left)
    made = source
    if isinstance(value, ast.Compare):
        if not isinstance(value.ops[0], ast.Eq) or value.comparators[1:]:
            return
        made = ast.unparse(value.comparators[0])
    assignment = ast.parse(f"{target} = {made}").body
    yield Change(
        node=node, what=f"nothing uses `{source}`, and `{target}` stays as it was",
        instead=f"`{target} = {made}`", edit=edit_at(node, lambda _: assignment), is_checked=True,
    )  # fmt: skip


def _small_numbers(node: ast.Attribute | ast.Constant) -> Iterator[Change]:
    name = node.attr if isinstance(node, ast.Attribute) else node.value
    if isinstance(name, str) and name in _WIDER:
        module = ast.unparse(node.value) if isinstance(node, ast.Attribute) else ""
        for wider in _WIDER[name]:
            if wider != "bfloat16" or module in _HAVE_BFLOAT16:
                source = f"{module}.{wider}" if module else repr(wider)
                change = replacing(node, f"`{name}` holds small or coarse numbers only", source)
                # Small integers are mostly meant: what they are taken for decides.
                yield replace(change, is_telling="float" in name)


def _imported_anew(node: ast.Attribute | ast.Constant) -> Iterator[Change]:
    """Yield processes that start without what the program has set in its modules."""
    if isinstance(node, ast.Constant) and node.value in _ANEW:
        what = (
            f"a process started by `{node.value}` imports the modules anew, without what the program"
            " has set in them"
        )
        advice = "by giving the processes what they need: as arguments, or with an `initializer`"
        change = replace(replacing(node, what, "'fork'"), advice=advice)
        yield replace(change, needs=Needed(SETS_MODULES, "", (node.lineno,)))


def _is_mutable(node: ast.expr) -> bool:
    return isinstance(node, _MUTABLE) or (
        isinstance(node, ast.Call) and name_of(node.func) in _MAKERS
    )


def _stored(target: ast.AST) -> Iterator[str]:
    return (each.id for each in ast.walk(target) if isinstance(each, ast.Name))


def _changed_names(tree: ast.AST) -> set[str]:
    """Return what is changed in place: also what is gone through to change each of its parts."""
    roots = {root_of(each) for each in changed_in_place(tree)} - {""}
    loops = [each for each in ast.walk(tree) if isinstance(each, ast.For | ast.comprehension)]
    while more := {
        root_of(each.iter) for each in loops if roots.intersection(_stored(each.target))
    } - {"", *roots}:
        roots |= more
    return roots
