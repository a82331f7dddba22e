"""Two configurations as cases: their settings are the differences, or their lines."""

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from whet.core.difference import Change
from whet.core.errors import BadUsage, NothingDiffers, SettingsUnreadable
from whet.core.trial import STDIN_EMPTY, Trial
from whet.core.value_class import value_class
from whet.host.files.files import write_atomically
from whet.reduction.between import Between
from whet.reduction.line_changes import shown_lines, text_between
from whet.reduction.settings.conversion import said_in
from whet.reduction.settings.documents import DocumentKind, UnreadableError, document_in
from whet.search.subsets.hierarchy import Numbers
from whet.search.subsets.hierarchy import Path as Steps
from whet.workbench.delta.cases import Cases, Result, result_places
from whet.workbench.files.results import place_beside
from whet.workbench.trials.bench import Workbench
from whet.workbench.trials.payload import PLACEHOLDER, bind_payloads, read_payload
from whet.workbench.trials.request import TrialRequest


@value_class(kw_only=True)
class _File:
    """A configuration: its name as the user wrote it, where it lies and what it holds."""

    shown: str
    path: Path
    content: bytes
    kind: DocumentKind | None
    data: object


def cases_of_files(
    bench: Workbench, request: TrialRequest, good: str, bad: str, *, output: str = ""
) -> Cases:
    """Return two configurations and the settings that differ.

    Args:
        bench: the workbench.
        request: the command; `{}`, or one of the two files, is in it.
        good: the file on which it passes.
        bad: the file on which it fails.
        output: folder for the results; empty: beside the bad file.

    Raises:
        PayloadMissing, PayloadIsFolder, PayloadUnreadable, PayloadNotInCommand: for a file.
        SettingsUnreadable: if one of the two isn't what its name says.
        NothingDiffers: if no setting differs.
    """
    folder = Path(os.path.abspath(request.cwd or bench.project.folder))
    old, new = _read(folder, good), _read(folder, bad)
    trial = bench.build_trial(replace(request, command=_marked(request.command, old, new)))
    originals = [old.path, new.path]
    trial = bench.for_search(trial, [*originals, *result_places(bench, originals, output)])
    pair = _Pair(bench=bench, request=request, trial=trial, output=output)
    return pair.cases(old, new)


def _read(folder: Path, name: str) -> _File:
    path = Path(os.path.abspath(folder / name))
    content = read_payload(path, name, may_be_empty=True)
    try:
        kind, data = document_in(path.name, content)
    except UnreadableError as error:
        raise SettingsUnreadable(
            f"`{name}` doesn't match the format of its name: {error}",
            hint="repair it, or give both files a name that ends in `.txt`, to compare their lines",
        ) from error
    return _File(shown=name, path=path, content=content, kind=kind, data=data)


def _marked(command: tuple[str, ...], good: _File, bad: _File) -> tuple[str, ...]:
    """Return the command with the bad file's name where it has the good one's."""
    if any(PLACEHOLDER in word for word in command):
        return command
    return tuple(bad.shown if word == good.shown else word for word in command)


@value_class(kw_only=True)
class _Differences:
    """Settings or lines that differ, where each stands, and the file that has some of them."""

    what: str
    changes: tuple[Change, ...]
    paths: tuple[Steps, ...]
    made: Callable[[Numbers], bytes]


@value_class(kw_only=True)
class _Pair:
    """What both orders of two files share."""

    bench: Workbench
    request: TrialRequest
    trial: Trial
    output: str

    def cases(self, good: _File, bad: _File) -> Cases:
        """Return the two compared setting by setting where that can be, else line by line."""
        kind = bad.kind
        if kind is None or good.kind is None:
            return self._by_lines(good, bad)
        between = Between(_said_like(good, bad, kind), bad.data)
        if not between.leaves:
            return self._by_lines(good, bad)

        def made(numbers: Numbers) -> bytes:
            return kind.write(between.made(numbers)).encode("utf-8", "surrogatepass")

        differences = _Differences(
            what="settings", made=made, paths=between.paths,
            changes=tuple(leaf.as_change() for leaf in between.leaves),
        )  # fmt: skip
        plain = (lambda: self._by_lines(good, bad)) if _is_alike(good, bad) else None
        return self._cases(good, bad, differences, plain)

    def _by_lines(self, good: _File, bad: _File) -> Cases:
        between = text_between(good.content, bad.content)
        if not between.hunks:
            raise NothingDiffers(
                f"`{good.shown}` and `{bad.shown}` hold the same",
                hint="so neither decides: compare what else differs, such as `whet delta --env`",
            )
        if not _is_alike(good, bad):
            raise BadUsage(
                f"`{good.shown}` and `{bad.shown}` have different formats but the same settings",
                hint="so the format decides: the program reads only one of them",
            )
        changes = tuple(
            Change(what="line", name=str(hunk.line), before=shown_lines(hunk.before),
                   after=shown_lines(hunk.after))
            for hunk in between.hunks
        )  # fmt: skip
        paths = tuple((number,) for number in range(len(changes)))
        differences = _Differences(what="lines", made=between.made, paths=paths, changes=changes)
        return self._cases(good, bad, differences, None)

    def _cases(
        self,
        good: _File,
        bad: _File,
        differences: _Differences,
        plain: Callable[[], Cases] | None,
    ) -> Cases:
        render = differences.made
        base = self._bound(bad)

        def trial(numbers: Numbers) -> Trial:
            return base.with_payload(self.bench.payload_store.hold(render(numbers)))

        def result(numbers: Numbers, word: str) -> Result:
            return self._result(bad, base, render(numbers), word)

        return Cases(
            what=differences.what, good=good.shown, bad=bad.shown, changes=differences.changes,
            paths=differences.paths, trial=trial, turned=lambda: self.cases(bad, good), plain=plain,
            originals=(bad.path,), result=result,
        )  # fmt: skip

    def _bound(self, bad: _File) -> Trial:
        digest = self.bench.payload_store.keep(bad.content)
        bindings = bind_payloads(
            self.trial.command, Path(self.trial.cwd), [(bad.shown, digest)],
            stdin=self.request.stdin,
        )  # fmt: skip
        reads = any(binding.argument is None for binding in bindings)
        stdin = STDIN_EMPTY if reads else self.trial.stdin
        return replace(self.trial, payloads=bindings, stdin=stdin)

    def _result(self, bad: _File, base: Trial, content: bytes, word: str) -> Result:
        path = place_beside(self.bench, bad.path, word, self.output)
        name, trial = on_path(base, path)
        if base.payloads[0].argument is None:
            trial = replace(trial, stdin=self.bench.payload_store.keep(content))

        def write() -> None:
            self.bench.payload_store.keep(content)
            write_atomically(path, content)

        return Result(path=path, shown=name, write=write, trial=trial)


def on_path(base: Trial, path: Path) -> tuple[str, Trial]:
    """Return the name of a file that is there, and the command on it as a user would type it."""
    name = os.path.relpath(path, base.cwd)
    name = str(path) if name.startswith("..") else name
    words = list(base.command)
    for binding in base.payloads:
        binding.put(name, words)
    return name, replace(base, command=tuple(words), payloads=())


def _is_alike(good: _File, bad: _File) -> bool:
    """Whether the program that reads the one may read the other as it is written."""
    return (
        good.kind is bad.kind
        or good.kind is None
        or bad.kind is None
        or good.kind.name == bad.kind.name
    )


def _said_like(good: _File, bad: _File, kind: DocumentKind) -> object:
    assert good.kind is not None
    if good.kind.name == kind.name:
        return good.data
    try:
        return said_in(kind, good.data, bad.data, was_text=good.kind.is_text)
    except UnreadableError as error:
        raise SettingsUnreadable(
            f"`{good.shown}` can't be converted to {kind.name}, the format of `{bad.shown}`: {error}",
            hint=f"write `{good.shown}` in {kind.name}, without that setting if necessary",
        ) from error
