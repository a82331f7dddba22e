"""The settings that hold in a project."""

import hashlib
import json
import math
import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import field, fields
from enum import Enum, auto
from pathlib import Path
from typing import TypeAlias

from whet.core.errors import BadSetting
from whet.core.limits import NAMED_LIMITS
from whet.core.text.record import JsonObject, MalformedRecordError, record, texts
from whet.core.text.toml import toml_data
from whet.core.value_class import value_class
from whet.host.code.project import Project
from whet.host.files.files import content_of, storage_error, write_atomically

_AGREED = "agreed"


@value_class(kw_only=True)
class Settings:
    """What holds when no flag says otherwise.

    Attributes:
        timeout_seconds: limit of wall time of every trial; None: none.
        jobs: trials at once in a search; None: all cores.
        notebook_bytes: what outputs and payloads of a project's trials may take; then those of the
            oldest trials go. The user's alone may say so.
        notebook_days: how old a trial is of which they are kept; the user's alone may say so.
        keep_untracked_below_bytes: larger untracked files are kept by name, size and time only.
        limits: sets of limits by name, each with what its options are given; `[limits.NAME]`.
        toggles: switches of the user's own by name; `[toggles.NAME]`.
        secrets: what is a secret beside what looks like one: names, as globs, and beginnings of
            values behind `prefix:`.
        not_secrets: exceptions that look like a secret; only the user's own settings may name them.
        not_agreed: what the project sets and the user has not agreed to, as a project may come from
            anybody: switches, which set variables for commands; sets of limits with the name of one
            that the user has; numbers that allow more than the user does. None of it holds.
    """

    timeout_seconds: float | None = None
    jobs: int | None = None
    notebook_bytes: int = 2_000_000_000
    notebook_days: int = 365
    keep_untracked_below_bytes: int = 10_000_000
    limits: Mapping[str, JsonObject] = field(default_factory=dict[str, JsonObject])
    toggles: Mapping[str, JsonObject] = field(default_factory=dict[str, JsonObject])
    secrets: tuple[str, ...] = ()
    not_secrets: tuple[str, ...] = ()
    not_agreed: JsonObject = field(default_factory=dict[str, object])

    @property
    def switches_not_agreed(self) -> Mapping[str, JsonObject]:
        """The project's switches that the user has not agreed to."""
        return self._not_agreed_tables("toggles")

    @property
    def wider_limits(self) -> Mapping[str, object]:
        """What the project sets and the user has not agreed to, but for switches."""
        numbers = {name: each for name, each in self.not_agreed.items() if name not in _TABLES}
        sets = self._not_agreed_tables("limits")
        return {**numbers, **{f"limits.{name}": each for name, each in sets.items()}}

    def _not_agreed_tables(self, name: str) -> Mapping[str, JsonObject]:
        tables = record(self.not_agreed, name)
        return {each: record(tables, each) for each in tables}


Number: TypeAlias = int | float

_LEAST_OF_WHOLE = {
    "jobs": 1,
    "keep_untracked_below_bytes": 0,
    "notebook_bytes": 0,
    "notebook_days": 0,
}
_USERS_ALONE = ("not_secrets", "notebook_bytes", "notebook_days")
"""A project may come from anybody."""

_TABLES = {
    "limits": 'write `[limits.small]` in a line, and below it `memory = "2G"`',
    "toggles": 'write `[toggles.no-cache]` in a line, and below it `variables = { CACHE = "0" }`',
}
_LISTS = ("secrets", "not_secrets")
_NUMBERS = tuple(
    each.name for each in fields(Settings) if each.name not in {*_TABLES, *_LISTS, "not_agreed"}
)


def load_settings(project: Project, environment: Mapping[str, str]) -> Settings:
    """Return the settings: the environment's over the project's over the user's.

    What the project allows beyond the user's own settings waits for the user's word.

    The project's stand in `whet.toml` or in `[tool.whet]` of `pyproject.toml`, the user's in
    `$XDG_CONFIG_HOME/whet/settings.toml`, those of the environment in `WHET_TIMEOUT_SECONDS`
    and its like. Other `WHET_*` variables are left alone: whet has some that are no settings.

    Raises:
        BadSetting: naming file, key and value.
    """
    own, theirs, over = _Layer(), _Layer(), _Layer()
    layers = {_Who.USER: own, _Who.PROJECT: theirs, _Who.ENVIRONMENT: over}
    for who, source, data in _sources(project, environment):
        if who is _Who.PROJECT:
            _refuse_users_alone(data, source)
        layers[who].add(data, source)
    wider = _beyond(theirs, own)
    is_agreed = not wider or _digest_of(wider) in _agreed(project)
    not_agreed: JsonObject = {} if is_agreed else wider
    held = theirs.without(not_agreed)
    numbers = {**own.numbers, **held.numbers, **over.numbers}
    tables = {name: {**own.tables[name], **held.tables[name]} for name in _TABLES}
    lists = {name: own.lists[name] + theirs.lists[name] for name in _LISTS}
    whole = {name: int(each) for name, each in numbers.items() if name in _LEAST_OF_WHOLE}
    default = Settings()
    return Settings(
        timeout_seconds=numbers.get("timeout_seconds"),
        jobs=whole.get("jobs"),
        keep_untracked_below_bytes=whole.get(
            "keep_untracked_below_bytes", default.keep_untracked_below_bytes
        ),
        notebook_bytes=whole.get("notebook_bytes", default.notebook_bytes),
        notebook_days=whole.get("notebook_days", default.notebook_days),
        limits=tables["limits"], toggles=tables["toggles"], secrets=lists["secrets"],
        not_secrets=lists["not_secrets"], not_agreed=not_agreed,
    )  # fmt: skip


class _Who(Enum):
    USER = auto()
    PROJECT = auto()
    ENVIRONMENT = auto()


@value_class(kw_only=True)
class _Layer:
    """What the user, the project or the environment sets."""

    numbers: dict[str, Number] = field(default_factory=dict[str, Number])
    tables: dict[str, dict[str, JsonObject]] = field(
        default_factory=lambda: {name: {} for name in _TABLES}
    )
    lists: dict[str, tuple[str, ...]] = field(default_factory=lambda: dict.fromkeys(_LISTS, ()))

    def add(self, data: JsonObject, source: str) -> None:
        """Add what a file or a variable says, over what is there."""
        for name, value in data.items():
            if name in _TABLES:
                self.tables[name].update(_tables_in(data, name, source))
            elif name in _LISTS:
                self.lists[name] += _list_in(data, name, source)
            else:
                self.numbers[name] = _checked(name, value, source)

    def without(self, data: JsonObject) -> "_Layer":
        """Return it less what ``data`` holds."""
        numbers = {name: each for name, each in self.numbers.items() if name not in data}
        tables = {
            name: {each: table for each, table in tables.items() if each not in record(data, name)}
            for name, tables in self.tables.items()
        }
        return _Layer(numbers=numbers, tables=tables, lists=self.lists)


def _beyond(theirs: _Layer, own: _Layer) -> JsonObject:
    """Return what a project sets that starts something or allows more than the user does."""
    most = {
        "timeout_seconds": math.inf,
        "jobs": os.cpu_count() or 1,
        "keep_untracked_below_bytes": Settings().keep_untracked_below_bytes,
        **own.numbers,
    }
    users = {**NAMED_LIMITS, **own.tables["limits"]}
    sets = {
        name: table
        for name, table in theirs.tables["limits"].items()
        if name in users and table != users[name]
    }
    found = {name: each for name, each in theirs.numbers.items() if each > most[name]}
    tables = {"toggles": theirs.tables["toggles"], "limits": sets}
    return {**found, **{name: each for name, each in tables.items() if each}}


def _refuse_users_alone(data: JsonObject, source: str) -> None:
    for name in _USERS_ALONE:
        if name in data:
            raise BadSetting(
                f"`{name}` in {source}: only your own settings can say so",
                hint="move it into your own `settings.toml`, or remove it",
            )


def agree(project: Project, settings: Settings) -> None:
    """Write down that the user agrees to what the project sets, as it is now.

    Raises:
        CannotWrite, DiskFull: if it can't be written.
    """
    path = project.state / _AGREED
    lines = {*_agreed(project), _digest_of(settings.not_agreed)}
    try:
        write_atomically(path, "".join(f"{each}\n" for each in sorted(lines)).encode(), mode=0o600)
    except OSError as error:
        raise storage_error(error, path) from error


def _agreed(project: Project) -> frozenset[str]:
    with suppress(OSError, UnicodeDecodeError):
        return frozenset((project.state / _AGREED).read_text("ascii").split())
    return frozenset()


def _digest_of(data: JsonObject) -> str:
    return hashlib.sha256(json.dumps(data, sort_keys=True, default=str).encode()).hexdigest()


def _tables_in(data: JsonObject, name: str, source: str) -> dict[str, JsonObject]:
    try:
        tables = record(data, name)
        return {each: record(tables, each) for each in tables}
    except MalformedRecordError as error:
        raise BadSetting(
            f"`{name}` in {source} is not a table of tables: {error}", hint=_TABLES[name]
        ) from error


def _list_in(data: JsonObject, name: str, source: str) -> tuple[str, ...]:
    try:
        return texts(data, name)
    except MalformedRecordError as error:
        raise BadSetting(
            f"`{name}` in {source} is not a list of texts", hint=f'write `{name} = ["ACME_*"]`'
        ) from error


def _sources(
    project: Project, environment: Mapping[str, str]
) -> Iterator[tuple[_Who, str, JsonObject]]:
    """Yield each place that has settings, those that win last."""
    user = _user_folder(environment)
    if user is not None:
        path = user / "whet" / "settings.toml"
        yield _Who.USER, f"`{path}`", _read_own(path)
    path = project.root / "pyproject.toml"
    yield _Who.PROJECT, f"`[tool.whet]` of `{path}`", _read_pyproject(path)
    path = project.root / "whet.toml"
    yield _Who.PROJECT, f"`{path}`", _read_own(path)
    for name in _NUMBERS:
        variable = f"WHET_{name.upper()}"
        if environment.get(variable):
            yield _Who.ENVIRONMENT, f"`{variable}`", {name: _number_in(environment[variable])}


def _user_folder(environment: Mapping[str, str]) -> Path | None:
    folder = environment.get("XDG_CONFIG_HOME", "")
    if os.path.isabs(folder):  # a relative one is to be ignored, says the specification
        return Path(folder)
    home = environment.get("HOME", "")
    return Path(home, ".config") if home else None


def _read_own(path: Path) -> JsonObject:
    try:
        data = content_of(path)
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except OSError as error:
        raise BadSetting(
            f"whet can't read `{path}`: {error.strerror}",
            hint=f"check its permissions: `ls -ld {path}`",
        ) from error
    try:
        return toml_data(data.decode())
    except ValueError as error:
        raise BadSetting(f"`{path}` is not TOML: {error}", hint="fix it") from error


def _read_pyproject(path: Path) -> JsonObject:
    try:
        data = content_of(path)
    except OSError:
        return {}
    if b"whet" not in data:
        return {}
    try:
        return record(record(toml_data(data.decode()), "tool"), "whet")
    except ValueError as error:
        if isinstance(error, MalformedRecordError):
            raise BadSetting(
                f"`[tool.whet]` of `{path}` is not a table", hint="write `[tool.whet]` in a line"
            ) from error
        return {}  # a broken pyproject.toml may be the very bug: not ours to refuse


def _number_in(text: str) -> object:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _checked(name: str, value: object, source: str) -> Number:
    if name == "timeout_seconds":
        if isinstance(value, int | float) and value is not True and 0 < value < math.inf:
            return value
        kind, example = "a number of seconds above 0", "60"
    elif name in _LEAST_OF_WHOLE:
        least = _LEAST_OF_WHOLE[name]
        if isinstance(value, int) and not isinstance(value, bool) and value >= least:
            return value
        kind, example = f"a whole number, {least} or more", str(max(least, 2))
    else:
        raise BadSetting(
            f"`{name}` in {source} is not one of whet's settings",
            hint=f"the settings are {', '.join(f'`{setting}`' for setting in (*_NUMBERS, *_LISTS, *_TABLES))}",
        )
    raise BadSetting(
        f"`{name}` in {source} is {value!r}, not {kind}", hint=f"write `{name} = {example}`"
    )
