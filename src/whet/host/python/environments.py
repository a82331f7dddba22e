"""Python environments with a package at one release.

An environment is new: the pinned packages, their dependencies as they resolve on the day that it is
made, and the packages that the caller adds. With ``as_of``, the dependencies are those of the
release's own day, if the index gives upload times.

An environment ``beside`` an interpreter contains only the pinned release and sees all packages of that
interpreter. So a search changes one package and keeps the user's others. whet installs only what the
release requires and that interpreter doesn't have.

Each environment is in a new folder below the digest of the request, and counts only when the file
`ready`, which is written last, names it. So a killed whet leaves nothing half done, and an installer
that it leaves behind can't write into the next attempt. Whets that run at the same time wait for each
other.
"""

import hashlib
import json
import os
import shutil
import sys
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import field
from pathlib import Path

from whet.core.errors import CannotWrite, ReleaseNotInstallable
from whet.core.text.quantity import shown_count
from whet.core.text.record import as_record, decoded, text
from whet.core.value_class import value_class
from whet.host.files.files import lock_file, remove_tree, write_atomically
from whet.host.files.refused import refused
from whet.host.process.tool import ToolResult, call_tool
from whet.host.python.index_settings import IndexSettings, without_credentials
from whet.host.python.interpreters import is_python
from whet.host.python.package_index import PackageIndex
from whet.host.python.python_interpreter import PythonFacts
from whet.host.python.requirements import unmet_requirements

# These would lead an installer, or the Python of an environment, to somewhere else.
_MISLEADING = frozenset({
    "CONDA_PREFIX", "PIP_PREFIX", "PIP_REQUIRE_VIRTUALENV", "PIP_ROOT", "PIP_TARGET", "PIP_USER",
    "PYTHONHOME", "PYTHONPATH", "UV_PROJECT_ENVIRONMENT", "UV_PYTHON", "UV_SYSTEM_PYTHON",
    "UV_TARGET", "VIRTUAL_ENV", "__PYVENV_LAUNCHER__",
})  # fmt: skip
_DIGEST_LENGTH = 20
_MOST_ROUNDS = 12
"""An installed package can require another: whet repeats the search for missing ones this many times."""

PYTHON = "python"
"""The version of a trial's Python, among the releases that it runs with."""


@value_class(kw_only=True)
class PackageEnvironment:
    """An environment that stands ready.

    Attributes:
        folder: the virtual environment.
    """

    folder: Path

    @property
    def programs(self) -> Path:
        """The folder of its programs."""
        return self.folder / "bin"

    @property
    def python(self) -> Path:
        """Its Python."""
        return self.programs / "python"

    @property
    def packages(self) -> Path:
        """The folder of its packages."""
        return next(self.folder.glob("lib/*/site-packages"))

    def command_in(
        self, command: Sequence[str], search_path: str
    ) -> tuple[tuple[str, ...], dict[str, str]]:
        """Return ``command`` as it runs in this environment, and the environment overrides for it.

        A first word that is a Python (`python`, `python3.11`, also with a path) becomes this
        environment's; so does the name of a program that is in this environment. Any other
        program stays what it is and finds this environment first on `PATH`. `PYTHONPATH` is
        emptied, because a checkout of the package on it would hide every release alike.

        Args:
            command: argument vector.
            search_path: `PATH` as the command would have it.
        """
        words = tuple(command)
        if words:
            name = Path(words[0]).name
            if is_python(name):
                words = (str(self.python), *words[1:])
            elif name and (self.programs / name).is_file() and not _is_file_of_users(words[0]):
                words = (str(self.programs / name), *words[1:])
        path = f"{self.programs}{os.pathsep}{search_path}" if search_path else str(self.programs)
        return words, {
            "PATH": path,
            "VIRTUAL_ENV": str(self.folder),
            "PYTHONPATH": "",
            "PYTHONHOME": "",
        }


@value_class(kw_only=True)
class Beside:
    """The packages of an interpreter, which an environment sees where it has none of its own.

    Attributes:
        folders: where they are, in the order in which the interpreter searches them.
        versions: what they are, by their normalised names.
    """

    folders: tuple[str, ...]
    versions: Mapping[str, str]


@value_class(kw_only=True)
class PackageEnvironments:
    """The environments of one machine, made when first asked for.

    Attributes:
        place: folder that they are kept in.
        python: the Python that they are made with.
        settings: the package index to install from.
        environment: what the installing tools inherit.
        uv: path of uv; empty: use pip; None: uv where there is one.
        compiles: build what the index has as source alone; else that can't be installed.
    """

    place: Path
    python: PythonFacts
    settings: IndexSettings = field(default_factory=IndexSettings)
    environment: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    uv: str | None = None
    compiles: bool = True

    def environment_for(
        self,
        pins: Mapping[str, str],
        requirements: Sequence[str] = (),
        *,
        as_of: str = "",
        beside: Beside | None = None,
    ) -> PackageEnvironment:
        """Return an environment with these releases, made now or found made.

        Args:
            pins: name to version.
            requirements: what is installed beside them, as pip writes it.
            as_of: install nothing that was uploaded after this moment (ISO 8601); empty: no limit.
            beside: what else is seen in it; None: nothing.

        Raises:
            ReleaseNotInstallable: if it can't be built, or its requirements can't be met.
            IndexUnreachable: if the index gives no answer.
            DiskFull, CannotWrite: if there is no place to write it to.
        """
        request = self._request(pins, requirements, as_of, beside)
        home = self.place / hashlib.sha256(request.encode()).hexdigest()[:_DIGEST_LENGTH]
        found = _ready(home)
        if found is not None:
            return found
        with _alone_in(home):
            found = _ready(home)  # perhaps another whet has made it while this one waited
            if found is not None:
                return found
            return self._make(home, request, _specifiers(pins, requirements), as_of, beside)

    def _request(
        self,
        pins: Mapping[str, str],
        requirements: Sequence[str],
        as_of: str,
        beside: Beside | None,
    ) -> str:
        """Return all that decides what comes out, as text."""
        seen = None if beside is None else [beside.folders, sorted(beside.versions.items())]
        return json.dumps(
            {
                **({} if seen is None else {"beside": seen}),
                "python": [self.python.path, self.python.version],
                "pins": sorted(pins.items()),
                "requirements": sorted(requirements),
                "as_of": as_of,
                "index": [self.settings.shown, *map(without_credentials, self.settings.extra)],
            }
        )

    def _make(
        self,
        home: Path,
        request: str,
        specifiers: Sequence[str],
        as_of: str,
        beside: Beside | None,
    ) -> PackageEnvironment:
        _remove_unfinished(home)
        attempt = home / f"environment-{os.urandom(3).hex()}"
        try:
            answer = make_environment(
                attempt, self.python.path, self._tool_environment, uv=self._uv
            )
            if answer.exit_code == 0 and beside is None:
                answer = self._install(attempt, specifiers, as_of)
            elif answer.exit_code == 0 and beside is not None:
                answer = self._install_beside(attempt, specifiers, as_of, beside)
            if answer.exit_code != 0:
                self._refuse(home, specifiers, answer)
            record = json.dumps({"environment": attempt.name, "request": request})
            write_atomically(home / "ready", record.encode())
        except BaseException:
            remove_tree(attempt)
            raise
        return PackageEnvironment(folder=attempt)

    @property
    def _uv(self) -> str:
        return find_uv(self.environment) if self.uv is None else self.uv

    @property
    def _tool_environment(self) -> dict[str, str]:
        """What the installing tools get."""
        inherited = {k: v for k, v in self.environment.items() if k not in _MISLEADING}
        if self._uv:
            return {**inherited, **self.settings.for_uv(), "UV_PYTHON_DOWNLOADS": "never"}
        return {**inherited, **self.settings.for_pip()}

    def _install(
        self, attempt: Path, specifiers: Sequence[str], as_of: str, *options: str
    ) -> ToolResult:
        if not specifiers:
            return ToolResult(exit_code=0, stdout=b"", stderr=b"")
        if self._uv:
            limit = ["--exclude-newer", as_of] if as_of else []
            install = [self._uv, "pip", "install", "--quiet", "--python", str(attempt), *limit]
        else:
            limit = [f"--uploaded-prior-to={as_of}"] if as_of else []
            install = [str(attempt / "bin" / "python"), "-I", "-m", "pip", "install",
                       "--disable-pip-version-check", "--no-input", "--quiet", *limit]  # fmt: skip
        built = [] if self.compiles else ["--only-binary", ":all:"]
        return _call(
            [*install, *built, *options, "--", *specifiers], self._tool_environment, Path("/")
        )

    def _install_beside(
        self, attempt: Path, specifiers: Sequence[str], as_of: str, beside: Beside
    ) -> ToolResult:
        """Install the releases, and of what they require that which doesn't exist beside them."""
        packages = PackageEnvironment(folder=attempt).packages
        answer = self._install(attempt, specifiers, as_of, "--no-deps")
        for _ in range(_MOST_ROUNDS):
            if answer.exit_code != 0:
                return answer
            wanted = unmet_requirements(packages, beside.versions, self.python)
            if not wanted:
                break
            answer = self._install(attempt, wanted, as_of, "--no-deps")
        # Written last: an installer isn't to see, or to remove, what is the user's.
        lines = (f"import site; site.addsitedir({folder!r})\n" for folder in beside.folders)
        write_atomically(packages / "whet-beside.pth", "".join(lines).encode())
        return answer

    def _refuse(self, home: Path, specifiers: Sequence[str], answer: ToolResult) -> None:
        """Raise why an installation failed."""
        package = specifiers[0].partition("==")[0] if specifiers else "pip"
        # An index that is down makes any release uninstallable, which proves nothing about it.
        PackageIndex(settings=self.settings, environment=self.environment).check_reachable(package)
        complaint = home / "complaint.txt"
        write_atomically(complaint, answer.stderr)
        raise ReleaseNotInstallable(
            f"can't install {_named(specifiers)}: {_last_words(answer)}",
            hint=f"name another release, or look at all that was said: `{complaint}`",
        )


def default_place() -> Path:
    """Return where environments are kept, for all projects of a user together."""
    from platformdirs import user_cache_path

    return user_cache_path("whet") / "environments"


def make_environment(
    folder: Path,
    python: str,
    environment: Mapping[str, str],
    *,
    uv: str = "",
    with_pip: bool = False,
) -> ToolResult:
    """Make an empty virtual environment, and return what the tool said.

    Args:
        folder: where.
        python: the Python that it is made with.
        environment: what the tool inherits.
        uv: path of uv; empty: Python's own `venv`, which always brings pip.
        with_pip: pip is wanted too.
    """
    clean = {name: value for name, value in environment.items() if name not in _MISLEADING}
    if uv and not with_pip:
        # No project file above the folder may have a say in what is installed.
        command = [uv, "venv", "--quiet", "--no-project", "--python", python, str(folder)]
        return _call(command, {**clean, "UV_PYTHON_DOWNLOADS": "never"}, folder.parent)
    return _call([python, "-I", "-m", "venv", str(folder)], clean, folder.parent)


def _specifiers(pins: Mapping[str, str], requirements: Sequence[str]) -> list[str]:
    return [*(f"{name}=={version}" for name, version in pins.items()), *requirements]


def _named(specifiers: Sequence[str]) -> str:
    first, more = f"`{specifiers[0] if specifiers else 'pip'}`", len(specifiers) - 1
    return first if more < 1 else f"{first} and {shown_count(more, 'package')} with it"


def _is_file_of_users(word: str) -> bool:
    """Whether a word with a path in it names a script of the user's, not one of a Python's."""
    path = Path(word)
    return "/" in word and path.is_file() and not (path.parent / "python").exists()


def _ready(home: Path) -> PackageEnvironment | None:
    """Return the environment that is finished, if there is one and its Python still runs."""
    try:
        record = as_record(decoded((home / "ready").read_bytes()), "ready")
        folder = home / text(record, "environment")
    except (OSError, ValueError):
        return None
    environment = PackageEnvironment(folder=folder)
    return environment if os.access(environment.python, os.X_OK) else None


def _remove_unfinished(home: Path) -> None:
    """Remove what a killed whet left, or an environment whose Python is gone."""
    with suppress(FileNotFoundError):
        (home / "ready").unlink()
    for folder in home.glob("environment-*"):
        with suppress(OSError):  # an installer that outlived its whet may still write there
            remove_tree(folder)


@contextmanager
def _alone_in(home: Path) -> Generator[None]:
    """Wait until no other thread or whet works in ``home``; the kernel forgets dead ones."""
    try:
        home.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(home / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    except OSError as error:
        if (refusal := refused(error)) is not None:
            raise refusal from error
        raise CannotWrite(
            f"cannot write `{home}`: {error.strerror}",
            hint="set `XDG_CACHE_HOME` to a folder that you may write to",
        ) from error
    try:
        lock_file(descriptor, waits=True)
        yield
    finally:
        os.close(descriptor)


def find_uv(environment: Mapping[str, str]) -> str:
    """Return uv from `PATH`, or from where whet itself is installed; empty if there is none."""
    beside = Path(sys.executable).with_name("uv")
    path = shutil.which("uv", path=environment.get("PATH", os.defpath))
    return path or (str(beside) if os.access(beside, os.X_OK) else "")


def _call(command: Sequence[str], environment: Mapping[str, str], folder: Path) -> ToolResult:
    return call_tool(command, environment=environment, cwd=folder)


def _last_words(answer: ToolResult) -> str:
    """Return the last line of a complaint that says what is wrong, not what to do."""
    # uv draws a tree around its lines.
    lines = (
        line.strip(" \u2502\u251c\u2570\u25b6\u2500\u00d7").removeprefix("cause: ")
        for line in answer.stderr.decode(errors="replace").splitlines()
    )
    statements = [
        line for line in lines if line and not line.lower().startswith(("hint:", "note:"))
    ]
    return statements[-1] if statements else answer.complaint
