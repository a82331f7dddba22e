"""Two folders as cases: their files are the differences, and in texts their hunks."""

import os
from dataclasses import replace
from pathlib import Path

from whet.core.errors import NothingDiffers
from whet.core.trial import Trial
from whet.core.value_class import value_class
from whet.host.code.folders import replace_folder
from whet.reduction.files_between import FilesBetween, FileVersion
from whet.reduction.formats.archives.archive import FILE, Member
from whet.reduction.formats.archives.tar_archive import TAR_CODEC, parse_tar
from whet.search.subsets.hierarchy import Numbers
from whet.workbench.delta.cases import Cases, Result, result_places
from whet.workbench.delta.delta_files import on_path
from whet.workbench.files.results import place_beside
from whet.workbench.trials.bench import Workbench
from whet.workbench.trials.payload import PLACEHOLDER, bind_payloads, read_folder
from whet.workbench.trials.request import TrialRequest

_MODE_AT, _MODE_LENGTH = 100, 8
_LINK_AT, _LINK_LENGTH = 157, 100
_HEADER = 512


@value_class(kw_only=True)
class _Folder:
    shown: str
    path: Path
    members: dict[str, Member]

    def versions(self) -> dict[str, FileVersion]:
        return {path: _version(member) for path, member in self.members.items()}


def cases_of_folders(
    bench: Workbench, request: TrialRequest, good: str, bad: str, *, output: str = ""
) -> Cases:
    """Return two folders and the files and hunks that differ.

    Args:
        bench: the workbench.
        request: the command; `{}`, or one of the two folders, is in it.
        good: the folder on which it passes.
        bad: the folder on which it fails.
        output: folder for the results; empty: beside the bad folder.

    Raises:
        PayloadTooLarge, PayloadUnreadable, PayloadEmpty, PayloadNotInCommand: for a folder.
        NothingDiffers: if they hold the same.
    """
    where = Path(os.path.abspath(request.cwd or bench.project.folder))
    old, new = _read(where, good), _read(where, bad)
    command = request.command
    if not any(PLACEHOLDER in word for word in command):
        command = tuple(_moved(word, old.shown, new.shown) for word in command)
    trial = bench.build_trial(replace(request, command=command))
    originals = [old.path, new.path]
    trial = bench.for_search(trial, [*originals, *result_places(bench, originals, output)])
    return _cases(bench, trial, old, new, output)


def _read(where: Path, name: str) -> _Folder:
    path = Path(os.path.abspath(where / name))
    archive = parse_tar(read_folder(path, name))
    assert archive is not None, "a folder travels as an archive"
    members = {os.fsdecode(member.path).rstrip("/"): member for member in archive.members}
    return _Folder(shown=name.rstrip("/"), path=path, members=members)


def _moved(word: str, good: str, bad: str) -> str:
    """Return a word with the bad folder where it has the good one, or a path into it."""
    is_good = word == good or word.startswith(f"{good}/")
    return bad + word[len(good) :] if is_good else word


def _version(member: Member) -> FileVersion:
    header = member.raw[member.at - _HEADER : member.at]
    mode = header[_MODE_AT : _MODE_AT + _MODE_LENGTH].strip(b"\0 ").decode("ascii").lstrip("0")
    if member.what == FILE:
        return FileVersion(content=member.packed, form="" if mode == "644" else f"mode {mode}")
    link = os.fsdecode(header[_LINK_AT : _LINK_AT + _LINK_LENGTH].rstrip(b"\0"))
    return FileVersion(content=None, form=f"link to {link}" if link else f"folder, mode {mode}")


def _cases(bench: Workbench, trial: Trial, good: _Folder, bad: _Folder, output: str) -> Cases:
    between = FilesBetween(good.versions(), bad.versions())
    if not between.changes:
        raise NothingDiffers(
            f"`{good.shown}` and `{bad.shown}` hold the same",
            hint="so neither decides: compare what else differs, such as `whet delta --env`",
        )

    def made(numbers: Numbers) -> bytes:
        return _packed(good, bad, between.made(numbers))

    digest = bench.payload_store.keep(made(tuple(range(len(between.changes)))))
    bindings = bind_payloads(trial.command, Path(trial.cwd), [(bad.shown, digest)])
    base = replace(trial, payloads=bindings)

    def result(numbers: Numbers, word: str) -> Result:
        path = place_beside(bench, bad.path, word, output)
        content = made(numbers)

        def write() -> None:
            bench.payload_store.keep(content)
            replace_folder(path, content, bench.cleanup_journal)

        name, on_result = on_path(base, path)
        return Result(path=path, shown=name, write=write, trial=on_result)

    return Cases(
        what="differences", good=good.shown, bad=bad.shown, changes=between.changes,
        paths=between.paths, originals=(bad.path,), result=result,
        trial=lambda numbers: base.with_payload(bench.payload_store.hold(made(numbers))),
        turned=lambda: _cases(bench, _turned(trial, good, bad), bad, good, output),
    )  # fmt: skip


def _turned(trial: Trial, good: _Folder, bad: _Folder) -> Trial:
    words = (_moved(word, bad.shown, good.shown) for word in trial.command)
    return replace(trial, command=tuple(words))


def _packed(good: _Folder, bad: _Folder, versions: dict[str, FileVersion | None]) -> bytes:
    """Return the good folder with files as they were made, packed."""
    members: list[bytes] = []
    for path in sorted({*good.members, *bad.members}, key=lambda each: each.split("/")):
        if path not in versions:
            members.append(good.members[path].raw)
            continue
        version = versions[path]
        if version is not None:
            members.append(_member(good, bad, path, version).raw)
    return b"".join((*members, TAR_CODEC.plain_tail))


def _member(good: _Folder, bad: _Folder, path: str, version: FileVersion) -> Member:
    versions = [folder.members[path] for folder in (good, bad) if path in folder.members]
    for member in versions:
        if _version(member) == version:
            return member
    assert version.content is not None, "only a text lies between two"
    return TAR_CODEC.with_content(versions[0], version.content)
