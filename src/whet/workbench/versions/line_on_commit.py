"""The shell line that shows a failure on a commit, as the search ran it."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from whet.core.text.shell_words import joined, quoted
from whet.core.trial import Trial
from whet.desk.one_liner import ask_for, reset_step
from whet.host.code.relocation import Relocation
from whet.host.code.submodules import submodules_of
from whet.host.process.git import Repository
from whet.host.trial.trial_secrets import for_shell
from whet.workbench.versions.setups import Setup


def line_on_commit(
    repository: Repository, trial: Trial, setup: Setup, editable: Sequence[str]
) -> str:
    """Return a line that checks the trial's commit out and runs its command there.

    What a checkout gets in the search it gets here: submodules, copies of the untracked files that
    the command names, the setup, and its own folders in place of those of an editable installation.

    Args:
        repository: the user's working tree.
        trial: what was run, on which commit.
        setup: what is done in each checkout first.
        editable: folders of the user's tree that the command's Python imports packages from.
    """
    trial, secrets = for_shell(trial)
    commit = (trial.revision or "")[:10]
    top = repository.top
    place = top.with_name(f"{top.name}-{commit}")
    relocation = Relocation(repository=repository, place=place, revision=commit)
    inside = relocation.folder(Path(trial.cwd))
    copies = relocation.carried(trial.command, Path(trial.cwd))
    steps = [
        *map(ask_for, secrets),
        f"git -C {quoted(str(top))} worktree add --detach {quoted(str(place))} {commit}",
        *_submodules(repository, commit, place),
        *(_copy(path, target) for path, target in copies.values()),
    ]
    if setup.command:
        steps += [f"cd {quoted(str(place))}", setup.command]
    steps += [f"cd {quoted(str(inside))}", *map(reset_step, trial.reset)]
    relocated = relocation.command(trial.command, Path(trial.cwd))
    words = [
        word if word in copies else other
        for word, other in zip(trial.command, relocated, strict=True)
    ]
    environment = {name: relocation.text(value) for name, value in trial.environment.items()}
    variables = _variables(environment, [relocation.folder(Path(each)) for each in editable])
    return " && ".join([*steps, " ".join([*variables, joined(trial.limits.around(tuple(words)))])])


def _submodules(repository: Repository, commit: str, place: Path) -> Iterator[str]:
    for path, inner in submodules_of(repository, commit):
        if (repository.top / path / ".git").exists():
            source, target = quoted(str(repository.top / path)), quoted(str(place / path))
            yield f"git clone --quiet --shared --no-checkout {source} {target}"
            yield f"git -C {target} checkout --quiet {inner[:10]}"


def _copy(path: Path, target: Path) -> str:
    return f"mkdir -p {quoted(str(target.parent))} && cp {quoted(str(path))} {quoted(str(target))}"


def _variables(environment: Mapping[str, str], editable: list[Path]) -> Iterator[str]:
    own = ":".join(map(str, editable))
    if own and "PYTHONPATH" not in environment:
        yield f"PYTHONPATH={quoted(own)}${{PYTHONPATH:+:$PYTHONPATH}}"
    for name, value in environment.items():
        before = f"{own}:" if own and name == "PYTHONPATH" else ""
        yield f"{name}={quoted(before + value)}"
