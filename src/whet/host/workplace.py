"""A folder of a slot's own, in which each trial finds its payloads and leaves its agents' reports."""

import os
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from whet.core.errors import HostFailure
from whet.core.trial import PayloadBinding
from whet.host.belongings import Belongings
from whet.host.files import empty_of_files, remove_tree, storage_error, write_all
from whet.host.folders import unpack_folder

_COPY_BYTES = 1 << 20
_PROGRAM_MODE, _DATA_MODE = 0o755, 0o644
_SITE = str(Path(__file__).resolve().parents[1] / "agent" / "site")

AGENT_VARIABLE = "WHET_AGENT"
PYCACHE_VARIABLE = "WHET_PYCACHE"
TRIAL_VARIABLE = "WHET_TRIAL"
LOCALS_VARIABLE = "WHET_LOCALS"
TOGGLES_VARIABLE = "WHET_TOGGLES"

_CUDA_CHECK = "PYTORCH_NVML_BASED_CUDA_CHECK"
"""Makes `torch.cuda.is_available()` ask without CUDA, which no fork survives."""


class Workplace:
    """Where the files of one slot's trials lie. Made when first used, gone with `close`."""

    def __init__(self, belongings: Belongings) -> None:
        self._belongings = belongings
        self._folder: Path | None = None
        self._made: dict[str, tuple[int, ...]] = {}

    @property
    def folder(self) -> Path:
        """The folder; each payload of the running trial lies in a numbered one below it."""
        if self._folder is None:
            self._folder = self._belongings.temporary_folder("whet-")
        return self._folder

    @property
    def agent_folder(self) -> Path:
        """Where Python processes of the running trial leave what can be asked of them."""
        return self.folder / "agent"

    @contextmanager
    def one_trial(self) -> Generator[None]:
        """Give a trial an empty place, and empty it after."""
        if self._folder is not None and not all(
            entry.name in self._made and not any(entry.iterdir())
            for entry in self._folder.iterdir()
        ):
            self._leave()
        with _storage(self.folder):
            self._make(self.agent_folder)
        try:
            yield
        finally:
            self._clear()

    def _make(self, folder: Path) -> None:
        if folder.name not in self._made:
            folder.mkdir()
            self._made[folder.name] = _mark(folder)

    def _clear(self) -> None:
        """Empty the place. Folders that are as they were made stay: a new one takes longer."""
        entries = tuple(self.folder.iterdir())
        names = {entry.name for entry in entries}
        self._made = {name: mark for name, mark in self._made.items() if name in names}
        for entry in entries:
            try:
                if self._made.get(entry.name) == _mark(entry) and not empty_of_files(entry):
                    continue
                self._made.pop(entry.name, None)
                remove_tree(entry)
            except OSError:  # a mount, for one: the next trial gets another folder
                self._leave()
                break

    def place(self, number: int, binding: PayloadBinding, content: bytes | Path) -> Path:
        """Write a payload where the trial finds it and return its path.

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
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
            with open(os.open(path, flags, mode), "wb", buffering=0) as file:
                if isinstance(content, bytes):
                    write_all(file.fileno(), content)
                else:
                    _copy(content, file.fileno())
        return path

    def close(self) -> None:
        """Remove it."""
        if self._folder is not None:
            self._leave()

    def _leave(self) -> None:
        folder, self._folder = self._folder, None
        self._made.clear()
        if folder is not None:
            with suppress(HostFailure):  # it stays written down, and the next whet tries again
                self._belongings.discard(folder)


def _link_neighbours(binding: PayloadBinding, folder: Path) -> None:
    """Let all that lies beside the original be found beside the copy."""
    with os.scandir(binding.beside) as entries:
        for entry in entries:
            if entry.name != binding.name:
                os.symlink(entry.path, folder / entry.name)


def _mark(folder: Path) -> tuple[int, ...]:
    """Return what a program may have changed of a folder itself."""
    found = os.lstat(folder)
    return (found.st_ino, found.st_mode, found.st_uid, found.st_gid)


def environment_of_trial(
    inherited: Mapping[str, str],
    overrides: Mapping[str, str],
    cwd: str,
    *,
    agent_folder: Path,
    pycache: Path | None,
    keeps_locals: bool = False,
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
    environment[LOCALS_VARIABLE] = "1" if keeps_locals else "0"
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
