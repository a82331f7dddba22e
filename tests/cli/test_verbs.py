"""What a user sees of each verb, with real programs."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from whet_command import Said, Whet

PYTHON = sys.executable
PARSE = """\
import sys


def price(row):
    return float(row.split(",")[1])


for line in open(sys.argv[1]):
    price(line)
"""


def last_of(stdout: str) -> dict[str, Any]:
    """Return the first payload of the last line of events."""
    found: dict[str, Any] = json.loads(stdout.splitlines()[-1])["payloads"][0]
    return found


def rows(count: int) -> str:
    return "".join(f"item{number},{number}.5,ok\n" for number in range(count))


def test_run_passes_output_and_exit_code_through_and_ends_with_one_line(whet: Whet) -> None:
    said = whet("run", "--", PYTHON, "-c", "import sys; print('out'); sys.exit('err')")

    assert (said.code, said.stdout) == (1, "out\n")
    error, line = said.stderr.splitlines()
    assert error == "err"
    assert line.startswith("whet: BAD exit 1 · ")
    assert line.endswith("trial 1")


def test_run_needs_no_dashes_before_a_plain_command(whet: Whet) -> None:
    assert whet("run", "--timeout", "20", "printf", "--", "-x").stdout == "-x"


def test_run_says_what_changed_and_whether_it_is_the_same_failure(whet: Whet) -> None:
    whet.git("init", "--quiet")
    whet.commit("first", app_py="raise KeyError('price')\n")
    whet("run", "--", PYTHON, "app.py")
    whet.write("app.py", "# looked at it\nraise KeyError('price')\n")

    said = whet("run", "--", PYTHON, "app.py")

    assert "app.py +1 −0" in said.stderr
    assert "same failure as trial 1" in said.stderr


def test_what_was_expected_is_scored(whet: Whet) -> None:
    said = whet("run", "--expect", "exit 0", "--note", "it works", "--", "false")

    assert "expected exit 0: not as expected" in said.stderr
    assert "it works" in whet("show", "1").stdout


def test_overrides_and_resets_belong_to_their_trial_alone(whet: Whet) -> None:
    words = ("--env", "COLOUR=blue", "--reset-try", "false", "--reset", "echo a > made")
    said = whet("run", *words, "--", "sh", "-c", "echo $COLOUR; cat made")

    assert said.stdout == "blue\na\n"
    assert whet("run", "--", "sh", "-c", "echo x$COLOUR").stdout == "x\n"


def test_resets_run_in_the_order_they_are_written_in(whet: Whet) -> None:
    words = (
        "--reset-try",
        "echo 1 >> log",
        "--reset",
        "echo 2 >> log",
        "--reset-try",
        "echo 3 >> log",
    )

    assert whet("run", *words, "--", "cat", "log").stdout == "1\n2\n3\n"


def test_a_reset_step_that_must_succeed_stops_the_trial(whet: Whet) -> None:
    said = whet("run", "--reset", "exit 3", "--", "echo", "ran")

    assert (said.code, said.stdout) == (3, "")
    assert "reset step failed: exit 3" in said.stderr


def test_stdin_comes_from_a_file_or_from_what_whet_was_given(whet: Whet) -> None:
    whet.write("in.txt", "from a file")

    assert whet("run", "--stdin", "in.txt", "--", "cat").stdout == "from a file"
    assert whet("run", "--", "cat", stdin=b"piped").stdout == "piped"


def test_a_condition_makes_a_trial_bad(whet: Whet) -> None:
    words = ("--measure", "loss=loss: ([0-9.]+)", "--bad-if", "loss > 3")

    assert "whet: BAD" in whet("run", *words, "--", "echo", "loss: 3.5").stderr
    assert "whet: GOOD" in whet("run", *words, "--", "echo", "loss: 2.5").stderr


def test_a_condition_tells_what_it_saw_and_the_verdict_can_be_the_exit_code(whet: Whet) -> None:
    words = ("--measure", "loss=loss: ([0-9.]+)", "--bad-if", "loss > 3 or stdout ~ NaN", "--exit-verdict")  # fmt: skip

    bad = whet("run", *words, "--", "echo", "loss: 3.5")
    good = whet("run", *words, "--", "echo", "loss: 2.5")
    skip = whet("run", *words, "--", "echo", "nothing")

    assert (bad.code, good.code, skip.code) == (1, 0, 125)
    told = "`NaN` is not in stdout, bad if loss > 3 or stdout ~ NaN"
    assert f" · loss = 3.5, {told} · trial 1" in bad.stderr
    assert f" · the output has no loss, {told} · trial 3" in skip.stderr


def test_trials_are_named_wherever_one_is_asked_for(whet: Whet) -> None:
    whet("run", "--name", "base", "--", "true")
    whet("run", "--", "true")

    for words in (("delta", "base", "last"), ("delta", "1", "2")):
        assert "`whet diff 1 2`" in whet(*words).stderr
    asked = ("--good-trial", "none such", "--", "false")
    for verb in ("investigate", "syscalls"):
        assert "none such" in whet(verb, *asked).stderr


def test_elsewhere_than_on_linux_one_sentence_says_so() -> None:
    start = "import sys; sys.platform = 'darwin'; from whet.__main__ import main; main()"
    said = subprocess.run(
        [sys.executable, "-c", start], capture_output=True, text=True, check=False
    )

    assert said.returncode == 71
    assert said.stderr.startswith("error: whet runs on Linux only, and this is darwin: ")


def test_log_show_and_diff_tell_what_was_tried(whet: Whet) -> None:
    whet("run", "--name", "first", "--", "true")
    whet("run", "--env", "A=1", "--", "false")

    log = whet("log").stdout.splitlines()
    assert ["false" in log[0], "[first]" in log[1]] == [True, True]
    assert "A=1" in whet("show").stdout
    assert "variable A: new, `1`" in whet("diff", "1", "2").stdout
    assert len(whet("log", "--failed").stdout.splitlines()) == 1


def test_again_runs_todays_code_or_the_code_as_it_was(whet: Whet) -> None:
    whet.git("init", "--quiet")
    whet.commit("first", app_py="print('committed')\n")
    whet.write("app.py", "print('edited')\n")
    whet("run", "--", PYTHON, "app.py")
    whet.write("app.py", "print('today')\n")

    assert whet("again").stdout == "today\n"
    assert whet("again", "1", "--code", "then").stdout == "edited\n"
    assert (whet.folder / "app.py").read_text() == "print('today')\n"
    assert whet.git("worktree", "list").count("\n") == 1


def test_log_names_the_trials_of_searches_where_there_are_no_others(whet: Whet) -> None:
    whet.write("a.txt", "x\n")
    assert "no trials here yet" in whet("log").stderr
    whet("shrink", "a.txt", "--budget", "1ms", "--", "grep", "-v", "x", "a.txt")

    assert "`whet log --search 1` lists the trials of that search" in whet("log").stderr
    assert len(whet("log", "--all").stdout.splitlines()) > 0


@pytest.mark.parametrize(
    "named_by",
    [
        "inherited",
        pytest.param("override", marks=pytest.mark.long),
        "reset",
        pytest.param("redirection", marks=pytest.mark.long),
        "link",
    ],
)
def test_code_then_is_that_code_whatever_names_the_folder(whet: Whet, named_by: str) -> None:
    top = whet.folder
    (top.parent / "link").symlink_to(top)
    whet.git("init", "--quiet")
    whet.commit("first", **{"src/lib_py": "print('then')\n", ".gitignore": "out\n"})
    shows_lib = (PYTHON, "-c", "import os, sys; sys.path += [os.environ['LIB']]; import lib")
    words, environment = {
        "inherited": ((PYTHON, "-c", "import lib"), {"PYTHONPATH": f"{top}/src"}),
        "override": (("--env", f"LIB={top}/src", *shows_lib), {}),
        "reset": (("--reset", f"cat {top}/src/lib.py > out", "cat", "out"), {}),
        "redirection": (("sh", "-c", f"(cat<{top}/src/lib.py)"), {}),
        "link": (("--env", f"LIB={top.parent}/link/src", *shows_lib), {}),
    }[named_by]
    environment.setdefault("PYTHONPATH", "")
    environment["PYTHONPATH"] += f":{os.environ.get('PYTHONPATH', '')}"
    was = whet("run", *words, environment=environment).stdout
    assert "then" in was
    whet.write("src/lib.py", "print('today')\n")
    whet.write("out", "stale\n")

    again = whet("again", "--code", "then", environment=environment)

    assert again.stdout == was, again.stderr
    assert "note" not in again.stderr


def test_code_then_says_where_the_code_of_today_is_named(whet: Whet) -> None:
    whet.git("init", "--quiet")
    whet.commit("first", app_py="print('then')\n")
    whet("run", "--env", f"HERE=file{whet.folder}/app.py", "--", "true")

    again = whet("again", "--code", "then")

    assert f"note: whet can't redirect `{whet.folder}` in the variable `HERE`" in again.stderr


def test_a_one_liner_does_what_the_trial_did(whet: Whet) -> None:
    whet.write("it's.txt", "x")
    whet("run", "--env", "A=1 2", "--", "sh", "-c", 'echo "$A" "$1" $PWD', "_", "it's\tone")

    line = whet("one-liner").stdout

    done = subprocess.run(["sh", "-c", line], capture_output=True, check=True, cwd="/")
    assert done.stdout.decode() == f"1 2 it's\tone {whet.folder}\n"


@pytest.mark.slow
def test_shrink_finds_the_smallest_file_that_fails_the_same_way(whet: Whet) -> None:
    whet.write("parse.py", PARSE)
    text = rows(300) + "item,unknown,late\n" + rows(300)
    whet.write("data.csv", text)

    said = whet("shrink", "data.csv", "--", PYTHON, "parse.py", "data.csv")

    assert said.code == 0, said.stderr
    small = (whet.folder / "data.shrunk.csv").read_text()
    assert len(small) <= 4
    assert (whet.folder / "data.csv").read_text() == text
    done = subprocess.run(
        [PYTHON, "parse.py", "data.shrunk.csv"], cwd=whet.folder, capture_output=True, check=False
    )
    assert b"ValueError: could not convert string to float" in done.stderr
    assert b"in price" in done.stderr


@pytest.mark.slow
def test_a_shrink_says_in_one_line_why_its_trials_ran_from_the_start(whet: Whet) -> None:
    whet.write("a.txt", "one\ntwo x\nthree\n")

    said = whet("shrink", "a.txt", "--bad-if", "exit == 0", "--", "grep", "-q", "x", "a.txt")

    assert (
        "\n  each trial ran from the start: it doesn't run on a Python that whet can follow\n"
        in said.stdout
    )


@pytest.mark.slow
def test_a_shrink_that_ran_before_is_answered_from_the_notebook(whet: Whet) -> None:
    whet.write("parse.py", PARSE)
    whet.write("data.csv", rows(20) + "x,y\n")
    words = ("shrink", "data.csv", "--json", "--", PYTHON, "parse.py", "data.csv")

    first = last_of(whet(*words).stdout)
    again = last_of(whet(*words).stdout)

    assert (again["trials"], again["after_bytes"]) == (0, first["after_bytes"])
    assert again["cached"] > 0


@pytest.mark.slow
def test_the_number_of_jobs_changes_no_result(whet: Whet) -> None:
    whet.write("parse.py", PARSE)
    whet.write("data.csv", rows(30) + "x,y\n" + rows(30))
    results: list[bytes] = []
    for jobs in ("1", "4"):
        whet("shrink", "data.csv", "-o", f"out{jobs}", "--jobs", jobs, "--", PYTHON, "parse.py",
             "data.csv", environment={"WHET_DIR": f".whet{jobs}"})  # fmt: skip
        results.append((whet.folder / f"out{jobs}").read_bytes())

    assert results[0] == results[1]


@pytest.mark.slow
def test_a_script_that_judges_gets_the_file(whet: Whet) -> None:
    whet.write("oracle.sh", '#!/bin/sh\ngrep -q needle "$1" && exit 1\nexit 0\n').chmod(0o755)
    whet.write("interesting.sh", '#!/bin/sh\ngrep -q needle "$1"\n').chmod(0o755)
    whet.write("hay.txt", "hay\n" * 30 + "a needle here\n" + "hay\n" * 30)

    assert whet("shrink", "hay.txt", "--oracle", "oracle.sh").code == 0
    assert (whet.folder / "hay.shrunk.txt").read_text() == "needle"
    assert whet("shrink", "hay.txt", "-o", "out", "--interesting", "interesting.sh").code == 0
    assert (whet.folder / "out").read_text() == "needle"


@pytest.mark.slow
def test_a_spent_budget_leaves_the_best_on_disk_and_exits_75(whet: Whet) -> None:
    whet.write("slow.sh", '#!/bin/sh\nsleep 0.05\ngrep -q needle "$1"\n').chmod(0o755)
    whet.write("hay.txt", "".join(f"{number} needle\n" for number in range(500)))

    said = whet("shrink", "hay.txt", "--budget", "500ms", "--interesting", "slow.sh")

    assert said.code == 75
    assert "needle" in (whet.folder / "hay.shrunk.txt").read_text()
    assert "the time budget is used up" in said.stderr


def broken_history(whet: Whet, count: int, first_bad: int) -> list[str]:
    whet.git("init", "--quiet")
    return [
        whet.commit(
            f"commit {number}",
            app_py=("print('ok')\n" if number < first_bad else "raise KeyError('x')\n")
            + f"# {number}\n",
        )
        for number in range(count)
    ]


@pytest.mark.slow
def test_bisect_finds_the_first_bad_commit(whet: Whet) -> None:
    commits = broken_history(whet, 12, 7)

    said = whet("bisect", commits[0], "HEAD", "--json", "--jobs", "1", "--", PYTHON, "app.py")

    found = json.loads(said.stdout)
    assert found["first_bad"] == commits[7][:10]
    assert found["good"] == commits[6][:10]
    assert "commit 7" in found["first_bad_description"]
    assert len(found["tested"]) <= 6
    assert found["trials"] <= 8  # one or two of them again


@pytest.mark.slow
@pytest.mark.parametrize(
    "terms",
    [
        pytest.param("good,bad", marks=pytest.mark.long),
        "broken,fixed",
        pytest.param("before,after", marks=pytest.mark.long),
    ],
)
def test_the_number_of_jobs_changes_no_answer(whet: Whet, terms: str) -> None:
    whet.git("init", "--quiet")
    first, later = ("raise KeyError\n", "") if terms == "broken,fixed" else ("", "raise KeyError\n")
    commits = [
        whet.commit(f"c{n}", app_py=f"{first if n < 14 else later}# {n}\n") for n in range(20)
    ]
    search = ("--terms", terms, commits[0], "HEAD", "--json", "--", PYTHON, "app.py")

    alone, beside, many = (
        json.loads(whet("bisect", "--jobs", jobs, *search).stdout) for jobs in ("1", "2", "5")
    )

    for one in (alone, beside, many):
        assert (one["first_bad"], one["good"]) == (commits[14][:10], commits[13][:10])
        verdicts = {each["version"]: each["verdict"] for each in one["tested"]}
        is_fix = terms == "broken,fixed"
        for number, commit in enumerate(commits):
            expected = "bad" if (number < 14) is is_fix else "good"
            assert verdicts.get(commit[:10], expected) == expected


@pytest.mark.slow
def test_bisect_finds_a_good_commit_by_itself(whet: Whet) -> None:
    commits = broken_history(whet, 12, 7)

    said = whet("bisect", "HEAD", "--", PYTHON, "app.py")

    assert commits[7][:10] in said.stdout, said.stderr


def stopped_walk_back(whet: Whet, *words: str) -> Said:
    """Run whet on a history of which the older half is slow, and press Ctrl-C there."""
    whet.git("init", "--quiet")
    log = whet.folder.parent / "slow"
    for number in range(9):
        slow = f"open({str(log)!r}, 'w'); import time; time.sleep(60)\n" if number < 5 else ""
        whet.commit(f"c{number}", app_py=f"{slow}raise KeyError\n# {number}\n")
    process = subprocess.Popen(
        [PYTHON, "-m", "whet", *words, "--", PYTHON, "app.py"],
        cwd=whet.folder,
        env={**os.environ, **whet.environment},
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    while process.poll() is None and not log.exists():
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    stdout, stderr = process.communicate(timeout=30)
    return Said(process.returncode, stdout, stderr)


@pytest.mark.slow
def test_a_walk_back_that_is_stopped_says_so(whet: Whet) -> None:
    said = stopped_walk_back(whet, "bisect", "--jobs", "1", "HEAD")

    assert said.code == 75, said.stderr
    assert "found no good commit of project yet: stopped by Ctrl-C" in said.stdout
    assert "in 0 ms" not in said.stdout
    assert whet.git("worktree", "list").count("\n") == 1


@pytest.mark.slow
def test_a_walk_back_that_runs_out_of_time_says_so(whet: Whet) -> None:
    broken_history(whet, 12, 3)

    said = whet("bisect", "--budget", "1ms", "HEAD", "--", PYTHON, "app.py")

    assert said.code == 75, said.stderr
    assert "yet: the time budget is used up" in said.stdout


@pytest.mark.slow
def test_an_investigation_of_which_a_search_was_stopped_is_incomplete(whet: Whet) -> None:
    said = stopped_walk_back(whet, "investigate", "--jobs", "1", "--json")

    report = json.loads(said.stdout)
    assert said.code == 75, said.stderr
    assert report["history"]["stopped"] == "interrupted"


@pytest.mark.slow
def test_bisect_finds_the_commit_that_mended_it(whet: Whet) -> None:
    whet.git("init", "--quiet")
    commits = [
        whet.commit(f"c{n}", app_py=("raise KeyError\n" if n < 5 else "print()\n") + f"# {n}\n")
        for n in range(9)
    ]

    said = whet("bisect", "--terms", "broken,fixed", commits[0], "HEAD", "--", PYTHON, "app.py")

    assert commits[5][:10] in said.stdout, said.stderr
    assert "first fixed commit" in said.stdout


@pytest.mark.slow
def test_an_untracked_test_runs_against_each_commits_own_code(whet: Whet) -> None:
    whet.git("init", "--quiet")
    commits = [whet.commit(f"c{n}", lib_py=f"VALUE = {n}\n") for n in range(6)]
    whet.write("check.py", "import lib\nassert lib.VALUE < 4\n")

    said = whet("bisect", commits[0], "HEAD", "--", PYTHON, "check.py")

    assert commits[4][:10] in said.stdout, said.stderr


@pytest.mark.slow
def test_a_reset_step_takes_each_commits_own_files(whet: Whet) -> None:
    whet.git("init", "--quiet")
    commits = [whet.commit(f"c{n}", value=f"{n}\n") for n in range(6)]
    reset = ("--reset", f"cp {whet.folder}/value copy")

    said = whet("bisect", *reset, commits[0], "HEAD", "--", "grep", "-q", "[0-3]", "copy")

    assert commits[4][:10] in said.stdout, said.stderr


@pytest.mark.slow
def test_a_commit_that_fails_in_another_way_is_skipped(whet: Whet) -> None:
    whet.git("init", "--quiet")
    text = {3: "import nothing_of_that_name\n", 4: "raise KeyError\n", 5: "raise KeyError\n"}
    commits = [whet.commit(f"c{n}", app_py=text.get(n, "print()\n") + f"# {n}\n") for n in range(6)]

    said = whet("bisect", commits[0], "HEAD", "--json", "--", PYTHON, "app.py")

    found = json.loads(said.stdout)
    assert found["suspects"] == [commits[3][:10], commits[4][:10]]
    assert found["first_bad"] is None


@pytest.mark.slow
def test_investigate_walks_back_by_itself_where_there_is_a_history(whet: Whet) -> None:
    commits = broken_history(whet, 12, 7)

    said = whet("investigate", "--", PYTHON, "app.py")

    assert said.code == 0, said.stderr
    report = json.loads((whet.folder / "whet-report" / "report.json").read_text())
    assert report["history"]["first_bad"] == commits[7][:10]


@pytest.mark.slow
def test_what_fails_each_other_time_is_not_said_to_pass_elsewhere(whet: Whet) -> None:
    count = Path(whet.environment["TMPDIR"], "count")
    count.write_text("")
    whet.write(
        "flaky.py",
        f"with open({str(count)!r}, 'a+') as file:\n    file.write('x')\n    file.flush()\n"
        "    file.seek(0)\n    odd = len(file.read()) % 2\nassert not odd, 'now and then'\n",
    )

    said = whet("investigate", "--", PYTHON, "flaky.py")

    assert said.code == 0, said.stderr
    assert "ran again in an empty folder until it failed the same way" in said.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("commits", "command", "why"),
    [
        (1, ["app.py"], "there is no commit before the current one"),
        pytest.param(2, ["-m", "app"], "the command names no file", marks=pytest.mark.long),
        (2, ["other.py"], "git tracks no file that the command names"),
    ],
)
def test_investigate_says_truly_why_no_history_was_searched(
    whet: Whet, commits: int, command: list[str], why: str
) -> None:
    broken_history(whet, commits, 0)
    whet.write("other.py", "raise KeyError(1)\n")

    said = whet("investigate", "--", PYTHON, *command)

    assert f"whet searched no history: {why}" in said.stdout


@pytest.mark.slow
def test_a_failure_that_is_not_committed_is_said_to_be_in_the_users_changes(whet: Whet) -> None:
    broken_history(whet, 4, 9)
    whet.write("app.py", "raise KeyError('edited')\n")

    said = whet("investigate", "--", PYTHON, "app.py")

    assert said.code == 0, said.stderr
    assert "in your uncommitted edits" in said.stdout
    report = json.loads((whet.folder / "whet-report" / "report.json").read_text())
    assert report["history"] is None


@pytest.mark.slow
def test_investigate_writes_a_report_that_holds(whet: Whet) -> None:
    whet.git("init", "--quiet")
    good = whet.commit("works", parse_py=PARSE.replace("float(", "str("))
    bad = whet.commit("reads numbers", parse_py=PARSE)
    whet.commit("later", other_py="")
    whet.write("data.csv", rows(100) + "item,unknown\n" + rows(100))

    said = whet("investigate", "--good", good, "--", PYTHON, "parse.py", "data.csv")

    assert said.code == 0, said.stderr
    report = json.loads((whet.folder / "whet-report" / "report.json").read_text())
    assert report["history"]["first_bad"] == bad[:10]
    assert report["payloads"][0]["after_bytes"] <= 4
    assert report["reproducer"]["is_verified"]
    line = subprocess.run(
        ["sh", "-c", report["reproducer"]["line"]],
        capture_output=True,
        check=False,
        cwd=whet.folder,
        env={**os.environ},
    )
    assert b"ValueError" in line.stderr
    assert (whet.folder / "whet-report" / "report.html").exists()
    assert list((whet.state / "made").iterdir()) == []


@pytest.mark.slow
def test_ctrl_c_ends_a_search_with_the_best_on_disk(whet: Whet) -> None:
    whet.write("slow.sh", '#!/bin/sh\nsleep 0.02\ngrep -q needle "$1"\n').chmod(0o755)
    whet.write("hay.txt", "".join(f"{number} needle\n" for number in range(3000)))
    out = whet.folder / "hay.shrunk.txt"
    process = subprocess.Popen(
        [PYTHON, "-m", "whet", "shrink", "hay.txt", "--interesting", "slow.sh"],
        cwd=whet.folder,
        env={**os.environ, **whet.environment},
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
    )
    while not out.exists() and process.poll() is None:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, talk = process.communicate(timeout=30)

    assert process.returncode == 75, talk.decode()
    assert b"Ctrl-C" in talk
    assert "needle" in out.read_text()
    assert list(Path(whet.environment["TMPDIR"]).iterdir()) == []
