"""One atomic debug cycle as data: reset, then the command."""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import field, replace

from whet.core.limits import Limits
from whet.core.text.json_record import Record, sparse
from whet.core.value_class import value_class

STDIN_EMPTY = "empty"
"""The trial reads from /dev/null."""

STDIN_INHERITED = "inherited"
"""The trial reads whet's own standard input, so it can't be repeated without it."""


@value_class(kw_only=True)
class ResetStep(Record):
    """A shell command that puts the world back before the trial's own command.

    Attributes:
        command: text for ``sh -c``.
        must_succeed: ``&&`` of the shell (``--reset``) if true, ``;`` (``--reset-try``) if not.
    """

    command: str
    must_succeed: bool = True


@value_class(kw_only=True)
class PayloadPlace(Record):
    """A place of a payload in the command.

    Attributes:
        argument: index into the command.
        text: part of that argument that names the payload, such as ``data.csv`` or ``{}``.
    """

    argument: int
    text: str


@value_class(kw_only=True)
class PayloadBinding(Record):
    """Where a payload is in the command, and what it holds.

    The executor writes the bytes called ``digest`` to a file called ``name`` in a folder
    of the trial's own and puts that file's path in place of ``text`` in the argument.

    Attributes:
        argument: index into the command, or None for standard input.
        text: part of that argument that names the payload, such as ``data.csv`` or ``{}``.
        name: file name that the program sees; keeps the extension that programs look at.
        digest: SHA-256 of the payload, its name in the blob store.
        more: the other places in the command that name the same file.
        beside: folder whose other files the payload needs beside it; empty: none.
        folder: if the payload is a folder, the one that it is in, and what it holds is bytes of
            `whet.host.code.folders`; empty: it is a file.
        is_home: the command starts in the folder where the payload lies, on its own or with
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
        """Put ``path`` instead of the payload in each of ``words`` that names it."""
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


@value_class(kw_only=True)
class CodeState(Record):
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


@value_class(kw_only=True)
class EnvironmentFacts(Record):
    """What a trial inherits from the machine and the shell; part of its key.

    Attributes:
        environment_digest: digest of the inherited environment, less what changes on its own.
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


@value_class(kw_only=True)
class Trial(Record):
    """Everything needed to run one debug cycle again, and nothing about how it went.

    Attributes:
        command: argument vector, never a shell string.
        cwd: absolute folder that the command starts in.
        environment: overrides for this trial alone.
        unset: variables that aren't inherited, sorted.
        hang_seconds: time without output after which it counts as a hang; None: never.
        hangs_if_idle: it counts as a hang only if it doesn't compute either.
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
    environment: Mapping[str, str] = field(default_factory=dict[str, str])
    stdin: str = STDIN_EMPTY
    reset: tuple[ResetStep, ...] = ()
    payloads: tuple[PayloadBinding, ...] = ()
    code: CodeState | None = None
    revision: str | None = None
    packages: Mapping[str, str] = field(default_factory=dict[str, str])
    limits: Limits = field(default_factory=Limits)
    measures: Mapping[str, str] = field(default_factory=dict[str, str])
    surroundings: EnvironmentFacts = field(default_factory=EnvironmentFacts)
    unset: tuple[str, ...] = sparse(())
    setup: str = sparse("")
    hang_seconds: float | None = sparse(None)
    hangs_if_idle: bool = sparse(default=False)

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
