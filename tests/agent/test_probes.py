"""What the agent sees where something is looked out for, on each Python that is at hand."""

import json
import os
import re
import select
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

import whet.agent
from whet.core.observations.evidence import Evidence
from whet.evidence.clues.probes import ProbeReport, call_lines, hit_lines, place_line, probe_report
from whet.host.trial.probe_reports import read_probes

SITE = Path(whet.agent.__file__).parent / "site"
PATIENCE_SECONDS = float(os.environ.get("WHET_TEST_PATIENCE_SECONDS", "60"))


@dataclass
class Program:
    """A program of the user's, and what is looked out for in it."""

    folder: Path
    python: str
    wishes: list[dict[str, object]] = field(default_factory=list[dict[str, object]])
    ranks: list[int] = field(default_factory=list[int])
    most_calls: int = 100
    environment: dict[str, str] = field(default_factory=dict[str, str])

    def ask(self, kind: str, *actions: list[str], **told: object) -> None:
        wish = {
            "number": len(self.wishes), "title": f"place {len(self.wishes)}", "kind": kind,
            "path": str(self.folder / "program.py"), "module": "", "line": 0, "last": 0,
            "name": "", "condition": "", "after": 0, "every": 1, "actions": list(actions),
        }  # fmt: skip
        self.wishes.append({**wish, **told})

    def line(self, number: int, *actions: list[str], last: int = 0, **told: object) -> None:
        self.ask("line", *actions, line=number, last=last or number, **told)

    def run(
        self, text: str, *arguments: str, probed: bool = True
    ) -> tuple[subprocess.CompletedProcess[str], ProbeReport]:
        (self.folder / "program.py").write_text(text)
        reports = self.folder / "reports"
        reports.mkdir(exist_ok=True)
        wish = {"probes": self.wishes, "ranks": self.ranks, "most_calls": self.most_calls}
        kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
        done = subprocess.run(
            [self.python, *(arguments or ("program.py",))],
            cwd=self.folder,
            env={
                **kept,
                "PYTHONPATH": str(SITE),
                "PYTHONDONTWRITEBYTECODE": "1",
                "WHET_PYCACHE": str(self.folder / "cache"),
                "WHET_AGENT": str(reports),
                **({"WHET_PROBES": json.dumps(wish)} if probed else {}),
                **self.environment,
            },
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        seen: Evidence = read_probes(reports, json.dumps(wish))
        return done, probe_report(seen.data)


@pytest.fixture
def program(tmp_path: Path, python: str) -> Program:
    return Program(tmp_path, python)


@pytest.fixture
def own_program(tmp_path: Path) -> Program:
    return Program(tmp_path, sys.executable)


def values(report: ProbeReport, number: int) -> list[dict[str, object]]:
    return [dict(hit.values) for hit in report.hits if hit.title == f"place {number}"]


PROGRAM = """\
def mean(numbers, scale=2):
    total = 0
    for each in numbers:
        total += each
    result = max(
        total,
        scale,
    )
    return result / len(numbers)

class Thing:
    def up(self):
        try:
            return mean([])
        except ZeroDivisionError:
            return [q for q in range(2)]

password = "hunter2hunter2"
mean([1, 2]), mean([5])
Thing().up()
import json
try:
    json.loads("{")
except ValueError:
    pass
print("over")
"""


def test_each_kind_of_place_is_met_as_often_as_python_comes_there(program: Program) -> None:
    program.line(4, ["print", "total", "each", "nope", "[total for _ in range(2)]"])
    program.line(5, ["print", "total"], last=8)
    program.ask("call", ["print"], name="mean")
    program.ask("return", ["print", "scale"], name="mean")
    program.ask("raise", ["stack"], path="", name="ZeroDivisionError")
    program.ask("raise", ["print", "__exception__.pos"], path="", name="json.*.JSONDecodeError")
    program.line(20, ["print", "password"], ["mem"])
    program.line(26, ["print", "(1 +\n1)"], condition="len(password) > 3")
    program.ask("call", ["count"], name="Thing.*")
    program.line(16, ["count"])

    done, report = program.run(PROGRAM)

    assert (done.returncode, done.stdout) == (0, "over\n")
    assert [place.count for place in report.places] == [3, 3, 3, 2, 1, 1, 1, 1, 1, 1]
    first = values(report, 0)
    assert [(each["total"], each["each"]) for each in first] == [(0, 1), (1, 2), (0, 5)]
    assert "NameError: name 'nope' is not defined" in str(first[0]["nope"])
    assert [each["total"] for each in values(report, 1)] == [3, 5, 0]
    assert values(report, 2)[1] == {"numbers": {"k": "list", "type": "list", "of": [5], "n": 1},
                                    "scale": 2}  # fmt: skip
    (raised,) = (hit for hit in report.hits if hit.title == "place 4")
    assert [(line, name.rpartition(".")[2]) for _, line, name in raised.stack] == [
        (9, "mean"), (14, "up"), (20, "<module>"),
    ]  # fmt: skip
    assert values(report, 5) == [{"__exception__.pos": 1}]
    assert values(report, 6) == [{"password": {"k": "secret", "type": "str"}}]
    assert "hunter2" not in done.stderr
    assert "place 7  (1 + 1) = 2" in done.stderr
    assert "program.py:9 mean returns 1.5  scale = 2" in done.stderr


def test_the_traceback_is_that_of_a_run_without(program: Program) -> None:
    text = (
        "def inner(x):\n    return 1 / x\n\n"
        "def outer():\n    try:\n        inner(0)\n    finally:\n        z = 1\n\n"
        "try:\n    outer()\nexcept ZeroDivisionError as error:\n"
        "    raise RuntimeError('no') from error\n"
    )
    program.line(2, ["count"])
    program.ask("raise", ["count"], path="", name="*")
    program.ask("trace", name="*")
    (without, _), (probed, report) = program.run(text, probed=False), program.run(text)

    assert (probed.returncode, probed.stdout) == (without.returncode, without.stdout)
    assert probed.stderr == without.stderr
    assert [place.count for place in report.places] == [1, 2, 2]


def test_calls_are_a_tree_with_what_came_of_them(program: Program) -> None:
    program.ask("trace", name="*")
    text = (
        "def leaf(n):\n    if n > 1: raise KeyError(n)\n    return n\n"
        "def steps(n):\n    for i in range(n):\n        yield leaf(i)\n"
        "def deep(n): return deep(n - 1) if n else 0\n"
        "def top(*many, **named):\n    return list(steps(3))\n"
        "try: top(1, a=2)\nexcept KeyError: pass\ndeep(1)\nimport os; os._exit(3)\n"
    )

    _, report = program.run(text)

    _process, *lines = call_lines(report.calls)
    assert [re.split(r"  (?:\(\d|program\.py)", line)[0] for line in lines] == [
        "  top(many=(1,), named={'a': 2})  raises KeyError(args=(2,))",
        "    steps(n=3)  raises KeyError(args=(2,))",
        "      leaf(n=0)  → 0",
        "      leaf(n=1)  → 1",
        "      leaf(n=2)  raises KeyError(args=(2,))",
        "  deep(n=1)  → 0",
        "    deep(n=0)  → 0",
    ]


def test_only_so_many_calls_are_written_down_and_all_are_counted(own_program: Program) -> None:
    own_program.ask("trace", name="f")
    own_program.most_calls = 5

    _, report = own_program.run("def f(): pass\nfor _ in range(50): f()\n")

    assert (len(report.calls), report.places[0].count) == (5, 50)


def test_when_to_act_is_counted_behind_the_condition(own_program: Program) -> None:
    own_program.line(2, ["print", "i"], condition="i % 2", after=1, every=3)
    own_program.line(2, ["print", "i"], condition="i.nope")

    done, report = own_program.run("for i in range(20):\n    i = i\n")

    assert [each["i"] for each in values(report, 0)] == [3, 9, 15]
    assert values(report, 1) == []
    assert done.stderr.count("if i.nope: <AttributeError") == 1


def test_die_shows_who_called_and_ends_the_program_at_once(own_program: Program) -> None:
    own_program.line(2, ["die"])
    text = "def f():\n    a = 1\ntry:\n    print('before')\n    f()\nfinally:\n    print('no')\n"

    done, report = own_program.run(text)

    assert (done.returncode, done.stdout) == (1, "before\n")
    assert [line.rpartition(":")[2] for line in done.stderr.splitlines()][-2:] == [
        "2 in f", "5 in <module>",
    ]  # fmt: skip
    assert report.places[0].count == 1


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_processes_of_multiprocessing_are_looked_into(program: Program, method: str) -> None:
    program.line(3, ["print", "z"])

    done, report = program.run(
        "import multiprocessing\ndef child(i):\n    z = 'seen'; z = i\n    return z\n"
        "if __name__ == '__main__':\n"
        f"    with multiprocessing.get_context('{method}').Process(target=child, args=(3,))"
        " if False else multiprocessing.get_context('" + method + "').Pool(1) as pool:\n"
        "        print(pool.map(child, [1, 2]))\n",
    )

    assert done.stdout == "[1, 2]\n", done.stderr
    assert report.places[0].count == 2


def test_ranks_are_told_apart_and_can_be_chosen(own_program: Program) -> None:
    own_program.line(1, ["print", "1"])
    own_program.ranks = [3]
    own_program.environment = {"RANK": "2", "WORLD_SIZE": "4"}
    other, _ = own_program.run("import os\n")
    own_program.environment = {"RANK": "3", "WORLD_SIZE": "4"}
    done, report = own_program.run("import os\n")

    assert not other.stderr

    assert f"[whet {os.uname().nodename.partition('.')[0]}:3 " in done.stderr
    assert [hit.rank for hit in report.hits] == [3]


def test_lines_of_many_processes_are_whole(own_program: Program) -> None:
    own_program.line(4, ["print", "'x' * 500"])
    text = (
        "import os\nfor number in range(8):\n    if not os.fork():\n"
        "        for _ in range(20): pass\n"
        "        import sys\n        os._exit(0)\n"
        "for number in range(8): os.wait()\n"
    )
    own_program.line(5, ["print", "'y' * 500"])

    done, _ = own_program.run(text)

    assert len(done.stderr.splitlines()) == 16
    assert all(line.startswith("[whet ") for line in done.stderr.splitlines())


def test_a_test_that_pytest_rewrites_is_looked_into_and_still_explains_itself(
    own_program: Program,
) -> None:
    test = own_program.folder / "test_it.py"
    test.write_text("def test_it():\n    found = 4\n    assert found == 5\n")
    own_program.line(3, ["print", "found"], path=str(test))
    own_program.ask("raise", ["print", "found"], path="", name="AssertionError")

    done, report = own_program.run("", "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_it.py")

    assert "assert 4 == 5" in done.stdout
    assert [dict(hit.values) for hit in report.hits] == [{"found": 4}, {"found": 4}]


def test_who_traces_the_program_himself_goes_on_doing_so(
    program: Program, interpreters: Mapping[str, str]
) -> None:
    if program.python == interpreters.get("3.8"):
        pytest.skip("before Python 3.11 a trace function sees the calls that are woven in")
    program.line(6, ["print", "x"])

    done, report = program.run(
        "import sys\nseen = []\ndef trace(frame, event, _):\n"
        "    seen.append(event); return trace\ndef f(x):\n    y = x\n    return y\n"
        "sys.settrace(trace)\nf(1)\nsys.settrace(None)\nprint(seen[:4])\n"
    )

    assert done.stdout == "['call', 'line', 'line', 'return']\n"
    assert report.places[0].count == 1


def test_without_a_terminal_a_sleep_ends_by_itself(own_program: Program) -> None:
    own_program.line(1, ["sleep", "0.01"])

    done, _ = own_program.run("x = 1\n")

    assert re.search(
        r"waits 0.01 s in process (\d+); watch it:  whet watch memory:\1\n", done.stderr
    )


def test_in_a_terminal_enter_ends_a_sleep_and_pdb_opens_there(own_program: Program) -> None:
    own_program.line(1, ["sleep", "600"])
    own_program.line(2, ["break"])
    (own_program.folder / "program.py").write_text("x = 20\ny = x\nprint('over', y)\n")
    wish = {"probes": own_program.wishes, "ranks": [], "most_calls": 0}
    keyboard, terminal = os.openpty()
    # The first terminal that the leader of a session opens is its own.
    name = os.ttyname(terminal)
    started = subprocess.Popen(
        ["/bin/sh", "-c", f"exec <{name} >{name} 2>&1; exec {sys.executable} program.py"],
        cwd=own_program.folder,
        env={
            "PYTHONPATH": str(SITE),
            "WHET_PYCACHE": str(own_program.folder / "cache"),
            "WHET_AGENT": str(own_program.folder),
            "WHET_PROBES": json.dumps(wish),
        },
        start_new_session=True,
    )
    shown = b""
    with started:
        try:
            for awaited, keys in (
                (b"Enter to continue at once", b"\n"), (b"(Pdb) ", b"p x + 21\n"), (b"41", b"c\n"),
                (b"over 20", b""),
            ):  # fmt: skip
                while awaited not in shown:
                    assert select.select([keyboard], [], [], PATIENCE_SECONDS)[0], shown
                    shown += os.read(keyboard, 4096)
                os.write(keyboard, keys)
        except BaseException:
            started.kill()
            raise
    for end in (keyboard, terminal):  # the other one is open so long, or nothing can be read yet
        os.close(end)

    assert started.returncode == 0


def test_what_fails_in_whet_itself_does_not_fail_the_program(own_program: Program) -> None:
    own_program.line(2, ["print", "odd"])
    text = (
        "class Odd:\n    pass\n    def __getattribute__(self, name): raise SystemExit(9)\n"
        "    __class__ = property(lambda self: 1 / 0)\nodd = Odd()\nprint('over')\n"
    )
    own_program.line(6, ["print", "odd", "odd.x", "odd()", "exit(3)", "'x' * 10**7"])

    done, report = own_program.run(text)

    assert (done.returncode, done.stdout) == (0, "over\n")
    assert "odd.x = <SystemExit: 9>" in done.stderr
    assert "10,000,000 characters" in done.stderr
    assert len(report.hits) == 2


def test_a_probe_that_was_never_met_says_why(own_program: Program) -> None:
    own_program.line(2, ["print"])
    own_program.line(1, ["print"], path=str(own_program.folder / "other.py"))
    own_program.ask("raise", ["print"], path="", name="OSError")

    _, report = own_program.run("def f():\n    pass\n")

    assert [place_line(place).partition(": ")[2].partition(";")[2] for place in report.places] == [
        " its file was loaded, but the program never got there",
        f" no Python process of the command loaded {own_program.folder}/other.py",
        "",
    ]
    assert [line for hit in report.hits for line in hit_lines(hit)] == []


def test_nothing_of_whet_is_left_where_the_program_looks(program: Program) -> None:
    program.line(2, ["count"])
    program.ask("raise", ["count"], path="", name="*")

    text = (
        "import sys\nnames = [n for n in sys.modules if 'whet' in n]\n"
        "print(names, sys.gettrace(), sys.getprofile(), [p for p in sys.path if 'site' == p[-4:]])\n"
        "print(__file__, __name__, __cached__, sys._getframe().f_back)\n"
    )
    probed, without = program.run(text)[0], program.run(text, probed=False)[0]

    if sys.version_info >= (3, 11) and program.python == sys.executable:
        assert probed.stdout == without.stdout
    assert probed.stdout.splitlines()[0] == "[] None None []"
