"""How a trial is run elsewhere: the files it needs, its environment, and words before its command."""

import re
import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from whet.core.trial import STDIN_EMPTY, STDIN_INHERITED, Trial
from whet.core.value_class import value_class
from whet.desk.one_liner import PlacedFile, quote_word
from whet.host.python.environments import PYTHON
from whet.host.python.index_settings import PYPI, IndexSettings, without_credentials
from whet.host.python.interpreters import is_python
from whet.host.trial.known_secrets import inherited_in
from whet.host.trial.trial_secrets import for_shell
from whet.workbench.trials.bench import Workbench

_RELEASED = re.compile(r"[\d!.]+[\w.+-]*")


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


def sets_to_name(bench: Workbench, trial: Trial) -> list[Mapping[str, str]]:
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
        opened: files that the program opens on its own, by their paths from where it starts; all
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
                file, path=path_beside(payload.digest, file.path, payload.beside)
            )
        if trial.stdin in files:
            path = path_beside(trial.stdin, "stdin")
            files[trial.stdin] = replace(files[trial.stdin], path=path)
    setup, prefix, trial = environment_of(bench, trial)
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


def environment_of(
    bench: Workbench, trial: Trial
) -> tuple[tuple[str, ...], tuple[str, ...], Trial]:
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


def secrets_of(recipe: Recipe) -> dict[str, str]:
    """Return the variables that stand for secrets, in the command and in files, by name."""
    _, secrets = for_shell(recipe.trial)
    return {**inherited_in(file.content or b"" for file in recipe.files.values()), **secrets}


def path_beside(digest: str, name: str, folder: str = "") -> str:
    """Return where a file goes that must not take the name of one of the project's."""
    place = folder or "/tmp"  # noqa: S108 - the file is named by its content
    return f"{place}/whet-{digest[:8]}-{name}"
