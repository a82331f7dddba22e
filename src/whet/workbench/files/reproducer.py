"""What shows the failure to somebody else: a line to paste and a script, both tried elsewhere."""

import base64
import os
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from whet.core.failure import FailureKind
from whet.core.limits import Limits
from whet.core.oracle import Oracle, SameFailure
from whet.core.outcome import Outcome
from whet.core.text.quantity import shown_count
from whet.core.text.shown_text import visible_line
from whet.core.trial import STDIN_EMPTY, STDIN_INHERITED, Trial
from whet.core.value_class import value_class
from whet.core.verdict import Verdict
from whet.desk.one_liner import (
    MAX_INLINE_BYTES,
    PlacedFile,
    ask_for,
    one_liner,
    quote_word,
    write_file,
)
from whet.evidence.signature.failure_difference import told_apart
from whet.host.files.files import write_atomically
from whet.host.python.environments import PYTHON
from whet.host.python.index_settings import PYPI, IndexSettings, without_credentials
from whet.host.python.interpreters import is_python
from whet.host.trial.agent_tasks import TOGGLES_VARIABLE
from whet.host.trial.known_secrets import inherited_in, veiled
from whet.host.trial.trial_secrets import for_shell
from whet.workbench.files.opened_files import opened_files
from whet.workbench.files.report_place import ReportFolder
from whet.workbench.trials.bench import Workbench
from whet.workbench.trials.investigation import Reproducer
from whet.workbench.trials.reproduce import Baseline
from whet.workbench.trials.session import RecordedExecutor, Session

SCRIPT = "reproduce.sh"

_RELEASED = re.compile(r"[\d!.]+[\w.+-]*")
_LONGEST_LINE, _MOST_LINES = 1500, 15
"""The most to paste; the script holds longer files. A terminal takes at most 4095 bytes."""

_FOLDER_OF_ITS_OWN = """\
folder=$(mktemp -d "${TMPDIR:-/tmp}/whet-XXXXXXXX")
trap 'rm -rf "$folder"' EXIT
cd "$folder" """.rstrip()

_LEAST_LIMIT_SECONDS = 300.0
_PATIENCE = 3  # of the time after which silence counts as hanging
"""It may have to create an environment for a release first."""


@value_class(kw_only=True)
class Recipe:
    """All that is needed to run the trial elsewhere.

    Attributes:
        trial: the trial, its payloads the smallest ones, its files by their bare names.
        files: the files it needs, by digest or path, with what they hold.
        setup: shell commands that make the environment; may be empty.
        prefix: words before the command, such as ``uv run --with six==1.16.0``.
    """

    trial: Trial
    files: Mapping[str, PlacedFile]
    setup: tuple[str, ...] = ()
    prefix: tuple[str, ...] = ()


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
    search_path = bench.environment.get("PYTHONPATH")
    if search_path:  # whoever runs it elsewhere does not have it
        environment = {"PYTHONPATH": search_path, **trial.environment}
        trial = replace(trial, environment=environment)
    # The shortest line that does it: in an empty folder rather than in the project's, with what
    # `uv` is set up for rather than with pip's index and certificates spelled out.
    named_index = index_to_name(bench.environment) if trial.packages else {}
    indexes: list[dict[str, str]] = [{}, named_index] if named_index else [{}]
    ways = [
        (names_only, with_opened, index, packages)
        for packages in _sets_to_name(bench, trial)
        for names_only, with_opened in ((True, False), (True, True), (False, False))
        for index in indexes
    ]
    line, did = "", ""
    opened: Mapping[str, bytes] | None = None
    for names_only, with_opened, index, packages in ways:
        pinned = replace(trial, packages=packages)
        if with_opened and opened is None:
            opened = opened_files(session, pinned, baseline.oracle, left_out=folder)
        if with_opened and not opened:
            continue
        brought = opened if with_opened else None
        recipe = recipe_for(bench, pinned, names_only=names_only, opened=brought, index=index)
        line = line_of(recipe, with_folder=not names_only)
        script = script_of(recipe, headline, with_folder=not names_only)
        try:
            outcome, times = _try(session, trial, recipe, baseline, with_folder=not names_only)
        finally:
            report.write({SCRIPT: script.encode("utf-8", "surrogateescape")})
            make_runnable(folder / SCRIPT)
            if not names_only:
                for file in recipe.files.values():
                    Path(file.path).unlink(missing_ok=True)
        if baseline.oracle.judge(outcome) is Verdict.BAD:
            files = shown_count(len(recipe.files), "file") if brought else ""
            where = (
                f"in an empty folder{f' with {files} of yours' if files else ''}"
                f"{_named_by_whole_path(recipe)}"
                if names_only
                else f"in `{trial.cwd}`, whose files it needs,"
            )
            return _reproducer(line, folder, where, outcome, times)
        failure = baseline.outcome.failure
        did = "it passed" if outcome.failure is None else told_apart(outcome.failure, failure)
    return Reproducer(
        line=_shown(line, folder),
        script=str(folder / SCRIPT),
        is_verified=False,
        remark=f"{_run(baseline.repeats)}, it did not fail in the same way: {did}.",
        wall_seconds=0.0,
    )


def _sets_to_name(bench: Workbench, trial: Trial) -> list[Mapping[str, str]]:
    """Return which packages to name elsewhere: those that were changed, then what was beside them."""
    digest = trial.surroundings.packages_digest
    recorded = (bench.notebook.environment(digest) if digest else None) or {}
    is_beside = bool(trial.packages) and {_normalised(each) for each in trial.packages} <= set(
        recorded
    )
    if not is_beside:
        return [trial.packages]
    names = {_normalised(each) for each in trial.packages}
    others = {
        name: version
        for name, version in recorded.items()
        if name not in names and _RELEASED.fullmatch(version) and "/" not in name
    }
    return [trial.packages, {**trial.packages, **others}]


def _normalised(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _named_by_whole_path(recipe: Recipe) -> str:
    """Say which files of this machine the line goes on to need, such as a script that judges."""
    words = [word for word in recipe.trial.command if word.startswith("/") and Path(word).is_file()]
    if words[:1] == list(recipe.trial.command[:1]) and shutil.which(Path(words[0]).name):
        del words[0]  # an interpreter or a tool, by its whole path
    return f", with {', '.join(f'`{word}`' for word in words)} where it is" if words else ""


def index_to_name(environment: Mapping[str, str]) -> dict[str, str]:
    """Return what `uv` must be told to install from where whet did, unless it knows already.

    Nothing with a password in it: a line is made to be passed on.
    """
    index = IndexSettings.configured(environment).for_uv()
    return {
        name: value
        for name, value in index.items()
        if value
        and value != environment.get(name)
        and not (name == "UV_DEFAULT_INDEX" and value == PYPI)
        and all(without_credentials(each) == each for each in value.split())
    }


def _run(times: int) -> str:
    return "it ran once more" if times == 1 else f"it ran up to {times} times"


def _reproducer(line: str, folder: Path, where: str, outcome: Outcome, times: int) -> Reproducer:
    return Reproducer(
        line=_shown(line, folder),
        script=str(folder / SCRIPT),
        is_verified=True,
        remark=f"{_run(times)} {where} and failed the same way.",
        wall_seconds=outcome.wall_seconds,
    )


def recipe_for(
    bench: Workbench,
    trial: Trial,
    *,
    names_only: bool,
    index: Mapping[str, str],
    opened: Mapping[str, bytes] | None = None,
) -> Recipe:
    """Return how the trial is run elsewhere.

    Args:
        bench: the workbench, for the payloads' content.
        trial: what is run.
        names_only: bring the small files that the command names along, by their bare names.
        index: variables that tell `uv` where packages come from.
        opened: files that the program opens by itself, by their paths from where it starts; all
            stand in the folder as they stand there. None: none are brought.
    """
    files: dict[str, PlacedFile] = {}
    for payload in trial.payloads:
        content = _content(bench, payload.digest)
        files[payload.digest] = PlacedFile(path=payload.name, content=content)
    if trial.stdin not in {STDIN_EMPTY, STDIN_INHERITED}:
        content = _content(bench, trial.stdin)
        files[trial.stdin] = PlacedFile(path="stdin", content=content)
    folders: tuple[str, ...] = ()
    if names_only and opened is not None:
        folders = _bring_as_they_stand(trial, files, opened)
    elif names_only:
        trial = _bring_along(trial, files)
    else:
        # Beside the project's own files a payload must not take the name of one of them.
        for payload in trial.payloads:
            file = files[payload.digest]
            files[payload.digest] = replace(
                file, path=_path_beside(payload.digest, file.path, payload.beside)
            )
        if trial.stdin in files:
            path = _path_beside(trial.stdin, "stdin")
            files[trial.stdin] = replace(files[trial.stdin], path=path)
    setup, prefix, trial = _environment(bench, trial)
    trial = replace(trial, environment={**trial.environment, **index})
    setup = (*folders, *setup)
    return Recipe(trial=replace(trial, packages={}), files=files, setup=setup, prefix=prefix)


def _content(bench: Workbench, digest: str) -> bytes:
    payload = bench.payload_store.payload_of(digest)
    return payload if isinstance(payload, bytes) else payload.read_bytes()


def _bring_along(trial: Trial, files: dict[str, PlacedFile]) -> Trial:
    """Let each small file that the command names stand in the folder by its bare name."""
    words = list(trial.command)
    bound = {place.argument for payload in trial.payloads for place in payload.places}
    for index, word in enumerate(words):
        path = Path(trial.cwd, word)
        if index == 0 or index in bound or not path.is_file():
            continue
        content = path.read_bytes()
        files[str(path)] = PlacedFile(path=path.name, content=content)
        words[index] = path.name
    return replace(trial, command=tuple(words))


def _bring_as_they_stand(
    trial: Trial, files: dict[str, PlacedFile], opened: Mapping[str, bytes]
) -> tuple[str, ...]:
    """Let files stand in the folder by their own paths; return what makes the folders for them."""
    brought = dict(opened)
    bound = {place.argument for payload in trial.payloads for place in payload.places}
    for index, word in enumerate(trial.command):
        path = Path(trial.cwd, word)
        is_inside = not Path(word).is_absolute() and ".." not in Path(word).parts
        if index and index not in bound and is_inside and path.is_file():
            brought.setdefault(str(Path(word)), path.read_bytes())
    files.update(
        (name, PlacedFile(path=name, content=content)) for name, content in brought.items()
    )
    parents = dict.fromkeys(str(Path(name).parent) for name in sorted(brought))
    parents.pop(".", None)
    return (f"mkdir -p {' '.join(map(quote_word, parents))}",) if parents else ()


def _environment(bench: Workbench, trial: Trial) -> tuple[tuple[str, ...], tuple[str, ...], Trial]:
    """Return set-up, prefix and trial that run with the trial's releases."""
    if not trial.packages:
        return (), (), trial
    own = trial.packages.get(PYTHON, "")
    pins = [f"{name}=={each}" for name, each in trial.packages.items() if name != PYTHON]
    if shutil.which("uv", path=bench.environment.get("PATH")):
        python = ["--python", own] if own else _python_version(trial)
        words = ["uv", "run", "--quiet", "--no-project", *python]
        for pin in pins:
            words += ["--with", pin]
        # By its path it would be the one that lacks these releases.
        first, *rest = trial.command
        program = "python" if is_python(Path(first).name) else first
        return (
            (),
            tuple(quote_word(word) for word in words),
            replace(trial, command=(program, *rest)),
        )
    program = f"python{'.'.join(own.split('.')[:2])}" if own else "python3"
    install = f" && .venv/bin/pip install --quiet {' '.join(map(quote_word, pins))}" if pins else ""
    setup = f"{program} -m venv .venv{install}"
    first, *rest = trial.command
    program = f".venv/bin/{Path(first).name}"
    return (setup,), (), replace(trial, command=(program, *rest))


def _python_version(trial: Trial) -> list[str]:
    # uv would take the newest Python it finds, on which an old release may not even import.
    words = trial.surroundings.interpreter.split()
    version = words[-1] if words else ""
    return ["--python", ".".join(version.split(".")[:2])] if version[:1].isdigit() else []


def line_of(recipe: Recipe, *, with_folder: bool = False) -> str:
    """Return the line to paste; files too large for a line are left to the script."""
    placed = [file for file in recipe.files.values() if file.content is not None]
    secrets = _secrets_of(recipe)
    extra = [
        write_file(file.path, file.content or b"", secrets)
        for key, file in recipe.files.items()
        if key not in _bound(recipe.trial)
    ]
    lines = sum((file.content or b"").count(b"\n") for file in placed)
    short = lines <= _MOST_LINES and all(
        len(file.content or b"") <= MAX_INLINE_BYTES for file in placed
    )
    run = one_liner(
        recipe.trial, recipe.files, prefix=recipe.prefix, with_folder=with_folder, secrets=secrets
    )
    line = " && ".join([*map(ask_for, secrets), *recipe.setup, *extra, run])
    if short and len(line.encode("utf-8", "surrogateescape")) <= _LONGEST_LINE:
        return line
    return f"sh {SCRIPT}"


def _secrets_of(recipe: Recipe) -> dict[str, str]:
    """Return the variables that stand for secrets, in the command and in files, by name."""
    _, secrets = for_shell(recipe.trial)
    return {**inherited_in(file.content or b"" for file in recipe.files.values()), **secrets}


def _shown(line: str, folder: Path) -> str:
    """Return the line as it is pasted where whet was called."""
    if line != f"sh {SCRIPT}":
        return line
    return f"sh {quote_word(os.path.relpath(folder / SCRIPT))}"


def _bound(trial: Trial) -> set[str]:
    return {payload.digest for payload in trial.payloads} | {trial.stdin}


def script_of(recipe: Recipe, headline: str, *, with_folder: bool = False) -> str:
    """Return a script for any POSIX shell that holds all it needs."""
    start = f"cd {quote_word(recipe.trial.cwd)}" if with_folder else _FOLDER_OF_ITS_OWN
    comments = [f"# {visible_line(text)}" for text in veiled(headline).split("\n") if text]
    lines = ["#!/bin/sh", *comments, "set -eu", start]
    secrets = _secrets_of(recipe)
    lines += map(ask_for, secrets)
    lines += recipe.setup
    for file in recipe.files.values():
        lines.append(_write_in_script(file.path, file.content or b"", secrets))
    bare = {key: PlacedFile(path=file.path) for key, file in recipe.files.items()}
    lines.append(
        one_liner(recipe.trial, bare, prefix=recipe.prefix, with_folder=False, secrets=secrets)
    )
    return "\n".join(lines) + "\n"


def _write_in_script(path: str, content: bytes, secrets: Mapping[str, str]) -> str:
    command = write_file(path, content, secrets)
    if command != write_file(path, content):
        return command
    if _is_plain(content):
        mark = "END_OF_FILE"
        while mark.encode() in content:
            mark += "_"
        return f"cat > {quote_word(path)} <<'{mark}'\n{content.decode()}{mark}"
    if len(content) <= MAX_INLINE_BYTES:
        return write_file(path, content)
    return f"base64 -d > {quote_word(path)} <<'END_OF_FILE'\n{_wrapped(content)}END_OF_FILE"


def _is_plain(content: bytes) -> bool:
    """Whether a here-document can hold it: text whose last line is whole."""
    try:
        text = content.decode("ascii")
    except UnicodeDecodeError:
        return False
    return text.endswith("\n") and all(char.isprintable() or char in "\n\t" for char in text)


def _wrapped(content: bytes) -> str:
    return base64.encodebytes(content).decode("ascii")


def _try(
    session: Session,
    trial: Trial,
    recipe: Recipe,
    baseline: Baseline,
    *,
    with_folder: bool,
) -> tuple[Outcome, int]:
    """Run script and line in folders of their own, each until it fails.

    Returns:
        What came, of both if both are BAD, and how often one of them was run at the most.
    """
    oracle = baseline.oracle
    limits = Limits(wall_seconds=_LEAST_LIMIT_SECONDS)
    if isinstance(oracle, SameFailure) and oracle.reference.kind is FailureKind.TIMEOUT:
        # `timeout` would kill it before anybody could look where it hangs, which signs a hang.
        hangs_by = None if trial.hang_seconds is None else _PATIENCE * trial.hang_seconds
        seconds = trial.limits.wall_seconds or hangs_by or _LEAST_LIMIT_SECONDS
        limits = Limits(wall_seconds=seconds + (_LEAST_LIMIT_SECONDS if trial.packages else 0.0))
        recipe = replace(recipe, trial=replace(recipe.trial, limits=Limits()))
    bench = session.bench
    place = bench.cleanup_journal.temporary_folder()
    try:
        script = place / SCRIPT
        write_script(script, script_of(recipe, "", with_folder=with_folder))
        line = line_of(recipe, with_folder=with_folder)
        commands = [("sh", str(script)), ("sh", "-c", line)]
        if line == f"sh {SCRIPT}":
            del commands[1]  # too long for a line: it is the script
        outcome, most = Outcome(), 1
        # Its files are named as they are in the original, wherever it runs now.
        roots = (trial.cwd,) if trial.code is None else (trial.code.repository,)
        secrets = _secrets_of(recipe)
        elsewhere = replace(session, roots=roots)
        with elsewhere.executor() as executor:
            for command in commands:
                again = Trial(
                    command=command, cwd="", environment=secrets, limits=limits,
                    measures=trial.measures,
                )  # fmt: skip
                for times in range(1, baseline.repeats + 1):
                    outcome = _run_elsewhere(elsewhere, executor, again, oracle)
                    most = max(most, times)
                    if oracle.judge(outcome) is Verdict.BAD:
                        break
                if oracle.judge(outcome) is not Verdict.BAD:
                    break
        return outcome, most
    finally:
        bench.cleanup_journal.discard(place)


def write_script(path: Path, script: str) -> None:
    """Write a script that may be run."""
    write_atomically(path, script.encode("utf-8", "surrogateescape"))
    make_runnable(path)


def make_runnable(path: Path) -> None:
    """Let a script be run by its name."""
    os.chmod(path, 0o755)  # noqa: PTH101, S103 - a script is there to be run


def _run_elsewhere(
    session: Session, executor: RecordedExecutor, trial: Trial, oracle: Oracle
) -> Outcome:
    cleanup_journal = session.bench.cleanup_journal
    place = cleanup_journal.temporary_folder()
    try:
        return session.run_on(
            executor, replace(trial, cwd=str(place)), oracle, "one-liner elsewhere"
        ).outcome
    finally:
        cleanup_journal.discard(place)


def line_for(bench: Workbench, trial: Trial, *, prefix: Sequence[str] = ()) -> str:
    """Return a recorded trial as one line that runs where it ran, payloads from their blobs.

    A payload is copied to a file of its own name: a program may look at how it ends.

    Args:
        bench: the workbench.
        trial: what to run.
        prefix: words of a shell to put before the command.
    """
    files: dict[str, PlacedFile] = {}
    copies: list[str] = []
    if trial.stdin not in {STDIN_EMPTY, STDIN_INHERITED}:
        files[trial.stdin] = PlacedFile(path=str(bench.notebook.blobs.path_of(trial.stdin)))
    for payload in trial.payloads:
        blob = str(bench.notebook.blobs.path_of(payload.digest))
        path = _path_beside(payload.digest, payload.name, payload.beside)
        files[payload.digest] = PlacedFile(path=path)
        source, target = quote_word(blob), quote_word(path)
        unpack = f"mkdir -p {target} && tar -xf {source} -C {target}"
        copies.append(unpack if payload.folder else f"cp {source} {target}")
    setup, starter, placed = _environment(bench, trial)
    if trial.environment.get(TOGGLES_VARIABLE):
        prefix = ("whet", "run", "--", *prefix)  # its agent alone turns them
    return " && ".join([*copies, *setup, one_liner(placed, files, prefix=(*prefix, *starter))])


def _path_beside(digest: str, name: str, folder: str = "") -> str:
    """Return where a file goes that must not take the name of one of the project's."""
    place = folder or "/tmp"  # noqa: S108 - the file is named by its content
    return f"{place}/whet-{digest[:8]}-{name}"
