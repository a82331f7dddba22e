"""A git repository, used through the `git` command line."""

import os
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path

from whet.core.errors import HostFailure, NotARepository
from whet.core.text.shell_words import quoted
from whet.core.value_class import value_class
from whet.host.files.files import content_of
from whet.host.process.object_store import (
    VARIABLE,
    make_plain_git_folder,
    object_store,
    plain_git_folder,
)
from whet.host.process.tool import ToolMissingError, ToolResult, call_tool

# Variables that point git at another repository or index than the folder it is called in:
# a hook or an outer `git bisect run` sets them, and whet must not work on that repository.
_MISLEADING = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_OBJECT_DIRECTORY",
               "GIT_COMMON_DIR", "GIT_NAMESPACE", "GIT_ALTERNATE_OBJECT_DIRECTORIES")  # fmt: skip

# A repository that came as an archive brings settings along, and they can name programs. Those
# below would be started by what whet asks git; the settings of one call win over them. The
# others stand in no call of whet's: no external diff, no conversion to text, no alias, no pager.
_SETTINGS = (("core.fsmonitor", "false"), ("core.hooksPath", os.devnull),
             ("core.alternateRefsCommand", "true"), ("log.showSignature", "false"),
             ("submodule.recurse", "false"), ("advice.detachedHead", "false"))  # fmt: skip

# In a partial clone git fetches what it lacks, by programs that its settings may name.
_NO_FETCH = {"GIT_NO_LAZY_FETCH": "1", "GIT_ALLOW_PROTOCOL": "file"}
_PLAIN_FETCH = {"GIT_ALLOW_PROTOCOL": "file:git:http:https:ssh"}
_PLAIN = re.compile(
    r"""core\.(repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|symlinks|autocrlf|eol
        |precomposeunicode|sparsecheckout|sparsecheckoutcone)
    |extensions\.(partialclone|objectformat) |user\..* |branch\..* |index\..* |advice\..* |gc\..*
    |remote\..*\.(url|pushurl|fetch|promisor|partialclonefilter|tagopt) |submodule\..*\.(url|active)
    |http\..*\.extraheader""",
    re.VERBOSE | re.IGNORECASE | re.DOTALL,
)
"""Settings that name neither a program nor a file to read or write."""


OWN_SCOPES = frozenset({"local", "worktree"})
"""The files with a repository's own settings."""


class GitFailedError(Exception):
    """git refused; the message is its complaint."""


def failure_of_git(error: Exception) -> HostFailure | None:
    """Return the error to show where nothing has taken git's refusal for an answer: its disk is gone, say."""
    if not isinstance(error, GitFailedError):
        return None
    return HostFailure(
        f"git failed: {error}",
        hint="check the repository and its disk: `git status`, `git fsck`",
    )


@value_class(eq=False)
class Repository:
    """A git repository, by the top folder of one of its working trees.

    Attributes:
        top: that folder.
        git_folder: an empty git directory of whet's own, for a folder that has none; else empty.
    """

    top: Path
    git_folder: str = ""

    @property
    def worktrees_of(self) -> str:
        """The folder in which git finds the worktrees that it was told to add."""
        return self.git_folder or str(self.top)

    @classmethod
    def keeping(cls, top: Path) -> "Repository":
        """Return what keeps the code of the folder ``top``: its own repository, or whet."""
        is_bare = os.path.isfile(top / "HEAD") and os.path.isdir(top / "objects")
        is_repository = is_bare or os.path.lexists(top / ".git")
        return cls(top) if is_repository else cls(top, plain_git_folder())

    @classmethod
    def containing(cls, folder: Path) -> "Repository":
        """Return the repository that ``folder`` is in.

        Raises:
            NotARepository: if it is in none, or git isn't installed.
            GitFailedError: if git doesn't say in which.
        """
        try:
            answer = call_tool(
                ["git", "-C", str(folder), "rev-parse", "--show-toplevel", "--absolute-git-dir"],
                environment=git_environment(),
            )
        except ToolMissingError as error:
            raise NotARepository(
                "git is not installed", hint="install it: `apt-get install git`"
            ) from error
        if answer.exit_code != 0:
            if _is_bare(folder):
                raise NotARepository(
                    f"`{folder}` is a bare repository, without files to run a command on",
                    hint=f"create a working tree: `git -C {quoted(str(folder))} worktree add DIR`,"
                    " and run whet there",
                )
            raise NotARepository(
                f"`{folder}` isn't in a git repository ({answer.complaint})",
                hint="name the repository with `--repo DIR`",
            )
        top, _, git_folder = answer.text.rpartition("\n")
        if not top or not git_folder:  # into a pipe git writes what it can, and exits with 0
            raise GitFailedError("git rev-parse: no answer")
        check_place(top, git_folder)
        return cls(Path(top))

    def ask(
        self,
        *arguments: str,
        stdin: bytes = b"",
        environment: Mapping[str, str] | None = None,
    ) -> ToolResult:
        """Run a git command in this repository and return its answer, whatever it is."""
        return call_tool(
            ["git", "-C", str(self.top), *arguments],
            stdin=stdin,
            environment={**git_environment(), **self.location(), **(environment or {})},
        )

    def location(self) -> Mapping[str, str]:
        """Return the variables by which git finds the repository, and what it lacks."""
        if not self.git_folder:
            return _fetching(str(self.top))
        try:
            make_plain_git_folder(self.git_folder)
        except OSError as error:
            raise GitFailedError(f"cannot write `{self.git_folder}`: {error.strerror}") from error
        return {"GIT_DIR": self.git_folder, "GIT_WORK_TREE": str(self.top)}

    def get(
        self,
        *arguments: str,
        stdin: bytes = b"",
        environment: Mapping[str, str] | None = None,
    ) -> str:
        """Run a git command in this repository and return what it printed.

        Raises:
            GitFailedError: if its exit code isn't 0.
        """
        answer = self.ask(*arguments, stdin=stdin, environment=environment)
        if answer.exit_code != 0:
            raise GitFailedError(f"git {_shown(arguments)}: {answer.complaint}")
        return answer.text


def git_environment() -> dict[str, str]:
    """Return whet's environment for git: no other repository, no prompt, no optional locks.

    git finds the objects that whet keeps itself, beside those of the repository.
    """
    environment = {name: value for name, value in os.environ.items() if name not in _MISLEADING}
    store = object_store()
    if os.path.isdir(store):
        environment[VARIABLE] = store
    # Without optional locks `git status` leaves the user's index alone.
    environment |= {"GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C.UTF-8"}
    return {**environment, **_NO_FETCH, **_settings(environment.get("GIT_CONFIG_COUNT", ""))}


def check_place(top: str, git_folder: str) -> None:
    """Check that a repository is the one at ``top``: its settings may name any folder for its files.

    Raises:
        NotARepository: if it is another one.
    """
    at_top = _git_folder_at(top)
    if not at_top or not os.path.exists(at_top) or not os.path.samefile(at_top, git_folder):
        raise NotARepository(
            f"the repository `{git_folder}` says that its files are in `{top}`, which isn't its folder",
            hint=f"`git -C {quoted(os.path.dirname(git_folder))} config --unset core.worktree`",
        )


def with_settings(settings: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that give git more settings for a call, behind whet's own.

    Not by `git -c`, which ends a name at its first `=`: a repository may have such names.
    """
    return _settings(git_environment()["GIT_CONFIG_COUNT"], (*settings.items(),))


def _settings(count: str, settings: Sequence[tuple[str, str]] = _SETTINGS) -> dict[str, str]:
    """Return whet's settings of each call, behind those that the user's environment has."""
    first = int(count) if count.isdigit() else 0
    variables = {"GIT_CONFIG_COUNT": str(first + len(settings))}
    for number, (name, value) in enumerate(settings, first):
        variables |= {f"GIT_CONFIG_KEY_{number}": name, f"GIT_CONFIG_VALUE_{number}": value}
    return variables


def _git_folder_at(top: str) -> str:
    """Return the folder that the `.git` in ``top`` is, or names; empty: there is none."""
    place = os.path.join(top, ".git")
    if os.path.isdir(place):
        return place
    with suppress(OSError):
        words = os.fsdecode(content_of(place))
        if words.startswith("gitdir: "):
            return os.path.join(top, words.removeprefix("gitdir: ").rstrip("\n"))
    return ""


def _fetching(top: str) -> Mapping[str, str]:
    """Return the variables that let git fetch what a partial clone lacks, if no program is named."""
    folder = _git_folder_at(top) or top
    with suppress(OSError):
        folder = os.path.join(folder, os.fsdecode(content_of(f"{folder}/commondir")).rstrip("\n"))
    with suppress(OSError):
        settings = content_of(os.path.join(folder, "config"))
        if b"promisor" in settings and _names_no_program(top, settings):
            return {**_PLAIN_FETCH, "GIT_NO_LAZY_FETCH": "0"}
    return {}


@cache
def _names_no_program(top: str, _settings: bytes) -> bool:
    """Whether a repository's own settings name none; they may change while whet runs."""
    answer = call_tool(
        ["git", "-C", top, "config", "--list", "-z", "--show-scope"], environment=git_environment()
    )
    parts = answer.text.split("\0")
    names = [
        setting.partition("\n")[0]
        for scope, setting in zip(parts[::2], parts[1::2], strict=False)
        if scope in OWN_SCOPES
    ]
    return answer.exit_code == 0 and all(map(_PLAIN.fullmatch, names))


def _is_bare(folder: Path) -> bool:
    answer = call_tool(
        ["git", "-C", str(folder), "rev-parse", "--is-bare-repository"],
        environment=git_environment(),
    )
    return answer.text == "true"


def _shown(arguments: Sequence[str]) -> str:
    return " ".join(arguments[:3])
