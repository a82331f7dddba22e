"""What whet writes outside its own folder is on one list: each write of its processes is looked up there."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from traced_writes import STRACE, TracedWrites
from whet_command import Whet

import whet as package
from whet.host.files.outside import OUTSIDE, outside_place

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("strace") is None, reason="needs strace"),
]

ROOT = Path(__file__).parents[3]
PROGRAM = "import json, sys\nprint(1 / json.load(open(sys.argv[1]))['a'])\n"
COMMAND = ("--", sys.executable, "prog.py", "data.json")
RESULTS: dict[tuple[str, ...], tuple[str, ...]] = {
    ("run", "--memory", "2G", *COMMAND): (),
    ("shrink", "data.json", *COMMAND): ("data.shrunk.json",),
    ("bisect", "HEAD~2..HEAD", *COMMAND): (),
    ("sample", "rows.jsonl", "-n", "1", "-o", "few.jsonl"): ("few.jsonl",),
}
"""What a user calls, and the names of the results."""
LONGER: dict[tuple[str, ...], tuple[str, ...]] = {
    ("investigate", "--budget", "1m", *COMMAND): ("whet-report",),
    ("profile", "--once", *COMMAND): (),
    ("delta", "--arguments", "x", "data.json", "--", sys.executable, "prog.py", "{}"): (),
    ("starve", "--find", "files", "--", sys.executable, "-c", "0"): (),
    ("run", "--clean", *COMMAND): (),
    ("toggle", "hash-seed", *COMMAND): (),
    ("grow", "--dimension", "env:N=1..2", *COMMAND): (),
    ("repeat", "-n", "2", *COMMAND): (),
    ("syscalls", *COMMAND): (),
    ("trace", "json:*", *COMMAND): (),
    ("make", "table", "-o", "made.csv"): ("made.csv",),
    ("notebook", "check"): (),
}


def state_of(folder: Path) -> dict[str, int]:
    """Return when each file below a folder was last changed in any way."""
    return {str(path): path.lstat().st_ctime_ns for path in folder.rglob("*")}


@pytest.mark.parametrize(
    "words",
    [*RESULTS, *(pytest.param(each, marks=pytest.mark.long) for each in LONGER)],
    ids=lambda words: " ".join(words[:2]),
)
def test_each_write_of_whets_is_on_the_list(
    whet: Whet, tmp_path: Path, words: tuple[str, ...]
) -> None:
    whet.git("init", "--quiet")
    sound, broken = '{"a": 1}\n', '{"a": 0}\n'
    for name, data in (("start", sound), ("middle", sound), ("end", broken)):
        whet.commit(
            name, prog_py=PROGRAM + f"# {name}\n", **{"data.json": data, "rows.jsonl": data}
        )
    state, places = tmp_path / "state", tmp_path / "places"
    for folder in (state, places / "home", places / "tmp"):
        folder.mkdir(parents=True)
    before, log = state_of(whet.folder), tmp_path / "calls"
    subprocess.run(
        [*STRACE, "-o", log, sys.executable, "-m", "whet", *words],
        cwd=whet.folder,
        env={**os.environ, "XDG_STATE_HOME": str(state), "HOME": str(places / "home"),
             "TMPDIR": str(places / "tmp")},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )  # fmt: skip

    # A file that the kernel says nobody has touched was written elsewhere: over it, in a clean room.
    spared = {path for path, moment in state_of(whet.folder).items() if before.get(path) == moment}
    results = [
        str(whet.folder / name) for name in (*RESULTS.get(words, ()), *LONGER.get(words, ()))
    ]
    known = {
        "result": results,
        "beside": [str(whet.folder), *results],
        "tmp": [str(places / "tmp")],
        "git": [str(whet.folder / ".git")],
        "package": [str(Path(package.__file__).parent)],
        "user": [str(state / "whet")],
    }
    writes = {each for each in TracedWrites(log, whet.folder) if each.path not in spared}
    unknown = {w.path for w in writes if outside_place(w.path, known, is_time=w.is_time) is None}
    assert unknown == set()
    assert all(any(w.path == each for w in writes) for each in results), "the log misses writes"


def test_the_docs_show_the_same_list() -> None:
    page = (ROOT / "docs" / "concepts" / "trust.md").read_text("utf-8")
    shown = (
        page.partition("whet writes only these things")[2].partition("\n\n")[2].partition("\n\n")[0]
    )
    assert shown.splitlines() == [
        f"- {each.says}{'.' if each is OUTSIDE[-1] else ';'}" for each in OUTSIDE
    ]
