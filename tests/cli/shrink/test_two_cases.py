"""`whet delta`: what decides between two cases; real programs, the real command."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import cast

import pytest
import tomli_w
from whet_command import Said, Whet

PYTHON = sys.executable
pytestmark = pytest.mark.slow

GOOD = {
    "model": {"layers": 2, "heads": 4, "act": "relu", "norm": "pre"},
    "optim": {"lr": 0.1, "name": "sgd", "steps": [1, 2, 3]},
    "path": "a",
}
BAD = {
    "model": {"layers": 4, "heads": 8, "act": "gelu", "norm": "post"},
    "optim": {"lr": 1.5, "name": "adam", "steps": [1, 9, 2, 3]},
    "path": "b",
    "extra": {"debug": True},
}

READERS = {
    "json": "import json; c = json.load(open(sys.argv[1]))",
    "toml": "import tomllib; c = tomllib.load(open(sys.argv[1], 'rb'))",
    "yaml": "import yaml; c = yaml.safe_load(open(sys.argv[1]))",
    "py": "import ast; c = ast.literal_eval(open(sys.argv[1]).read())",
}

TRAIN = """
import sys
{reader}
if c["model"]["layers"] > 3 and c["optim"]["lr"] > 1:
    raise ValueError("diverged")
"""


def deciding(said: Said, side: str) -> dict[str, tuple[str | None, str | None]]:
    """Return the changes of one side, by name."""
    found = json.loads(said.stdout)[side]
    return {each["name"]: (each["before"], each["after"]) for each in found["changes"]}


def runs(line: str, folder: Path) -> int:
    """Return the exit code of a line, pasted into a shell."""
    done = subprocess.run(["sh", "-c", line], cwd=folder, capture_output=True, check=False)
    return done.returncode


def as_json(data: object) -> str:
    return json.dumps(data)


def as_toml(data: object) -> str:
    return tomli_w.dumps(cast("dict[str, object]", data))


def as_yaml(data: object) -> str:
    yaml = pytest.importorskip("yaml")
    text: str = yaml.safe_dump(data, sort_keys=False)
    return text


@pytest.mark.parametrize(
    ("good", "bad", "good_text", "bad_text"),
    [
        pytest.param("g.json", "b.json", as_json, as_json, marks=pytest.mark.long),
        ("g.toml", "b.yaml", as_toml, as_yaml),
        pytest.param("g", "b.toml", as_json, as_toml, marks=pytest.mark.long),
        ("g.py", "b.py", repr, repr),
    ],
    ids=["json", "toml to yaml", "json without a name to toml", "python"],
)
def test_both_smallest_sets_of_settings_are_found_run_and_written(
    whet: Whet,
    good: str,
    bad: str,
    good_text: Callable[[object], str],
    bad_text: Callable[[object], str],
) -> None:
    whet.write(good, good_text(GOOD))
    whet.write(bad, bad_text(BAD))
    language = bad.partition(".")[2]
    whet.write("train.py", TRAIN.format(reader=READERS[language]))

    said = whet("delta", "--json", good, bad, "--", PYTHON, "train.py", "{}")

    assert said.code == 0, said.stderr
    assert deciding(said, "fails") == {"model.layers": ("2", "4"), "optim.lr": ("0.1", "1.5")}
    (taken_back,) = deciding(said, "passes")
    assert taken_back in {"model.layers", "optim.lr"}
    found = json.loads(said.stdout)
    assert found["differences"] == 9
    assert found["fails"]["file"] == f"b.fails.{language}"
    assert runs(found["fails"]["line"], whet.folder) == 1
    assert runs(found["passes"]["line"], whet.folder) == 0
    assert (whet.folder / bad).read_text() == bad_text(BAD)


def test_what_is_shown_reads_as_a_diff_of_keys(whet: Whet) -> None:
    whet.write("g.json", as_json(GOOD))
    whet.write("b.json", as_json({**BAD, "seed": 1}))
    program = TRAIN.format(reader=READERS["json"]).replace("> 1:", '> 1 and "seed" in c:')
    whet.write("train.py", program)

    said = whet("delta", "g.json", "b.json", "--", PYTHON, "train.py", "b.json")

    assert said.code == 0, said.stderr
    shown = said.stdout.splitlines()
    assert shown[0] == "g.json → b.json: 10 settings differ"
    assert shown[2] == "g.json with these 3 fails: ValueError: diverged"
    assert shown[3:6] == ["    model.layers: 2 → 4", "    optim.lr: 0.1 → 1.5", "  + seed: 1"]
    assert shown[6] == "  written to b.fails.json"
    assert "b.json without this one difference passes:" in shown
    assert re.fullmatch(r"\d+ trials in .*", shown[-1])


@pytest.mark.long
def test_the_answer_is_the_same_whatever_the_jobs(whet: Whet) -> None:
    """Half of a subtree fails in another way, and two sets bring the failure."""
    before = {"a": {str(n): 0 for n in range(4)}, "b": {str(n): 0 for n in range(3)}, "c": 0}
    after = {"a": {str(n): 1 for n in range(4)}, "b": {str(n): 1 for n in range(3)}, "c": 1}
    whet.write("g.json", as_json(before))
    whet.write("b.json", as_json(after))
    whet.write(
        "odd.py",
        "import json, sys\nc = json.load(open(sys.argv[1]))\n"
        "if 0 < sum(c['a'].values()) < 4: raise KeyError('half')\n"
        "assert not (sum(c['a'].values()) or c['b']['1'] and c['c']), 'bad'\n",
    )
    words = ("--", PYTHON, "odd.py", "{}")

    one, many = (
        whet("delta", "--json", "-j", jobs, "--cwd", ".", "g.json", "b.json", *words,
             environment={"WHET_DIR": str(whet.folder / f"state-{jobs}")})
        for jobs in ("1", "4")
    )  # fmt: skip

    assert one.code == many.code == 0, many.stderr
    for side in ("fails", "passes"):
        assert deciding(one, side) == deciding(many, side)
    assert set(deciding(one, "fails")) in ({f"a.{n}" for n in range(4)}, {"b.1", "c"})
    assert set(deciding(one, "passes")) > {f"a.{n}" for n in range(4)}


@pytest.mark.long
def test_the_wrong_order_is_said_and_turned_round(whet: Whet) -> None:
    whet.write("g.json", as_json(GOOD))
    whet.write("b.json", as_json(BAD))
    whet.write("train.py", TRAIN.format(reader=READERS["json"]))

    said = whet("delta", "--json", "b.json", "g.json", "--", PYTHON, "train.py", "{}")

    assert said.code == 0
    found = json.loads(said.stdout)
    assert (found["good"], found["bad"]) == ("g.json", "b.json")
    assert set(deciding(said, "fails")) == {"model.layers", "optim.lr"}


@pytest.mark.long
@pytest.mark.parametrize(
    ("good", "bad", "program", "words"),
    [
        ('{"a": 1}', '{"a": 2}', "pass", "both `g.json` and `b.json` pass"),
        ('{"a": 1}', '{"a": 2}', "raise KeyError('x')", "both `g.json` and `b.json` fail the same"),
        ('{"a": 1}', '{"a": 2}', "import json, sys; [{}['x'] for _ in '1' if json.load(open(sys.argv[1]))['a'] > 1]; 1 / 0",
         "`g.json` should pass, but it fails: ZeroDivisionError: division by zero"),
        ('{"a": 1}', '{"a": 1}', "pass", "hold the same"),
        ('{"a": ', '{"a": 1}', "pass", "`g.json` doesn't match the format of its name"),
    ],
    ids=["both pass", "both fail", "another failure", "nothing differs", "unparsable"],
)  # fmt: skip
def test_two_cases_that_cannot_be_compared_are_refused_with_the_next_step(
    whet: Whet, good: str, bad: str, program: str, words: str
) -> None:
    whet.write("g.json", good)
    whet.write("b.json", bad)
    whet.write("program.py", program)

    said = whet("delta", "g.json", "b.json", "--", PYTHON, "program.py", "{}")

    assert said.code == 65
    assert words in said.stderr
    assert "hint: " in said.stderr
    assert not list(whet.folder.glob("*.fails.*"))


def test_a_value_that_the_bad_language_has_no_word_for_is_named(whet: Whet) -> None:
    whet.write("g.json", '{"a": {"b": null}}')
    whet.write("b.toml", "[a]\nb = 1\n")

    said = whet("delta", "g.json", "b.toml", "--", "true", "{}")

    assert said.code == 65
    assert "`g.json` can't be converted to TOML" in said.stderr
    assert "`a.b`, which is None" in said.stderr


@pytest.mark.long
def test_a_program_that_reads_how_a_file_is_written_gets_its_lines(whet: Whet) -> None:
    whet.write("g.json", '{"a": 1,\n "b": 1}\n')
    whet.write("b.json", '{"a": 2,\n\t"b": 2}\n')
    whet.write("tabs.py", "import sys\nassert '\\t' not in open(sys.argv[1]).read(), 'a tab'\n")

    said = whet("delta", "--json", "g.json", "b.json", "--", PYTHON, "tabs.py", "{}")

    assert said.code == 0, said.stderr
    assert deciding(said, "fails") == {"2": (' "b": 1}', '\t"b": 2}')}
    assert (whet.folder / "b.fails.json").read_text() == '{"a": 1,\n\t"b": 2}\n'


def test_a_script_that_judges_gets_the_file_when_there_is_no_command(whet: Whet) -> None:
    whet.write("g.json", '{"a": 1, "b": 1}')
    whet.write("b.json", '{"a": 2, "b": 2}')
    whet.write("judge.sh", '#!/bin/sh\ngrep -q \'"a": 1\' "$1"\n').chmod(0o755)

    said = whet("delta", "--json", "--oracle", "./judge.sh", "g.json", "b.json")

    assert said.code == 0, said.stderr
    assert deciding(said, "fails") == {"a": ("1", "2")}


def test_what_is_found_before_the_budget_is_spent_is_kept(whet: Whet) -> None:
    """The clock of the budget has run out when the two cases have been run."""
    whet.write("g.json", as_json(GOOD))
    whet.write("b.json", as_json(BAD))
    whet.write("train.py", TRAIN.format(reader=READERS["json"]))

    said = whet(
        "delta", "--json", "--budget", "1ms", "g.json", "b.json", "--", PYTHON, "train.py", "{}"
    )

    found = json.loads(said.stdout)
    assert (said.code, found["stopped"], found["passes"]) == (75, "out_of_time", None)
    assert runs(found["fails"]["line"], whet.folder) == 1


MODE = """
import os
if os.environ.get("MODE") == "fast" and "FLAG" in os.environ and os.environ["HOME"] != "/b":
    raise RuntimeError("mode")
"""


def test_variables_of_two_env_files_are_set_beside_those_of_the_shell(whet: Whet) -> None:
    whet.write("a.env", "MODE=slow\nA=1\nAPI_TOKEN=s3cret-one\n")
    whet.write("b.env", "# new\nexport MODE='fast'\nB=2\nFLAG=\nAPI_TOKEN=s3cret-two\n")
    whet.write("mode.py", MODE)

    said = whet("delta", "--json", "--env", "a.env", "b.env", "--", PYTHON, "mode.py")

    assert said.code == 0, said.stderr
    assert deciding(said, "fails") == {"FLAG": (None, ""), "MODE": ("slow", "fast")}
    found = json.loads(said.stdout)
    assert runs(found["fails"]["line"], whet.folder) == 1
    assert runs(found["passes"]["line"], whet.folder) == 0
    file = whet.folder / "b.fails.env"
    assert file.stat().st_mode & 0o077 == 0, "it may hold secrets"
    assert "API_TOKEN=s3cret-one" in file.read_text()
    assert "s3cret" not in said.stdout


def test_two_whole_environments_are_all_that_the_command_gets(whet: Whet) -> None:
    own = {"PATH": os.environ["PATH"], "HOME": "/a", "LEFT": "1"}
    for name, more in (("a.txt", {}), ("b.txt", {"MODE": "fast", "FLAG": "x\ny", "HOME": "/c"})):
        done = subprocess.run(["env", "-0"], capture_output=True, check=True, env={**own, **more})
        (whet.folder / name).write_bytes(done.stdout)
    whet.write("mode.py", MODE.replace("if ", "assert 'OUTER' not in os.environ\nif ", 1))

    said = whet(
        "delta", "--json", "--env", "a.txt", "b.txt", "--", PYTHON, "mode.py",
        environment={"OUTER": "1"},
    )  # fmt: skip

    assert said.code == 0, said.stderr
    assert set(deciding(said, "fails")) == {"FLAG", "MODE"}
    found = json.loads(said.stdout)
    assert runs(found["fails"]["line"], whet.folder) == 1


ARGUMENTS = """
import argparse
parser = argparse.ArgumentParser()
parser.add_argument("--lr", type=float, default=0.1)
parser.add_argument("-v", action="store_true")
parser.add_argument("--files", nargs="*", default=[])
asked = parser.parse_args()
assert not (asked.lr > 1 and "x" in asked.files), "boom"
"""


def test_two_lists_of_arguments_differ_by_option(whet: Whet) -> None:
    whet.write("args.py", ARGUMENTS)

    said = whet(
        "delta", "--json", "--arguments", "--lr 0.1 --files a b", "-v --lr 2 --files a x c", "--",
        PYTHON, "args.py",
    )  # fmt: skip

    assert said.code == 0, said.stderr
    assert deciding(said, "fails") == {"--lr": ("0.1", "2"), "--files 2": ("b", "x")}
    assert json.loads(said.stdout)["fails"]["line"].endswith(
        "args.py --lr 2 --files a x < /dev/null"
    )


def test_two_folders_differ_by_file_and_by_hunk(whet: Whet) -> None:
    whet.write("old/s/text", "a\nb\nc\n")
    whet.write("old/gone", "1")
    whet.write("new/s/text", "a\nB\nc\nD\n")
    whet.write("new/come", "2")
    whet.write("new/run.sh", "#!/bin/sh\n").chmod(0o755)
    whet.write(
        "look.py",
        "import os, sys\ntop = sys.argv[1]\n"
        "assert not ('D' in open(top + '/s/text').read() and os.path.exists(top + '/come'))\n",
    )

    said = whet("delta", "--json", "old", "new", "--", PYTHON, "look.py", "{}")

    assert said.code == 0, said.stderr
    assert deciding(said, "fails") == {"come": (None, "1 bytes"), "s/text:4": (None, "D")}
    made = whet.folder / "new.fails"
    assert (made / "s/text").read_text() == "a\nb\nc\nD\n"
    assert sorted(path.name for path in made.iterdir()) == ["come", "gone", "s"]
    assert runs(json.loads(said.stdout)["fails"]["line"], whet.folder) == 1


@pytest.mark.long
def test_two_recorded_trials_differ_by_word_variable_and_hunk_of_the_code(whet: Whet) -> None:
    whet.git("init", "--quiet")
    whet.write(".gitignore", ".whet\n")
    whet.commit("first", args_py=ARGUMENTS + "import os\n" + "\n" * 9 + "os.getcwd()\n")
    whet("run", "--env", "A=1", "--", PYTHON, "args.py", "--lr", "0.1", "--files", "x")
    whet.write(
        "args.py",
        ARGUMENTS.replace("> 1", "> 0.5").replace("boom", "Boom")
        + "import os\n" + "\n" * 9 + "os.getpid()\n",
    )  # fmt: skip
    whet("run", "--env", "B=2", "--", PYTHON, "args.py", "-v", "--lr", "0.7", "--files", "x")
    whet.write("args.py", "raise SystemError('of today')\n")

    said = whet("delta", "--json", "1", "2")

    assert said.code == 0, said.stderr
    assert set(deciding(said, "fails")) == {"--lr", "args.py:8"}
    found = json.loads(said.stdout)
    assert {each["what"] for each in found["fails"]["changes"]} == {"argument", "hunk"}
    assert found["differences"] == 6
    assert "SystemError" in (whet.folder / "args.py").read_text()
    assert whet.git("worktree", "list").count("\n") == 1


def test_trials_with_nothing_to_switch_say_what_else_differs(whet: Whet) -> None:
    whet("run", "--", "true")
    whet("run", "--", "true")

    said = whet("delta", "1", "2")

    assert said.code == 65
    assert "don't differ in anything that whet can switch" in said.stderr
    assert "`whet diff 1 2`" in said.stderr


def test_without_two_cases_it_says_how_to_name_them(whet: Whet) -> None:
    said = whet("delta", "a.json", "--", "true")

    assert said.code == 64
    assert "write `whet delta GOOD BAD -- COMMAND {}`" in said.stderr


@pytest.mark.long
def test_an_investigation_says_what_decides_beside_a_trial_that_passed(whet: Whet) -> None:
    whet.git("init", "--quiet")
    whet.write(".gitignore", ".whet\nwhet-report\n")
    whet.commit("first", sum_py="import os\nprint(1)\nassert os.environ.get('MODE') != 'fast'\n")
    command = ("--", PYTHON, "sum.py")
    whet("run", "--env", "A=1", *command)
    whet.write("sum.py", "import os\nprint(2)\nassert os.environ.get('MODE') != 'fast'\n")

    said = whet("investigate", "--json", "--env", "MODE=fast", *command)

    assert said.code == 0, said.stderr
    results = [step["result"] for step in json.loads(said.stdout)["steps"]]
    assert any(
        "trial 1 fails with variable MODE: new, `fast`; " in result
        and "passes without variable MODE" in result
        for result in results
    ), results


def test_a_trial_of_a_bisection_over_revisions_is_no_case_and_says_what_is(whet: Whet) -> None:
    whet.git("init", "--quiet")
    whet.write(".gitignore", ".whet\n")
    for number in range(3):
        whet.commit(f"c{number}", app_py=f"{'1 / 0' if number > 1 else 'pass'}  # {number}\n")
    whet("bisect", "HEAD~2", "HEAD", "--", PYTHON, "app.py")

    said = whet("delta", "1", "2")

    assert said.code == 64
    assert "it ran on `" in said.stderr
    assert "`whet bisect` compares" in said.stderr
