"""`whet probe` and `whet trace`, as a user types them."""

import json
import os
import re
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest
from benchmarks.evidence.hidden_causes import small_disk
from whet_command import Whet

from whet.core.errors import UnknownTarget, WhetError
from whet.core.probe import parse_wishes
from whet.host.inspect.debug_line import attach
from whet.workbench.inspect.probe import Place, notes_on, settle
from whet.workbench.trials.bench import open_workbench
from whet.workbench.trials.request import TrialRequest

PATIENCE_SECONDS = 60.0

TRAIN = """\
import sys

def step(rate, token):
    loss = rate * 2
    # nothing here
    if loss > 3:
        raise ValueError("too much")
    return loss

class Model:
    @staticmethod
    def fit(x):
        return step(x, "ghp_" + "0123456789" * 4)

def main():
    for rate in range(3):
        print(Model.fit(rate))

main()
"""


@pytest.fixture
def project(whet: Whet) -> Whet:
    whet.write("train.py", TRAIN)
    return whet


def test_several_targets_share_what_is_done_and_the_trial_keeps_it(project: Whet) -> None:
    said = project(
        "probe", "train.py:4", "train.py:step:return", "print", "rate", "token",
        "train.py:Model", "count", "raise:ValueError", "stack",
        "train.py:1", "if", "False", "print", "sys",
        "--", sys.executable, "train.py",
    )  # fmt: skip

    assert said.stdout == "0\n2\n"
    assert said.code == 1
    probed = [line.partition("] ")[2] for line in said.stderr.splitlines() if "[whet " in line]
    assert probed[:3] == [
        "train.py:4 step  rate = 0  token = str <secret>",
        "train.py:8 step returns 0  rate = 0  token = str <secret>",
        "train.py:4 step  rate = 1  token = str <secret>",
    ]
    assert "train.py:7 in step raises ValueError: 'too much'" in probed
    for line in (
        "train.py:4: 3 times", "train.py:step:return: 2 times", "train.py:Model: 3 times",
        "raise:ValueError: 1 time", "train.py:1: 1 time",
    ):  # fmt: skip
        assert f"whet: {line}\n" in said.stderr
    # What probes say is no part of the failure.
    assert "ValueError: too much at train.py:7" in said.stderr

    shown = project("show").stdout
    assert "train.py:4: 3 times" in shown
    assert "train.py:4 step  rate = 2  token = str <secret>" in shown
    kept = json.loads(project("show", "--json").stdout)["probed"][0]
    assert [place["count"] for place in kept["places"]] == [3, 2, 3, 1, 1]
    assert "012345678901" not in shown + said.stderr + json.dumps(kept)


def test_a_trace_shows_the_calls_as_a_tree(project: Whet) -> None:
    said = project("trace", "train.py:*", "--", sys.executable, "train.py")

    assert said.code == 1
    tree = [re.split(r"  (?:\(\d|train\.py)", line)[0] for line in said.stdout.splitlines()[3:]]
    assert tree == [
        "  main()  raises ValueError(args=('too much',))",
        "    Model.fit(x=0)  → 0",
        "      step(rate=0, token=str <secret>)  → 0",
        "    Model.fit(x=1)  → 2",
        "      step(rate=1, token=str <secret>)  → 2",
        "    Model.fit(x=2)  raises ValueError(args=('too much',))",
        "      step(rate=2, token=str <secret>)  raises ValueError(args=('too much',))",
    ]
    assert tree[1] in project("show").stdout


@pytest.fixture
def inside(project: Whet, monkeypatch: pytest.MonkeyPatch) -> Path:
    project.write("pkg/__init__.py", "")
    project.write("pkg/work.py", "from json import dumps\nfrom math import sqrt\n"
                  "class Base:\n    def up(self): return 1\nclass Sub(Base): pass\n"
                  "short = lambda: 1\n")  # fmt: skip
    project.write("deep/er/only.py", "x = 1\n")
    monkeypatch.chdir(project.folder)
    for name, value in project.environment.items():
        monkeypatch.setenv(name, value)
    return project.folder


def place_of(word: str, *command: str) -> Place:
    with open_workbench() as bench:
        request = TrialRequest(command=command or (sys.executable, "train.py"))
        ((place, _),) = settle(bench, request, parse_wishes([word]))
    return place


@pytest.mark.parametrize(
    ("word", "title", "note"),
    [
        ("train.py:5", "train.py:6", "line 5 has no code: whet uses line 6"),
        (
            "train.py:11",
            "train.py:Model.fit",
            "line 11 defines `Model.fit`: whet follows its calls",
        ),
        ("only.py:1", "only.py:1", "`only.py` is `deep/er/only.py`"),
        ("step:return", "train.py:step", ""),
    ],
)
def test_what_is_taken_instead_is_said(inside: Path, word: str, title: str, note: str) -> None:
    place = place_of(word)

    assert (place.title, place.note) == (title, note)
    assert Path(place.path).is_relative_to(inside)


def test_a_lambda_is_found_by_the_name_that_it_is_given(inside: Path) -> None:
    for word in ("pkg.work:short", "pkg/work.py:short"):
        place = place_of(word)
        assert (place.name, place.line) == ("<lambda>", 6)
        assert place.path == str(inside / "pkg/work.py")


def test_the_script_is_found_by_the_name_of_its_package(inside: Path) -> None:
    (inside / "pkg/tool.py").write_text("def helper(): pass\n")

    place = place_of("pkg.tool:helper", sys.executable, "pkg/tool.py")

    assert (place.name, place.path) == ("helper", str(inside / "pkg/tool.py"))


def test_a_module_that_pytest_rewrites_is_looked_into(whet: Whet) -> None:
    whet.write("test_it.py", "def helper(): return 1\nshort = lambda: 2\n"
               "def test_one(): assert helper() < short()\n")  # fmt: skip

    said = whet("probe", "test_it:helper", "test_it:short", "count",
                "--", sys.executable, "-m", "pytest", "-q", "test_it.py")  # fmt: skip

    assert said.code == 0
    assert "test_it:helper: 1 time\n" in said.stderr
    assert "test_it:short: 1 time\n" in said.stderr


def test_a_method_is_found_where_it_is_defined(inside: Path) -> None:
    place = place_of("pkg.work:Sub.up")

    assert (place.name, place.path) == ("Base.up", str(inside / "pkg/work.py"))
    assert place.note.startswith("`pkg.work:Sub.up` is `Base.up` of ")


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("trian.py:5", "did you mean `train.py`?"),
        ("train.py:stop", "did you mean `step`?"),
        ("train.py:fit", "did you mean `Model.fit`?"),
        ("pkg.werk:x", "did you mean `pkg.work`?"),
        ("pkg.work:Sub.upp", "did you mean `Sub.up`?"),
        ("math:sqrt", "written in C"),
        ("pkg.work:sqrt", "not written in Python"),
        ("pkg.work:Sub", "its methods come from `pkg.work.Base`: name these"),
    ],
)
@pytest.mark.usefixtures("inside")
def test_a_target_that_is_nowhere_or_cannot_be_looked_into_is_refused(word: str, said: str) -> None:
    with pytest.raises(UnknownTarget) as raised:
        place_of(word)

    assert said in f"{raised.value} {raised.value.hint}"


def test_an_expression_that_changes_something_is_warned_of() -> None:
    (wish,) = parse_wishes(["raise:X", "print", "rows.pop()", "len(rows)"])
    place = Place(target=wish.targets[0], title="raise:X")

    assert notes_on([(place, wish)]) == ["`rows.pop()` runs each time, and its side effects stay"]


def test_a_debugger_waits_at_a_socket_and_the_program_goes_on_when_it_is_left(
    project: Whet,
) -> None:
    started = subprocess.Popen(
        [sys.executable, "-m", "whet", "probe", "train.py:4", "break", "--",
         sys.executable, "train.py"],
        cwd=project.folder, env={**os.environ, **project.environment},
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    with started:
        assert started.stderr is not None
        first = started.stderr.readline()
        pid = first.rpartition(" ")[2].strip()
        assert f"whet probe --attach {pid}\n" in first
        talked = project("probe", "--attach", pid, stdin=b"p rate\np rate + 40\nc\np rate\n")
        output, rest = started.communicate(timeout=PATIENCE_SECONDS)

    assert talked.code == 0
    assert "(Pdb) 0\n(Pdb) 40\n" in talked.stdout
    assert "(Pdb) 1\n" in talked.stdout
    assert output == "0\n2\n"
    assert "train.py:4: 3 times" in rest


def test_only_a_process_in_which_a_debugger_waits_can_be_attached_to() -> None:
    for pid in (os.getpid(), 2**22 + 1):
        with pytest.raises(WhetError):
            attach(pid)


def test_a_trial_that_ends_by_a_signal_has_told_all_until_then(project: Whet) -> None:
    project.write(
        "dies.py", "import os, signal\nfor i in range(3):\n    x = i\nos.kill(os.getpid(), 9)\n"
    )

    said = project("probe", "dies.py:3", "print", "i", "--json", "--", sys.executable, "dies.py")

    told = json.loads(said.stdout)
    assert said.code == 137
    assert told["places"][0]["count"] == 3
    assert [hit["values"][0]["value"] for hit in told["hits"]] == [0, 1, 2]


def test_nothing_is_left_behind_when_whet_is_killed_while_a_debugger_waits(project: Whet) -> None:
    started = subprocess.Popen(
        [sys.executable, "-m", "whet", "probe", "train.py:4", "break", "--",
         sys.executable, "train.py"],
        cwd=project.folder, env={**os.environ, **project.environment},
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    with started:
        assert started.stderr is not None
        pid = int(started.stderr.readline().rpartition(" ")[2])
        started.kill()
    deadline = time.monotonic() + PATIENCE_SECONDS
    while Path(f"/proc/{pid}/cmdline").exists():
        assert time.monotonic() < deadline
        time.sleep(0.02)

    assert project("run", "--", "true").code == 0  # the next whet clears away what it left
    assert list(Path(project.environment["TMPDIR"]).iterdir()) == []


def test_where_there_is_no_space_to_tell_of_it_nothing_is_said_to_be_never_met(
    whet: Whet, tmp_path: Path
) -> None:
    whet.write("prog.py", "x = 1\nprint(x)\n")
    try:
        with small_disk(tmp_path / "small") as full:
            with suppress(OSError):
                (full / "filler").write_bytes(bytes(2 << 20))
            words = ("prog.py:2", "count", "--", sys.executable, "prog.py")
            said = whet("probe", *words, environment={"TMPDIR": str(full)})
    except PermissionError as error:
        pytest.skip(str(error))

    assert said.code != 0
    assert "set `TMPDIR` to a folder with space" in said.stderr
    assert "never" not in said.stderr


def test_a_trial_is_probed_again_where_the_code_is_by_then(project: Whet) -> None:
    first = project(
        "probe", "train.py:step", "print", "rate", "--", sys.executable, "train.py"
    ).stderr
    project.write("train.py", "# a line more\n" + TRAIN)
    again = project("again").stderr

    told = _told_without_times(first)
    moved = re.sub(r"\btrain\.py:(\d+)", lambda at: f"train.py:{int(at[1]) + 1}", told)
    assert _told_without_times(again) == moved != told
    project.write("train.py", "print('rewritten')\n")
    gone = project("again", "1")
    assert gone.stdout == "rewritten\n"
    assert "the probes of trial 1 no longer match the code" in gone.stderr


def _told_without_times(said: str) -> str:
    hits = [line.partition("] ")[2] for line in said.splitlines() if line.startswith("[whet")]
    assert hits
    return "\n".join(hits)


@pytest.mark.long
def test_a_module_that_only_pytest_puts_on_the_path_is_found(project: Whet) -> None:
    project.write("shop/__init__.py", "")
    project.write("shop/prices.py", "def price(net):\n    return net * 2\n")
    project.write("conftest.py", "")
    project.write(
        "tests/test_prices.py",
        "from shop.prices import price\n\n\ndef test_price():\n    assert price(1) == 2\n",
    )
    pytest_program = str(Path(sys.executable).with_name("pytest"))
    words = ("-q", "-p", "no:cacheprovider", "tests")
    said = project("probe", "shop.prices:price", "print", "net", "--", pytest_program, *words)

    assert (said.code, "price  net = 1" in said.stdout + said.stderr) == (0, True), said
    where = project("where", "--json", "shop.prices:price", "--", pytest_program, *words)
    assert json.loads(where.stdout)["file"].endswith("/shop/prices.py")
