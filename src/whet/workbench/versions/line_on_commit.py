"""The line for a shell that shows a failure on a commit, as the search has run it."""

import os
import shutil
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from whet.core.trial import Trial
from whet.core.value_class import value_class
from whet.desk.one_liner import Quote, commands, quote_word
from whet.host.code.checkout import users_filters
from whet.host.code.relocation import Relocation
from whet.host.code.submodules import submodules_of
from whet.host.process.git import Repository, git_environment
from whet.host.process.object_store import VARIABLE
from whet.host.python.interpreters import is_python
from whet.workbench.files.pasted_line import Shell, pasted_line
from whet.workbench.files.wording import Wording, Write, stored_files
from whet.workbench.trials.bench import Workbench
from whet.workbench.trials.investigation import PastedLine
from whet.workbench.versions.carried_check import CarriedCheck
from whet.workbench.versions.setups import Setup, needs_environment


def line_on_commit(
    shell: Shell,
    repository: Repository,
    setup: Setup,
    editable: Sequence[str],
    check: CarriedCheck | None = None,
) -> PastedLine:
    """Return a line that checks the trial's commit out and runs its command there.

    What a checkout gets in the search it gets here: submodules, copies of the untracked files that
    the command names, the setup in an environment of its own, and its own folders in place of those
    of an editable installation. It is run in a temporary folder first. The checkout stays, for the user
    to look at; a line that is run once more uses it again.

    Args:
        shell: runs it; its trial names the commit.
        repository: the user's working tree.
        setup: what is done in each checkout first.
        editable: folders of the user's tree that the command's Python imports packages from.
        check: files that the checkout gets from another commit.
    """
    bench, commit = shell.session.bench, shell.trial.revision or ""
    steps = _Steps(
        bench=bench,
        repository=repository,
        commit=commit,
        setup=setup,
        editable=tuple(editable),
        check=check,
    )
    journal = bench.cleanup_journal
    parent = journal.temporary_folder()
    checkout = parent / commit[:10]

    @contextmanager
    def for_a_run() -> Generator[Write, None, None]:
        journal.adopt("worktree", str(checkout), repository=repository.worktrees_of)
        try:
            yield replace(steps, git=_careful_git(repository)).at(checkout)
        finally:
            journal.discard(checkout)
            shutil.rmtree(_environment_beside(checkout), ignore_errors=True)

    wording = Wording(
        bench=bench, write=steps.at(_free_place(repository, commit)), for_a_run=for_a_run
    )
    roots = (str(checkout), str(repository.top))
    try:
        return pasted_line(
            replace(shell, roots=roots), wording, f"commit {commit[:10]}", may_move=False
        )
    finally:
        journal.discard(parent)


def _free_place(repository: Repository, commit: str) -> Path:
    """Return where no file is yet, beside the user's tree."""
    top, number = repository.top, 1
    place = first = top.with_name(f"{top.name}-{commit[:10]}")
    while os.path.lexists(place):
        number += 1
        place = first.with_name(f"{first.name}-{number}")
    return place


def _environment_beside(place: Path) -> Path:
    return place.with_name(f"{place.name}-env")


def _careful_git(repository: Repository) -> str:
    """Return what calls git without the programs that the repository may name.

    The user's git knows no code of a trial, which whet keeps itself.
    """
    without, _ = users_filters(repository)
    careful = {**git_environment(), **without}
    careful.pop(VARIABLE, None)
    gone = [f"-u {quote_word(name)}" for name in os.environ if name not in careful]
    changes = [
        quote_word(f"{name}={value}")
        for name, value in careful.items()
        if os.environ.get(name) != value
    ]
    return " ".join(["env", *gone, *changes, "git"])


@value_class(kw_only=True)
class _Steps:
    """What a shell does to run a trial on its commit.

    Attributes:
        bench: the workbench.
        repository: the user's working tree.
        commit: full id.
        setup: what is done in the checkout first.
        editable: folders of the user's tree that the command's Python imports packages from.
        check: files that the checkout gets from another commit.
        git: what calls git.
    """

    bench: Workbench
    repository: Repository
    commit: str
    setup: Setup
    editable: tuple[str, ...]
    check: CarriedCheck | None = None
    git: str = "git"

    def at(self, place: Path) -> Write:
        """Return what writes it for a checkout at a place."""
        relocation = Relocation(repository=self.repository, place=place, revision=self.commit)
        return lambda named, quote: self._write(named, quote, relocation)

    def _write(self, trial: Trial, quote: Quote, relocation: Relocation) -> list[str]:
        place, cwd = relocation.place, Path(trial.cwd)
        copies = relocation.carried(trial.command, cwd)
        moved = relocation.command(trial.command, cwd)
        words = tuple(
            word if word in copies else other
            for word, other in zip(trial.command, moved, strict=True)
        )
        if self.setup.command and needs_environment(self.setup) and is_python(Path(words[0]).name):
            words = ("python", *words[1:])  # that of the environment, which is the first on PATH
        prefix, environment = self._variables(trial, quote, relocation)
        command = replace(
            trial, command=words, cwd=str(relocation.folder(cwd)), environment=environment
        )
        files, payloads = stored_files(self.bench, trial, quote)
        top, there = quote(str(self.repository.top)), quote(str(place))
        return [
            _once(there, f"{self.git} -C {top} worktree add --detach {there} {self.commit[:10]}"),
            *self._of_check(there, quote),
            *self._submodules(place, quote),
            *(_copy(path, target, quote) for path, target in copies.values()),
            *self._set_up(trial, place, quote),
            *payloads,
            *commands(command, files, prefix=prefix, quote=quote),
        ]

    def _of_check(self, there: str, quote: Quote) -> Iterator[str]:
        check = self.check
        if check is not None and check.on(self.commit) != self.commit:
            paths = " ".join(map(quote, check.present))
            yield f"{self.git} -C {there} checkout --quiet {check.source[:10]} -- {paths}"

    def _submodules(self, place: Path, quote: Quote) -> Iterator[str]:
        for path, inner in submodules_of(self.repository, self.commit):
            if (self.repository.top / path / ".git").exists():
                source, target = quote(str(self.repository.top / path)), quote(str(place / path))
                yield _once(
                    target, f"{self.git} clone --quiet --shared --no-checkout {source} {target}"
                )
                yield f"{self.git} -C {target} checkout --quiet {inner[:10]}"

    def _set_up(self, trial: Trial, place: Path, quote: Quote) -> Iterator[str]:
        setup = self.setup
        for name in setup.carried:
            parent = quote(str((place / name).parent))
            yield f"mkdir -p {parent} && cp -a {quote(str(self.repository.top / name))} {parent}"
        if not setup.command:
            return
        if needs_environment(setup):
            first, folder = trial.command[0], quote(str(_environment_beside(place)))
            python = first if is_python(Path(first).name) else "python3"
            yield f"{quote(python)} -m venv {folder}"
            yield f". {folder}/bin/activate"
        if setup.as_of_commit:
            date = self.repository.get("show", "--no-patch", "--format=%cI", self.commit)
            yield f"export UV_EXCLUDE_NEWER={quote(date)}"
        yield f"cd {quote(str(place))}"
        yield setup.command

    def _variables(
        self, trial: Trial, quote: Quote, relocation: Relocation
    ) -> tuple[list[str], dict[str, str]]:
        environment = {name: relocation.text(value) for name, value in trial.environment.items()}
        own = ":".join(str(relocation.folder(Path(each))) for each in self.editable)
        if own and "PYTHONPATH" in environment:
            environment["PYTHONPATH"] = f"{own}:{environment['PYTHONPATH']}"
        elif own:
            return ["env", f"PYTHONPATH={quote(own)}${{PYTHONPATH:+:$PYTHONPATH}}"], environment
        return [], environment


def _once(checkout: str, command: str) -> str:
    """Return what makes a checkout, unless the line has made it before."""
    return f"{{ test -e {checkout}/.git || {command}; }}"


def _copy(path: Path, target: Path, quote: Quote) -> str:
    return f"mkdir -p {quote(str(target.parent))} && cp {quote(str(path))} {quote(str(target))}"
