"""Resetting one of whet's own working trees to a commit, whatever ran in it before."""

from pathlib import Path

from whet.host.process.git import OWN_SCOPES, GitFailedError, Repository, with_settings
from whet.host.process.object_store import has_object


def check_out(folder: Path, commit: str, *, is_clean: bool = True) -> bool:
    """Make ``folder`` what ``commit`` holds, and nothing else.

    Without ``is_clean`` what git doesn't track stays.

    A filter that fails (git-lfs isn't installed, git-crypt has no key) is left out: then the
    files are as they are committed.

    Returns:
        Whether all filters did their work.

    Raises:
        GitFailedError: if git can't.
    """
    place = Repository(folder)
    rules = ("HEAD", commit, "--", ":(glob)**/.gitattributes")
    has_other_rules = place.ask("diff", "--quiet", "--no-ext-diff", *rules).exit_code != 0
    arguments = ("checkout", "--quiet", "--force", "--detach", commit)
    filters, is_filtered = users_filters(place)
    try:
        place.get(*arguments, environment=filters)
    except GitFailedError:
        filters = _without_filters(place)
        if not _filters(place):
            raise
        place.get(*arguments, environment=filters)
        is_filtered = False
    if has_other_rules:
        # git leaves a file as it wrote it by other rules, line ends and all, if its blob is equal.
        place.get("read-tree", "--empty")
        place.get(*arguments, environment=filters)
    if has_object(commit):
        # A commit of whet's own, which only whet's git can read: the program's is to see the one
        # below it, and what is more as changes that aren't committed.
        place.ask("reset", "--quiet", "--soft", f"{commit}^")
    if is_clean:
        place.get("clean", "--quiet", "-ffdx")
    return is_filtered


def users_filters(place: Repository) -> tuple[dict[str, str], bool]:
    """Return variables that leave the filters which a repository's own settings name to git.

    They are programs, and a repository that came as an archive may name any.

    Returns:
        The variables, and whether all filters that change files are the user's own.
    """
    users: dict[str, str] = {}
    theirs: dict[str, str] = {}
    for scope, name, value in _filters(place):
        (theirs if scope in OWN_SCOPES else users)[name] = value
    differences = {name: value for name, value in theirs.items() if users.get(name, "") != value}
    instead = {
        name: users.get(name, "false" if name.endswith(".required") else "") for name in differences
    }
    matter = (name for name in differences if name.endswith((".smudge", ".process")))
    return with_settings(instead), all(differences[name] in {"", "cat"} for name in matter)


def _filters(place: Repository) -> list[tuple[str, str, str]]:
    """Return scope, name and value of each setting of a filter, the one that wins last."""
    parts = place.ask("config", "-z", "--show-scope", "--get-regexp", r"^filter\.").text.split("\0")
    filters: list[tuple[str, str, str]] = []
    for scope, setting in zip(parts[::2], parts[1::2], strict=False):
        name, _, value = setting.partition("\n")
        filters.append((scope, name, value))
    return filters


def _without_filters(place: Repository) -> dict[str, str]:
    names = sorted({name.rpartition(".")[0] for _, name, _ in _filters(place)})
    none = {"smudge": "", "clean": "", "process": "", "required": "false"}
    return with_settings(
        {f"{name}.{setting}": value for name in names for setting, value in none.items()}
    )
