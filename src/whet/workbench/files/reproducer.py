"""What shows the failure to somebody else: a line to paste and a script, both tried elsewhere."""

import os
import shutil
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from whet.core.budget import OutOfTimeError
from whet.core.text.quantity import listed, shown_count
from whet.core.text.shell_words import quoted
from whet.core.trial import Trial
from whet.core.value_class import value_class
from whet.core.verdict import Verdict
from whet.desk.one_liner import (
    PlacedFile,
    as_line,
    ask_for,
    commands,
    quote_in_script,
    quote_word,
    write_file,
)
from whet.desk.script import as_script, file_in_script
from whet.evidence.signature.failure_difference import told_apart
from whet.host.trial.known_secrets import veiled
from whet.host.trial.trial_secrets import for_shell
from whet.workbench.files.needed_settings import telling_variables
from whet.workbench.files.opened_files import opened_files
from whet.workbench.files.pasted_line import Shell
from whet.workbench.files.recipe import (
    Recipe,
    index_to_name,
    recipe_for,
    secrets_of,
    sets_to_name,
)
from whet.workbench.files.report_place import ReportFolder
from whet.workbench.files.wording import (
    LONGEST_LINE,
    is_short,
    make_runnable,
    write_script,
)
from whet.workbench.trials.investigation import Reproducer
from whet.workbench.trials.reproduce import Baseline
from whet.workbench.trials.session import Session
from whet.workbench.trials.tested import Tested

SCRIPT = "reproduce.sh"

_MOST_LINES = 4
"""A line writes files of no more; the script holds longer ones."""

_FOLDER_OF_ITS_OWN = """\
folder=$(mktemp -d "${TMPDIR:-/tmp}/whet-XXXXXXXX")
trap 'rm -rf "$folder"' EXIT
cd "$folder" """.rstrip()


def make_reproducer(
    session: Session,
    trial: Trial,
    report: ReportFolder,
    headline: str,
    baseline: Baseline,
) -> Reproducer:
    """Write the script, make the line, and try both in an empty folder.

    Where the command needs the project around it, the line starts with ``cd`` to its folder,
    and that is said.

    Args:
        session: runs them.
        trial: the failing trial with its smallest payloads.
        report: where the script goes.
        headline: what fails, for the script's first lines.
        baseline: how it fails, and how often it has to be tried until it does.
    """
    bench, folder = session.bench, report.path
    inherited = telling_variables(bench.environment)
    # Whoever runs it elsewhere doesn't have them.
    unset = {*trial.unset, *trial.environment}
    inherited = {name: value for name, value in inherited.items() if name not in unset}
    trial = replace(trial, environment={**inherited, **trial.environment})
    reproduction = baseline.reproduction
    if not reproduction.is_deterministic:
        runs = shown_count(reproduction.attempts, "run")
        headline += (
            f"\nIt fails only sometimes: whet saw it in {reproduction.same_failures} of {runs}."
        )
    # The shortest line that does it: in an empty folder rather than in the project's, with what
    # `uv` is set up for rather than with pip's index and certificates spelled out.
    named_index = index_to_name(bench.environment) if trial.packages else {}
    indexes: list[dict[str, str]] = [{}, named_index] if named_index else [{}]
    ways = [
        (names_only, with_opened, index, packages)
        for packages in sets_to_name(bench, trial)
        for names_only, with_opened in ((True, False), (True, True), (False, False))
        for index in indexes
    ]
    line, did, times = "", "", 1
    opened: Mapping[str, bytes] | None = None
    for names_only, with_opened, index, packages in ways:
        pinned = replace(trial, packages=packages)
        if with_opened and opened is None:
            opened = opened_files(session, pinned, baseline.oracle, left_out=folder)
        if with_opened and not opened:
            continue
        way = _Way(
            shell=Shell(
                session=session, trial=pinned, oracle=baseline.oracle, repeats=baseline.repeats,
                fails_one_way=baseline.fails_one_way,
                usual_seconds=reproduction.wall_seconds,
            ),
            headline=headline, names_only=names_only, index=index,
            opened=opened if with_opened else None,
        )  # fmt: skip
        try:
            ran = way.fewest()
        except BaseException:
            report.write({SCRIPT: way.script(way.recipe_of(pinned), None)})
            raise
        report.write({SCRIPT: way.script(ran.recipe, ran.last.number)})
        make_runnable(folder / SCRIPT)
        line = way.line(ran.recipe) or f"sh {quote_word(os.path.relpath(folder / SCRIPT))}"
        if ran.last.verdict is Verdict.BAD:
            return Reproducer(
                line=line, script=str(folder / SCRIPT), is_verified=True,
                remark=_failed_again(ran, way.where(ran.recipe), inherited),
                wall_seconds=ran.last.outcome.wall_seconds,
            )  # fmt: skip
        failure, outcome, times = baseline.outcome.failure, ran.last.outcome, ran.times
        did = "it passed" if outcome.failure is None else told_apart(outcome.failure, failure)
    return Reproducer(
        line=line,
        script=str(folder / SCRIPT),
        is_verified=False,
        remark=f"{_run(times)}, it did not fail in the same way: {did}.",
        wall_seconds=0.0,
    )


def _named_by_whole_path(recipe: Recipe) -> str:
    """Say which files of this machine the line continues to need, such as a script that judges."""
    words = [word for word in recipe.trial.command if word.startswith("/") and Path(word).is_file()]
    if words[:1] == list(recipe.trial.command[:1]) and shutil.which(Path(words[0]).name):
        del words[0]  # an interpreter or a tool, by its whole path
    return f", with {', '.join(f'`{word}`' for word in words)} where it is" if words else ""


def _failed_again(ran: "_Ran", where: str, inherited: Mapping[str, str]) -> str:
    kept = ran.recipe.trial.environment
    words = [f"`{name}={quoted(value)}`" for name, value in inherited.items() if name in kept]
    with_them = (
        f"{'' if where.endswith(',') else ','} with {listed(words)} as here," if words else ""
    )
    if ran.times == 1:
        return f"it ran once more {where}{with_them} and failed the same way."
    return (
        f"it ran again {where}{with_them} until it failed the same way, at most {ran.times} times."
    )


def _run(times: int) -> str:
    return "it ran once more" if times == 1 else f"it ran up to {times} times"


@value_class(kw_only=True)
class _Ran:
    """What came of a recipe.

    Attributes:
        recipe: what was run.
        last: the last run; of script and line, if both failed.
        times: how often one of them was run at most.
    """

    recipe: Recipe
    last: Tested[None]
    times: int


@value_class(kw_only=True)
class _Way:
    """One way to run the trial elsewhere, as a script and as a line.

    Attributes:
        shell: runs them.
        headline: what fails, for the script's first lines.
        names_only: they run in an empty folder, not in the trial's own.
        index: variables that tell `uv` where packages come from.
        opened: files that the program opens on its own; None: none are brought.
    """

    shell: Shell
    headline: str
    names_only: bool
    index: Mapping[str, str]
    opened: Mapping[str, bytes] | None

    def fewest(self) -> _Ran:
        """Run it; if it fails, find the variables and limits that it needs for that."""
        ran = [self._run(self.shell.trial)]

        def fails(trial: Trial) -> bool:
            again = self._run(trial)
            if again.last.verdict is Verdict.BAD:
                ran.append(again)
            return again.last.verdict is Verdict.BAD

        if ran[0].last.verdict is Verdict.BAD:
            with suppress(OutOfTimeError):
                self.shell.fewest(fails)
        return ran[-1]

    def where(self, recipe: Recipe) -> str:
        """Say where it ran."""
        if not self.names_only:
            return f"in `{recipe.trial.cwd}`, whose files it needs,"
        files = f" with {shown_count(len(recipe.files), 'file')} of yours" if self.opened else ""
        return f"in an empty folder{files}{_named_by_whole_path(recipe)}"

    def recipe_of(self, trial: Trial) -> Recipe:
        """Return how a trial is run this way."""
        return recipe_for(
            self.shell.session.bench, trial,
            names_only=self.names_only, opened=self.opened, index=self.index,
        )  # fmt: skip

    def line(self, recipe: Recipe) -> str:
        """Return the line to paste; empty: nobody could read it."""
        secrets = secrets_of(recipe)
        bound = {payload.digest for payload in recipe.trial.payloads} | {recipe.trial.stdin}
        content = {key: file.content or b"" for key, file in recipe.files.items()}
        if sum(map(len, content.values())) > LONGEST_LINE:
            return ""
        if sum(each.count(b"\n") for each in content.values()) > _MOST_LINES:
            return ""
        extra = [
            write_file(recipe.files[key].path, each, secrets)
            for key, each in content.items()
            if key not in bound
        ]
        run = commands(
            for_shell(recipe.trial)[0], recipe.files,
            prefix=recipe.prefix, with_folder=not self.names_only, secrets=secrets,
        )  # fmt: skip
        line = as_line([*map(ask_for, secrets), *recipe.setup, *extra, *run])
        return line if is_short(line) else ""

    def script(self, recipe: Recipe, trial: int | None) -> bytes:
        """Return a script for any POSIX shell that holds all it needs.

        Args:
            recipe: what is run.
            trial: ran it; None: none did yet.
        """
        secrets = secrets_of(recipe)
        own = f"cd {quote_in_script(recipe.trial.cwd)}"
        files = [
            file_in_script(file.path, file.content or b"", secrets)
            for file in recipe.files.values()
        ]
        bare = {key: PlacedFile(path=file.path) for key, file in recipe.files.items()}
        run = commands(
            for_shell(recipe.trial)[0], bare,
            prefix=recipe.prefix, with_folder=False, secrets=secrets, quote=quote_in_script,
        )  # fmt: skip
        ran = "" if trial is None else f"\nwhet ran this as trial {trial}"
        text = as_script(
            f"{veiled(self.headline)}{ran}", [*recipe.setup, *files, *run],
            secrets=tuple(secrets), start=_FOLDER_OF_ITS_OWN if self.names_only else own,
        )  # fmt: skip
        return text.encode("utf-8", "surrogateescape")

    def _run(self, trial: Trial) -> _Ran:
        """Run script and line of a trial, each until it fails."""
        shell, recipe = self.shell, self.recipe_of(trial)
        to_run = self.recipe_of(replace(shell, trial=trial).to_run)
        journal = shell.session.bench.cleanup_journal
        place = journal.temporary_folder()
        try:
            script = place / SCRIPT
            write_script(script, self.script(to_run, None))
            last, most = shell.run(("sh", str(script)), trial)
            line = self.line(to_run)
            if line and last.verdict is Verdict.BAD:
                last, times = shell.run(("sh", "-c", line), trial)
                most = max(most, times)
            return _Ran(recipe=recipe, last=last, times=most)
        finally:
            journal.discard(place)
            if not self.names_only:
                for file in recipe.files.values():
                    Path(file.path).unlink(missing_ok=True)
