"""What a program had made before a snapshot is there again when it runs on from it, byte for byte."""

import os
import resource
import stat
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import pytest
from crossed import crossed
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from laboratory import Laboratory
from workshop import SLOW, opened

from whet.core.outcome import Outcome
from whet.core.trial import ResetStep, Trial
from whet.execution.warm import Start
from whet.host.files.file_times import wait_until_settled
from whet.host.spawner.file_effects import CannotPutBackError, FileEffects

pytestmark = pytest.mark.slow


class Twins:
    """Two folders that see the same edits: in one the program runs warm, in the other cold."""

    def __init__(self, laboratory: Laboratory) -> None:
        self._opened = opened(laboratory)
        self._workshop = self._opened.__enter__()
        self.starts: list[Start] = []
        self._folders = [laboratory.folder / "warm", laboratory.folder / "cold"]
        for folder in self._folders:
            folder.mkdir()

    def close(self) -> None:
        self._opened.__exit__(None, None, None)
        self._workshop.laboratory.cleanup_journal.discard_all()

    def write(self, files: Mapping[str, str | None]) -> None:
        for folder in self._folders:
            for name, text in files.items():
                path = folder / name
                with suppress(OSError):  # the same in both, whatever is there
                    if text is None:
                        path.unlink()
                    else:
                        path.write_text(text)

    def run(self, reset: str = "") -> Outcome:
        """Run warm and cold; everything that can be seen afterwards must be the same."""
        steps = (ResetStep(command=reset, must_succeed=True),) if reset else ()
        for folder in self._folders:
            wait_until_settled(path.lstat() for path in folder.rglob("*"))
        both = [
            executor.submit(
                Trial(command=(sys.executable, "main.py"), cwd=str(folder), reset=steps)
            ).result()
            for folder, executor in zip(
                self._folders, (self._workshop.warm, self._workshop.cold), strict=True
            )
        ]
        self.starts.append(self._workshop.runs.last)
        warm, cold = ((o.exit_code, o.stdout.head(9999), o.stderr.head(9999)) for o in both)
        assert warm == cold, self.starts[-1]
        assert _tree(self._folders[0]) == _tree(self._folders[1]), self.starts[-1]
        return both[0]


def _tree(folder: Path) -> dict[str, tuple[int, bytes]]:
    return {
        str(path.relative_to(folder)): (
            path.lstat().st_mode,
            path.read_bytes() if stat.S_ISREG(path.lstat().st_mode) else b"",
        )
        for path in folder.rglob("*")
        if "__pycache__" not in path.parts
    }


@pytest.mark.parametrize(
    ("does", "reset"),
    [
        pytest.param("open('out', 'w').write('x')", "", id="a file that was written"),
        pytest.param("open('out', 'w').write('x'); open('out', 'a').write('y')", "", id="a file that was appended to", marks=pytest.mark.long),
        pytest.param("open('out', 'x').write('x')", "rm -f out", id="a file that was new", marks=pytest.mark.long),
        pytest.param("open('log', 'a').write('x')", "rm -f log", id="a log", marks=pytest.mark.long),
        pytest.param("open('a', 'w').write('x'); os.replace('a', 'out')", "", id="a file that was saved at once"),
        pytest.param("open('a', 'w').write('x'); os.unlink('a')", "", id="a file that went", marks=pytest.mark.long),
        pytest.param("os.makedirs('made/more', 0o700); open('made/more/out', 'w').write('x')", "rm -rf made", id="folders"),
        pytest.param("os.makedirs('made', exist_ok=True); open('made/out', 'w').write('x')", "mkdir -p made", id="a folder that is there", marks=pytest.mark.long),
        pytest.param("os.mkdir('made'); os.rmdir('made')", "", id="a folder that went", marks=pytest.mark.long),
        pytest.param("open('out', 'w').write('x'); os.chmod('out', 0o640)", "", id="a mode"),
        pytest.param("os.umask(0o077); open('out', 'w').write('x')", "rm -f out", id="a mask", marks=pytest.mark.long),
        pytest.param("import tempfile; tempfile.TemporaryFile().close(); tempfile.NamedTemporaryFile().close(); tempfile.TemporaryDirectory().cleanup()", "", id="temporary files"),
        pytest.param("import subprocess; subprocess.run('echo x >out; mv out other', shell=True)", "rm -f other", id="a shell"),
        pytest.param("import shutil; shutil.copy2('data', 'copy')", "rm -f copy", id="a copy", marks=pytest.mark.long),
    ],
)  # fmt: skip
def test_what_was_made_is_made_again(laboratory: Laboratory, does: str, reset: str) -> None:
    twins = Twins(laboratory)
    text = f"import os\nexec({does!r})\n{SLOW}"
    # Whatever the rest did to the same files last time, it is undone.
    undo = "for p in ('out', 'a', 'made/out', 'log'):\n    if os.path.isfile(p): open(p, 'a').write('!')\n"
    twins.write({"data": "1"})
    try:
        for end in ("pass\n", undo, "print(sorted(os.listdir('.')))\n", undo):
            twins.write({"main.py": text + end})
            twins.run(reset)
        assert any(start.place for start in twins.starts), twins.starts
    finally:
        twins.close()


@pytest.mark.parametrize(
    "does",
    ["open('b', 'w').close(); os.replace('b', 'a')", "open('b', 'w').close(); os.unlink('b'); open('b', 'w').close()"],
)  # fmt: skip
def test_a_file_that_is_new_has_not_the_mode_of_another(laboratory: Laboratory, does: str) -> None:
    twins = Twins(laboratory)
    try:
        for files in ({}, {"b": ""}, {"b": ""}):
            twins.write({"main.py": f"import os\nexec({'os.umask(0o027); ' + does!r})\n{SLOW}pass\n", **files})  # fmt: skip
            twins.run()
    finally:
        twins.close()


@pytest.mark.parametrize("does", ["open('d/a', 'w')", "os.mkdir('d/a')"])
def test_what_could_not_be_made_is_tried_again(laboratory: Laboratory, does: str) -> None:
    twins = Twins(laboratory)
    code = f"try:\n    {does}\nexcept OSError as error:\n    print(error)"
    try:
        for end in ("os.makedirs('d', exist_ok=True)\n", "pass\n"):
            twins.write({"main.py": f"import os\nexec({code!r})\n{SLOW}{end}"})
            twins.run()
    finally:
        twins.close()


LOGS = "import logging; logging.basicConfig(filename='log', level=20); logging.info('begin')"
KEEPS = "f = open('log', 'a'); f.write('x'); f.flush()"
HEADS = "f = open('log', 'a'); f.tell() or f.write('head,'); f.write('x,'); f.flush()"
COUNTS = "open('log', 'a').write('x'); n = len(open('log').read())"


@crossed(
    does={"logs": LOGS, "keeps": KEEPS, "shell": "os.system('echo x >>log')"},
    edit={
        "nothing": {},
        "more": {"log": "old\nmore\n"},
        "less": {"log": "o"},
        "empty": {"log": ""},
        "gone": {"log": None},
    },
)
def test_what_was_appended_is_appended_again_once(
    laboratory: Laboratory, edit: dict[str, str | None], does: str
) -> None:
    twins = Twins(laboratory)
    text = f"import os\nexec({does!r})\n{SLOW}"
    twins.write({"log": "old\n"})
    try:
        for end, change in (
            ("pass\n", {}),
            ("pass\n", {}),
            ("open('log', 'a').write('later\\n')\n", {}),
            (f"{SLOW}open('log', 'a').write('last\\n')\n", {}),
            (f"{SLOW}print(len(open('log').read()))\n", edit),
            ("print(len(open('log').read()))\n", {}),
            ("pass\n", {}),
        ):
            twins.write({"main.py": text + end, **change})
            twins.run()
        assert all(start.place for start in twins.starts[1:4]), twins.starts
    finally:
        twins.close()


@pytest.mark.long
@pytest.mark.parametrize(
    "does",
    [
        HEADS,
        COUNTS,
        "n = os.path.lexists('log') and os.stat('log').st_size; open('log', 'a').write('x')",
        "open('log', 'a').write('x'); n = os.stat('log').st_size",
        "f = open('log', 'a+'); f.write('x'); f.seek(0); n = len(f.read())",
        "open('log', 'a').write('x'); os.truncate('log', 2)",
        "open('log', 'a').write('x'); os.link('log', 'other')",
        "open('log', 'a').write('x'); os.rename('log', 'other')",
        "open('log', 'a').write('x'); os.unlink('log')",
        "open('log', 'a').write('x'); open('log', 'w').write('new')",
        "open('log', 'a').write('x'); open('b', 'w').close(); os.replace('b', 'log')",
        "os.symlink('log', 'b'); open('b', 'a').write('x')",
    ],
)
@pytest.mark.parametrize("held", [None, "", "old\n"])
def test_what_depends_on_what_it_appends_to_sees_what_it_would_from_the_start(
    laboratory: Laboratory, held: str | None, does: str
) -> None:
    twins = Twins(laboratory)
    twins.write({"log": held})
    try:
        for end in ("pass\n", "pass\n", "print(globals().get('n'))\n", "pass\n", "print(1)\n"):
            undo = "for p in ('b', 'other'):\n    if os.path.lexists(p): os.unlink(p)\n"
            twins.write({"main.py": f"import os\n{undo}exec({does!r})\n{SLOW}{end}"})
            with suppress(FileNotFoundError):
                twins.run()
    finally:
        twins.close()


MAPS = """\
import mmap, os
with open({name!r}, 'wb') as file:
    file.write(bytes(3 * mmap.PAGESIZE))
os.replace({name!r}, 'out')
with open('out', 'rb') as file:
    memory = mmap.mmap(file.fileno(), 0, access={access})
"""
READS = "print([memory[place] for place in (0, 1, mmap.PAGESIZE)])\n"


@crossed(
    name=["out", "first"],
    does={
        "nothing": "",
        "writes to it": "open('out', 'r+b').write(b'x')\n",
        "shortens it": "open('out', 'wb').write(b'shorter')\n",
        "removes it": "open('out', 'r+b').write(b'x')\nos.unlink('out')\n",
        "replaces it": "open('a', 'wb').write(bytes(3 * mmap.PAGESIZE))\nos.replace('a', 'out')\n",
    },
    access=["mmap.ACCESS_COPY", "mmap.ACCESS_READ"],
)
def test_what_was_made_and_mapped_is_what_it_was(
    laboratory: Laboratory, access: str, does: str, name: str
) -> None:
    changes = "memory[0] = memory[mmap.PAGESIZE] = 7\n" if "COPY" in access else ""
    text = f"{MAPS.format(access=access, name=name)}{changes}{SLOW}"
    twins = Twins(laboratory)
    try:
        for end in ("pass\n", READS, f"{READS}{does}", f"pass\n{READS}", READS):
            twins.write({"main.py": text + end})
            twins.run()
        assert twins.starts[1].place
        assert does or all(start.place for start in twins.starts[1:]), twins.starts
    finally:
        twins.close()


NAMES = st.sampled_from(["a", "b", "d/a", "d"])
TEXTS = st.sampled_from(["", "x", "longer text"])
OPERATIONS = st.one_of(
    st.builds("open({!r}, {!r}).write({!r})".format, NAMES, st.sampled_from(["w", "a", "x", "r+", "w+"]), TEXTS),
    st.builds("print(open({!r}).read())".format, NAMES),
    st.builds("print(os.path.{}({!r}))".format, st.sampled_from(["exists", "isfile", "isdir"]), NAMES),
    st.builds("import pathlib; print(pathlib.Path({!r}).exists())".format, NAMES),
    st.builds("print(os.stat({!r}).st_size)".format, st.sampled_from(["a", "b", "d/a"])),
    st.builds("os.unlink({!r})".format, NAMES),
    st.builds("os.mkdir({!r})".format, st.sampled_from(["a", "d"])),
    st.builds("os.rmdir({!r})".format, NAMES),
    st.builds("os.rename({!r}, {!r})".format, NAMES, NAMES),
    st.builds("os.replace({!r}, {!r})".format, NAMES, NAMES),
    st.builds("os.chmod({!r}, {})".format, NAMES, st.sampled_from(["0o600", "0o755"])),
    st.builds("os.truncate({!r}, 1)".format, NAMES),
    st.just("os.makedirs('d', exist_ok=True)"),
    st.just("print(sorted(os.listdir('.')))"),
    st.just("os.link('a', 'b')"),
    st.just("os.symlink('a', 'b')"),
    st.just("os.umask(0o027)"),
    st.just("open('b', 'w').write('s'); os.replace('b', 'a')"),
)  # fmt: skip
PARTS = st.lists(OPERATIONS, max_size=5)
EDITS = st.dictionaries(st.sampled_from(["a", "b", "d/a"]), st.one_of(st.none(), TEXTS), max_size=2)
ROUNDS = st.lists(st.tuples(PARTS, EDITS), min_size=2, max_size=4)


def _text(prefix: list[str], suffix: list[str]) -> str:
    lines = ["import os"]
    for part in (prefix, suffix):
        body = "\n".join(
            f"try:\n    {each}\nexcept OSError as error:\n    print(type(error))" for each in part
        )
        lines += [f"exec({body!r})", *(SLOW.splitlines() if part is prefix else ())]
    return "\n".join(lines) + "\n"


# A dozen in the ordinary run take seven seconds.
EXAMPLES = max(6, settings().max_examples // 6 - 10)


@pytest.mark.long
@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None, max_examples=EXAMPLES)
@given(prefix=PARTS, rounds=ROUNDS, files=EDITS)
def test_a_warm_run_leaves_the_files_that_a_cold_one_would(
    tmp_path_factory: pytest.TempPathFactory,
    prefix: list[str],
    rounds: list[tuple[list[str], dict[str, str | None]]],
    files: dict[str, str | None],
) -> None:
    twins = Twins(Laboratory(tmp_path_factory.mktemp("twins")))
    try:
        twins.write(files)
        for suffix, edits in rounds:
            twins.write({"main.py": _text(prefix, suffix), **edits})
            twins.run()
    finally:
        twins.close()


def test_what_cannot_be_appended_to_one_file_is_taken_back_from_another(tmp_path: Path) -> None:
    small, large = tmp_path / "a", tmp_path / "b"
    small.write_text("1")
    large.write_text("1" * 5000)
    effects = FileEffects()
    for path in (small, large):
        effects.appends(str(path), path.lstat())
        with path.open("a") as file:
            file.write("more")
    effects.keep(1, os.getpid())
    effects.begin()
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (5004, before[1]))
    try:
        with pytest.raises(CannotPutBackError, match="b: File too large"):
            effects.put_back(1)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)

    assert (small.read_text(), large.stat().st_size) == ("1more", 5004)
