"""Documents of settings: JSON, YAML, TOML, INI, environment files and Python literals as plain data."""

import configparser
import io
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import PurePath
from typing import Any, cast

from whet.core.text.toml import toml_data
from whet.core.value_class import value_class
from whet.reduction.settings.assignments import (
    read_env_file,
    read_python_literal,
    read_python_names,
    write_env_file,
    write_python_literal,
    write_python_names,
)

_DEEPEST, _MOST_BITS = 100, 10_000
_ASSIGNMENT = re.compile(r"(?:export[ \t]+)?[A-Za-z_]\w*=")


class UnreadableError(ValueError):
    """A text isn't what its name says that it is; the message says where."""


@value_class(kw_only=True)
class DocumentKind:
    """A language in which settings are written.

    Attributes:
        name: what it is called.
        read: returns the data of a text; raises `UnreadableError`.
        write: returns a text of the data.
        is_text: all its values are texts.
    """

    name: str
    read: Callable[[str], object]
    write: Callable[[object], str]
    is_text: bool = False


def document_kind_of(name: str) -> DocumentKind | None:
    """Return the language of a file of this name; None: it is taken as lines."""
    suffix = PurePath(name).suffix.lower()
    if suffix in {".yaml", ".yml"}:
        return _yaml_kind()
    return _BY_SUFFIX.get(suffix)


def data_of(kind: DocumentKind | None, text: bytes) -> object:
    """Return the settings in a text; None if it is to be taken as lines.

    Raises:
        UnreadableError: if it isn't of that kind.
    """
    if kind is None:
        return None
    data = _data(kind, text)
    return cast("object", data) if isinstance(data, dict) else None


def _read_json(text: str) -> object:
    try:
        return cast("object", json.loads(text or "{}"))
    except (ValueError, RecursionError) as error:
        raise UnreadableError(str(error)) from error


def _read_toml(text: str) -> object:
    try:
        return toml_data(text)
    except ValueError as error:
        raise UnreadableError(str(error)) from error


def _write_toml(data: object) -> str:
    import tomli_w  # 3 ms: only who writes such a file pays

    return tomli_w.dumps(cast("Mapping[str, object]", data))


class _CaseKept(configparser.ConfigParser):
    """Keeps names as they are written."""

    def optionxform(self, optionstr: str) -> str:
        return optionstr


def _parser() -> configparser.ConfigParser:
    # `DEFAULT` is a section like others here: what is in it is written back there.
    return _CaseKept(interpolation=None, strict=False, allow_no_value=True, default_section="\0")


def _read_ini(text: str) -> object:
    parser = _parser()
    try:
        parser.read_string(text)
    except (configparser.Error, AttributeError) as error:  # of a line that resumes from none
        raise UnreadableError(str(error).replace("\n", " ")) from error
    return {name: dict(parser[name]) for name in parser.sections()}


def _write_ini(data: object) -> str:
    parser = _parser()
    parser.read_dict(cast("Mapping[str, Mapping[str, str]]", data))
    out = io.StringIO()
    parser.write(out)
    return out.getvalue()


def _yaml_kind() -> DocumentKind | None:
    """Return YAML; None where no library for it is installed."""
    try:
        yaml = cast("Any", import_module("yaml"))
    except ModuleNotFoundError:
        return None

    def read(text: str) -> object:
        try:
            data: object = yaml.safe_load(text)
        except (yaml.constructor.ConstructorError, yaml.composer.ComposerError):
            return None  # tags of its own, or more than one document: its lines count
        except (yaml.YAMLError, ValueError, RecursionError, OverflowError) as error:
            raise UnreadableError(" ".join(str(error).split())) from error
        return {} if data is None else data

    def write(data: object) -> str:
        try:
            text: str = yaml.safe_dump(data, sort_keys=False, allow_unicode=True)
        except yaml.representer.RepresenterError as error:
            raise UnreadableError(" ".join(map(str, error.args))) from error
        return text

    return DocumentKind(name="YAML", read=read, write=write)


def _write_json(data: object) -> str:
    return json.dumps(data, indent=2, ensure_ascii=False) + "\n"


def _refusing(read: Callable[[str], object]) -> Callable[[str], object]:
    """Return what reads and says in the one way why it can't."""

    def reading(text: str) -> object:
        try:
            return read(text)
        except ValueError as error:
            raise UnreadableError(str(error)) from error

    return reading


_INI = DocumentKind(name="INI", read=_read_ini, write=_write_ini, is_text=True)
ENVIRONMENT_FILE = DocumentKind(
    name="an environment file", read=_refusing(read_env_file), write=write_env_file, is_text=True
)
_PYTHON_LITERAL = DocumentKind(
    name="a Python literal", read=_refusing(read_python_literal), write=write_python_literal
)
_PYTHON_NAMES = DocumentKind(
    name="a module of Python literals", read=_refusing(read_python_names), write=write_python_names
)

_BY_SUFFIX: Mapping[str, DocumentKind] = {
    ".json": DocumentKind(name="JSON", read=_read_json, write=_write_json),
    ".toml": DocumentKind(name="TOML", read=_read_toml, write=_write_toml),
    ".ini": _INI,
    ".cfg": _INI,
}


def kinds_like(content: str) -> Iterator[DocumentKind]:
    """Yield the languages that a text may be written in, the strictest first."""
    begins = content.lstrip()[:1]
    if begins and begins in "{[":
        yield _BY_SUFFIX[".json"]
        yield _PYTHON_LITERAL
    lines = [line.strip() for line in content.splitlines()]
    told = [line for line in lines if line and line[0] not in "#;"]
    if told and told[0][0] == "[" and any("=" in line for line in told):
        yield _BY_SUFFIX[".toml"]
        yield _INI
    elif told and all(_ASSIGNMENT.match(line) for line in told):
        yield ENVIRONMENT_FILE
    yield from (_BY_SUFFIX[".toml"], _PYTHON_NAMES, ENVIRONMENT_FILE)
    yaml = _yaml_kind()
    if yaml is not None:
        yield yaml


def document_in(name: str, content: bytes) -> tuple[DocumentKind | None, object]:
    """Return what a file is written in and what it holds; None twice: it is taken as lines.

    Its name decides where it says what the file is, its content elsewhere.

    Raises:
        UnreadableError: if it isn't what its name says.
    """
    named = _named(name)
    if named is not None:
        data = _data(named, content)
        return (named, cast("object", data)) if isinstance(data, dict | list) else (None, None)
    for kind in kinds_like(content.decode("utf-8-sig", "replace")):
        try:
            data = _data(kind, content)
        except UnreadableError:
            continue
        if isinstance(data, dict | list) and data:
            return kind, cast("object", data)
    return None, None


def _named(name: str) -> DocumentKind | None:
    path = PurePath(name)
    if path.suffix == ".env" or path.name == ".env" or path.name.startswith(".env."):
        return ENVIRONMENT_FILE
    # An old `.cfg` may be any text, and the content of a `.py` says which of the two it is.
    return None if path.suffix.lower() == ".cfg" else document_kind_of(name)


def _data(kind: DocumentKind, content: bytes) -> object:
    try:
        data = kind.read(content.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise UnreadableError(str(error)) from error
    check_walkable(data)
    return data


def check_walkable(data: object) -> None:
    """Check that what walks through data can.

    Raises:
        UnreadableError: if they are nested too deeply, or have a number that can't be written.
    """
    left = [(data, 0)]
    while left:
        value, depth = left.pop()
        if depth > _DEEPEST:
            raise UnreadableError("it is nested too deeply")
        if isinstance(value, int) and value.bit_length() > _MOST_BITS:
            raise UnreadableError("a number in it is too long")
        inner: Iterable[object] = ()
        if isinstance(value, dict):
            inner = cast("Mapping[object, object]", value).values()
        elif isinstance(value, list | tuple):
            inner = cast("Sequence[object]", value)
        left += [(each, depth + 1) for each in inner]
