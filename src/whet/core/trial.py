"""One atomic debug cycle as data: reset, then the command."""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from whet.core.limits import Limits
from whet.core.text.record import (
    JsonObject,
    boolean,
    integer,
    optional_integer,
    optional_number,
    optional_record,
    optional_text,
    record,
    records,
    text,
    text_map,
    texts,
)

STDIN_EMPTY = "empty"
"""The trial reads from /dev/null."""

STDIN_INHERITED = "inherited"
"""The trial reads what whet was given: such a trial cannot be repeated by itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResetStep:
    """A shell command that puts the world back before the trial's own command.

    Attributes:
        command: text for ``sh -c``.
        must_succeed: ``&&`` of the shell (``--reset``) if true, ``;`` (``--reset-try``) if not.
    """

    command: str
    must_succeed: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class PayloadPlace:
    """A place of a payload in the command.

    Attributes:
        argument: index into the command.
        text: part of that argument that names the payload, such as ``data.csv`` or ``{}``.
    """

    argument: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PayloadBinding:
    """Where a payload stands in the command, and what it holds.

    The executor writes the bytes called ``digest`` to a file called ``name`` in a folder
    of the trial's own and puts that file's path in place of ``text`` in the argument.

    Attributes:
        argument: index into the command, or None for standard input.
        text: part of that argument that names the payload, such as ``data.csv`` or ``{}``.
        name: file name that the program sees; keeps the extension that programs look at.
        digest: SHA-256 of the payload, its name in the blob store.
        more: the other places in the command that name the same file.
        beside: folder whose other files the payload needs beside it; empty: none.
        folder: if the payload is a folder, the one that it lies in, and what it holds is bytes of
            `whet.host.code.folders`; empty: it is a file.
        is_home: the command starts in the folder where the payload lies, by itself or with
            others of which this is true.
    """

    argument: int | None
    text: str
    name: str
    digest: str
    more: tuple[PayloadPlace, ...] = ()
    beside: str = ""
    folder: str = ""
    is_home: bool = False

    @property
    def places(self) -> tuple[PayloadPlace, ...]:
        """Every place in the command's words."""
        if self.argument is None:
            return self.more
        return (PayloadPlace(argument=self.argument, text=self.text), *self.more)

    def put(self, path: str, words: list[str]) -> None:
        """Put ``path`` in the place of the payload in each of ``words`` that names it."""
        for place in self.places:
            words[place.argument] = put_path(words[place.argument], place.text, path)


def put_path(word: str, text: str, path: str) -> str:
    """Return ``word`` with ``path`` for each ``text`` in it that is a whole path.

    In ``sh -c 'cat d.txt old/d.txt dd.txt'`` one of them is ``d.txt``. A text that ends with a
    slash is a folder whose files are named: ``d/`` in ``d/a.txt``.
    """
    path += "/" if text[-1:] == "/" else ""
    if word == text:
        return path
    begins = r"(?<![\w./-])" if text[:1] != "{" else ""
    ends = r"(?![\w/-]|\.\w)" if text[-1:] not in {"}", "/"} else ""
    return re.sub(f"{begins}{re.escape(text)}{ends}", lambda _: path, word)


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeState:
    """The code that a trial ran on, so that it can be brought back.

    Attributes:
        repository: top folder of the git repository.
        commit: what HEAD was.
        tree: digest of all that decides: the tree with the uncommitted changes in it, and
            the names, sizes and times of files too large to keep.
        snapshot: commit of whet's own that holds the working tree, or None if it was clean.
        large_files: untracked files kept by name, size and time only.
    """

    repository: str
    commit: str
    tree: str
    snapshot: str | None = None
    large_files: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What a trial inherits from the machine and the shell; part of its key.

    Attributes:
        environment_digest: digest of the inherited environment, less what changes by itself.
        interpreter: the Python that the command runs, such as ``CPython 3.11.7``; empty if none.
        packages_digest: digest of the versions of the packages that this Python sees.
        platform: operating system, kernel's machine and host name.
        files_digest: digest of the files that no snapshot of the code holds; empty for a single
            trial, which is answered from nowhere.
    """

    environment_digest: str = ""
    interpreter: str = ""
    packages_digest: str = ""
    platform: str = ""
    files_digest: str = ""


def _no_strings() -> dict[str, str]:
    return {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """Everything needed to run one debug cycle again, and nothing about how it went.

    Attributes:
        command: argument vector, never a shell string.
        cwd: absolute folder that the command starts in.
        environment: overrides for this trial alone.
        unset: variables that are not inherited, sorted.
        hang_seconds: after so long without output it is given up as hanging; None: never.
        hangs_if_idle: only if it does nothing either.
        stdin: ``STDIN_EMPTY``, ``STDIN_INHERITED`` or the digest of what is read.
        reset: steps before the command, in order.
        payloads: files that a search varies.
        code: the working tree that the command ran on, if it is in a git repository.
        revision: run on this commit, checked out in a place of its own; None: where it stands.
        packages: run with these releases, in a Python environment of its own; name to version.
        limits: what the trial may use.
        measures: name to pattern of a number that the program prints.
        surroundings: what the trial inherits.
        setup: what is done once in the checkout of ``revision`` before it runs there, as text.
    """

    command: tuple[str, ...]
    cwd: str
    environment: Mapping[str, str] = field(default_factory=_no_strings)
    stdin: str = STDIN_EMPTY
    reset: tuple[ResetStep, ...] = ()
    payloads: tuple[PayloadBinding, ...] = ()
    code: CodeState | None = None
    revision: str | None = None
    packages: Mapping[str, str] = field(default_factory=_no_strings)
    limits: Limits = field(default_factory=Limits)
    measures: Mapping[str, str] = field(default_factory=_no_strings)
    surroundings: Surroundings = field(default_factory=Surroundings)
    unset: tuple[str, ...] = ()
    setup: str = ""
    hang_seconds: float | None = None
    hangs_if_idle: bool = False

    def with_payload(self, digest: str, position: int = 0) -> "Trial":
        """Return the trial that differs from this one in one payload alone."""
        payloads = list(self.payloads)
        payloads[position] = replace(payloads[position], digest=digest)
        return replace(self, payloads=tuple(payloads))

    @property
    def key(self) -> str:
        """Digest over everything that decides the outcome: equal keys, equal trials."""
        # Where the code is kept decides nothing: its tree does.
        data = self if self.code is None else replace(self, code=replace(self.code, snapshot=None))
        canonical = json.dumps(data.to_json(), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(canonical.encode("utf-8", "surrogateescape")).hexdigest()

    @property
    def untimed_key(self) -> str:
        """The same for whatever limit of time: that decides nothing of a run that ends before it."""
        return replace(self, limits=replace(self.limits, wall_seconds=None)).key

    def to_json(self) -> dict[str, object]:
        """Return this trial as JSON data; payload and code stand there by digest."""
        return {
            "command": list(self.command),
            "cwd": self.cwd,
            "environment": dict(self.environment),
            "stdin": self.stdin,
            "reset": [_fields(step) for step in self.reset],
            "payloads": [_payload_to_json(payload) for payload in self.payloads],
            "code": None if self.code is None else _fields(self.code),
            "revision": self.revision,
            "packages": dict(self.packages),
            "limits": self.limits.to_json(),
            "measures": dict(self.measures),
            "surroundings": _fields(self.surroundings),
            # Where there is none it says nothing: the keys of all other trials stay as they were.
            **({"unset": list(self.unset)} if self.unset else {}),
            **({"setup": self.setup} if self.setup else {}),
            **({} if self.hang_seconds is None else {"hang_seconds": self.hang_seconds}),
            **({"hangs_if_idle": True} if self.hangs_if_idle else {}),
        }

    @classmethod
    def from_json(cls, data: JsonObject) -> "Trial":
        """Return the trial that ``to_json`` wrote."""
        code = optional_record(data, "code")
        return cls(
            command=texts(data, "command"),
            cwd=text(data, "cwd"),
            environment=text_map(data, "environment"),
            stdin=text(data, "stdin"),
            reset=tuple(
                ResetStep(command=text(step, "command"), must_succeed=boolean(step, "must_succeed"))
                for step in records(data, "reset")
            ),
            payloads=tuple(_payload_from_json(payload) for payload in records(data, "payloads")),
            code=None if code is None else _code_from_json(code),
            revision=optional_text(data, "revision"),
            packages=text_map(data, "packages"),
            limits=Limits.from_json(record(data, "limits")),
            measures=text_map(data, "measures"),
            surroundings=_surroundings_from_json(record(data, "surroundings")),
            unset=texts(data, "unset") if "unset" in data else (),
            setup=text(data, "setup", ""),
            hang_seconds=optional_number(data, "hang_seconds"),
            hangs_if_idle=boolean(data, "hangs_if_idle"),
        )


def _fields(
    value: ResetStep | PayloadBinding | PayloadPlace | CodeState | Surroundings,
) -> dict[str, object]:
    # dataclasses.asdict deep-copies, which costs more than all the rest of a key.
    fields: dict[str, object] = {}
    for name in value.__slots__:
        item: object = getattr(value, name)
        fields[name] = list(item) if isinstance(item, tuple) else item  # pyright: ignore[reportUnknownArgumentType]
    return fields


def _payload_to_json(payload: PayloadBinding) -> dict[str, object]:
    return {**_fields(payload), "more": [_fields(place) for place in payload.more]}


def _payload_from_json(data: JsonObject) -> PayloadBinding:
    return PayloadBinding(
        argument=optional_integer(data, "argument"),
        text=text(data, "text"),
        name=text(data, "name"),
        digest=text(data, "digest"),
        more=tuple(
            PayloadPlace(argument=integer(place, "argument"), text=text(place, "text"))
            for place in records(data, "more")
        ),
        beside=text(data, "beside", ""),
        folder=text(data, "folder", ""),
        is_home="is_home" in data and boolean(data, "is_home"),
    )


def _code_from_json(data: JsonObject) -> CodeState:
    return CodeState(
        repository=text(data, "repository"),
        commit=text(data, "commit"),
        tree=text(data, "tree"),
        snapshot=optional_text(data, "snapshot"),
        large_files=texts(data, "large_files"),
    )


def _surroundings_from_json(data: JsonObject) -> Surroundings:
    return Surroundings(
        environment_digest=text(data, "environment_digest", ""),
        interpreter=text(data, "interpreter", ""),
        packages_digest=text(data, "packages_digest", ""),
        platform=text(data, "platform", ""),
        files_digest=text(data, "files_digest", ""),
    )
