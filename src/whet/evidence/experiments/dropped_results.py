"""Small changes of a program for a result that it drops: what it was meant for is given it.

They are made only of what the failing run is known to have dropped, see `whet.evidence.clues.dropped`.
"""

import ast
from collections.abc import Iterator, Sequence

from whet.evidence.clues.dropped import Drop, Trouble, span_of
from whet.evidence.experiments.changes import (
    Change,
    edit_at,
    expression,
    name_of,
    parsed,
    receiver_of,
    replacing,
)

_RENAMED = (
    "(lambda given, own: {next((each for each in own if each == key or key.endswith('.' + each) or"
    " each.endswith('.' + key)), key): value for key, value in given.items()})({given}, {own}.state_dict())"
)
"""A state whose keys are those of a model, with a prefix or without theirs."""
_PAIR = {"missing", "unexpected"}


def uses_of_dropped(source: str, drops: Sequence[Drop]) -> Iterator[Change]:
    """Yield the changes for what a module has dropped."""
    tree = parsed(source)
    for each in drops:
        value = each.value_in(tree)
        if tree is None or value is None:
            continue
        yield from _changes(value, each.statement_in(tree), each)


def _changes(value: ast.expr, statement: ast.Expr | None, drop: Drop) -> Iterator[Change]:
    call = value.value if isinstance(value, ast.Await) else value
    if not isinstance(call, ast.Call):
        return
    if drop.trouble is Trouble.NEW and statement is not None:
        yield from _assigned(statement, call, drop)
    elif drop.trouble is Trouble.LAZY:
        source = ast.unparse(call)
        yield replacing(call, f"nothing of what `{source}` returns runs", f"list({source})")
    elif drop.trouble is Trouble.SHORT and name_of(call.func) == "send":
        yield _sent(call, drop)
    elif drop.trouble is Trouble.FIELDS and name_of(call.func) == "load_state_dict" and call.args:
        yield from _renamed(call, drop)


def _assigned(statement: ast.Expr, call: ast.Call, drop: Drop) -> Iterator[Change]:
    """Yield the value given to what it was made from."""
    source = ast.unparse(statement)
    for made_from in ast.walk(call):
        if not isinstance(made_from, ast.Name | ast.Attribute | ast.Subscript):
            continue
        if span_of(made_from) not in drop.targets:
            continue
        target = ast.unparse(made_from)
        assignment = ast.parse(f"{target} = {source}").body

        def edit(_: ast.AST, made: list[ast.stmt] = assignment) -> list[ast.stmt]:
            return made

        yield Change(
            node=statement, what=f"nothing uses what `{source}` returns, and `{target}` stays as it was",
            instead=f"`{target} = {source}`", edit=edit_at(statement, edit), is_checked=True,
        )  # fmt: skip


def _sent(call: ast.Call, drop: Drop) -> Change:
    receiver = receiver_of(call)
    given = ", ".join(map(ast.unparse, call.args))
    what = f"`{ast.unparse(call)}` sent {drop.count:,} of {drop.of:,} bytes, and the rest is lost"
    return replacing(call, what, f"{receiver}.sendall({given})")


def _renamed(call: ast.Call, drop: Drop) -> Iterator[Change]:
    """Yield a state loaded under the model's own names: all others are left as they were."""
    fields = {each.name.partition("_")[0]: each for each in drop.fields}
    if not fields.keys() >= _PAIR:
        return
    given, own = ast.unparse(call.args[0]), receiver_of(call)
    made = expression(_RENAMED.replace("{given}", given).replace("{own}", own))

    def edit(found: ast.AST) -> ast.AST:
        assert isinstance(found, ast.Call)
        found.args[0] = made
        return found

    words = ", and ".join(each.says for each in drop.fields)
    yield Change(
        node=call, what=f"`{ast.unparse(call)}` passes over keys that don't match ({words})",
        instead=f"the keys of `{given}` named as in `{own}`", edit=edit_at(call, edit),
        is_checked=True,
    )  # fmt: skip
