"""A git repository, spoken to through the `git` command line."""

import os
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from whet.core.errors import NotARepository
from whet.host.object_store import VARIABLE, object_store
from whet.host.tool import ToolMissingError, ToolResult, call_tool

# Variables that point git at another repository or index than the folder it is called in:
# a hook or an outer `git bisect run` sets them, and whet must not work on that repository.
_MISLEADING = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_OBJECT_DIRECTORY",
               "GIT_COMMON_DIR", "GIT_NAMESPACE", "GIT_ALTERNATE_OBJECT_DIRECTORIES")  # fmt: skip


class GitFailedError(Exception):
    """git refused; the message is its complaint."""


@dataclass(frozen=True, slots=True, eq=False)
class Repository:
    """A git repository, by the top folder of one of its working trees."""

    top: Path

    @classmethod
    def containing(cls, folder: Path) -> "Repository":
        """Return the repository that ``folder`` lies in.

        Raises:
            NotARepository: if it lies in none, or git is not installed.
        """
        try:
            found = call_tool(
                ["git", "-C", str(folder), "rev-parse", "--show-toplevel"],
                environment=git_environment(),
            )
        except ToolMissingError as error:
            raise NotARepository(
                "git is not installed", hint="install it: `apt-get install git`"
            ) from error
        if found.exit_code != 0:
            if _is_bare(folder):
                raise NotARepository(
                    f"`{folder}` is a bare repository: it has no files that a command could run on",
                    hint=f"make a working tree: `git -C {shlex.quote(str(folder))} worktree add DIR`,"
                    " and run whet there",
                )
            raise NotARepository(
                f"`{folder}` is not in a git repository ({found.complaint})",
                hint="name the repository with `--repo DIR`",
            )
        return cls(Path(found.text))

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
            environment={**git_environment(), **(environment or {})},
        )

    def get(
        self,
        *arguments: str,
        stdin: bytes = b"",
        environment: Mapping[str, str] | None = None,
    ) -> str:
        """Run a git command in this repository and return what it printed.

        Raises:
            GitFailedError: if its exit code is not 0.
        """
        answer = self.ask(*arguments, stdin=stdin, environment=environment)
        if answer.exit_code != 0:
            raise GitFailedError(f"git {_shown(arguments)}: {answer.complaint}")
        return answer.text


def git_environment() -> dict[str, str]:
    """Return whet's environment for git: no other repository, no prompt, no optional locks.

    git finds the objects that whet keeps itself, beside those of the repository.
    """
    kept = {name: value for name, value in os.environ.items() if name not in _MISLEADING}
    store = object_store()
    if os.path.isdir(store):
        kept[VARIABLE] = store
    # Without optional locks `git status` leaves the user's index alone.
    return {**kept, "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C.UTF-8"}


def _is_bare(folder: Path) -> bool:
    found = call_tool(
        ["git", "-C", str(folder), "rev-parse", "--is-bare-repository"],
        environment=git_environment(),
    )
    return found.text == "true"


def _shown(arguments: Sequence[str]) -> str:
    return " ".join(arguments[:3])
