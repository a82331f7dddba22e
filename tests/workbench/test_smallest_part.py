"""The smallest part of a change: what it is made of, what is run, what it leaves alone."""

import py_compile
import re
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from looking_programs import make_history

from whet.core.budget import Budget, StopReason
from whet.core.errors import EndMisjudged, NotARepository, NothingBetween
from whet.host.code.tree_changes import PartialCommits
from whet.host.process.cleanup_journal import CleanupJournal
from whet.host.process.git import Repository, git_environment
from whet.workbench.bisect.bisect import BisectOptions, bisect, bisect_working_tree
from whet.workbench.parts.hunks import ChangeParts
from whet.workbench.trials.bench import open_workbench
from whet.workbench.trials.changed_part import ChangedLines, SmallestPart
from whet.workbench.trials.request import Judging, TrialRequest
from whet.workbench.trials.run import run

APP = TrialRequest(command=(sys.executable, "app.py"))
LONG = "".join(f"line{number} = {number}\n" for number in range(40))


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "r").mkdir()
    monkeypatch.chdir(tmp_path / "r")
    monkeypatch.setenv("TMPDIR", str(tmp_path))  # nobody discards what `parts_of` has made there
    return tmp_path / "r"


def git(folder: Path, *words: str) -> str:
    environment = git_environment()  # which finds what whet keeps itself
    done = subprocess.run(
        ["git", *words], cwd=folder, env=environment, capture_output=True, check=True
    )
    return done.stdout.decode().rstrip("\n")


def edited(text: str, **lines: str) -> str:
    for name, content in lines.items():
        number = name.removeprefix("line")
        text = text.replace(f"{name} = {number}\n", content)
    return text


def working_tree(request: TrialRequest = APP, jobs: int = 1) -> SmallestPart:
    with open_workbench() as bench:
        return bisect_working_tree(bench, request, BisectOptions(good="", bad="", jobs=jobs))


# ---- what a change is made of ----


def parts_of(place: Path, *states: Mapping[str, str | None]) -> tuple[ChangeParts, list[str]]:
    commits = make_history(place, states)
    repository = Repository(place)
    partial = PartialCommits(repository, CleanupJournal(place / ".git" / "made"), commits[0])
    return ChangeParts(repository, partial, (commits[0], commits[1])), commits


def tree_of(place: Path, commit: str) -> str:
    return git(place, "rev-parse", f"{commit}^{{tree}}")


def test_all_parts_are_the_new_commit_and_none_is_the_old_one(place: Path) -> None:
    before = {"a.py": LONG, "b.txt": "1\n", "old/name": LONG, "gone": "x", "run": "1", "bin": "\0a"}
    after = {
        "a.py": edited(LONG, line3="", line20="x = 1\n"), "b.txt": "2\n", "old/name": None,
        "new/name": LONG, "gone": None, "added": "", "run": "!1", "bin": "\0b", "link": "@a.py",
    }  # fmt: skip
    parts, commits = parts_of(place, before, after)

    # Two hunks of a.py, one of b.txt, and what has no hunks: a binary file, a file that is gone,
    # one that is new, a link, a name, a mode.
    assert parts.hunks == 9
    # One of the hunks is a variable that goes and another one that comes.
    assert len(parts.parts) == 10
    assert parts.hunks_of(range(10)) == 9
    everything = range(len(parts.parts))
    assert parts.commit_of(()) == commits[0]
    assert parts.commit_of(everything) == commits[1]
    halves = [each for each in everything if each % 2]
    made = git(place, "diff-tree", "-r", "--name-only", commits[0], parts.commit_of(halves))
    assert set(made.splitlines()) < {*before, *after}
    assert all(parts.verdict_without_a_run([each]) is None for each in everything)


def test_a_mode_and_a_hunk_of_one_file_are_taken_apart(place: Path) -> None:
    parts, _ = parts_of(place, {"run": "#!/bin/sh\n"}, {"run": "!#!/bin/sh\ntrue\n"})

    assert len(parts.parts) == 2
    modes = [git(place, "ls-tree", parts.commit_of([each]), "run").split()[0] for each in range(2)]
    assert sorted(modes) == ["100644", "100755"]


def test_hunks_without_which_python_cannot_read_a_file_are_taken_together(place: Path) -> None:
    before = "a = [\n    1,\n]\n" + LONG
    after = "a = list((\n    1,\n))\n" + edited(LONG, line30="b = 2\n")

    parts, _ = parts_of(place, {"a.py": before}, {"a.py": after})

    assert [len(part.edits) for part in parts.parts] == [2, 1, 1]


def test_a_part_is_where_the_lines_that_it_makes_are_in_the_new_file(place: Path) -> None:
    before = "".join(f"line{number}\n" for number in range(1, 31))
    lines = before.splitlines(keepends=True)
    lines[24:25] = ["five\n", "six\n"]
    lines[14:16] = []
    lines[9:9] = ["new\n", "lines\n", "here\n"]
    lines[2] = "three\n"

    parts, _ = parts_of(place, {"a.py": before}, {"a.py": "".join(lines)})

    every = parts.places(range(len(parts.parts)))
    assert tuple(map(str, every)) == ("a.py:3", "a.py:10-12", "a.py:18", "a.py:26-27")
    assert "".join(lines[9:12]) == "new\nlines\nhere\n"
    assert "".join(lines[25:27]) == "five\nsix\n"


# ---- the search ----


def test_two_hunks_in_two_files_that_fail_together_are_the_answer(place: Path) -> None:
    app = "import helper\n" + LONG + "assert helper.line8 + line30 < 100\n"
    commits = make_history(
        place, [{"app.py": app, "helper.py": LONG, "notes": "", ".gitignore": ".whet\n"},
                {"app.py": edited(app, line30="line30 = 60\n", line2="line2 = 3\n"),
                 "helper.py": edited(LONG, line8="line8 = 60\n", line25="line25 = 1\n"),
                 "notes": "more"},
                {"notes": "even more"}]
    )  # fmt: skip

    with open_workbench() as bench:
        options = BisectOptions(good=commits[0], bad=commits[2], hunks=True, jobs=1)
        found = bisect(bench, APP, options)

    assert found.first_bad == commits[1][:10]
    part = found.part
    assert part is not None
    assert (part.before, part.after) == (5, 2)
    assert part.places == (ChangedLines("app.py", 32, 32), ChangedLines("helper.py", 9, 9))
    assert part.stopped is StopReason.MINIMAL
    assert part.is_verified
    assert not git(place, "for-each-ref", "refs/whet")
    alone = place.parent / "alone"
    line = re.sub(r"\S*/part-\w+(?= )", str(alone), part.apply)
    subprocess.run(["sh", "-c", line], cwd=place.parent, check=True, capture_output=True)
    assert (alone / "helper.py").read_text() == edited(LONG, line8="line8 = 60\n")
    git(place, "checkout", "--quiet", commits[0])
    subprocess.run(["git", "apply", "-"], input=part.diff.encode(), cwd=place, check=True)
    assert subprocess.run([*APP.command], cwd=place, check=False, capture_output=True).returncode


def test_of_uncommitted_edits_the_one_that_breaks_it_is_found(place: Path) -> None:
    app = "import helper\n" + LONG + "assert line30 == 30\n"
    make_history(place, [{"app.py": app, "helper.py": LONG, "gone": "x", ".gitignore": ".whet\n"}])
    (place / "helper.py").write_text(edited(LONG, line3="x = 1\n"))
    git(place, "add", "helper.py")  # staged
    (place / "app.py").write_text(edited(app, line30="line30 = 31\n", line2="line2 = 3\n"))
    (place / "gone").unlink()
    (place / "new").write_text("untracked")
    before = (git(place, "status", "--porcelain=v2"), (place / ".git" / "index").read_bytes(),
              git(place, "rev-parse", "HEAD"), git(place, "stash", "list"))  # fmt: skip

    part = working_tree()

    assert part.places == (ChangedLines("app.py", 32, 32),)
    assert (part.before, part.after) == (5, 1)
    assert "+line30 = 31" in part.diff
    assert part.changed == "the working tree"
    after = (git(place, "status", "--porcelain=v2"), (place / ".git" / "index").read_bytes(),
             git(place, "rev-parse", "HEAD"), git(place, "stash", "list"))  # fmt: skip
    assert after == before
    assert git(place, "worktree", "list").count("\n") == 0


def test_an_untracked_file_alone_may_break_it(place: Path) -> None:
    make_history(place, [{"app.py": "import json\njson.dumps\n", ".gitignore": ".whet\n"}])
    (place / "json.py").write_text("dump = 1\n")
    (place / "other").write_text("x")

    assert working_tree().places == (ChangedLines("json.py"),)


def test_what_python_has_compiled_is_no_part_of_a_change(place: Path) -> None:
    make_history(place, [{"app.py": LONG, "helper.py": "x = 1\n"}])
    (place / "app.py").write_text(edited(LONG, line30="assert 0\n"))
    for compiled in ("__pycache__/app.cpython-311.pyc", "p/__pycache__/b.cpython-312.opt-1.pyc"):
        (place / compiled).parent.mkdir(parents=True)
        (place / compiled).write_bytes(b"\0")

    part = working_tree()

    assert (part.places, part.before, part.after) == ((ChangedLines("app.py", 31, 31),), 1, 1)
    assert part.is_verified
    assert "__pycache__" not in part.diff
    assert "__pycache__" not in git(place, "ls-tree", "-r", "--name-only", part.commit)


def test_a_module_that_is_there_only_compiled_is_a_part(place: Path) -> None:
    make_history(place, [{"app.py": "import json\njson.dumps\n"}])
    (place / "json.py").write_text("dump = 1\n")
    py_compile.compile("json.py", "json.pyc")
    (place / "json.py").unlink()

    assert working_tree().places == (ChangedLines("json.pyc"),)


def test_where_nothing_differs_but_what_python_has_compiled_that_is_said(place: Path) -> None:
    make_history(place, [{"app.py": "raise SystemExit(1)\n"}])
    (place / "__pycache__").mkdir()
    (place / "__pycache__" / "app.cpython-311.pyc").write_bytes(b"\0")

    with pytest.raises(NothingBetween, match="`__pycache__`"):
        working_tree()


def test_a_choice_of_hunks_that_python_cannot_read_is_not_run(place: Path) -> None:
    app = "x = 1\n" + LONG + "if x:\n    y = 1\nassert line30 == 30\n"
    make_history(place, [{"app.py": app, ".gitignore": ".whet\n"}])
    changed = edited(app, line30="line30 = 31\n", line20="z = (\n", line22=")\n", line21="1\n")
    (place / "app.py").write_text(changed)

    part = working_tree()

    assert part.places == (ChangedLines("app.py", 32, 32),)
    with open_workbench() as bench:
        outcomes = [entry.outcome for entry in bench.notebook.entries()]
    assert not any(
        b"SyntaxError" in each.stderr.head(9999) for each in outcomes if each is not None
    )


def test_more_jobs_come_to_the_same_part(place: Path) -> None:
    app = LONG + "assert line30 == 30\n"
    make_history(place, [{"app.py": app, ".gitignore": ".whet\n"}])
    changed = edited(
        app, line30="line30 = 31\n", **{f"line{n}": f"line{n} = 0\n" for n in range(0, 28, 3)}
    )
    (place / "app.py").write_text(changed)

    one, two = working_tree(jobs=1), working_tree(jobs=2)

    assert one.diff == two.diff
    assert two.remembered > 0


def expect(error: type[Exception], match: str) -> "Callable[[], None]":
    def check() -> None:
        with pytest.raises(error, match=match):
            working_tree()

    return check


def test_what_cannot_be_searched_is_said(place: Path) -> None:
    expect(NotARepository, "isn't in a git repository")()
    git(place, "init", "--quiet")
    (place / "app.py").write_text("x = 1\n")
    expect(NothingBetween, "no commit yet")()
    make_history(place, [{"app.py": "x = 1\n", ".gitignore": ".whet\n"}])
    expect(NothingBetween, "has no uncommitted changes")()
    (place / "app.py").write_text("x = 2\n")
    expect(EndMisjudged, "with your changes .* does not fail")()
    make_history(place, [{"app.py": "raise KeyError\n"}])
    (place / "app.py").write_text("raise KeyError\ny = 2\n")
    expect(EndMisjudged, "fails the same way")()


def history(
    place: Path, old: dict[str, str], new: dict[str, str], budget: Budget | None = None
) -> SmallestPart:
    """Return the smallest part of a commit that brings a failure, with -j1."""
    commits = make_history(place, [{**old, ".gitignore": ".whet\n"}, new])
    with open_workbench() as bench:
        options = BisectOptions(
            good=commits[0], bad=commits[1], hunks=True, jobs=1, budget=budget or Budget()
        )
        found = bisect(bench, APP, options)
    assert found.part is not None
    return found.part


ROUNDING = {
    "app.py": "from money import cents\n\nassert cents('0.665') == cents('0.67')\n",
    "money.py": "from decimal import ROUND_HALF_UP, Decimal\n\nCENT = Decimal('0.01')\n\n\n"
    "def cents(value):\n    return Decimal(value).quantize(CENT, rounding=ROUND_HALF_UP)\n",
    "README": "Money.\n",
}
PLACES = {
    "money.py": "from decimal import Decimal, localcontext\n\nPLACES = 2\n\n\n"
    "def quantum(places=PLACES):\n    return Decimal(1).scaleb(-places)\n\n\n"
    "def cents(value, places=PLACES):\n    with localcontext() as context:\n"
    "        context.prec = 28\n        return Decimal(value).quantize(quantum(places))\n",
    "README": "Money, with places.\n",
}


@pytest.mark.long
@pytest.mark.parametrize("trials", [6, 9])
def test_a_search_that_was_ended_says_only_what_a_run_has_shown(place: Path, trials: int) -> None:
    part = history(place, ROUNDING, PLACES, Budget(trials=trials))

    assert part.stopped is StopReason.OUT_OF_TRIALS
    assert part.is_verified
    changed = git(place, "rev-parse", "HEAD")
    git(place, "checkout", "--quiet", "HEAD~1")
    subprocess.run(["git", "apply", "-"], input=part.diff.encode(), cwd=place, check=True)
    assert subprocess.run([*APP.command], cwd=place, check=False, capture_output=True).returncode
    if part.undoing is not None:
        git(place, "checkout", "--quiet", "--force", changed)
        undo = part.undoing.diff.encode()
        subprocess.run(["git", "apply", "-"], input=undo, cwd=place, check=True)
        assert subprocess.run([*APP.command], cwd=place, check=False).returncode == 0


@pytest.mark.long
def test_one_line_of_a_commit_whose_lines_need_each_other_is_named_by_undoing_it(
    place: Path,
) -> None:
    part = history(place, ROUNDING, PLACES)

    assert part.decides == (ChangedLines("money.py", 13, 13),)
    assert part.undoing is not None
    assert part.undoing.old == ("return Decimal(value).quantize(CENT, rounding=ROUND_HALF_UP)",)
    assert part.undoing.new == ("return Decimal(value).quantize(quantum(places))",)
    # Without the names that it needs the old line says nothing.
    assert set(map(str, part.undoing.besides)) == {"money.py:1", "money.py:3"}
    assert "README" not in part.diff + part.undoing.diff
    assert part.trials <= 16
    (place / "undo.diff").write_text(part.undoing.diff)
    git(place, "apply", "undo.diff")
    assert subprocess.run([*APP.command], cwd=place, check=False).returncode == 0


def test_a_line_that_alone_brings_the_failure_is_named_though_all_others_need_each_other(
    place: Path,
) -> None:
    part = history(
        place,
        {"app.py": "from scale import Scaler\n\nassert Scaler().fit([1, 3]).scaled([10, 12]) == [4.0, 5.0]\n",
         "scale.py": "class Scaler:\n    def fit(self, rows):\n"
         "        self.mean = sum(rows) / len(rows)\n        self.width = max(rows) - min(rows)\n"
         "        return self\n\n    def scaled(self, rows):\n"
         "        return [(row - self.mean) / self.width for row in rows]\n"},
        {"scale.py": "def moments(rows):\n    return sum(rows) / len(rows), max(rows) - min(rows)\n\n\n"
         "class Scaler:\n    def fit(self, rows):\n        self.stats = moments(rows)\n"
         "        return self\n\n    def scaled(self, rows):\n        self.fit(rows)\n        mean, width = self.stats\n"
         "        return [(row - mean) / width for row in rows]\n"},
    )  # fmt: skip

    assert part.places == (ChangedLines("scale.py", 11, 11),)
    assert (part.edits_after, part.stopped) == (1, StopReason.MINIMAL)
    assert part.trials <= 12


def test_a_renamed_function_is_not_the_cause_of_what_its_commit_changes_beside(
    place: Path,
) -> None:
    part = history(
        place,
        {"app.py": "from sums import total\n\nassert total([1, 2, 3]) == 6\n",
         "sums.py": "def total(values):\n    return sum(values)\n", "more.py": "import sums\nx = sums.total\n"},
        {"app.py": "from sums import sum_of\n\nassert sum_of([1, 2, 3]) == 6\n",
         "sums.py": "def sum_of(values):\n    return sum(values[1:])\n", "more.py": "import sums\nx = sums.sum_of\n"},
    )  # fmt: skip

    assert part.decides == (ChangedLines("sums.py", 2, 2),)


# ---- the last attempts ----


def test_of_the_last_attempts_the_one_that_broke_it_is_found_from_memory(place: Path) -> None:
    make_history(place, [{"app.py": LONG + "assert line30 == 30\n", ".gitignore": ".whet\n"}])
    app = (place / "app.py").read_text()
    with open_workbench() as bench:
        for number in range(12):
            app = edited(app, **{f"line{number}": f"line{number} = 'try'\n"})
            if number == 7:
                app = edited(app, line30="line30 = 31\n")
            (place / "app.py").write_text(app)
            run(bench, APP, None)

        found = bisect(
            bench, APP, BisectOptions(good="", bad="now", attempts=True, hunks=True, jobs=1)
        )

    assert (found.kind, found.first_bad, found.good) == ("attempt", "trial 8", "trial 7")
    assert found.part is not None
    assert found.part.places == (ChangedLines("app.py", 31, 31),)
    # Of what lies between only what the answer rests on is run again, and both ends.
    assert sum(tested.trial is not None for tested in found.tested) <= 4


def test_attempts_at_another_command_do_not_count(place: Path) -> None:
    make_history(place, [{"app.py": "x = 1\n", "other.py": "", ".gitignore": ".whet\n"}])
    other = TrialRequest(command=(sys.executable, "other.py"), judging=Judging())
    with open_workbench() as bench:
        run(bench, other, None)
        (place / "app.py").write_text("raise KeyError\n")

        with pytest.raises(NothingBetween, match="any other state"):
            bisect(bench, APP, BisectOptions(good="", bad="now", attempts=True))
