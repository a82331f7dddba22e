"""Where a project's state lives, and the settings that hold there."""

import hashlib
import hmac
import json
import math
import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import field, fields
from pathlib import Path
from typing import TypeAlias

from whet.core.errors import BadSetting, CannotWrite, StateNotOwned
from whet.core.text.record import JsonObject, MalformedRecordError, record, texts
from whet.core.text.shell_words import quoted
from whet.core.text.toml import toml_data
from whet.core.value_class import value_class
from whet.host.code.plain_folders import others_may_write
from whet.host.files.files import content_of, storage_error, sync, write_atomically
from whet.host.files.refused import refused
from whet.host.files.user_key import user_key
from whet.host.files.user_state import is_private, user_state

STATE_FOLDER = ".whet"

_SUBFOLDERS = ("blobs", "made", "scratch", "pycache")
_MORE = ("claims", "worktrees", os.path.join("blobs", "incoming"))
ROOT_FILE = "root"
"""Names the project, for people who look at the folders of state."""

_AGREED = "agreed"
_IGNORE_FILE, _OWNER_FILE, _NOTEBOOK = ".gitignore", "owner", "notebook.db"


@value_class(kw_only=True)
class Project:
    """A project: the folder that whet works in, and where it keeps what it knows.

    Attributes:
        root: nearest folder upwards with a `.whet` or a `.git`, else the folder itself. A `.whet`
            that belongs to another user, or is in a folder that others can write to, such as `/tmp`,
            doesn't count.
        state: where the notebook is: in the user's own state folder, never in the project, as what
            is there may come from anybody. `WHET_DIR` moves it. `prepare` makes it.
        folder: where whet was called.
        key: the user's, with which a folder that `WHET_DIR` names is sealed; empty: it needs none.
    """

    root: Path
    state: Path
    folder: Path
    key: bytes = b""

    @classmethod
    def find(cls, folder: Path, environment: Mapping[str, str]) -> "Project":
        """Return the project that ``folder`` is in; nothing is made there yet.

        Raises:
            CannotWrite: if there is no folder of the user's own for its state.
        """
        folder = Path(os.path.abspath(folder))
        root = _nearest_marked(folder) or folder
        setting = environment.get("WHET_DIR", "")
        if setting:
            state = Path(os.path.abspath(folder / setting))
            return cls(root=root, state=state, folder=folder, key=user_key(environment))
        state = user_state(environment) / "projects" / _name_of(root)
        return cls(root=root, state=state, folder=folder)

    def prepare(self) -> None:
        """Make the state folder, which only the user may enter.

        Raises:
            CannotWrite: if it may not be made.
            DiskFull: if there is no space for it.
            StateNotOwned: if it is there and this user's whet has not made it on this machine.
        """
        self._check("")
        if not os.path.lexists(self.state / _SUBFOLDERS[-1]):  # made last: the rest is there
            self._make()
        for name in (*_SUBFOLDERS, *_MORE):
            self._check(name)
        if self.key and not self._is_sealed():
            raise not_owned(self.state)

    def _check(self, name: str) -> None:
        folder = self.state / name
        if os.path.isdir(folder) and not is_private(folder, others_may_write=True):
            raise StateNotOwned(
                f"`{folder}` isn't your own folder: it's a link, or another user owns it",
                hint="move it away, or set `WHET_DIR` to another folder that isn't a link",
            )

    def _make(self) -> None:
        try:
            self.state.mkdir(mode=0o700, parents=True, exist_ok=True)
            names = set(os.listdir(self.state))
            if names & {_NOTEBOOK, *_SUBFOLDERS} and self.key and not self._is_sealed():
                raise not_owned(self.state)
            # A folder in which more lies is one that WHET_DIR names: its files aren't ours to
            # hide. What a whet that was killed here left behind has no more than these files.
            if names <= {_IGNORE_FILE, _OWNER_FILE}:
                write_atomically(self.state / _IGNORE_FILE, b"*\n", mode=0o600)
            self.seal()
            if not self.key:
                root = os.fsencode(os.path.realpath(self.root))
                write_atomically(self.state / ROOT_FILE, root, mode=0o600)
            for name in _SUBFOLDERS:
                (self.state / name).mkdir(mode=0o700, exist_ok=True)
        except OSError as error:
            if (refusal := refused(error)) is not None:
                raise refusal from error
            # A file in its place, say: whatever it is, the next step is the same.
            raise CannotWrite(
                f"whet can't create the folder `{self.state}`: {error.strerror}",
                hint="set `WHET_DIR` to a folder that you can write to",
            ) from error

    def seal(self) -> None:
        """Write down that this user's whet has made the folder that `WHET_DIR` names."""
        if self.key:
            owner = self.state / _OWNER_FILE
            write_atomically(owner, self._seal().encode(), mode=0o600)
            sync(owner)
            sync(self.state)

    def _is_sealed(self) -> bool:
        with suppress(OSError, UnicodeDecodeError):
            seal = (self.state / _OWNER_FILE).read_text("ascii")
            return hmac.compare_digest(seal, self._seal())
        return False

    def _seal(self) -> str:
        # The inode is what a clone, a copy or an archive doesn't bring along.
        what = f"{self.state.stat().st_ino}".encode()
        return hashlib.blake2b(what, key=self.key).hexdigest()


def not_owned(state: Path) -> StateNotOwned:
    """Return the error for a folder of trials that whet has not made for this user here."""
    return StateNotOwned(
        f"`{state}` holds trials that your whet didn't record on this machine",
        hint=f"`whet notebook adopt {quoted(str(state))}` shows and adopts them",
    )


def _name_of(root: Path) -> str:
    """Return what the state of a project is called: its folder's name, and which one that is."""
    real = os.path.realpath(root)
    name = "".join(each if each.isalnum() or each in "-_." else "_" for each in root.name)
    return f"{name[:40] or 'root'}-{hashlib.sha256(os.fsencode(real)).hexdigest()[:12]}"


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
        not_agreed: switches of the project that the user has not agreed to; they set variables for
            commands, and a project may come from anybody. None of them is in `toggles`.
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
    not_agreed: Mapping[str, JsonObject] = field(default_factory=dict[str, JsonObject])


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

    The project's stand in `whet.toml` or in `[tool.whet]` of `pyproject.toml`, the user's in
    `$XDG_CONFIG_HOME/whet/settings.toml`, those of the environment in `WHET_TIMEOUT_SECONDS`
    and its like. Other `WHET_*` variables are left alone: whet has some that are no settings.

    Raises:
        BadSetting: naming file, key and value.
    """
    numbers: dict[str, Number] = {}
    tables: dict[str, dict[str, JsonObject]] = {name: {} for name in _TABLES}
    theirs: dict[str, JsonObject] = {}
    lists: dict[str, tuple[str, ...]] = dict.fromkeys(_LISTS, ())
    for source, data, is_theirs in _sources(project, environment):
        for name, value in data.items():
            if is_theirs and name in _USERS_ALONE:
                raise BadSetting(
                    f"`{name}` in {source}: only your own settings can say so",
                    hint="move it into your own `settings.toml`, or remove it",
                )
            if name in _TABLES:
                settings_tables = _tables_in(data, name, source)
                (theirs if is_theirs and name == "toggles" else tables[name]).update(
                    settings_tables
                )
                continue
            if name in _LISTS:
                lists[name] += _list_in(data, name, source)
                continue
            numbers[name] = _checked(name, value, source)
    jobs = numbers.get("jobs")
    is_agreed = not theirs or _digest_of(theirs) in _agreed(project)
    tables["toggles"].update(theirs if is_agreed else {})
    keep_below = numbers.get("keep_untracked_below_bytes", Settings().keep_untracked_below_bytes)
    return Settings(
        timeout_seconds=numbers.get("timeout_seconds"),
        jobs=None if jobs is None else int(jobs),
        keep_untracked_below_bytes=int(keep_below),
        notebook_bytes=int(numbers.get("notebook_bytes", Settings().notebook_bytes)),
        notebook_days=int(numbers.get("notebook_days", Settings().notebook_days)),
        limits=tables["limits"],
        toggles=tables["toggles"],
        secrets=lists["secrets"],
        not_secrets=lists["not_secrets"],
        not_agreed={} if is_agreed else theirs,
    )


def agree(project: Project, settings: Settings) -> None:
    """Write down that the user agrees to the project's switches as they are now.

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


def _digest_of(tables: Mapping[str, JsonObject]) -> str:
    return hashlib.sha256(json.dumps(tables, sort_keys=True, default=str).encode()).hexdigest()


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


def _nearest_marked(folder: Path) -> Path | None:
    # `.git` is a file in worktrees and submodules; a file `.whet` isn't whet's.
    # Not `Path.exists`, which raises where a folder above may not be entered.
    trusted = {os.geteuid(), _owner_of(folder)}  # root may work in the folder of a user
    for each in (folder, *folder.parents):
        state, repository = each / STATE_FOLDER, each / ".git"
        is_marked = os.path.isdir(state) and _owner_of(state) in trusted
        if (is_marked and not others_may_write(each)) or (
            os.path.exists(repository) and _owner_of(repository) in trusted
        ):
            return each
    return None


def _owner_of(path: Path) -> int | None:
    try:
        return path.stat().st_uid
    except OSError:
        return None


def _sources(
    project: Project, environment: Mapping[str, str]
) -> Iterator[tuple[str, JsonObject, bool]]:
    """Yield each place that has settings, those that win last, and whether it is the project's."""
    user = _user_folder(environment)
    if user is not None:
        path = user / "whet" / "settings.toml"
        yield f"`{path}`", _read_own(path), False
    path = project.root / "pyproject.toml"
    yield f"`[tool.whet]` of `{path}`", _read_pyproject(path), True
    path = project.root / "whet.toml"
    yield f"`{path}`", _read_own(path), True
    for name in _NUMBERS:
        variable = f"WHET_{name.upper()}"
        if environment.get(variable):
            yield f"`{variable}`", {name: _number_in(environment[variable])}, False


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
