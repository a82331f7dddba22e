"""`whet shrink --arguments`, `--environment`, `--tests`, `--towards`: real programs, the real command."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from whet_command import Whet

PYTHON = sys.executable

TRAIN = """
import argparse, os
parser = argparse.ArgumentParser()
parser.add_argument("--lr", type=float, default=0.1)
parser.add_argument("--epochs", type=int, default=1)
parser.add_argument("--files", nargs="*")
parser.add_argument("-v", action="store_true")
parser.add_argument("out", nargs="?")
asked = parser.parse_args()
if asked.lr > 5 and asked.epochs > 3:
    raise ValueError("diverged")
if "x" in os.environ.get("MODE", "") and "API_TOKEN" in os.environ:
    raise RuntimeError("mode")
"""

POLLUTED = """
import pytest, state

@pytest.mark.parametrize("name", ["a b", "c - d", "e::f", "g[h]", "\\u00fc", "$HOME 'q'", "x\\ny"])
def test_name(name):
    if name == "c - d":
        state.seen.append(name)

@pytest.mark.parametrize("number", range(12))
def test_number(number):
    pass

class TestState:
    def test_is_clean(self):
        assert not state.seen, "polluted"
    def test_after(self):
        pass

def test_bad():
    raise KeyError("alone")
"""


def json_of(said_stdout: str) -> dict[str, object]:
    found: dict[str, object] = json.loads(said_stdout)
    return found


def fails_like(line: str, words: str) -> None:
    """Check that a line, pasted into a shell, shows the failure."""
    done = subprocess.run(
        ["sh", "-c", line], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode
    assert words in done.stdout + done.stderr


def test_the_arguments_that_matter_as_a_line_to_paste(whet: Whet) -> None:
    whet.write("train.py", TRAIN)

    words = ("--lr", "100.5", "--epochs", "20", "--files", "a", "b", "-v", "out/x.txt")
    said = whet("shrink", "--arguments", "--", PYTHON, "train.py", *words)

    assert said.code == 0
    assert re.match(r"arguments: 9 → 4 in \d+ trials", said.stdout)
    line = said.stdout.splitlines()[-1]
    assert line.endswith("train.py --lr 6 --epochs 4 < /dev/null")
    fails_like(line, "ValueError: diverged")
    assert "train.py --lr 6 --epochs 4  exit 1" in whet("log", "--all").stdout


@pytest.mark.long
def test_a_search_of_arguments_goes_on_where_a_budget_has_ended_it(whet: Whet) -> None:
    whet.write(
        "slow.py",
        "import sys, time\ntime.sleep(0.1)\n"
        "if {'--x7', '--x23'} <= set(sys.argv): raise ValueError('both')\n",
    )
    words = [PYTHON, "slow.py", *(f"--x{number}" for number in range(40))]
    search = ("shrink", "--arguments", "--cold", "--jobs", "1")

    fresh = whet(*search, "--resume", "--budget", "600ms", "--", *words)
    resumed = json_of(whet(*search, "--resume", "--json", "--", *words).stdout)

    assert fresh.code == 75
    assert "nothing to resume" in fresh.stdout
    assert resumed["kept"] == ["--x7", "--x23"]
    assert resumed["cached"] != 0
    assert resumed["remark"] == ""


@pytest.mark.long
def test_what_pytest_keeps_of_a_run_makes_no_search_begin_anew(whet: Whet) -> None:
    """Its cache leaves itself out by a `.gitignore` of its own, and changes with each trial."""
    whet.git("init", "-q")
    whet.write(".gitignore", "__pycache__/\n")
    whet.write("test_two.py", "seen = []\ndef test_a(): seen.append(1)\n"
               "def test_b(): pass\ndef test_c(): assert not seen\n")  # fmt: skip
    # Without a limit of its own the second search may have another one, on a busy machine.
    search = ("shrink", "--tests", "--json", "--resume", "--timeout", "60", "--",
              PYTHON, "-m", "pytest", "-p", "no:randomly", "-p", "no:xdist")  # fmt: skip

    first, again = (json_of(whet(*search).stdout) for _ in range(2))

    assert first["kept"] == again["kept"] == ["test_two.py::test_a", "test_two.py::test_c"]
    assert (whet.folder / ".pytest_cache" / ".gitignore").exists()
    assert again["trials"] == 0
    assert "nothing to resume" not in str(again["remark"])


@pytest.mark.long
def test_arguments_in_json_and_from_the_notebook(whet: Whet) -> None:
    whet.write("train.py", TRAIN)
    words = ("shrink", "--arguments", "--json", "--timeout", "30", "--", PYTHON, "train.py",
             "-v", "--lr", "9", "--epochs", "9")  # fmt: skip

    first, again = whet(*words), whet(*words)

    found, known = json_of(first.stdout), json_of(again.stdout)
    assert found["kept"] == known["kept"] == ["--lr", "6", "--epochs", "4"]
    assert (found["what"], found["stopped"], found["after"]) == ("arguments", "minimal", 4)
    assert isinstance(found["trials"], int)
    assert 0 < found["trials"] <= 45
    assert known["trials"] == 0


def test_a_failure_that_needs_no_argument_says_so(whet: Whet) -> None:
    said = whet("shrink", "--arguments", "--", PYTHON, "-c", "raise KeyError(1)", "a", "b")

    assert said.code == 0
    assert "arguments: 2 → 0 in 1 trial" in said.stdout
    assert "the failure depends on none of them" in said.stdout


@pytest.mark.long
def test_the_variables_that_matter_and_no_secret_is_written_down(whet: Whet) -> None:
    whet.write("train.py", TRAIN)
    secret = "hf_abcdefghijklmnop"

    said = whet("shrink", "--environment", "--", PYTHON, "train.py",
                environment={"MODE": "a x long mode", "API_TOKEN": secret})  # fmt: skip

    assert said.code == 0
    assert re.search(r"variables: \d+ → 2 in \d+ trials", said.stdout)
    assert "    MODE=x\n" in said.stdout
    line = said.stdout.splitlines()[-1]
    assert re.search(r'env -i API_TOKEN="\$API_TOKEN" MODE=x \S+ train.py < /dev/null$', line)
    fails_like(f"API_TOKEN=1; {line}", "RuntimeError: mode")
    kept = b"".join(path.read_bytes() for path in (whet.state).rglob("*") if path.is_file())
    assert secret.encode() not in kept


@pytest.mark.long
def test_a_variable_that_is_unset_stays_so_when_the_trial_runs_again(whet: Whet) -> None:
    whet.write("p.py", "import os; raise KeyError('LOUD' in os.environ or os.environ['MODE'])")

    whet("shrink", "--environment", "--", PYTHON, "p.py", environment={"MODE": "quiet time"})
    trials = json.loads(whet("log", "--all", "--json").stdout)["trials"]
    number = next(str(each["trial"]) for each in trials if each["spec"].get("unset"))
    shown = whet("show", number, environment={"MODE": "quiet time"}).stdout

    assert re.search(r"unset .*\bHOME\b", shown)
    again = whet("again", number, environment={"MODE": "quiet time", "HOME": "/x"})
    assert again.code == 1
    script = whet("one-liner", number).stdout.removeprefix("sh ").splitlines()[0]
    assert "env -u " in Path(script).read_text()


@pytest.fixture
def polluted(whet: Whet) -> Whet:
    whet.write("state.py", "seen = []\n")
    whet.write("conftest.py", "")
    whet.write("tests/test_a.py", POLLUTED)
    return whet


@pytest.mark.long
def test_the_test_that_pollutes_another(polluted: Whet) -> None:
    said = polluted(
        "shrink", "--tests", "--", PYTHON, "-m", "pytest", "-q", "tests", "-p", "no:randomly"
    )

    assert said.code == 0, said.stderr
    assert re.match(r"tests: 22 → 2 in ([5-9]|1\d) trials", said.stdout)
    assert "name another: `whet shrink --tests 'tests/test_a.py::test_bad' -- …`" in said.stderr
    line = said.stdout.splitlines()[-1]
    assert "'tests/test_a.py::test_name[c - d]' tests/test_a.py::TestState::test_is_clean" in line
    fails_like(line, "1 failed, 1 passed")


@pytest.mark.long
def test_a_test_that_fails_alone_takes_one_call(polluted: Whet) -> None:
    # What xdist calls its first worker is no sign of xdist where it is the name of a folder.
    polluted.write("tests/gw0/test_more.py", "def test_it(): pass\n")

    said = polluted(
        "shrink", "--tests", "test_bad", "--json", "--", PYTHON, "-m", "pytest", "tests", "-v"
    )

    assert said.code == 0, said.stderr
    found = json_of(said.stdout)
    assert (found["trials"], found["after"]) == (1, 1)
    assert found["remark"] == "`tests/test_a.py::test_bad` fails alone"


@pytest.mark.long
def test_tests_side_by_side_and_from_a_folder_below_the_root(
    polluted: Whet, monkeypatch: pytest.MonkeyPatch
) -> None:
    polluted.write("pytest.ini", "[pytest]\naddopts = -p no:randomly -ra\npythonpath = .\n")
    words = ("--cwd", "tests", "--", PYTHON, "-m", "pytest", "-n", "1", "--ff")

    # The plugins that run tests side by side, and in another order, are what this is about.
    monkeypatch.delenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD")
    said = polluted("shrink", "--tests", "TestState::test_is_clean", *words)

    assert said.code == 0, said.stderr
    assert "    test_a.py::test_name[c - d]\n" in said.stdout
    line = said.stdout.splitlines()[-1]
    assert "-n 1" not in line
    fails_like(line, "1 failed, 1 passed")


SHUFFLED = """
import json, pathlib, pytest
ran = []

@pytest.mark.parametrize("number", range(12))
def test_number(number):
    ran.append(number)

def test_last():
    first = pathlib.Path("first.json")  # the order in which the first run of all came to be
    if not first.exists():
        first.write_text(json.dumps(ran[:6]))
    needed = json.loads(first.read_text())
    assert [each for each in ran if each in needed] != needed, "polluted"
"""
LAST_AT_THE_END = """
import pytest

@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items):
    items.sort(key=lambda item: item.name == "test_last")
"""


@pytest.mark.long
@pytest.mark.parametrize("verbosity", [pytest.param("-q", marks=pytest.mark.long), "-v"])
def test_shuffled_tests_are_named_in_the_order_in_which_they_failed(
    whet: Whet, monkeypatch: pytest.MonkeyPatch, verbosity: str
) -> None:
    whet.write("test_it.py", SHUFFLED)
    whet.write("conftest.py", LAST_AT_THE_END)
    # The plugin that shuffles them, anew each time, is what this is about.
    monkeypatch.delenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD")

    said = whet("shrink", "--tests", "--json", "--", PYTHON, "-m", "pytest", verbosity)

    assert said.code == 0, said.stderr
    needed = json.loads((whet.folder / "first.json").read_text())
    assert json_of(said.stdout)["kept"] == [
        *(f"test_it.py::test_number[{number}]" for number in needed),
        "test_it.py::test_last",
    ]


@pytest.mark.long
@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("--arguments", "--", "false"), 64, "`false` has no arguments after the program"),
        (("--arguments", "f.txt", "--", "ls", "x"), 64, "`--arguments` takes no file"),
        (("--environment", "--arguments", "--", "ls", "x"), 64, "`--environment` and `--arguments` exclude each other"),
        (("--environment", "-o", "x", "--", "false"), 64, "`-o` is for a file"),
        (("--tests", "--", "false", "x"), 64, "`false x` isn't a pytest command"),
        (("--tests", "nope", "--", PYTHON, "-m", "pytest", "tests"), 64, "pytest collects no test `nope`"),
        (("--tests", "test_after", "--", PYTHON, "-m", "pytest", "tests"), 65, "::test_after` does not fail"),
        (("--tests", "--", PYTHON, "-m", "pytest", "nowhere"), 64, "pytest collects no tests"),
        (("--arguments", "--", "true", "x"), 65, "`true x` does not fail"),
        (("--", "false"), 64, "give the file to shrink"),
    ],
)  # fmt: skip
def test_bad_input_names_the_value(
    polluted: Whet, words: tuple[str, ...], code: int, message: str
) -> None:
    said = polluted("shrink", *words)

    assert said.code == code, said.stderr
    assert message in said.stderr
    assert "hint: " in said.stderr


DEFAULTS = {"lr": 0.1, "optim": {"name": "adam"}, **{f"k{number}": 0 for number in range(20)}}
MINE = {"lr": 10, "optim": {"name": "sgd"}, **{f"k{number}": number for number in range(20)}}
LOAD = """
import json, sys
settings = json.load(open(sys.argv[1]))
if settings["lr"] > 5 and settings["optim"]["name"] == "sgd" and "k7" in settings:
    raise ValueError("diverged")
"""


def test_the_settings_that_matter(whet: Whet) -> None:
    whet.write("load.py", LOAD)
    whet.write("defaults.json", json.dumps(DEFAULTS))
    whet.write("config.json", json.dumps(MINE))

    words = ("config.json", "--towards", "defaults.json")
    said = whet("shrink", *words, "--", PYTHON, "load.py", "config.json")

    assert said.code == 0
    assert said.stdout.endswith('    lr: 0.1 → 10\n    optim.name: "adam" → "sgd"\n')
    result = json.loads((whet.folder / "config.shrunk.json").read_text())
    assert result == {**DEFAULTS, "lr": 10, "optim": {"name": "sgd"}}
    assert json.loads((whet.folder / "config.json").read_text()) == MINE


def test_a_search_towards_defaults_does_not_resume_from_a_smaller_file(whet: Whet) -> None:
    whet.write("load.py", "import sys\nassert 'sgd' not in open(sys.argv[1]).read()\n")
    whet.write("defaults.json", json.dumps(DEFAULTS))
    whet.write("config.json", json.dumps(MINE))
    command = ("--", PYTHON, "load.py", "config.json")
    assert whet("shrink", "config.json", *command).code == 0
    assert json.loads((whet.folder / "config.shrunk.json").read_text()) == "sgd"

    said = whet("shrink", "config.json", "--towards", "defaults.json", "--resume", *command)

    assert said.code == 0, said.stderr
    changed = json.loads((whet.folder / "config.shrunk.json").read_text())
    assert sum(changed[name] != DEFAULTS[name] for name in DEFAULTS) == 1


@pytest.mark.parametrize(
    ("words", "named"),
    [(("--keep", "lr"), "--keep lr"), (("--objective", "lines"), "--objective lines")],
)
def test_what_asks_for_another_smaller_file_goes_with_no_defaults(
    whet: Whet, words: tuple[str, ...], named: str
) -> None:
    whet.write("config.json", json.dumps(MINE))
    whet.write("defaults.json", json.dumps(DEFAULTS))

    said = whet("shrink", "config.json", "--towards", "defaults.json", *words,
                "--", "false", "config.json")  # fmt: skip

    assert said.code == 64
    assert f"`{named}`" in said.stderr
    assert "hint: leave out" in said.stderr


@pytest.mark.parametrize(
    ("defaults", "code", "message"),
    [
        ("{", 65, "`defaults.json` is not JSON: "),
        (json.dumps(MINE), 64, "`config.json` has the same settings as `defaults.json`"),
        (None, 66, "`defaults.json` does not exist"),
    ],
)
def test_defaults_that_say_nothing(
    whet: Whet, defaults: str | None, code: int, message: str
) -> None:
    whet.write("config.json", json.dumps(MINE))
    if defaults is not None:
        whet.write("defaults.json", defaults)

    words = ("config.json", "--towards", "defaults.json", "--", "false", "config.json")
    said = whet("shrink", *words)

    assert said.code == code, said.stderr
    assert message in said.stderr


def test_what_is_read_from_standard_input_is_shrunk_as_a_file(whet: Whet) -> None:
    whet.write("p.py", "import sys\nif 'needle' in sys.stdin.read(): raise KeyError('needle')")
    whet.write("hay.txt", "hay\n" * 50 + "a needle in it\n" + "hay\n" * 50)

    said = whet("shrink", "hay.txt", "--stdin", "hay.txt", "--", PYTHON, "p.py")

    assert said.code == 0
    assert (whet.folder / "hay.shrunk.txt").read_text() == "needle"


def test_ctrl_c_gives_the_best_command_so_far(whet: Whet) -> None:
    # Quick while there are many words: the first candidates end, and one of few words does not.
    whet.write("slow.py", """
import sys, time
if len(sys.argv) < 20:
    open("reached", "w").close()
    time.sleep(60)
if "w33" in sys.argv:
    raise KeyError("w33")
""")  # fmt: skip
    words = [f"w{number}" for number in range(64)]
    process = subprocess.Popen(
        [PYTHON, "-m", "whet", "shrink", "--arguments", "--json", "--jobs", "1", "--timeout", "50",
         "--", PYTHON, "slow.py", *words],
        cwd=whet.folder, env={**os.environ, **whet.environment}, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    deadline = time.monotonic() + 60
    while not (whet.folder / "reached").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    stdout, _ = process.communicate(timeout=60)

    found = json_of(stdout)
    assert process.returncode == 75
    assert found["stopped"] == "interrupted"
    assert "w33" in str(found["kept"])
