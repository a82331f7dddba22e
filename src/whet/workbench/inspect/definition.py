"""Where what a target names is written, so that it can be met there; else why it can't be met."""

from fnmatch import fnmatchcase
from pathlib import Path

from whet.core.text.code_lines import LAMBDA, functions_in, lambdas_in, lambdas_on
from whet.core.text.quantity import bounded
from whet.core.text.record import JsonObject, integer, optional_text, records, text
from whet.core.value_class import value_class

_NOT_PYTHON = "it is not written in Python"
_KINDS_IN_C = (
    "builtin_",
    "method_",
    "classmethod_",
    "wrapper_",
    "slot_",
    "_ArrayFunction",
    "ufunc",
)
_TELLS_BY_ITSELF = (3, 12)
_KINDS = {
    "built-in": "it is written in C",
    "extension": "it is written in C",
    "namespace package": "it is a namespace package, which has no code of its own",
}
_OLD_KINDS = {
    "frozen": "it is part of the interpreter itself; whet can count its calls on Python 3.12",
    "in a zip file": "it is in a zip file; whet can count its calls on Python 3.12",
    "byte code without a source": "it is byte code without a source; whet can count its calls on Python 3.12",
}


@value_class(kw_only=True)
class Definition:
    """Where something is written.

    Attributes:
        path: its file.
        module: its module, in case another file is loaded for it; empty: it is of that file alone.
        name: its functions, as a pattern of qualified names.
        line: of a lambda, which has no name, its line; 0: it is none.
        note: what the user did not ask for so; empty: it is as it was asked for.
        reason: why nothing of it can be met; empty: it can be.
        needs_import: whether that may be known once its module is imported.
    """

    path: str = ""
    module: str = ""
    name: str = ""
    line: int = 0
    note: str = ""
    reason: str = ""
    needs_import: bool = False


def definition_of(facts: JsonObject, pattern: str) -> Definition:
    """Return where something in a module is written.

    Args:
        facts: what the command's own Python has answered of it.
        pattern: what in the module is meant.
    """
    kind, file = text(facts, "kind"), optional_text(facts, "file") or ""
    is_new = _version(facts) >= _TELLS_BY_ITSELF
    reason = _KINDS.get(kind, "" if is_new else _OLD_KINDS.get(kind, ""))
    if kind == "frozen":
        file = optional_text(facts, "frozen_from") or ""
        reason = reason or ("" if file else "it is part of the interpreter itself, without a file")
    if reason:
        return Definition(reason=reason)
    module = text(facts, "module")
    if pattern == "*":
        return Definition(path=file, module=module, name=pattern)
    place = _in_file(file, pattern)
    if place is not None:
        return Definition(
            path=file, module=module, name=place[0], line=place[1],
            note=_inherits(facts, pattern) if place[0] != pattern else _shared(file, place[1]),
        )  # fmt: skip
    return _elsewhere(facts, f"{module}:{pattern}")


def pattern_in(source: bytes, name: str) -> str:
    """Return the pattern of the functions that a name stands for, a class for its methods; or none.

    Raises:
        SyntaxError, ValueError: if the source isn't Python.
    """
    functions = functions_in(source)
    patterns = (name, f"{name}.*")
    return next((each for each in patterns if any(fnmatchcase(f, each) for f in functions)), "")


def _in_file(file: str, name: str) -> tuple[str, int] | None:
    """Return the pattern of functions of a file, or a lambda with its line; None: there is none."""
    if not file.endswith(".py"):
        return None
    try:
        source = Path(file).read_bytes()
        pattern_place = pattern_in(source, name)
        line = 0 if pattern_place else lambdas_in(source).get(name, 0)
    except (OSError, SyntaxError, ValueError):
        return None
    if line:
        return LAMBDA, line
    return (pattern_place, 0) if pattern_place else None


def _elsewhere(facts: JsonObject, title: str) -> Definition:
    """Return where something is written that its module has, but doesn't define by that name."""
    if not facts.keys() & {"import_error", "value", "defined_in", "qualified_name"}:
        reason = "whet can't find its source without importing its module"
        return Definition(reason=reason, needs_import=True)
    reason = _unreadable(facts)
    if reason:
        return Definition(reason=reason)
    path = text(facts, "defined_in")
    name = text(facts, "qualified_name").replace(".<locals>", "")
    if name.rpartition(".")[2] == LAMBDA:
        line = integer(facts, "line")
        note = f"`{title}` is the lambda of `{path}:{line}`"
        return Definition(path=path, name=LAMBDA, line=line, note=_shared(path, line) or note)
    place = _in_file(path, name)
    if place is None:
        return Definition(reason=_without_functions(facts, path, name))
    how = "is a partial of" if facts.get("is_partial") else "is"
    note = f"`{title}` {how} `{name}` of `{path}`: whet counts all calls of `{name}`"
    return Definition(path=path, name=place[0], line=place[1], note=note)


def _unreadable(facts: JsonObject) -> str:
    """Return why what is meant is in no file of Python; empty: it does."""
    if "import_error" in facts:
        return f"its module doesn't define that name, and can't be imported: {text(facts, 'import_error')}"
    kind = text(facts, "value") if "value" in facts else ""
    if kind:
        in_c = kind.startswith(_KINDS_IN_C)
        return _NOT_PYTHON if in_c else f"it is a value of type `{kind}`, not a function"
    path = optional_text(facts, "defined_in") if "defined_in" in facts else None
    if path is None:
        return _NOT_PYTHON
    return "" if path.endswith(".py") else f"it is generated while the program runs (`{path}`)"


def _without_functions(facts: JsonObject, path: str, name: str) -> str:
    if not facts.get("is_class"):
        return f"`{path}` has no function `{name}`: it was created while the module ran"
    bases = [f"`{text(each, 'class')}`" for each in records(facts, "classes")[1:]]
    what = f"; its methods come from {', '.join(bases)}: name these" if bases else ""
    return f"the class has no method of its own in a file{what}"


def _inherits(facts: JsonObject, name: str) -> str:
    """Return what of a class is left out, in a sentence; empty: nothing."""
    if not facts.get("is_class"):
        return ""
    bases = [f"`{text(each, 'class')}`" for each in records(facts, "classes")[1:]]
    return (
        f"whet doesn't count the methods that `{name}` inherits from {', '.join(bases)}"
        if bases
        else ""
    )


def _shared(path: str, line: int) -> str:
    """Return that several lambdas of a line can't be told apart, in a sentence; empty: they can."""
    if not line:
        return ""
    try:
        count = lambdas_on(Path(path).read_bytes(), line)
    except (OSError, SyntaxError, ValueError):
        return ""
    what = f"there are {count} lambdas on `{path}:{line}`, which Python can't tell apart"
    return f"{what}: whet counts all of them" if count > 1 else ""


def _version(facts: JsonObject) -> tuple[int, ...]:
    return tuple(
        bounded(each) for each in text(facts, "version").split(".")[:2] if each.isdecimal()
    )
