"""What a program calls its methods, which words it writes, and what may have been meant in place of a word or a switch."""

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher

_BESIDE = (
    ("min", "max"), ("any", "all"), ("append", "extend"), ("match", "fullmatch"),
    ("search", "fullmatch"), ("match", "search"), ("startswith", "endswith"),
    ("lstrip", "removeprefix"), ("rstrip", "removesuffix"), ("strip", "rstrip"),
    ("upper", "lower"), ("floor", "ceil"), ("round", "int"), ("int", "float"), ("int", "round"),
    ("find", "rfind"), ("index", "rindex"), ("split", "rsplit"), ("partition", "rpartition"),
    ("keys", "values"), ("values", "items"), ("union", "intersection"), ("mean", "median"),
    ("mean", "sum"), ("sum", "max"), ("argmin", "argmax"), ("floor", "round"), ("ceil", "round"),
    ("popleft", "pop"), ("appendleft", "append"), ("zip", "zip_longest"), ("isdigit", "isnumeric"),
    ("days", "total_seconds()"), ("seconds", "total_seconds()"), ("difference", "symmetric_difference"),
    ("issubset", "issuperset"), ("head", "tail"), ("cumsum", "cumprod"), ("std", "var"),
    ("heappop", "heappushpop"), ("bisect_left", "bisect_right"), ("timestamp", "utctimestamp"),
    ("weekday", "isoweekday"), ("utcfromtimestamp", "fromtimestamp"), ("utcnow", "now"),
)  # fmt: skip
_WORD = re.compile(r"[A-Za-z_][\w.:-]{2,39}")
_ALIKE = 0.75
_MOST_ALIKE = 2
_CALLABLE = frozenset({"method", "builtin_function_or_method"})
_SWITCHES = range(-3, 4)
"""The numbers that pick an axis, a place or a mode; others are data."""
_SELF = ast.dump(ast.Name("self", ast.Load()))
_Slot = int | str


def methods_in(nodes: Iterable[ast.AST]) -> set[str]:
    """Return the methods that need no argument, and are nothing else anywhere."""
    methods, others = set[str](), set[str]()
    for node in nodes:
        if isinstance(node, ast.ClassDef):
            for each in node.body:
                if isinstance(each, ast.FunctionDef):
                    is_plain = not each.decorator_list and _needed(each.args) == 1
                    (methods if is_plain else others).add(each.name)
                elif isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name):
                    others.add(each.target.id)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            others.add(node.attr)
    return methods - others


def _needed(given: ast.arguments) -> int:
    positional = len(given.posonlyargs) + len(given.args) - len(given.defaults)
    return positional + sum(each is None for each in given.kw_defaults)


def texts_in(nodes: Iterable[ast.AST]) -> list[str]:
    """Return the texts of one word."""
    texts = (each.value for each in nodes if isinstance(each, ast.Constant))
    return list(dict.fromkeys(e for e in texts if isinstance(e, str) and _WORD.fullmatch(e)))


def spelt_alike(value: str, texts: Sequence[str]) -> list[str]:
    """Return the few words that are spelt nearly like another one: one of them may be a slip."""
    if not _WORD.fullmatch(value):
        return []
    rated = [(SequenceMatcher(None, value, each).ratio(), each) for each in texts if each != value]
    near = sorted((each for each in rated if each[0] >= _ALIKE), key=lambda each: -each[0])
    return [each for _, each in near[:_MOST_ALIKE]]


def is_left_uncalled(
    node: ast.Attribute, around: Sequence[ast.AST], methods: set[str], kind: str
) -> bool:
    """Whether a method stands where its result is meant: as a truth, or as what is computed with."""
    is_method = kind in _CALLABLE if kind else node.attr in methods
    parent = around[-1] if around else None
    match parent:
        case ast.If(test=test) | ast.IfExp(test=test) | ast.While(test=test):
            return is_method and test is node
        case ast.comprehension(ifs=ifs):
            return is_method and any(each is node for each in ifs)
        case ast.UnaryOp() | ast.Compare() | ast.BoolOp() | ast.BinOp():
            return is_method
        case _:
            return False


def neighbours_of(name: str) -> Iterator[str]:
    """Yield the functions and attributes that are easily taken for another one."""
    for one, other in _BESIDE:
        if name == one:
            yield other
        elif name == other:
            yield one


def given_beside(node: ast.Call, around: Sequence[ast.AST]) -> Iterator[ast.Call]:
    """Yield a call with a switch as another call in its function has it, which handles the same data.

    Args:
        node: the call.
        around: what it is in, the innermost last.
    """
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    inner = next((each for each in reversed(around) if isinstance(each, functions)), None)
    own, data = _switches(node), _data(node)
    offered: set[str] = {ast.dump(node)}
    for other in ast.walk(inner) if inner is not None and own and data else ():
        if not isinstance(other, ast.Call) or other is node or data.isdisjoint(_data(other)):
            continue
        is_same = ast.dump(node.func) == ast.dump(other.func)
        for slot, switch in _switches(other).items():
            if slot in own and (is_same or isinstance(slot, str)):
                changed = _with(node, slot, switch)
                if ast.dump(changed) not in offered:
                    offered.add(ast.dump(changed))
                    yield changed


def _switches(node: ast.Call) -> dict[_Slot, ast.expr]:
    """Return the arguments that pick how something is done, by their names or places."""
    slots: list[tuple[_Slot, ast.expr]] = [*enumerate(node.args)]
    slots += [(each.arg, each.value) for each in node.keywords if each.arg]
    return {slot: each for slot, each in slots if _is_switch(each)}


def _is_switch(node: ast.expr) -> bool:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        node = node.operand
    if not isinstance(node, ast.Constant):
        return False
    value = node.value
    is_number = isinstance(value, int) and value in _SWITCHES
    return value is None or is_number or (isinstance(value, str) and value.isidentifier())


def _data(node: ast.Call) -> set[str]:
    """Return what a call is given, or is called of, that isn't written in it."""
    given = [*node.args, *(each.value for each in node.keywords)]
    if isinstance(node.func, ast.Attribute):
        given.append(node.func.value)
    named = (ast.Name, ast.Attribute, ast.Subscript)
    return {ast.dump(each) for each in given if isinstance(each, named)} - {_SELF}


def _with(node: ast.Call, slot: _Slot, switch: ast.expr) -> ast.Call:
    args = [switch if position == slot else each for position, each in enumerate(node.args)]
    keywords = [
        ast.keyword(each.arg, switch if each.arg == slot else each.value) for each in node.keywords
    ]
    return ast.Call(node.func, args, keywords)
