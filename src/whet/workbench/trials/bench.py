"""The workbench: one project's notebook, executors and resources."""

import os
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from whet.agent.site.whet_state.secret_rule import obey
from whet.core.errors import EmptyCommand, FolderNotFound
from whet.core.event import Notice
from whet.core.limits import Limits
from whet.core.oracle import (
    AnyFailure,
    BadIf,
    CostsMore,
    Interesting,
    Oracle,
    SameFailure,
    ScriptVerdict,
)
from whet.core.outcome import Outcome
from whet.core.output import digest_of
from whet.core.trial import STDIN_EMPTY, STDIN_INHERITED, Trial
from whet.host.code.code_snapshots import take_snapshot
from whet.host.code.editing import unsaved_below
from whet.host.code.project import STATE_FOLDER, Project
from whet.host.code.settings import Settings, load_settings
from whet.host.files.at_work import at_work
from whet.host.files.claims import Claims
from whet.host.files.user_key import user_key
from whet.host.process.cleanup_journal import CleanupJournal
from whet.host.process.ending import cleaning_up
from whet.host.process.object_store import own_folder
from whet.host.trial.environment_facts import look_around
from whet.host.trial.known_secrets import know_trial, know_variables
from whet.notebook.notebook import FILE_NAME, Notebook
from whet.notebook.stored_output import make_due, put_off
from whet.workbench.trials.request import Judging, TrialRequest

if TYPE_CHECKING:  # not loaded for a single trial: `whet run` must start at once
    from whet.core.event import Event, Observer
    from whet.core.limits import Limits
    from whet.core.room import Room


_MUCH_BYTES = 100_000_000
"""After this much new output, whet checks the size of all trials."""


def silent(_event: "Event") -> None:
    """Listen to nothing."""


@dataclass(slots=True, kw_only=True)
class PayloadStore:
    """Payloads of candidates on trial, in memory; those that prove something go to the notebook.

    A search tries thousands of payloads of which all but a few pass. Keeping each of them
    would fill the disk with what anybody can make again from the next larger one.
    """

    notebook: Notebook
    _held: dict[str, bytes] = field(default_factory=dict[str, bytes])

    def hold(self, data: bytes) -> str:
        """Make ``data`` available to trials and return its digest."""
        digest = digest_of(data)
        self._held[digest] = data
        return digest

    def keep(self, data: bytes) -> str:
        """Store ``data`` for good and return its digest."""
        return self.notebook.blobs.put_bytes(data)

    def release(self, digest: str) -> None:
        """Drop what is no longer on trial."""
        self._held.pop(digest, None)

    def payload_of(self, digest: str) -> bytes | Path:
        """Return a payload by its digest."""
        payload = self._held.get(digest)
        return self.notebook.blobs.read(digest) if payload is None else payload


@dataclass(slots=True, kw_only=True)
class Workbench:
    """What every use case works with.

    Attributes:
        project: where the state lives.
        settings: flag > environment > project > user.
        notebook: every trial ever run.
        cleanup_journal: what whet made on the machine.
        environment: what trials inherit.
        payload_store: payloads on trial.
        emit: tells the observers.
        notes: what could not be kept or observed.
        claims: the places of results, which no other whet may write to meanwhile.
        has_warned: of changes that an editor holds.
    """

    project: Project
    settings: Settings
    notebook: Notebook
    cleanup_journal: CleanupJournal
    environment: Mapping[str, str]
    payload_store: PayloadStore
    emit: "Callable[[Event], None]" = silent
    notes: list[str] = field(default_factory=list[str])
    has_warned: bool = False
    claims: Claims = field(init=False)

    def __post_init__(self) -> None:
        """Claim no place yet."""
        self.claims = Claims(self.project.state / "claims")

    @property
    def foreign(self) -> str:
        """What is to be said of trials that lie in the project; empty: there are none."""
        path = self.project.root / STATE_FOLDER / FILE_NAME
        return _FOREIGN.format(folder=STATE_FOLDER) if os.path.lexists(path) else ""

    @property
    def jobs(self) -> int:
        """How many trials a search runs at once."""
        return self.settings.jobs or os.cpu_count() or 1

    def build_trial(self, request: TrialRequest, *, live: bool = False) -> Trial:
        """Return the trial that the user asked for, with the code and surroundings of now.

        Args:
            request: what the user asked for.
            live: standard input is what whet was given, unless a file is named.

        Raises:
            EmptyCommand: if there is nothing to run.
            FolderNotFound: if the folder to start in doesn't exist.
        """
        cwd = Path(os.path.abspath(request.cwd or self.project.folder))
        if not cwd.is_dir():
            raise FolderNotFound(f"`{cwd}` is not a folder", hint="check `--cwd`")
        command = command_of(request)
        snapshot = take_snapshot(
            cwd,
            state=self.project.state,
            root=self.project.root,
            keep_untracked_below_bytes=self.settings.keep_untracked_below_bytes,
        )
        self.notes.extend(snapshot.notes)
        self._warn_of_unsaved()
        overridden = {**self.environment, **request.environment}
        limits = self._settled(self._limits(request), overridden)
        surroundings = look_around(command, cwd, overridden, state=self.project.state)
        self.notebook.save_environment(surroundings.environment)
        self.notebook.save_environment(surroundings.packages)
        trial = Trial(
            command=command,
            cwd=str(cwd),
            environment=dict(request.environment),
            stdin=self._stdin(request, cwd, live=live),
            reset=request.reset,
            code=snapshot.code,
            limits=replace(
                limits,
                wall_seconds=request.timeout_seconds or self.settings.timeout_seconds,
            ),
            hang_seconds=request.hang_seconds,
            hangs_if_idle=request.hangs_if_idle,
            measures=dict(request.measures),
            surroundings=surroundings.surroundings,
        )
        know_trial(trial)
        if trial.limits.starve:
            from whet.workbench.trials.least_for_python import check_python_starts

            check_python_starts(self, trial)
        return trial

    def _warn_of_unsaved(self) -> None:
        """Tell once of changes that are in an editor and in no file: they will not run."""
        if self.has_warned:
            return
        self.has_warned = True
        for path in unsaved_below(self.project.root):
            name = os.path.relpath(path, self.project.folder)
            note = f"an editor holds changes to `{name}` that aren't saved: they don't run"
            self.notes.append(note)
            self.emit(Notice(text=note))

    def _limits(self, request: TrialRequest) -> Limits:
        if not request.limit_set and not request.limits.starve:
            return request.limits
        from whet.workbench.trials.limit_sets import limits_asked

        return limits_asked(request.limits, request.limit_set, self.settings.limits)

    def _settled(self, limits: "Limits", environment: Mapping[str, str]) -> "Limits":
        """Return the limits with a room whose paths are absolute and there."""
        if limits.room is None:
            return limits
        return replace(limits, room=self.settled(limits.room, environment))

    def settled(self, room: "Room", environment: Mapping[str, str] | None = None) -> "Room":
        """Return a room with absolute paths, of this project."""
        from whet.workbench.trials.rooms import settle_room

        root, folder = str(self.project.root), str(self.project.folder)
        overridden = self.environment if environment is None else environment
        return settle_room(room, project=root, cwd=folder, environment=overridden)

    def for_search(self, trial: Trial, left_out: Sequence[Path] = ()) -> Trial:
        """Return the trial as a search runs it: its key counts every file that may decide.

        A search is answered from the notebook, so that a file which no snapshot holds must
        count, and what an earlier search left beside the code must not.

        Args:
            trial: what was asked for.
            left_out: the search's payloads and the files that it writes.
        """
        from whet.host.code.search_stamp import code_without, stamp_of_files

        own = (*left_out, self.project.state, *(Path(each) for each in [own_folder()] if each))
        digest = stamp_of_files(trial, self.project.root, self.environment, own)
        code = None if trial.code is None else code_without(trial.code, own)
        surroundings = replace(trial.surroundings, files_digest=digest)
        return replace(trial, code=code, surroundings=surroundings)

    def _stdin(self, request: TrialRequest, cwd: Path, *, live: bool) -> str:
        if not request.stdin:
            return STDIN_INHERITED if live else STDIN_EMPTY
        from whet.workbench.trials.payload import read_payload

        return self.payload_store.keep(
            read_payload(cwd / request.stdin, request.stdin, may_be_empty=True)
        )


_FOREIGN = "`{folder}` in this project holds another user's or an older whet's trials, which whet leaves alone (`whet notebook adopt {folder}` shows and adopts them)"


@contextmanager
def open_workbench(
    environment: Mapping[str, str] | None = None, observer: "Observer | None" = None
) -> Generator[Workbench, None, None]:
    """Open the current folder's project; what whet made is removed at the end.

    Raises:
        CannotWrite: if the project's state can be written nowhere.
        DiskFull: if there is no space for it.
        BadSetting: if a setting is wrong.
    """
    inherited = dict(os.environ) if environment is None else dict(environment)
    project = Project.find(Path.cwd(), inherited)
    is_new = not (project.state / FILE_NAME).exists()
    project.prepare()
    with at_work(project.state):
        yield from _opened(project, inherited, observer, is_new=is_new)


def _opened(
    project: Project, inherited: Mapping[str, str], observer: "Observer | None", *, is_new: bool
) -> Generator[Workbench, None, None]:
    Claims(project.state / "claims").sweep()
    cleanup_journal = CleanupJournal(project.state / "made")
    cleanup_journal.sweep()
    settings = load_settings(project, inherited)
    notebook = Notebook.open(project.state, partial(user_key, inherited))
    if is_new:
        put_off(project.state)
    obey(settings.secrets, settings.not_secrets)
    know_variables(inherited)
    bench = Workbench(
        project=project,
        settings=settings,
        notebook=notebook,
        cleanup_journal=cleanup_journal,
        environment=inherited,
        payload_store=PayloadStore(notebook=notebook),
        emit=_emitter(observer),
    )
    try:
        left_out = _allows_more(settings) if settings.wider_limits else ""
        for text in (bench.foreign if is_new else "", left_out):
            if text:
                bench.notes.append(text)
                bench.emit(Notice(text=text))
        yield bench
    finally:
        with cleaning_up():
            bench.claims.give_back_all()
            cleanup_journal.discard_all()
            if notebook.blobs.kept_bytes > _MUCH_BYTES:
                make_due(project.state)
            notebook.close()


def _allows_more(settings: Settings) -> str:
    names = ", ".join(f"`{name}`" for name in settings.wider_limits)
    return (
        f"this project's settings allow more than yours do, so yours apply to {names};"
        " `whet settings` shows what it sets, and `whet settings --agree` accepts it"
    )


def _emitter(observer: "Observer | None") -> "Callable[[Event], None]":
    """Return what tells ``observer``; one that raises is dropped and the work continues.

    Raises:
        BrokenPipeError: where it writes to a reader that has gone.
    """
    listening = [] if observer is None else [observer]

    def emit(event: "Event") -> None:
        for listener in tuple(listening):
            try:
                listener(event)
            except BrokenPipeError:
                raise  # whoever read it has gone: nobody wants the rest
            except Exception:
                import logging

                logging.getLogger("whet").exception("dropped an observer that failed")
                listening.remove(listener)

    return emit


def command_of(request: TrialRequest) -> tuple[str, ...]:
    """Return the command that is run: a script that judges stands before the user's command.

    Raises:
        EmptyCommand: if there is none.
    """
    script = request.judging.script
    if script:
        path = Path(request.cwd or ".", script)
        # A bare name is looked up on PATH unless a file of that name stands here.
        path_to_script = os.path.abspath(path) if path.exists() else script
        return (path_to_script, *request.command)
    if not request.command or not request.command[0]:
        raise EmptyCommand(
            "there is no command to run" if not request.command else "the command's name is empty",
            hint="write it last, after `--`: `… -- python train.py`",
        )
    return request.command


def oracle_of(judging: Judging, reference: Outcome | None = None) -> Oracle:
    """Return what judges the trials of a request.

    Args:
        judging: what the user said.
        reference: the failure to look for when the user said nothing.
    """
    if judging.condition is not None:
        return BadIf(judging.condition)
    if judging.bound is not None:
        return CostsMore(judging.bound)
    if judging.oracle:
        return ScriptVerdict()
    if judging.interesting:
        return Interesting(judging.also_interesting)
    if reference is not None and reference.signature is not None:
        return SameFailure(reference.signature)
    return AnyFailure()
