"""Changes of one token, operand or line of Python: the slips that engineers make most often.

The kinds come from studies of one-statement bugs (ManySStuBs4J, BugsInPy) and from mutation testing:
a boundary, an operator, an operand, a constant, a name, a similar function, the order of arguments, a
missing `return`, `await` or `super().__init__()`, a line with the wrong indentation.
"""

import ast
import copy
from collections.abc import Callable, Iterator, Sequence
from dataclasses import field
from difflib import SequenceMatcher

from whet.core.value_class import value_class
from whet.evidence.experiments.vocabulary import (
    given_beside,
    is_left_uncalled,
    methods_in,
    neighbours_of,
    spelt_alike,
    texts_in,
)

Comprehension = ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp
LIKELY, LESS_LIKELY, UNLIKELY, RARE = range(4)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)

_COMPARISONS: dict[type[ast.cmpop], tuple[tuple[type[ast.cmpop], int], ...]] = {
    ast.Lt: ((ast.LtE, LIKELY), (ast.Gt, UNLIKELY), (ast.GtE, RARE)),
    ast.LtE: ((ast.Lt, LIKELY), (ast.GtE, UNLIKELY)),
    ast.Gt: ((ast.GtE, LIKELY), (ast.Lt, UNLIKELY), (ast.LtE, RARE)),
    ast.GtE: ((ast.Gt, LIKELY), (ast.LtE, UNLIKELY)),
    ast.Eq: ((ast.NotEq, UNLIKELY), (ast.GtE, UNLIKELY), (ast.LtE, UNLIKELY)),
    ast.NotEq: ((ast.Eq, UNLIKELY),),
    ast.Is: ((ast.Eq, LESS_LIKELY), (ast.IsNot, UNLIKELY)),
    ast.IsNot: ((ast.NotEq, LESS_LIKELY), (ast.Is, UNLIKELY)),
    ast.In: ((ast.NotIn, UNLIKELY), (ast.Eq, UNLIKELY)),
    ast.NotIn: ((ast.In, UNLIKELY),),
}
OPERATORS: dict[type[ast.operator], tuple[type[ast.operator], ...]] = {
    ast.Add: (ast.Sub,),
    ast.Sub: (ast.Add,),
    ast.Mult: (ast.Div, ast.Pow),
    ast.Div: (ast.FloorDiv, ast.Mult),
    ast.FloorDiv: (ast.Div,),
    ast.Mod: (ast.FloorDiv,),
    ast.Pow: (ast.Mult,),
    ast.BitOr: (ast.BitAnd,),
    ast.BitAnd: (ast.BitOr,),
    ast.LShift: (ast.RShift,),
    ast.RShift: (ast.LShift,),
}
_ORDERED = ast.Sub | ast.Div | ast.FloorDiv | ast.Mod | ast.BitOr | ast.Pow | ast.Add
_DIRECTIVES = ("%d/%m", "%m/%d"), ("%d-%m", "%m-%d"), ("%d.%m", "%m.%d"), ("%I", "%H"), ("%y", "%Y"), ("%M", "%m")  # fmt: skip
_FACTORS = {
    60: (3600, 1), 3600: (60, 1), 1000: (1024, 1), 1024: (1000, 1), 100: (1000, 1), 10: (100, 1),
    24: (1,), 12: (1,), 7: (1,), 86400: (3600, 1000), 1_000_000: (1000, 1 << 20),
}  # fmt: skip
_REGEX = {"compile", "match", "fullmatch", "search", "findall", "finditer", "sub", "split", "subn"}
_MOST_NUMBER, _MOST_FACTOR = 100, 1 << 40
_NAMED = (ast.Name, ast.Attribute, ast.Subscript)
_HOLDS_TEXT = (ast.Assign, ast.AnnAssign, ast.Compare, ast.Call, ast.keyword, ast.Dict)
_PAIR, _MOST_EXPONENT = 2, 4
_MOST_NAMES = 3
_TEXT_CHANGES = {
    "replace",
    "strip",
    "lstrip",
    "rstrip",
    "lower",
    "upper",
    "removeprefix",
    "removesuffix",
}
STATEFUL = {"clear", "sort", "reverse", "update", "pop", "popitem", "discard", "shuffle"}


@value_class
class SingleChange:
    """One node, and its possible replacements.

    Attributes:
        node: an expression or a statement.
        instead: its source; of a statement, statements with their lines.
        rank: how seldom this is the slip, from 0.
        until: the last statement of those whose place it takes; None: it is one node's.
    """

    node: ast.expr | ast.stmt
    instead: str
    rank: int
    until: ast.stmt | None = None


KindOf = Callable[[ast.expr, int], str]
"""The type of an expression when its line was run; empty: not known."""


@value_class
class Vocabulary:
    """The words of a module that may have been meant instead of others.

    Attributes:
        kind_of: tells what type something had.
        attributes: the attributes of each base, as the source says it.
        keys: all texts that are looked up.
        methods: the methods that need no argument.
        texts: the words that the program's modules write as texts.
    """

    kind_of: KindOf
    attributes: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    keys: list[str] = field(default_factory=list[str])
    methods: set[str] = field(default_factory=set[str])
    texts: list[str] = field(default_factory=list[str])

    @classmethod
    def of(cls, tree: ast.AST, kind_of: KindOf, beside: Sequence[ast.AST] = ()) -> "Vocabulary":
        """Return the words of a module, with what the others beside it define and write."""
        every = [each for one in (tree, *beside) for each in ast.walk(one)]
        vocabulary = cls(kind_of, methods=methods_in(every), texts=texts_in(every))
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute):
                attributes = vocabulary.attributes.setdefault(ast.unparse(node.value), [])
                if node.attr not in attributes:
                    attributes.append(node.attr)
            key = _looked_up(node)
            if key and key not in vocabulary.keys:
                vocabulary.keys.append(key)
        return vocabulary


def changes_of(
    node: ast.expr, around: Sequence[ast.AST], words: Vocabulary
) -> Iterator[SingleChange]:
    """Yield what may stand instead of an expression.

    Args:
        node: the expression.
        around: what it is in, the innermost last.
        words: of its module.
    """
    for instead, rank in _of_expression(node, around, words):
        text = instead if isinstance(instead, str) else ast.unparse(instead)
        if text != ast.unparse(node):
            yield SingleChange(node, text, rank)


# ---- expressions ----

_Instead = tuple[ast.expr | str, int]


def _of_expression(
    node: ast.expr, around: Sequence[ast.AST], words: Vocabulary
) -> Iterator[_Instead]:
    match node:
        case ast.Compare(ops=[_], comparators=[_]):
            yield from _compared(node)
        case ast.BoolOp():
            yield from _joined(node)
        case ast.UnaryOp():
            yield node.operand, LESS_LIKELY if isinstance(node.op, ast.Not) else UNLIKELY
        case ast.BinOp():
            yield from _combined(node)
        case ast.Constant():
            yield from _constants(node.value, around, words)
        case ast.Call():
            yield from _called(node, around)
        case ast.Subscript():
            yield from _subscripted(node)
        case _:
            yield from _words(node, around, words)
            yield from _displays(node, around)
    if isinstance(node, ast.Name | ast.Subscript | ast.Attribute | ast.Call | ast.BinOp):
        yield from _converted(node, around, words.kind_of(node, node.lineno))
    if _is_test(node, around) and not isinstance(node, ast.Compare):
        yield f"not ({ast.unparse(node)})", UNLIKELY
        yield from _none_only(node)


def _is_searched(node: ast.expr, around: Sequence[ast.AST]) -> bool:
    """Whether a loop goes through something up to the first that fits: its order decides."""
    loop = around[-1] if around else None
    return (
        isinstance(loop, ast.For)
        and loop.iter is node
        and any(isinstance(each, ast.Return | ast.Break) for each in ast.walk(loop))
    )


def _none_only(node: ast.expr) -> Iterator[_Instead]:
    """Yield a test for `None` alone: a zero or an empty text is a value."""
    is_not = isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)
    operand = node.operand if isinstance(node, ast.UnaryOp) else node
    if isinstance(operand, _NAMED):
        yield f"{ast.unparse(operand)} {'is' if is_not else 'is not'} None", LIKELY


def _words(node: ast.expr, around: Sequence[ast.AST], words: Vocabulary) -> Iterator[_Instead]:
    """Yield other names and attributes of the same kind."""
    match node:
        case ast.Attribute(value=value, attr=attr, ctx=ast.Load()):
            base = ast.unparse(value)
            if is_left_uncalled(node, around, words.methods, words.kind_of(node, node.lineno)):
                yield ast.Call(node, [], []), LIKELY
            for other in _nearest(attr, words.attributes.get(base, [])):
                yield ast.Attribute(value, other, ast.Load()), RARE
            for other in neighbours_of(attr):
                yield f"{base}.{other}", LESS_LIKELY
            for other in _alike(node, "", around, words):
                yield other, RARE
        case ast.Name(id=name, ctx=ast.Load()):
            is_called = isinstance(around[-1], ast.Call) and around[-1].func is node
            if not is_called and name not in {"self", "cls"}:
                for other in _alike(node, name, around, words):
                    yield other, RARE
        case _:
            return


def _alike(node: ast.expr, name: str, around: Sequence[ast.AST], words: Vocabulary) -> list[str]:
    """Return the few variables of the function that had the type of an expression."""
    kind = words.kind_of(node, node.lineno)
    if not kind or kind == "NoneType":
        return []
    others = _names_around(around)
    alike = [each for each in others if words.kind_of(ast.Name(each), node.lineno) == kind]
    return _nearest(name, alike)


def _displays(node: ast.expr, around: Sequence[ast.AST]) -> Iterator[_Instead]:
    """Yield a group of nodes in another order, or with fewer of them."""
    match node:
        case ast.Name() | ast.Attribute() if _is_searched(node, around):
            yield f"reversed({ast.unparse(node)})", LESS_LIKELY
        case ast.IfExp(test=test, body=body, orelse=orelse):
            yield ast.IfExp(test, orelse, body), LESS_LIKELY
        case ast.Dict(keys=keys, values=values) if None in keys and len(keys) > 1:
            yield ast.Dict(keys[::-1], values[::-1]), LIKELY
        case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
            yield from _filtered(node)
        case ast.Tuple(elts=[_, _]) if _is_key(around):
            yield ast.Tuple(node.elts[::-1], ast.Load()), LESS_LIKELY
        case ast.Tuple(elts=[_, _, *_]) if all(isinstance(e, ast.Constant) for e in node.elts):
            yield ast.Tuple(node.elts[::-1], ast.Load()), UNLIKELY
        case _:
            return


def _compared(node: ast.Compare) -> Iterator[_Instead]:
    (operator,), (right,) = node.ops, node.comparators
    for other, rank in _COMPARISONS.get(type(operator), ()):
        yield ast.Compare(node.left, [other()], [right]), rank
    if isinstance(operator, ast.Eq | ast.NotEq | ast.In | ast.NotIn):
        left, right_source = ast.unparse(node.left), ast.unparse(right)
        sign = ast.unparse(ast.Compare(ast.Name("a"), [operator], [ast.Name("b")]))[2:-2]
        if isinstance(operator, ast.Eq | ast.NotEq):
            yield f"str({left}) {sign} str({right_source})", LESS_LIKELY
            yield (
                f"str({left}).strip().casefold() {sign} str({right_source}).strip().casefold()",
                LESS_LIKELY,
            )
        else:
            yield f"{left}.casefold() {sign} {right_source}", UNLIKELY


def _joined(node: ast.BoolOp) -> Iterator[_Instead]:
    other = ast.Or() if isinstance(node.op, ast.And) else ast.And()
    yield ast.BoolOp(other, node.values), LESS_LIKELY
    if isinstance(node.op, ast.Or):
        yield ast.BoolOp(node.op, node.values[::-1]), LESS_LIKELY
        first, *others = node.values
        rest = others[0] if len(others) == 1 else ast.BoolOp(ast.Or(), others)
        if not isinstance(first, ast.Compare | ast.BoolOp):  # a zero or an empty text is a value
            source = ast.unparse(first)
            yield f"{source} if {source} is not None else {ast.unparse(rest)}", LIKELY
    for position in range(len(node.values)):
        remaining = node.values[:position] + node.values[position + 1 :]
        yield remaining[0] if len(remaining) == 1 else ast.BoolOp(node.op, remaining), UNLIKELY
    last = node.values[-1]
    if isinstance(node.op, ast.And | ast.Or) and isinstance(last, ast.BoolOp):
        return
    for position, value in enumerate(node.values):  # `a or b and c` for `(a or b) and c`
        if isinstance(value, ast.BoolOp) and len(value.values) == len(node.values) == _PAIR:
            outer = node.values[1 - position]
            if position:
                inner = ast.BoolOp(node.op, [outer, value.values[0]])
                yield ast.BoolOp(value.op, [inner, value.values[1]]), LIKELY
            else:
                inner = ast.BoolOp(node.op, [value.values[1], outer])
                yield ast.BoolOp(value.op, [value.values[0], inner]), LIKELY


def _combined(node: ast.BinOp) -> Iterator[_Instead]:
    left, right = node.left, node.right
    if isinstance(node.op, ast.FloorDiv):
        yield f"-(-({ast.unparse(left)}) // ({ast.unparse(right)}))", LIKELY
    for other in OPERATORS.get(type(node.op), ()):
        if other is ast.Mult and ast.unparse(right).startswith("len("):
            continue  # a mean: nobody means the product, and that passes most checks
        if other is ast.Pow and not _is_exponent(right):
            continue  # `512 * MB`: as a power it passes any limit
        yield ast.BinOp(left, other(), right), LESS_LIKELY
    if isinstance(node.op, ast.Mod | ast.FloorDiv | ast.Add | ast.Sub):
        for name in ("+", "-"):
            yield f"{ast.unparse(node)} {name} 1", UNLIKELY
    if isinstance(node.op, _ORDERED):
        is_turned = isinstance(node.op, ast.BitOr) or _is_of_names(node)
        rank = LESS_LIKELY if is_turned else UNLIKELY
        yield ast.BinOp(right, node.op, left), rank
    if isinstance(left, ast.BinOp) and _precedence(left.op) != _precedence(node.op):
        regrouped = ast.BinOp(left.right, node.op, right)
        yield ast.BinOp(left.left, left.op, regrouped), LESS_LIKELY
    if isinstance(right, ast.BinOp) and _precedence(right.op) != _precedence(node.op):
        regrouped = ast.BinOp(left, node.op, right.left)
        yield ast.BinOp(regrouped, right.op, right.right), LESS_LIKELY
    yield left, UNLIKELY
    yield right, RARE


def _is_exponent(node: ast.expr) -> bool:
    """Whether a power of it may be meant: a small number, or a variable that isn't a constant."""
    if isinstance(node, ast.Constant):
        return isinstance(node.value, int) and node.value <= _MOST_EXPONENT
    return isinstance(node, _NAMED) and not ast.unparse(node).rpartition(".")[2].isupper()


def _is_of_names(node: ast.BinOp) -> bool:
    """Whether it subtracts a variable from another one: either may have been meant."""
    both = isinstance(node.left, _NAMED) and isinstance(node.right, _NAMED)
    return both and isinstance(node.op, ast.Sub)


def _precedence(operator: ast.operator) -> int:
    return 1 if isinstance(operator, ast.Add | ast.Sub) else 2


def _constants(
    value: object, around: Sequence[ast.AST], words: Vocabulary
) -> Iterator[tuple[str, int]]:
    parent = around[-1] if around else None
    if isinstance(value, bool):
        inner = next((each for each in reversed(around) if isinstance(each, FUNCTIONS)), None)
        is_exit = inner is not None and inner.name in {"__exit__", "__aexit__"}
        yield repr(not value), LIKELY if is_exit else UNLIKELY
    elif isinstance(value, int | float):
        yield from _numbers(value, parent)
    elif isinstance(value, str):
        yield from _texts(value, around, words)


def _texts(value: str, around: Sequence[ast.AST], words: Vocabulary) -> Iterator[tuple[str, int]]:
    parent = around[-1] if around else None
    for one, other in (*_DIRECTIVES, *((other, one) for one, other in _DIRECTIVES)):
        if one in value:
            yield repr(value.replace(one, other)), LIKELY
    if value.replace("-", "").casefold() == "utf8":
        yield "'utf-8-sig'", LESS_LIKELY
    if any(isinstance(each, ast.Call) and called_name(each) in _REGEX for each in around[-2:]):
        yield from _patterns(value)
    if _looked_up(parent, value):
        for other in _nearest(value, words.keys):
            yield repr(other), UNLIKELY
    if isinstance(parent, _HOLDS_TEXT):
        for other in spelt_alike(value, words.texts):
            yield repr(other), LESS_LIKELY


def _numbers(value: float, parent: ast.AST | None) -> Iterator[tuple[str, int]]:
    is_place = isinstance(parent, ast.Slice | ast.Subscript | ast.Compare | ast.BinOp) or (
        isinstance(parent, ast.Call) and called_name(parent) == "range"
    )
    if isinstance(value, int) and abs(value) <= _MOST_NUMBER:
        rank = LESS_LIKELY if is_place else RARE
        yield f"{value + 1}", rank
        yield f"{value - 1}" if value > 0 else f"({value - 1})", rank
    if isinstance(parent, ast.BinOp) and abs(value) < _MOST_FACTOR:
        for factor in _FACTORS.get(int(value), ()):
            yield repr(type(value)(factor)), UNLIKELY


def _patterns(value: str) -> Iterator[tuple[str, int]]:
    for sign in ("*", "+"):
        if f".{sign}" in value and f".{sign}?" not in value:
            yield _raw(value.replace(f".{sign}", f".{sign}?")), LIKELY
    if not value.startswith("^"):
        yield _raw(f"^{value}"), UNLIKELY
    if not value.endswith("$"):
        yield _raw(f"{value}$"), LESS_LIKELY
    if r"\d" in value and r"\d+" not in value:
        yield _raw(value.replace(r"\d", r"\d+")), LESS_LIKELY
    if "." in value and r"\." not in value and ".*" not in value and ".+" not in value:
        yield _raw(value.replace(".", r"\.")), LESS_LIKELY


def _raw(pattern: str) -> str:
    """Return a pattern as one writes it."""
    can_be = "\\" in pattern and '"' not in pattern and pattern.isprintable()
    return f'r"{pattern}"' if can_be and not pattern.endswith("\\") else repr(pattern)


def _chained(node: ast.Call) -> Iterator[_Instead]:
    """Yield two changes of a text, one after the other, in the other order."""
    match node.func:
        case ast.Attribute(
            value=ast.Call(func=ast.Attribute(value=text, attr=first)) as inner, attr=second
        ) if {first, second} <= _TEXT_CHANGES:
            before = ast.Call(ast.Attribute(text, second, ast.Load()), node.args, node.keywords)
            after = ast.Attribute(before, first, ast.Load())
            yield ast.Call(after, inner.args, inner.keywords), LESS_LIKELY
        case _:
            return


def _called(node: ast.Call, around: Sequence[ast.AST]) -> Iterator[_Instead]:
    yield from _chained(node)
    if isinstance(node.func, ast.Name):
        for other in neighbours_of(node.func.id):
            yield ast.Call(ast.Name(other), node.args, node.keywords), LESS_LIKELY
    if _is_left_alone(node, around):
        yield ast.Await(node), LIKELY
    yield from _called_so(node)
    yield from ((each, LESS_LIKELY) for each in given_beside(node, around))
    # In which order something is printed is hardly what fails.
    swapped = 0 if called_name(node) == "print" else len(node.args) - 1
    for position in range(swapped):
        args = list(node.args)
        args[position], args[position + 1] = args[position + 1], args[position]
        yield ast.Call(node.func, args, node.keywords), LESS_LIKELY
    for position in range(len(node.keywords)):
        keywords = node.keywords[:position] + node.keywords[position + 1 :]
        yield ast.Call(node.func, node.args, keywords), UNLIKELY
    is_alone = bool(around) and isinstance(around[-1], ast.Expr)
    is_plain = len(node.args) == 1 and not node.keywords and not is_alone
    if is_plain and called_name(node) not in {"print", "next", "len"}:
        yield node.args[0], UNLIKELY
    if isinstance(node.func, ast.Attribute) and not node.args:
        yield node.func.value, UNLIKELY


def _called_so(node: ast.Call) -> Iterator[_Instead]:
    """Yield calls of well-known functions with an argument more, less, or one off."""
    name = called_name(node)
    if name in {"sorted", "sort"} and not any(each.arg == "reverse" for each in node.keywords):
        reverse = ast.keyword("reverse", ast.Constant(value=True))
        yield ast.Call(node.func, node.args, [*node.keywords, reverse]), LESS_LIKELY
    if name == "sorted" and node.args:  # something else goes by the order that it had
        yield ast.Call(ast.Name("list"), node.args[:1], []), LESS_LIKELY
    if name in {"split", "rsplit"} and len(node.args) == 1:
        yield ast.Call(node.func, [*node.args, ast.Constant(1)], node.keywords), LESS_LIKELY
    if name == "split" and [getattr(each, "value", 0) for each in node.args] == [" "]:
        yield ast.Call(node.func, [], node.keywords), LIKELY  # at any blanks, and none around it
    if name in {"range", "round"} and len(node.args) > 1:
        yield ast.Call(node.func, node.args[:-1], node.keywords), UNLIKELY
    if name == "range" and len(node.args) <= _PAIR:
        *before, stop = node.args or [ast.Constant(0)]
        for more in _one_off(stop):
            yield ast.Call(node.func, [*before, more], node.keywords), LIKELY
    match name, node.args:
        case "range", [start, ast.BinOp(left=end, op=ast.Sub(), right=less), step]:
            if ast.dump(less) == ast.dump(step):  # the last part is shorter
                yield ast.Call(node.func, [start, end, step], []), LIKELY
        case _:
            pass


def _one_off(node: ast.expr) -> Iterator[ast.expr]:
    for operator, other in ((ast.Add(), ast.Sub), (ast.Sub(), ast.Add)):
        match node:
            case ast.BinOp(left=left, op=had, right=ast.Constant(value=1)) if isinstance(
                had, other
            ):
                yield left
            case _:
                yield ast.BinOp(node, operator, ast.Constant(1))


def _subscripted(node: ast.Subscript) -> Iterator[_Instead]:
    if not isinstance(node.ctx, ast.Load):
        return
    index = node.slice
    if isinstance(index, ast.Slice):
        if index.lower is not None:
            yield _sliced(node, ast.Slice(None, index.upper, index.step)), LESS_LIKELY
        if index.upper is not None:
            yield _sliced(node, ast.Slice(index.lower, None, index.step)), LESS_LIKELY
            if not isinstance(index.upper, ast.Constant):
                more = next(_one_off(index.upper))
                yield _sliced(node, ast.Slice(index.lower, more, index.step)), LESS_LIKELY
    elif isinstance(index, ast.Constant) and index.value == 0:
        yield _sliced(node, ast.Constant(-1)), LESS_LIKELY
    elif isinstance(index, ast.UnaryOp):
        yield _sliced(node, ast.Constant(0)), LESS_LIKELY
    elif isinstance(index, ast.Name | ast.BinOp):
        for more in _one_off(index):
            yield _sliced(node, more), UNLIKELY


def _sliced(node: ast.Subscript, index: ast.expr) -> ast.expr:
    return ast.Subscript(node.value, index, ast.Load())


def _filtered(node: Comprehension) -> Iterator[_Instead]:
    for position, each in enumerate(node.generators):
        for number in range(len(each.ifs)):
            copied_node = copy.deepcopy(node)
            del copied_node.generators[position].ifs[number]
            yield copied_node, UNLIKELY


def _converted(node: ast.expr, around: Sequence[ast.AST], kind: str) -> Iterator[tuple[str, int]]:
    """Yield what a text or a number may lack: blanks taken off, one case, its type."""
    parent = around[-1] if around else None
    source = ast.unparse(node)
    is_index = isinstance(parent, ast.Subscript) and parent.slice is node
    is_value = isinstance(parent, ast.Return | ast.Assign | ast.Dict | ast.ListComp | ast.DictComp)
    is_given = isinstance(parent, ast.Call | ast.keyword) and getattr(parent, "func", 0) is not node
    is_multiplied = isinstance(parent, ast.BinOp) and isinstance(parent.op, ast.Mult)
    if not isinstance(getattr(node, "ctx", ast.Load()), ast.Load):
        return
    if is_index or is_value or is_given or (is_multiplied and kind in {"", "str"}):
        if kind == "str" or (not kind and isinstance(node, ast.Subscript | ast.Call)):
            rank = UNLIKELY if kind else RARE
            for conversion in (
                f"{source}.strip()",
                f"{source}.lower()",
                f"int({source})",
                f"float({source})",
            ):
                yield conversion, rank
        if kind in {"int", "float"}:
            yield f"str({source})", UNLIKELY
        if kind == "float" and is_value:
            yield f"round({source}, 2)", UNLIKELY


def _is_left_alone(node: ast.Call, around: Sequence[ast.AST]) -> bool:
    """Whether a call is in a coroutine without an `await`."""
    parent = around[-1] if around else None
    inner = next((each for each in reversed(around) if isinstance(each, FUNCTIONS)), None)
    return (
        isinstance(inner, ast.AsyncFunctionDef)
        and not isinstance(parent, ast.Await)
        and isinstance(parent, ast.Expr | ast.Assign | ast.Return)
        and isinstance(node.func, ast.Name | ast.Attribute)
    )


def _is_test(node: ast.expr, around: Sequence[ast.AST]) -> bool:
    parent = around[-1] if around else None
    if isinstance(parent, ast.comprehension):
        return any(each is node for each in parent.ifs)
    return isinstance(parent, ast.If | ast.IfExp) and parent.test is node


def _is_key(around: Sequence[ast.AST]) -> bool:
    return any(isinstance(each, ast.Lambda) for each in around[-2:])


def _looked_up(node: ast.AST | None, value: str = "") -> str:
    """Return the text that is looked up; with ``value``, whether it is that."""
    match node:
        case ast.Subscript(slice=ast.Constant(value=str() as key)):
            return key if not value or key == value else ""
        case ast.Call(
            func=ast.Attribute(attr="get" | "pop" | "setdefault"),
            args=[ast.Constant(value=str() as key), *_],
        ):
            return key if not value or key == value else ""
        case _:
            return ""


def _nearest(name: str, others: Sequence[str]) -> list[str]:
    """Return the few words that read most like another one."""
    rated = [(SequenceMatcher(None, name, each).ratio(), each) for each in others if each != name]
    rated.sort(key=lambda each: -each[0])
    return [each for _, each in rated[:_MOST_NAMES]]


def _names_around(around: Sequence[ast.AST]) -> list[str]:
    """Return the variables of the innermost function."""
    inner = next((each for each in reversed(around) if isinstance(each, FUNCTIONS)), None)
    names: dict[str, None] = {}
    for node in ast.walk(inner) if inner is not None else ():
        if isinstance(node, ast.arg):
            names[node.arg] = None
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names[node.id] = None
    return [name for name in names if name not in {"self", "cls"}]


def called_name(node: ast.Call) -> str:
    """Return the last name of what is called."""
    match node.func:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case _:
            return ""
