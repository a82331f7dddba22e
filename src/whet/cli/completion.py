"""What a shell may complete: files, trials, revisions, and the command behind ``--``."""

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import click
from click.shell_completion import CompletionItem

VARIABLE = "_WHET_COMPLETE"
"""The shell's function sets it: click then completes instead of running a verb."""

_MOST_TRIALS = 20
_FOLDERS = frozenset({"DIR"})
_REVISIONS = frozenset({"X", "Y", "[GOOD] [BAD]"})
_FILES = frozenset({"FILE", "FILE...", "SCRIPT", "PATH", "OUT", "DEFAULTS", "TARGET", "TARGET..."})


class Named(click.ParamType[str]):
    """A word that names something of one kind."""

    name = "text"

    def __init__(self, kind: str) -> None:
        self.kind = kind

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> str:
        """Return it as it is."""
        return str(value)

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Return what it may be."""
        if self.kind == "revision":
            return [CompletionItem(each) for each in _revisions() if each.startswith(incomplete)]
        return [CompletionItem(incomplete, type=self.kind)]


def teach(command: click.Command) -> click.Command:
    """Return a verb that knows which of its words are files, folders and revisions."""
    for each in command.params:
        word = each.metavar or ""
        if isinstance(each.type, type(click.STRING)):
            kinds = {"dir": _FOLDERS, "revision": _REVISIONS, "file": _FILES | {"GOOD BAD"}}
            for kind, words in kinds.items():
                each.type = Named(kind) if word in words else each.type
    return command


def completed_command(command: tuple[str, ...], incomplete: str) -> list[CompletionItem]:
    """Return what the next word of a command may be: a program, or a file."""
    programs: list[str] = []
    if not command and os.sep not in incomplete:
        programs = sorted({name for name in _programs() if name.startswith(incomplete)})
    file = CompletionItem(incomplete, type="file")
    return [file, *(CompletionItem(name) for name in programs if incomplete)]


def completed_trial(incomplete: str) -> list[CompletionItem]:
    """Return the names of trials, and the numbers of the last ones."""
    from whet.workbench.trials.bench import open_workbench

    with suppress(Exception), open_workbench() as bench:
        entries = list(bench.notebook.entries(limit=_MOST_TRIALS))
        names = [each.name for each in entries if each.name]
        words = [*names, "last", *(str(each.number) for each in entries)]
        return [CompletionItem(each) for each in words if each.startswith(incomplete)]
    return []


def _programs() -> Iterator[str]:
    for folder in os.get_exec_path():
        with suppress(OSError):
            yield from (each.name for each in os.scandir(folder) if os.access(each.path, os.X_OK))


def _revisions() -> list[str]:
    from whet.host.process.tool import ToolMissingError, call_tool

    command = ("git", "for-each-ref", "--format=%(refname:short)", "refs/heads", "refs/tags")
    with suppress(ToolMissingError, OSError):
        return ["HEAD", *call_tool(command, cwd=Path.cwd()).stdout.decode().split()]
    return []
