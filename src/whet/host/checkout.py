"""Bringing a working tree of whet's own to a commit, whatever was done in it before."""

from pathlib import Path

from whet.host.git import GitFailedError, Repository
from whet.host.object_store import has_object

QUIET = ("-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false",
         "-c", "submodule.recurse=false", "-c", "advice.detachedHead=false")  # fmt: skip
"""Options of git that keep the user's hooks and daemons out of what whet does."""


def check_out(folder: Path, commit: str, *, is_clean: bool = True) -> bool:
    """Make ``folder`` what ``commit`` holds, and nothing else.

    Without ``is_clean`` what git does not track stays.

    A filter that fails (git-lfs is not installed, git-crypt has no key) is left out: then the
    files are as they are committed.

    Returns:
        Whether all filters did their work.

    Raises:
        GitFailedError: if git cannot.
    """
    is_filtered = True
    place = Repository(folder)
    rules = ("HEAD", commit, "--", ":(glob)**/.gitattributes")
    has_other_rules = place.ask(*QUIET, "diff", "--quiet", "--no-ext-diff", *rules).exit_code != 0
    arguments = ("checkout", "--quiet", "--force", "--detach", commit)
    filters: list[str] = []
    try:
        place.get(*QUIET, *arguments)
    except GitFailedError:
        filters = _without_filters(place)
        if not filters:
            raise
        place.get(*QUIET, *filters, *arguments)
        is_filtered = False
    if has_other_rules:
        # git leaves a file as it wrote it by other rules, line ends and all, if its blob is equal.
        place.get(*QUIET, "read-tree", "--empty")
        place.get(*QUIET, *filters, *arguments)
    if has_object(commit):
        # A commit of whet's own, which only whet's git can read: the program's is to see the one
        # below it, and what is more as changes that are not committed.
        place.ask(*QUIET, "reset", "--quiet", "--soft", f"{commit}^")
    if is_clean:
        place.get(*QUIET, "clean", "--quiet", "-ffdx")
    return is_filtered


def _without_filters(place: Repository) -> list[str]:
    listing = place.ask("config", "-z", "--name-only", "--get-regexp", r"^filter\.")
    options: list[str] = []
    for name in sorted({key.rpartition(".")[0] for key in listing.text.split("\0") if key}):
        for setting in ("smudge=", "clean=", "process=", "required=false"):
            options.extend(("-c", f"{name}.{setting}"))
    return options
