"""A clone or an archive attacks whoever runs whet in it: nothing in it runs or reaches out of it."""

import hashlib
import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import hostile_clones as hostile
import pytest
from _pytest.mark import ParameterSet
from hostile_clones import ALL, FEW_STARTS, FINDINGS, LOOKS, SEARCHES, STARTS, Clone
from whet_command import Said, Whet

from whet.core.errors import SOFTWARE

_MOST_SECONDS = 25
_PAYLOAD = ("--budget", "2s", "--", "sh", "-c", '! test -s "$0"')


def possessions(folder: Path) -> dict[str, tuple[int, int, str]]:
    """Return what lies below a folder: mode, inode, and what it holds."""
    found: dict[str, tuple[int, int, str]] = {}
    for here, folders, files in os.walk(folder):
        for name in (*folders, *files):
            path = Path(here, name)
            status = path.lstat()
            held = ""
            if stat.S_ISREG(status.st_mode):
                held = hashlib.sha256(path.read_bytes()).hexdigest()
            elif stat.S_ISLNK(status.st_mode):
                held = str(path.readlink())
            found[str(path.relative_to(folder))] = status.st_mode, status.st_ino, held
    return found


@pytest.fixture(scope="module")
def untouched(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a small project with three commits, beside a home that is full of the user's files."""
    place = tmp_path_factory.mktemp("untouched")
    folder, home, temporary = place / "clone", place / "home", place / "tmp"
    for each in (folder, home / "work", temporary):
        each.mkdir(parents=True)
    (home / "thesis.md").write_text("good\n")
    (home / "notes.txt").write_text("notes\n")
    yours = Whet(home / "work", {})
    yours.git("init", "--quiet")
    yours.commit("mine", secret_py="good\n")
    theirs = Whet(folder, {})
    theirs.git("init", "--quiet")
    (folder / "data.txt").write_text("good\n")
    theirs.commit("one", main_py="import helper\nprint(helper.ANSWER)\n", helper_py="ANSWER = 42\n")
    (folder / "data.txt").write_text("good, too\n")
    theirs.commit("two")
    (folder / "data.txt").write_text("bad\n")
    theirs.commit("three")
    return place


@pytest.fixture
def clone(tmp_path: Path, untouched: Path) -> Clone:
    """Return a copy of that project and that home."""
    place = shutil.copytree(untouched, tmp_path / "around", symlinks=True)
    state = {
        "TMPDIR": str(place / "tmp"),
        "HOME": str(place / "home"),
        "XDG_STATE_HOME": str(place / "state"),
    }
    return Clone(Whet(place / "clone", state), place / "home", place / "canary")


@dataclass(frozen=True)
class Attack:
    """A clone, and the verbs that touch what it brings along.

    Attributes:
        bring: fills it.
        verbs: what the user types in it.
        more: what `make test-long` types, too.
        below: where in it.
        is_script: whether whet is started as its own interpreter starts it.
    """

    bring: Callable[[Clone], None]
    verbs: Sequence[Sequence[str]] = LOOKS
    more: Sequence[Sequence[str]] = ()
    below: str = "."
    is_script: bool = False


def _shrinks(bring: Callable[[Clone], None], name: str) -> Attack:
    return Attack(bring, [("shrink", name, *_PAYLOAD, name), ("show",), ("one-liner",)])


ATTACKS = {
    "a file system monitor": Attack(hostile.fsmonitor, ALL),
    "hooks": Attack(hostile.hooks, SEARCHES, (*LOOKS, *FINDINGS)),
    "a folder of hooks": Attack(hostile.hooks_elsewhere, SEARCHES, LOOKS),
    "filters": Attack(hostile.filters, SEARCHES, LOOKS),
    "an external diff": Attack(hostile.external_diff, LOOKS, SEARCHES),
    "a conversion to text": Attack(hostile.text_conversion, SEARCHES, LOOKS),
    "a program for signatures": Attack(hostile.signatures, LOOKS, SEARCHES),
    "pagers, editors and aliases": Attack(hostile.pagers_and_editors, LOOKS, SEARCHES),
    "an object fetched by a command": Attack(hostile.lazy_fetch_by_a_command, SEARCHES, LOOKS),
    "an object fetched by ssh": Attack(hostile.lazy_fetch_by_ssh, LOOKS, SEARCHES),
    "an object fetched by a proxy": Attack(hostile.lazy_fetch_by_a_proxy, LOOKS, SEARCHES),
    "an object fetched from a program": Attack(hostile.lazy_fetch_by_an_upload_program, LOOKS, SEARCHES),
    "an object fetched by a helper": Attack(hostile.lazy_fetch_by_a_helper, SEARCHES, LOOKS),
    "included settings": Attack(hostile.included_settings, LOOKS, SEARCHES),
    "settings of the worktree": Attack(hostile.settings_of_the_worktree, SEARCHES, LOOKS),
    "the home for its files": Attack(hostile.files_elsewhere, LOOKS, SEARCHES),
    "the folder above for its files": Attack(hostile.files_above, LOOKS, SEARCHES),
    "the user's repository for its own": Attack(hostile.git_folder_elsewhere, SEARCHES, LOOKS),
    "the user's references for its own": Attack(hostile.common_folder_elsewhere, LOOKS, SEARCHES),
    "the user's objects for its own": Attack(hostile.objects_elsewhere, SEARCHES, LOOKS),
    "commits that are replaced": Attack(hostile.replaced_commits, SEARCHES, LOOKS),
    "noise for an index": Attack(hostile.noise_for_an_index, LOOKS, SEARCHES),
    "a bare repository inside": Attack(
        hostile.bare_repository_inside, SEARCHES, LOOKS, below="tests/fixture"
    ),
    "a repository inside": Attack(hostile.nested_repository),
    "submodules": Attack(hostile.submodules, SEARCHES, LOOKS),
    "a submodule that is elsewhere": Attack(hostile.submodule_elsewhere, SEARCHES, LOOKS),
    "a submodule below a link": Attack(hostile.submodule_below_a_link, LOOKS, SEARCHES),
    "a tree that climbs": Attack(hostile.tree_that_climbs, SEARCHES, LOOKS),
    "pipes for ignore files": Attack(hostile.pipes_for_ignore_files),
    "pipes for settings": Attack(hostile.pipes_for_settings, LOOKS, SEARCHES),
    "pipes for files": Attack(hostile.pipes_for_files, LOOKS, SEARCHES),
    "a pipe for the HEAD": Attack(hostile.pipes_for_git),
    "files without an end": Attack(hostile.endless_files, LOOKS, SEARCHES),
    "files of a terabyte": Attack(hostile.terabytes, LOOKS, SEARCHES),
    "data of a terabyte": Attack(hostile.terabyte_of_data, [("shrink", "data.txt", *_PAYLOAD, "data.txt")]),
    "deep folders": Attack(hostile.deep_folders),
    "links in a circle": Attack(hostile.looping_links, LOOKS, SEARCHES),
    "odd names": Attack(hostile.odd_names, (*SEARCHES, *FINDINGS), LOOKS),
    "a whole folder of whet's": Attack(hostile.whole_whet_folder, LOOKS, (*SEARCHES, *FINDINGS)),
    "settings of all kinds": Attack(
        hostile.settings_of_all_kinds, (*SEARCHES, ("toggle", *hostile.HARMLESS), ("run", "--limits", "laptop", *hostile.HARMLESS))
    ),
    "settings a hundred thousand deep": Attack(hostile.nested_settings),
    "start-up files of Python": Attack(hostile.startup_files, FEW_STARTS, STARTS, is_script=True),
    "programs beside": Attack(hostile.programs_beside, (*STARTS, ("where", "json")), is_script=True),
    "modules beside": Attack(hostile.modules_beside, (*STARTS, ("where", "--no-import", "json")), is_script=True),
    "byte code beside": Attack(hostile.byte_code_beside, FEW_STARTS, STARTS, is_script=True),
    "files of debuggers": Attack(
        hostile.debugger_files,
        (
            ("run", "--locals", "--", sys.executable, "-c", "x = 1; 1 / 0"),
            ("post-mortem",),
            ("run", "--timeout", "1", "--", "sleep", "9"),
            ("stacks", "--", "sleep", "1"),
            ("run", "--", "sh", "-c", "kill -SEGV $$"),
        ),
    ),
    "requirements": Attack(
        hostile.requirements,
        (*SEARCHES, ("investigate", "--good-packages", "requirements.txt", *hostile.HARMLESS),
         ("where", "--no-import", "evil")),
    ),
    "results elsewhere": Attack(hostile.results_elsewhere, FINDINGS),
    "pages elsewhere": Attack(hostile.pages_elsewhere, FINDINGS),
    "hard links": Attack(hostile.hard_links, FINDINGS),
    "pickles": _shrinks(hostile.pickles, "payload.pkl"),
    "pickles of torch": _shrinks(hostile.torch_pickles, "payload.pt"),
    "arrays of objects": _shrinks(hostile.object_arrays, "payload.npy"),
    "tags of YAML": _shrinks(hostile.yaml_tags, "payload.yaml"),
    "a bomb of YAML": _shrinks(hostile.yaml_bomb, "payload.yaml"),
    "a bomb of XML": _shrinks(hostile.xml_bomb, "payload.xml"),
    "entities of XML": _shrinks(hostile.xml_entities, "payload.xml"),
    "a zip that climbs": _shrinks(hostile.climbing_zip, "payload.zip"),
    "a tar that climbs": _shrinks(hostile.climbing_tar, "payload.tar"),
    "a bomb of zip": _shrinks(hostile.zip_bomb, "payload.zip"),
    "a bomb of gzip": _shrinks(hostile.gzip_bomb, "payload.json.gz"),
    "pages as data": Attack(hostile.pages_as_data, FINDINGS),
}  # fmt: skip


def _types(clone: Clone, attack: Attack, words: Sequence[str]) -> Said:
    """Type one line; a hang ends the test."""
    if not attack.is_script:
        where = Whet(clone.folder / attack.below, clone.whet.environment)
        return where(*words, most_seconds=_MOST_SECONDS)
    done = subprocess.run(
        [Path(sys.executable).with_name("whet"), *words], cwd=clone.folder, check=False,
        env={**os.environ, **clone.whet.environment}, capture_output=True, timeout=_MOST_SECONDS,
        stdin=subprocess.DEVNULL,
    )  # fmt: skip
    output, errors = (each.decode("utf-8", "replace") for each in (done.stdout, done.stderr))
    return Said(done.returncode, output, errors)


_LONG = {"a bomb of zip", "a bomb of gzip", "a bomb of YAML", "data of a terabyte"}


def test_there_are_many_clones() -> None:
    assert len(ATTACKS) >= 60  # `docs/concepts/trust.md` says how many


def _cases() -> Iterator[ParameterSet]:
    for name, attack in ATTACKS.items():
        yield pytest.param(
            attack, attack.verbs, id=name, marks=[pytest.mark.long] * (name in _LONG)
        )
        if attack.more:
            yield pytest.param(attack, attack.more, id=f"{name}, again", marks=pytest.mark.long)


@pytest.mark.parametrize(("attack", "verbs"), list(_cases()))
def test_a_hostile_clone_runs_nothing_and_reaches_nothing_around_it(
    attack: Attack, verbs: Sequence[Sequence[str]], clone: Clone
) -> None:
    attack.bring(clone)
    around = possessions(clone.home)

    for words in verbs:
        said = _types(clone, attack, words)
        assert said.code != SOFTWARE, f"{words}: {said.stderr}"
        assert said.code >= 0, f"{words}: {said.stderr}"
        assert not clone.canary.exists(), f"{words}: {clone.canary.read_text()}"
    assert possessions(clone.home) == around
