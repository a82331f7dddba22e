"""Tells which file a Python would load for a name, and what there is of that name besides.

Run as a program of its own by the Python that is asked, with the request as JSON in its first
argument: the target, the first entry of the path, whether to import the module. Nothing of the
target is run to find it; it is imported only to say which class defines an attribute.
Standard library only, Python 3.8 or later.
"""

from __future__ import annotations

import importlib.machinery
import importlib.util
import inspect
import io
import json
import marshal
import os
import sys
import types

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

_ANY_ERROR, _ANYTHING = (Exception,), (BaseException,)
_MOST_NAMES = 5000
_PYC_HEADER, _CHECKED, _UNCHECKED = 16, 3, 1


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """Return all that is known of a target."""
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or ".") != here]
    sys.meta_path.insert(0, _OwnModules(list(sys.path)))
    if request["first"] is not None:
        sys.path.insert(0, request["first"])
    module, attributes = request["module"], request["attributes"]
    told: dict[str, Any] = {
        "python": sys.executable,
        "version": "{}.{}.{}".format(*sys.version_info[:3]),
        "path": list(sys.path),
        "shadowing": list(_shadowing()),
    }
    if request["split"]:
        module, attributes = _split(module)
    told["module"], told["attributes"] = module, attributes
    spec, missing, known = _find(module)
    if spec is None:
        module, spec = _by_another_name(module, imports=request["imports"])
        told["module"] = module
    if spec is None:
        told["missing"], told["known"] = missing, known
        return told
    told["file"] = spec.origin if spec.has_location else None
    frozen_from = getattr(spec.loader_state, "filename", None) if spec.origin == "frozen" else None
    told["frozen_from"] = frozen_from
    told["kind"] = _kind(spec)
    told["folders"] = list(_places(spec))
    told["is_standard"] = module.partition(".")[0] in _standard_names()
    told["is_of_python"] = _is_of_python(spec)
    told["copies"] = list(_copies(module, told["file"] or frozen_from))
    told["byte_code"] = _byte_code(told["file"])
    told["installed_by"] = _installed_by(module.partition(".")[0])
    if request["imports"]:
        _without_own_modules()
        held = sys.modules.get(module)
        if held is not None and getattr(held, "__file__", told["file"]) != told["file"]:
            del sys.modules[module]  # the asking itself has imported the one that is hidden
        told.update(_imported(module, attributes))
    elif attributes and told["file"] and told["file"].endswith(".py"):
        told.update(_read(told["file"], attributes))
    return told


class _OwnModules:
    """Finds the modules that the asking itself needs: none of a project may stand in for these."""

    def __init__(self, path: list[str]) -> None:
        self._path = path

    def find_spec(self, name: str, path: Sequence[str] | None, _target: Any = None) -> Any:
        machinery = importlib.machinery
        spec = (
            machinery.BuiltinImporter.find_spec(name)
            or machinery.FrozenImporter.find_spec(name)
            or machinery.PathFinder.find_spec(name, self._path if path is None else path)
        )
        if spec is None:  # such as `winreg`, which the library tries: no other finder is asked
            raise ModuleNotFoundError(name, name=name)
        return spec


def _without_own_modules() -> None:
    """Let the project's own modules be imported from here on."""
    sys.meta_path[:] = [each for each in sys.meta_path if not isinstance(each, _OwnModules)]


def _split(name: str) -> tuple[str, list[str]]:
    """Return the longest part of a dotted name that is a module, and the rest."""
    parts = name.split(".")
    for length in range(len(parts), 1, -1):
        spec, _, _ = _find(".".join(parts[:length]))
        if spec is not None:
            return ".".join(parts[:length]), parts[length:]
    return parts[0], parts[1:]


def _by_another_name(name: str, *, imports: bool) -> tuple[str, Any]:
    """Return a module that stands under a name which no file has, such as `os.path`."""
    if imports and name not in sys.modules:
        _without_own_modules()
        shown = sys.stdout
        sys.stdout = sys.stderr = io.StringIO()
        try:
            importlib.import_module(name)
        except _ANYTHING:  # it is the module's
            return name, None
        finally:
            sys.stdout = shown
    spec = getattr(sys.modules.get(name), "__spec__", None)
    return (name, None) if spec is None else (spec.name, spec)


def _find(name: str) -> tuple[Any, str, list[str]]:
    """Return the spec of a module; else the part of its name that doesn't exist, and those that do."""
    path: list[str] | None = None
    spec = None
    done: list[str] = []
    for part in name.split("."):
        done.append(part)
        spec = _spec(".".join(done), path)
        if spec is None:
            return None, ".".join(done), _names_in(path)
        if len(done) <= name.count("."):
            path = list(_places(spec))
            if not path:
                return None, ".".join([*done, "*"]), []
    return spec, "", []


def _spec(name: str, path: list[str] | None) -> Any:
    for finder in sys.meta_path:
        if isinstance(finder, _OwnModules):
            continue
        find = getattr(finder, "find_spec", None)
        try:
            spec = find(name, path) if find is not None else None
        except _ANY_ERROR:  # a finder of somebody's; the next one may know
            spec = None
        if spec is not None:
            return spec
    return None


def _places(spec: Any) -> Iterator[str]:
    places = spec.submodule_search_locations
    if places is None:
        return
    # That of a namespace package looks its parent up among what is imported.
    yield from getattr(places, "_path", places)


def _names_in(path: list[str] | None) -> list[str]:
    import pkgutil

    names = {found.name for found in pkgutil.iter_modules(path)}
    if path is None:
        names |= set(sys.builtin_module_names)
    return sorted(names)[:_MOST_NAMES]


def _kind(spec: Any) -> str:
    if spec.origin in {"built-in", "frozen"}:
        return str(spec.origin)
    name = type(spec.loader).__name__ if not isinstance(spec.loader, type) else spec.loader.__name__
    kinds = {
        "SourceFileLoader": "source",
        "SourcelessFileLoader": "byte code without a source",
        "ExtensionFileLoader": "extension",
        "zipimporter": "in a zip file",
    }
    if spec.origin is None and spec.submodule_search_locations is not None:
        return "namespace package"
    if spec.submodule_search_locations is not None and name == "SourceFileLoader":
        return "package"
    return kinds.get(name, name)


def _is_of_python(spec: Any) -> bool:
    if spec.origin in {"built-in", "frozen"}:
        return True
    folder = os.path.realpath(os.path.dirname(os.__file__)) + os.sep
    file = os.path.realpath(spec.origin or "")
    return file.startswith(folder) and "site-packages" not in file and "dist-packages" not in file


def _standard_names() -> set[str]:
    return set(getattr(sys, "stdlib_module_names", ())) | set(sys.builtin_module_names)


def _shadowing() -> Iterator[str]:
    """Yield files that hide a module of Python's own, as their folder comes first."""
    standard = os.path.realpath(os.path.dirname(os.__file__))
    for entry in sys.path:
        folder = os.path.abspath(entry or ".")
        if os.path.realpath(folder) == standard:
            return
        for name, path in _modules_in(folder):
            if name in _standard_names() and not name.startswith("_"):
                yield path


def _modules_in(folder: str) -> Iterator[tuple[str, str]]:
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return
    for name in names:
        path = os.path.join(folder, name)
        stem, ending = os.path.splitext(name)
        if ending == ".py" and stem.isidentifier():
            yield stem, path
        elif name.isidentifier() and os.path.isfile(os.path.join(path, "__init__.py")):
            yield name, os.path.join(path, "__init__.py")


def _copies(module: str, loaded: str | None) -> Iterator[str]:
    """Yield the other files of a module's name on the path, in the order of the path."""
    tail = module.replace(".", os.sep)
    endings = [*importlib.machinery.all_suffixes()]
    seen: set[str] = {os.path.realpath(loaded)} if loaded else set()
    for entry in sys.path:
        base = os.path.join(os.path.abspath(entry or "."), tail)
        candidates = [os.path.join(base, "__init__" + ending) for ending in endings]
        for path in [*candidates, *(base + ending for ending in endings)]:
            real = os.path.realpath(path)
            if real not in seen and os.path.isfile(path):
                seen.add(real)
                yield path


def _byte_code(file: str | None) -> dict[str, Any] | None:
    """Say of a module's byte code whether Python would run it, and whether it is what the source says."""
    if file is None or not file.endswith(".py"):
        return None
    try:
        path = importlib.util.cache_from_source(file)
        with open(path, "rb") as cached:
            data = cached.read()
        with open(file, "rb") as text:
            source = text.read()
        status = os.stat(file)
    except (OSError, NotImplementedError):
        return None
    flags = int.from_bytes(data[4:8], "little")
    if data[:4] != importlib.util.MAGIC_NUMBER:
        return {"path": path, "used": False, "same": None}
    if flags & _UNCHECKED:
        used = flags & _CHECKED == _UNCHECKED or data[8:16] == importlib.util.source_hash(source)
    else:
        made, size = (int.from_bytes(data[at : at + 4], "little") for at in (8, 12))
        used = made == int(status.st_mtime) & 0xFFFFFFFF and size == status.st_size & 0xFFFFFFFF
    try:
        same = marshal.loads(data[_PYC_HEADER:]) == compile(source, file, "exec", dont_inherit=True)
    except (ValueError, EOFError, TypeError, SyntaxError, SystemError, MemoryError, RecursionError):
        same = None
    return {"path": path, "used": used, "same": same}


def _installed_by(top: str) -> dict[str, Any] | None:
    """Return the distribution that a top-level module is of, and whether it is editable."""
    try:
        from importlib import metadata
    except ImportError:
        return None
    for found in metadata.distributions():
        files = _text(found, "top_level.txt")
        names = set(files.split()) | {(found.metadata["Name"] or "").replace("-", "_").lower()}
        if top in names or top.lower() in names:
            direct = _object(_text(found, "direct_url.json"))
            folder: Any = direct.get("dir_info")
            url: Any = direct.get("url")
            return {
                "name": found.metadata["Name"],
                "version": found.version,
                "editable": folder.__class__ is dict and bool(folder.get("editable")),
                "url": url if isinstance(url, str) else "",
            }
    return None


def _text(distribution: Any, name: str) -> str:
    """Return the text of a file of a distribution; of none, or one that isn't UTF-8, an empty one."""
    try:
        return distribution.read_text(name) or ""
    except (OSError, ValueError):
        return ""


def _object(text: str) -> dict[str, Any]:
    """Return the object of JSON in a text; of anything else, an empty one."""
    found: Any = None
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return found if found.__class__ is dict else {}


def _read(file: str, attributes: list[str]) -> dict[str, Any]:
    """Say where an attribute is written, from the text alone; nothing if it may be inherited."""
    import ast

    try:
        with open(file, "rb") as text:
            node: Any = ast.parse(text.read())
    except (OSError, SyntaxError, ValueError):
        return {}
    for number, name in enumerate(attributes):
        inside: list[Any] = list(ast.walk(node))
        named = {
            each.name: each for each in inside if hasattr(each, "name") and hasattr(each, "body")
        }
        bound = {each.id for each in inside if isinstance(each, ast.Name)}
        if name not in named:
            if number or name in bound:
                return {}
            return {"missing_attribute": name, "known": sorted(named)}
        node = named[name]
    return {
        "defined_in": file,
        "line": node.lineno,
        "last_line": getattr(node, "end_lineno", node.lineno),
        "qualified_name": ".".join(attributes),
        "defining_module": "",
    }


def _imported(module: str, attributes: list[str]) -> dict[str, Any]:
    """Import a module and say where an attribute of it is defined, and by which class."""
    shown = sys.stdout
    sys.stdout = sys.stderr = io.StringIO()  # what it says when imported is no part of the answer
    try:
        try:
            found: Any = importlib.import_module(module)
        except _ANYTHING as error:  # it is the module's
            return {"import_error": "{}: {}".format(type(error).__name__, error)}
        told: dict[str, Any] = {"imported_file": getattr(found, "__file__", None)}
        owner: Any = None
        for number, name in enumerate(attributes):
            if not hasattr(found, name):
                told["missing_attribute"] = ".".join(attributes[: number + 1])
                told["known"] = [each for each in dir(found) if not each.startswith("__")]
                told["known"] += _names_in(getattr(found, "__path__", []))
                return told
            owner, found = found, inspect.getattr_static(found, name)
            found = _unbound(found)
            if type(found).__name__ == "member_descriptor" or not _has_place(found):
                found = found if _has_place(found) else getattr(owner, name, found)
        told.update(_place(found))
        told["is_class"] = isinstance(found, type)
        if isinstance(owner, type):
            told["classes"] = list(_classes(owner, attributes[-1]))
            told["overriders"] = list(_overriders(owner, attributes[-1]))
        if isinstance(found, type):
            told["classes"] = [_class(found, None)] + [
                _class(each, None) for each in found.__mro__[1:-1]
            ]
        return told
    finally:
        sys.stdout = shown


def _has_place(found: object) -> bool:
    return isinstance(found, (types.FunctionType, property, type, types.ModuleType))


def _place(found: Any) -> dict[str, Any]:
    """Return where a function or a class is written, and by what it is wrapped."""
    wrappers: list[str] = []
    is_partial = type(found).__name__ == "partial"
    found = _plain(found)
    while hasattr(found, "__wrapped__") and not isinstance(found, type):
        name = getattr(getattr(found, "__code__", None), "co_filename", type(found).__qualname__)
        wrappers.append(name)
        found = _plain(found.__wrapped__)
    told = _written(found)
    if wrappers:
        told["wrapped_by"] = wrappers
    if is_partial:
        told["is_partial"] = True
    return told


def _written(found: Any) -> dict[str, Any]:
    code = getattr(found, "__code__", None)
    if code is None and not isinstance(found, type):
        return {} if isinstance(found, types.ModuleType) else {"value": type(found).__name__}
    name = getattr(code, "co_qualname", found.__qualname__)  # the other one may be made up
    told = {"qualified_name": name, "defining_module": found.__module__}
    if code is not None:
        lines = (
            [line for _, _, line in code.co_lines() if line] if hasattr(code, "co_lines") else []
        )
        told["defined_in"], told["line"] = code.co_filename, code.co_firstlineno
        told["last_line"] = max([code.co_firstlineno, *lines])
        return told
    try:
        lines, first = inspect.getsourcelines(found)
        told["defined_in"] = inspect.getsourcefile(found)
    except (OSError, TypeError):
        return told
    told["line"], told["last_line"] = first, first + len(lines) - 1
    return told


def _plain(found: Any) -> Any:
    if isinstance(found, property):
        return found.fget
    return (
        getattr(found, "func", found)
        if type(found).__name__ in {"cached_property", "partial"}
        else found
    )


def _classes(owner: type, name: str) -> Iterator[dict[str, Any]]:
    for each in owner.__mro__:
        if each is not object:
            yield _class(each, name)


def _class(kind: type, name: str | None) -> dict[str, Any]:
    told: dict[str, Any] = {"class": "{}.{}".format(kind.__module__, kind.__qualname__)}
    if name is not None and name in vars(kind):
        told.update(_place(_unbound(vars(kind)[name])))
        told["defines"] = True
    return told


def _unbound(found: Any) -> Any:
    return found.__func__ if type(found).__name__ in {"staticmethod", "classmethod"} else found


def _overriders(owner: type, name: str) -> Iterator[dict[str, Any]]:
    seen: set[type] = set()
    todo: list[type] = list(type.__subclasses__(owner))
    while todo:
        kind = todo.pop(0)
        if kind not in seen:
            seen.add(kind)
            todo += type.__subclasses__(kind)
            if name in vars(kind):
                yield _class(kind, name)


if __name__ == "__main__":
    sys.stdout.write(json.dumps(answer(json.loads(sys.argv.pop()))) + "\n")
