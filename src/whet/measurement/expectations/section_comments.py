"""What comments expect of sections: ``# expect: 40 ms`` at ``with whet.section("load"):``."""

import ast
from collections.abc import Iterator

from whet.core.observations.timeline import SectionTotal
from whet.measurement.expectations.comments import EACH, KEPT, RUNS, TOTAL, Comment, comments_in

_NUMBERS = {EACH: "seconds", TOTAL: "seconds", KEPT: "kept_memory", RUNS: "count"}


def section_expectations(source: str, name: str) -> tuple[str, ...]:
    """Return what the comments of a source expect of its sections, as of ``--expect``.

    Raises:
        BadExpectation: if a comment can't be read.
        SyntaxError, ValueError: if the source isn't Python.
    """
    sections = dict(_sections(ast.parse(source)))
    texts: list[str] = []
    for comment in comments_in(source, name):
        section = sections.get(comment.line) or _below(comment, sections)
        if section:
            texts.append(f"{section}.{_NUMBERS[comment.range.name]} {comment.statement}")
    return tuple(texts)


def _below(comment: Comment, sections: dict[int, str]) -> str:
    return sections.get(comment.line + 1, "") if comment.stands_alone else ""


def _sections(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield the lines on which sections begin, with their names as whet writes them."""
    for node in ast.walk(tree):
        calls: list[ast.expr] = []
        if isinstance(node, ast.With | ast.AsyncWith):
            calls = [item.context_expr for item in node.items]
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            calls = node.decorator_list
        for call in calls:
            section = _name(call)
            if section:
                yield call.lineno, section


def _name(call: ast.expr) -> str:
    if not isinstance(call, ast.Call) or not call.args:
        return ""
    function, first = call.func, call.args[0]
    called = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    if called != "section" or not isinstance(first, ast.Constant):
        return ""
    return SectionTotal(name=str(first.value), count=0, seconds=0.0, cpu_seconds=0.0).measure
