"""How a trial is written for a shell: as a line, or as a script where nobody could read that."""

import os
from collections.abc import Callable, Generator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

from whet.core.output import digest_of
from whet.core.trial import STDIN_EMPTY, STDIN_INHERITED, Trial
from whet.core.value_class import value_class
from whet.desk.one_liner import (
    PlacedFile,
    Quote,
    as_line,
    ask_for,
    commands,
    quote_in_script,
    quote_word,
)
from whet.desk.script import as_script
from whet.host.files.files import storage_error, write_atomically
from whet.host.process.own_command import own_line
from whet.host.trial.agent_tasks import TOGGLES_VARIABLE
from whet.host.trial.known_secrets import veiled
from whet.host.trial.trial_secrets import for_shell
from whet.notebook.tidying import SCRIPTS
from whet.workbench.files.recipe import environment_of, path_beside
from whet.workbench.trials.bench import Workbench

Write: TypeAlias = Callable[[Trial, Quote], Sequence[str]]
"""Returns what a shell does to run a trial whose secrets are variables (`for_shell`)."""

LONGEST_LINE = 320
"""Longer ones become a script: they can't be read, and a terminal takes at most 4095 bytes."""


@value_class(kw_only=True)
class Wording:
    """Writes a trial for a shell.

    Attributes:
        bench: the workbench.
        write: says what the shell does.
        for_a_run: gives what says it for one run, which must leave nothing; None: `write` does.
    """

    bench: Workbench
    write: Write
    for_a_run: Callable[[], AbstractContextManager[Write]] | None = None

    @contextmanager
    def placed(self, trial: Trial) -> Generator[tuple[str, ...], None, None]:
        """Give what runs a trial's line, or its script, which goes afterwards."""
        own = nullcontext(self.write) if self.for_a_run is None else self.for_a_run()
        journal = self.bench.cleanup_journal
        place = journal.temporary_folder()
        try:
            with own as write:
                wording = replace(self, write=write)
                line = wording.line(trial)
                if is_short(line):
                    yield ("sh", "-c", line)
                    return
                script = place / "script.sh"
                write_script(script, wording.script(trial, ""))
                yield ("sh", str(script))
        finally:
            journal.discard(place)

    def text(self, trial: Trial, comment: str) -> str:
        """Return a trial's line; a long one is written to a script first.

        Args:
            trial: what to run.
            comment: what it shows, for the script's first lines.
        """
        line = self.line(trial)
        if is_short(line):
            return line
        folder = self.bench.project.state / SCRIPTS
        path = folder / f"{digest_of(line.encode('utf-8', 'surrogateescape'))[:8]}.sh"
        try:
            folder.mkdir(mode=0o700, exist_ok=True)
        except OSError as error:
            raise storage_error(error, folder) from error
        write_script(path, self.script(trial, comment))
        return f"sh {quote_word(str(path))}"

    def line(self, trial: Trial) -> str:
        """Return a trial as one line, however long."""
        named, secrets = for_shell(trial)
        return as_line([*map(ask_for, secrets), *self.write(named, quote_word)])

    def script(self, trial: Trial, comment: str) -> bytes:
        """Return a trial as a script."""
        named, secrets = for_shell(trial)
        steps = self.write(named, quote_in_script)
        text = as_script(veiled(comment), steps, secrets=tuple(secrets))
        return text.encode("utf-8", "surrogateescape")


def is_short(line: str) -> bool:
    """Whether a line can be read and pasted."""
    return len(line) <= LONGEST_LINE and not line.startswith("eval ")


def write_script(path: Path, script: bytes) -> None:
    """Write a script that may be run."""
    write_atomically(path, script)
    make_runnable(path)


def make_runnable(path: Path) -> None:
    """Let a script be run by its name."""
    os.chmod(path, 0o755)  # noqa: PTH101, S103 - a script is there to be run


def stored_steps(
    bench: Workbench, trial: Trial, quote: Quote, *, prefix: Sequence[str] = ()
) -> list[str]:
    """Return what runs a recorded trial where it ran, payloads from their blobs.

    A payload is copied to a file of its own name: a program may look at how it ends.

    Args:
        bench: the workbench.
        trial: what to run; without a folder it runs in whichever.
        quote: makes a word of a shell.
        prefix: words of a shell to put before the command.
    """
    files, copies = stored_files(bench, trial, quote)
    setup, starter, placed = environment_of(bench, trial)
    if trial.environment.get(TOGGLES_VARIABLE):
        # Its agent alone turns them.
        run = own_line("run", environment=trial.environment)
        prefix = (*map(quote, run), "--", *prefix)
    words = (*prefix, *starter)
    steps = commands(placed, files, prefix=words, with_folder=bool(trial.cwd), quote=quote)
    return [*copies, *setup, *steps]


def stored_files(
    bench: Workbench, trial: Trial, quote: Quote
) -> tuple[dict[str, PlacedFile], list[str]]:
    """Return where a recorded trial's input and payloads are, by digest, and what copies these there."""
    files: dict[str, PlacedFile] = {}
    copies: list[str] = []
    if trial.stdin not in {STDIN_EMPTY, STDIN_INHERITED}:
        files[trial.stdin] = PlacedFile(path=str(bench.notebook.blobs.path_of(trial.stdin)))
    for payload in trial.payloads:
        blob = str(bench.notebook.blobs.path_of(payload.digest))
        path = path_beside(payload.digest, payload.name, payload.beside)
        files[payload.digest] = PlacedFile(path=path)
        source, target = quote(blob), quote(path)
        unpack = f"mkdir -p {target} && tar -xf {source} -C {target}"
        copies.append(unpack if payload.folder else f"cp {source} {target}")
    return files, copies
