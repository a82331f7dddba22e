"""A slot's folder, in which each trial finds its payloads and its agents leave their reports."""

import os
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from whet.core.errors import HostFailure
from whet.core.trial import PayloadBinding
from whet.host.code.folders import unpack_folder
from whet.host.files.files import empty_of_files, remove_tree, storage_error, write_all
from whet.host.files.marks import of_file
from whet.host.limits.program import AGENT_VARIABLE, PYCACHE_VARIABLE
from whet.host.process.cleanup_journal import CleanupJournal

if TYPE_CHECKING:  # what the spawner loads has no `typing` to make it with
    from whet.host.files.marks import Mark

_COPY_BYTES = 1 << 20
_PROGRAM_MODE, _DATA_MODE = 0o755, 0o644
_SITE = str(Path(__file__).resolve().parents[2] / "agent" / "site")

TRIAL_VARIABLE = "WHET_TRIAL"

_CUDA_CHECK = "PYTORCH_NVML_BASED_CUDA_CHECK"
"""Makes `torch.cuda.is_available()` ask without CUDA, which doesn't survive a fork."""


class Workplace:
    """Where the files of one slot's trials lie. Made when first used, gone with `close`."""

    def __init__(self, cleanup_journal: CleanupJournal) -> None:
        self._cleanup_journal = cleanup_journal
        self._folder: Path | None = None
        self._own: tuple[int, ...] = ()
        self._temporary: Path | None = None
        self._made: dict[str, tuple[int, ...]] = {}
        self._lying: dict[Path, tuple[str, int, Mark]] = {}
        self._placed: set[Path] = set()

    @property
    def folder(self) -> Path:
        """The folder; each payload of the running trial is in a numbered one below it."""
        if self._folder is None:
            self._folder = self._cleanup_journal.temporary_folder("whet-")
            self._own = _mark(self._folder)
        return self._folder

    @property
    def agent_folder(self) -> Path:
        """Where Python processes of the running trial leave what can be asked of them."""
        return self.folder / "agent"

    @property
    def temporary(self) -> Path:
        """Where the programs put temporary files, and find what those before them have cached."""
        if self._temporary is None or not self._temporary.is_dir():
            self._discard(self._temporary)
            self._temporary = self._cleanup_journal.temporary_folder("whet-")
        return self._temporary

    @contextmanager
    def one_trial(self) -> Generator[None]:
        """Give a trial an empty place, and empty it after."""
        if self._folder is not None and not self._is_cleared(self._folder):
            self._leave()
        self._prepare()
        try:
            yield
        finally:
            self._clear()

    def _is_cleared(self, folder: Path) -> bool:
        return self._is_own(folder) and all(
            entry.name in self._made and self._lying.keys() >= set(entry.iterdir())
            for entry in folder.iterdir()
        )

    def _is_own(self, folder: Path) -> bool:
        """Whether a folder is as it was made: a program may remove it, or put a link in its place."""
        with suppress(OSError):
            return _mark(folder) == self._own
        return False

    def empty(self) -> None:
        """Empty the place in the middle of a trial: its program is run once more."""
        self._clear()
        self._prepare()

    def _prepare(self) -> None:
        self._placed.clear()
        with _storage(self.folder):
            self._make(self.agent_folder)

    def _make(self, folder: Path) -> None:
        if folder.name not in self._made:
            folder.mkdir()
            self._made[folder.name] = _mark(folder)

    def _clear(self) -> None:
        """Empty the place, but for what the next trial may have as it is.

        Folders that are as they were made stay: a new one takes longer. So do payloads: a frozen
        copy may have seen one that a search doesn't vary, and not another one in its place.
        """
        if self._folder is None or not self._is_own(self._folder):
            self._leave()
            return
        for path, (_, _, mark) in tuple(self._lying.items()):
            if path not in self._placed or of_file(str(path)) != mark:
                del self._lying[path]
        entries = tuple(self.folder.iterdir())
        names = {entry.name for entry in entries}
        self._made = {name: mark for name, mark in self._made.items() if name in names}
        for entry in entries:
            try:
                stay = {path.name for path in self._lying if path.parent == entry}
                is_as_made = self._made.get(entry.name) == _mark(entry)
                if is_as_made and not empty_of_files(entry, but=stay):
                    continue
                self._made.pop(entry.name, None)
                self._lying = {at: it for at, it in self._lying.items() if at.parent != entry}
                remove_tree(entry)
            except OSError:  # such as a mount: the next trial gets another folder
                self._leave()
                break

    def place(self, number: int, binding: PayloadBinding, content: bytes | Path) -> Path:
        """Write a payload where the trial finds it, unless it is there already; return its path.

        Raises:
            DiskFull: if there is no space left.
        """
        folder = self.folder / ("home" if binding.is_home else str(number))
        path = folder / binding.name
        with _storage(path):
            self._make(folder)
            if binding.beside:
                _link_neighbours(binding, folder)
            if binding.folder:
                unpack_folder(content if isinstance(content, bytes) else content.read_bytes(), path)
                return path
            # The first word of a command is started, so it has to be a program.
            is_program = any(place.argument == 0 for place in binding.places)
            mode = _PROGRAM_MODE if is_program else _DATA_MODE
            self._placed.add(path)
            here = (binding.digest, mode, of_file(str(path)))
            if self._lying.pop(path, None) == here and _holds(path, content):
                self._lying[path] = here
                return path
            path.unlink(missing_ok=True)
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
            with open(os.open(path, flags, mode), "wb", buffering=0) as file:
                if isinstance(content, bytes):
                    write_all(file.fileno(), content)
                else:
                    _copy(content, file.fileno())
            self._lying[path] = (binding.digest, mode, of_file(str(path)))
        return path

    def close(self) -> None:
        """Remove it."""
        if self._folder is not None:
            self._leave()
        self._discard(self._temporary)
        self._temporary = None

    def _leave(self) -> None:
        folder, self._folder = self._folder, None
        self._made.clear()
        self._lying.clear()
        self._discard(folder)

    def _discard(self, folder: Path | None) -> None:
        if folder is not None:
            with suppress(HostFailure):  # it stays written down, and the next whet tries again
                self._cleanup_journal.discard(folder)


def _holds(path: Path, content: bytes | Path) -> bool:
    """Whether a file holds what was written to it: its times tell no change in the same tick."""
    if isinstance(content, bytes):
        return path.stat().st_size == len(content) and path.read_bytes() == content
    with open(path, "rb", buffering=0) as file, open(content, "rb", buffering=0) as source:
        while (part := file.read(_COPY_BYTES)) == source.read(_COPY_BYTES):
            if not part:
                return True
    return False


def _link_neighbours(binding: PayloadBinding, folder: Path) -> None:
    """Link everything next to the original next to the copy."""
    with os.scandir(binding.beside) as entries:
        for entry in entries:
            if entry.name != binding.name:
                os.symlink(entry.path, folder / entry.name)


def _mark(folder: Path) -> tuple[int, ...]:
    """Return what a program may have changed of a folder itself."""
    status = os.lstat(folder)
    return (status.st_ino, status.st_mode, status.st_uid, status.st_gid)


def environment_of_trial(
    inherited: Mapping[str, str],
    overrides: Mapping[str, str],
    cwd: str,
    *,
    agent_folder: Path,
    pycache: Path | None,
    tasks: Mapping[str, str],
) -> dict[str, str]:
    """Return the whole environment of a trial.

    The agent comes in through ``PYTHONPATH`` and takes itself off `sys.path` again. All that
    is added is as long for each trial: some programs behave by the size of their environment.
    """
    environment = {**inherited, **overrides}
    if "PWD" in inherited and "PWD" not in overrides and not _is_same(inherited["PWD"], cwd):
        environment["PWD"] = cwd  # as the shell's `cd` would
    path = environment.get("PYTHONPATH")
    environment["PYTHONPATH"] = f"{_SITE}{os.pathsep}{path}" if path else _SITE
    environment[TRIAL_VARIABLE] = "1"
    environment.setdefault(_CUDA_CHECK, "1")
    environment[AGENT_VARIABLE] = str(agent_folder)
    environment.update(tasks)
    environment.pop(PYCACHE_VARIABLE, None)
    if pycache is not None:
        environment[PYCACHE_VARIABLE] = str(pycache)
    return environment


def _is_same(left: str, right: str) -> bool:
    try:
        return os.path.samefile(left, right)
    except OSError:
        return False


def _copy(source: Path, target: int) -> None:
    with open(source, "rb", buffering=0) as file:
        while part := file.read(_COPY_BYTES):
            write_all(target, part)


@contextmanager
def _storage(path: Path) -> Generator[None]:
    try:
        yield
    except OSError as error:
        raise storage_error(error, path) from error
