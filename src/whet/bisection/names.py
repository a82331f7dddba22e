"""What a person calls a commit: whatever git reads, and a moment in time."""

import re
from collections.abc import Iterable

from whet.core.errors import BadUsage, UnknownRevision
from whet.core.value_class import value_class
from whet.host.process.git import Repository

_DAY = re.compile(r"\d{4}-\d\d?-\d\d?$")
_MOMENT = re.compile(r"\d{4}-\d\d?-\d\d?[T ]\d\d?:\d\d(:\d\d)?\s*(Z|[+-]\d\d:?\d\d)?$")
_NUMBER = r"(\d+|an?|one|two|three|four|five|six|seven|eight|nine|ten)"
_AGO = re.compile(
    rf"({_NUMBER}[ .](second|minute|hour|day|week|fortnight|month|year)s?[ .])+ago$", re.IGNORECASE
)
_NAMED = re.compile(r"(yesterday|last[ .](week|month|year))$", re.IGNORECASE)
_RANGE = re.compile(r"(?P<old>[^.].*?|)\.{2,3}(?P<new>[^.].*|)$")


@value_class(kw_only=True)
class NamedCommit:
    """A commit and how it was named.

    Attributes:
        commit: full id.
        remark: what the name was taken for, where that needs saying; may be empty.
    """

    commit: str
    remark: str = ""


def ends_of(words: tuple[str, ...]) -> tuple[str, str]:
    """Return the old and the new end that these words name; an empty old end is to be found.

    ``("v1..v2",)`` and ``("v1", "v2")`` are the same. ``("v1..",)`` and ``("v1",)`` go up to HEAD, as
    git has it; ``("..v2",)`` comes down from v2, and no word at all from HEAD.

    Raises:
        BadUsage: if these aren't one or two ends.
    """
    if len(words) == 1 and (span := _RANGE.match(words[0])):
        return span["old"], span["new"] or "HEAD"
    match words if all(words) else None:
        case () | ("HEAD",):
            return "", "HEAD"
        case (old,):
            return old, "HEAD"
        case (old, new):
            return old, new
        case _:
            pass
    raise BadUsage(
        f"`{' '.join(words)}` does not name one or two ends",
        hint="write `whet bisect [GOOD] [BAD] -- COMMAND`; the command follows `--`",
    )


def resolve(repository: Repository, name: str) -> str:
    """Return the full id of the commit that ``name`` means to git.

    Raises:
        UnknownRevision: if it means none.
    """
    found = _known_to_git(repository, name)
    if found:
        return found
    raise UnknownRevision(
        f"`{repository.top}` has no commit `{name}`", hint=_near(repository, name)
    )


def resolve_or_date(repository: Repository, name: str, tip: str = "HEAD") -> NamedCommit:
    """Return the commit that ``name`` means: a name that git knows, else a moment in time.

    A moment means the last commit before it on the line of first parents that ends in ``tip``;
    a day without a time means its first second.

    Args:
        repository: where the commit is.
        name: such as ``v4.33``, ``release~3``, ``2 weeks ago`` or ``2026-01-05``.
        tip: the newest commit that a moment can mean.

    Raises:
        UnknownRevision: if it means none.
    """
    found = _known_to_git(repository, name)
    if found or not is_moment(name):
        return NamedCommit(commit=found or resolve(repository, name))
    # git takes a day without a time for this time of that day.
    when = f"{name} 00:00:00" if _DAY.match(name) else name
    before = repository.get(
        "log", "-1", "--first-parent", f"--before={when}",
        "--format=%H%x09%h of %ci, %s", tip, "--",
    )  # fmt: skip
    if not before:
        oldest = repository.get("log", "-1", "--reverse", "--max-parents=0", "--format=%cs", tip)
        raise UnknownRevision(
            f"`{repository.top}` has no commit from before `{name}`",
            hint=deeper(repository) or f"its first commit is of {oldest}",
        )
    commit, _, shown = before.partition("\t")
    return NamedCommit(commit=commit, remark=f"`{name}` is {shown}")


def is_moment(name: str) -> bool:
    """Whether ``name`` is a date or a time before now.

    git itself takes any word for a date: one that it can't read means now.
    """
    return any(form.match(name) for form in (_DAY, _MOMENT, _AGO, _NAMED))


def deeper(repository: Repository) -> str:
    """Return what to type in a clone that lacks its older commits, or nothing."""
    is_shallow = repository.get("rev-parse", "--is-shallow-repository") == "true"
    return "this clone has only its newest commits: `git fetch --unshallow`" if is_shallow else ""


def in_words(names: Iterable[str]) -> str:
    """Return names as they stand in a sentence."""
    return ", ".join(f"`{name}`" for name in names)


def _known_to_git(repository: Repository, name: str) -> str:
    found = repository.ask("rev-parse", "--verify", "--quiet", f"{name}^{{commit}}")
    # A name that begins with a hyphen would be an option, and an empty one means HEAD.
    return found.text if found.exit_code == 0 and name and not name.startswith("-") else ""


def _near(repository: Repository, name: str) -> str:
    import difflib

    names = repository.get("for-each-ref", "--format=%(refname:short)", "refs/heads", "refs/tags")
    close = difflib.get_close_matches(name, names.splitlines(), n=3, cutoff=0.5)
    if close:
        return " ".join(filter(None, (f"did you mean {in_words(close)}?", deeper(repository))))
    return deeper(repository) or "`git log --oneline` and `git tag` list the commits"
