"""Documents of settings: reading and writing JSON, YAML, TOML and INI as plain data."""

import configparser
import io
import json
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import PurePath
from typing import Any, cast

from whet.reduction.settings.toml_text import toml_text


class UnreadableError(ValueError):
    """A text is not what its name says that it is; the message says where."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentKind:
    """A language in which settings are written.

    Attributes:
        name: what it is called.
        read: returns the data of a text; raises `UnreadableError`.
        write: returns a text of the data.
    """

    name: str
    read: Callable[[str], object]
    write: Callable[[object], str]


def document_kind_of(name: str) -> DocumentKind | None:
    """Return the language of a file of this name; None: it is taken as lines."""
    suffix = PurePath(name).suffix.lower()
    if suffix in {".yaml", ".yml"}:
        return _yaml_kind()
    return _BY_SUFFIX.get(suffix)


def data_of(kind: DocumentKind | None, text: bytes) -> object:
    """Return the settings in a text; None if it is to be taken as lines.

    Raises:
        UnreadableError: if it is not of that kind.
    """
    if kind is None:
        return None
    try:
        data = kind.read(text.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise UnreadableError(str(error)) from error
    return cast("object", data) if isinstance(data, dict) else None


def _read_json(text: str) -> object:
    try:
        return cast("object", json.loads(text or "{}"))
    except (ValueError, RecursionError) as error:
        raise UnreadableError(str(error)) from error


def _read_toml(text: str) -> object:
    try:
        return tomllib.loads(text)
    except ValueError as error:
        raise UnreadableError(str(error)) from error


class _CaseKept(configparser.ConfigParser):
    """Keeps names as they are written."""

    def optionxform(self, optionstr: str) -> str:
        return optionstr


def _parser() -> configparser.ConfigParser:
    # `DEFAULT` is a section like others here: what stands in it is written back there.
    return _CaseKept(interpolation=None, strict=False, allow_no_value=True, default_section="\0")


def _read_ini(text: str) -> object:
    parser = _parser()
    try:
        parser.read_string(text)
    except configparser.Error as error:
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
        except (yaml.YAMLError, RecursionError) as error:
            raise UnreadableError(" ".join(str(error).split())) from error
        return {} if data is None else data

    def write(data: object) -> str:
        text: str = yaml.safe_dump(data, sort_keys=False, allow_unicode=True)
        return text

    return DocumentKind(name="YAML", read=read, write=write)


def _write_json(data: object) -> str:
    return json.dumps(data, indent=2, ensure_ascii=False) + "\n"


_INI = DocumentKind(name="INI", read=_read_ini, write=_write_ini)

_BY_SUFFIX: Mapping[str, DocumentKind] = {
    ".json": DocumentKind(name="JSON", read=_read_json, write=_write_json),
    ".toml": DocumentKind(name="TOML", read=_read_toml, write=toml_text),
    ".ini": _INI,
    ".cfg": _INI,
}
