"""What can be made smaller in Python beside what can in any language."""

import re
from collections.abc import Iterator

from whet.reduction.edit import Change, Edit, make_changes, only
from whet.reduction.formats.source.source_offers import cuts_of
from whet.reduction.formats.source.source_tree import SourceNode, SourceTree
from whet.reduction.reduction_pass import PassSearch, ReductionPass, Stage

_DEF = re.compile(rb"(?:async[ \t]+)?def[ \t]+(\w+)")
_FUNCTIONS = ("FunctionDef", "AsyncFunctionDef")
_PARAMETERS = ("parameter", "starred parameter")
_PREFIX = re.compile(rb"[rR]?[fF][rR]?(?=['\"])")


def _delete_parameters(tree: SourceTree) -> PassSearch:
    """Delete a parameter together with what the calls give for it."""
    calls: dict[bytes, list[SourceNode]] = {}
    for node in tree.nodes:
        if node.kind == "Call":
            name = tree.text(node.children[0]).rpartition(b".")[2]
            calls.setdefault(name, []).append(node)
    changes = [
        change
        for node in tree.nodes
        if node.kind in _FUNCTIONS
        for change in _parameters(tree, node, calls)
    ]
    return only(make_changes(tree.payload, changes), tree.parses)


def _parameters(
    tree: SourceTree, function: SourceNode, calls: dict[bytes, list[SourceNode]]
) -> Iterator[Change]:
    decorators = [node for node in function.children if tree.payload[node.start - 1] == ord("@")]
    head = max((node.end for node in decorators), default=function.start)
    found = _DEF.search(tree.payload, head, function.end)
    parameters = [node for node in function.children if node.kind in _PARAMETERS]
    named = [] if found is None else calls.get(found[1], [])
    cuts = cuts_of(tree, parameters)
    for place, parameter in enumerate(parameters):
        change = [cuts[place]]
        name = tree.text(parameter).partition(b":")[0].partition(b"=")[0].strip()
        for call in named:
            # `self` isn't given where a method is called on its object.
            is_bound = tree.text(parameters[0]) in (b"self", b"cls")
            change += _argument(tree, call, name, place - is_bound)
        if len(change) > 1:
            yield change


def _argument(tree: SourceTree, call: SourceNode, name: bytes, place: int) -> list[Edit]:
    arguments = call.children[1:]
    cuts = cuts_of(tree, arguments)
    for number, argument in enumerate(arguments):
        is_keyword = argument.kind == "keyword"
        if (number == place and not is_keyword) or (
            is_keyword and tree.text(argument).partition(b"=")[0].strip() == name
        ):
            return [cuts[number]]
    return []


def _plain_strings(tree: SourceTree) -> PassSearch:
    """Put a plain string for one with expressions in it."""
    changes: list[Change] = []
    for node in tree.nodes:
        found = _PREFIX.match(tree.payload, node.start, node.end)
        if node.kind == "JoinedStr" and found is not None:
            changes.append([Edit(*found.span())])
    return only(make_changes(tree.payload, changes), tree.parses)


PYTHON_ONLY_PASSES = (
    ReductionPass(name="delete parameters", stage=Stage.STRUCTURE, search=_delete_parameters),
    ReductionPass(name="put plain strings", stage=Stage.VALUES, search=_plain_strings),
)
