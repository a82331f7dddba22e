"""Whether a program can change anything but itself. If it can, whet doesn't vary its arguments unasked.

Without `--dry-run`, such a program could do real damage. whet treats a program as harmful unless it
knows better.
"""

import ast
from collections.abc import Iterable, Iterator
from pathlib import PurePath

from whet.evidence.provenance.run.recording import Recording
from whet.evidence.provenance.run.source import Sources

_HARMLESS = {
    "__future__", "abc", "argparse", "array", "ast", "base64", "bisect", "calendar", "cmath", "collections",
    "contextlib", "copy", "csv", "dataclasses", "datetime", "decimal", "difflib", "enum", "fractions",
    "functools", "hashlib", "heapq", "html", "inspect", "io", "itertools", "json", "math", "numbers", "numpy",
    "operator", "optparse", "os", "pathlib", "pprint", "queue", "random", "re", "statistics", "string",
    "struct", "sys", "textwrap", "time", "tomllib", "types", "typing", "unicodedata", "uuid",
    "zoneinfo",
}  # fmt: skip
_OF_OS = {"cpu_count", "environ", "fspath", "getcwd", "getenv", "linesep", "listdir", "path", "sep"}
_WRITES = {
    "chmod", "hardlink_to", "lchmod", "mkdir", "open", "rename", "rmdir", "save", "savetxt", "savez",
    "symlink_to", "tofile", "touch", "unlink", "write_bytes", "write_text",
}  # fmt: skip
_RUNS = {"__import__", "compile", "eval", "exec", "getattr", "globals", "setattr", "vars"}
_READING = {"r", "rb", "rt"}


def is_harmless(recording: Recording, sources: Sources) -> bool:
    """Whether no file of a program has anything by which it could change files or reach others.

    Args:
        recording: a run of it, with all of the user's files that it loaded.
        sources: the program.
    """
    paths = {call.code.path for call in recording.calls}
    own = {name for path in paths for name in PurePath(path).with_suffix("").parts}
    return bool(paths) and all(
        bool(sources[path].tree.body) and not any(_doubts(sources[path].tree, own))
        for path in paths
    )


def _doubts(tree: ast.Module, own: Iterable[str]) -> Iterator[bool]:
    """Yield whether each part of a module may change anything."""
    harmless = _HARMLESS.union(own)
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                yield any(each.name.partition(".")[0] not in harmless for each in names)
            case ast.ImportFrom(module=module, names=names, level=level):
                root = (module or "").partition(".")[0]
                yield not level and root not in harmless
                yield root == "os" and any(each.name not in _OF_OS for each in names)
            case ast.Attribute(value=ast.Name(id="os"), attr=name):
                yield name not in _OF_OS
            case ast.Attribute(attr=name):
                yield name in _WRITES
            case ast.Name(id=name):
                yield name in _RUNS
            case ast.Call(func=ast.Name(id="open"), args=arguments, keywords=keywords):
                modes = [*arguments[1:2], *(each.value for each in keywords if each.arg == "mode")]
                yield any(
                    not isinstance(each, ast.Constant) or each.value not in _READING
                    for each in modes
                )
            case ast.Call(func=ast.Attribute(attr="replace"), args=[_], keywords=[]):
                yield True  # a path moved over another one
            case _:
                pass
