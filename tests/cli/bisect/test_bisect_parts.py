"""`whet bisect --hunks`, `--working-tree` and `--attempts`, as they are typed."""

import json
from pathlib import Path

import pytest
from whet_command import Whet

LONG = "".join(f"line{number} = {number}\n" for number in range(30))
APP = f"{LONG}assert line20 == 20\n"


@pytest.fixture
def whet(tmp_path: Path) -> Whet:
    made = Whet(tmp_path, {})
    made.git("init", "--quiet")
    made.write(".gitignore", ".whet\n")
    made.commit("one", app_py=APP)
    return made


def broken(text: str = APP) -> str:
    changed = text.replace("line20 = 20", "line20 = 21").replace("line3 = 3", "line3 = 33")
    return changed.replace("line11 = 11", "line11 = 'x'")


def test_the_edit_that_broke_it_is_shown_as_a_diff(whet: Whet) -> None:
    whet.write("app.py", broken())

    said = whet("bisect", "--working-tree", "--", "python3", "app.py")

    assert said.code == 0, said.stderr
    assert "1 of 3 hunks: app.py:21" in said.stdout
    assert "-line20 = 20\n+line20 = 21\n" in said.stdout
    assert "line3 = 33" not in said.stdout
    assert (whet.folder / "app.py").read_text() == broken()


def test_the_same_as_json(whet: Whet) -> None:
    whet.write("app.py", broken())

    said = whet("bisect", "--working-tree", "--json", "--", "python3", "app.py")

    found = json.loads(said.stdout)
    assert found["schema_version"] == 1
    assert found["part"]["places"] == ["app.py:21"]
    assert (found["part"]["hunks_before"], found["part"]["hunks_after"]) == (3, 1)
    assert found["part"]["is_verified"] is True


def test_hunks_of_the_first_bad_commit_stand_below_it(whet: Whet) -> None:
    whet.commit("two", app_py=broken())
    whet.commit("three", docs="x")

    said = whet("bisect", "--hunks", "HEAD~2", "HEAD", "--", "python3", "app.py")

    assert said.code == 0, said.stderr
    assert "is the first bad commit" in said.stdout
    assert "1 of 3 hunks: app.py:21" in said.stdout
    whet.git("apply", "-R", "--check", _diff_in(whet, said.stdout))


def _diff_in(whet: Whet, text: str) -> str:
    lines = text[text.index("diff --git") :].split("\n\n", maxsplit=1)[0]
    return str(whet.write("part.diff", f"{lines}\n"))


def test_the_attempt_that_broke_it_is_named(whet: Whet) -> None:
    whet("run", "--", "python3", "app.py")
    whet.write("app.py", APP.replace("line3 = 3", "line3 = 33"))
    whet("run", "--", "python3", "app.py")
    whet.write("app.py", broken())
    whet("run", "--note", "rounding", "--", "python3", "app.py")
    whet.write("app.py", broken().replace("line5 = 5", "line5 = 55"))

    said = whet("bisect", "--attempts", "--", "python3", "app.py")

    assert said.code == 0, said.stderr
    assert "trial 3 is the first bad attempt (trial 2 is the last good one" in said.stdout
    assert "rounding" in said.stdout


@pytest.mark.long
def test_outside_git_attempts_and_their_hunks_are_searched_and_the_code_of_each_comes_back(
    tmp_path: Path,
) -> None:
    (tmp_path / "plain").mkdir()
    whet = Whet(tmp_path / "plain", {})
    for text in (APP, APP.replace("line3 = 3", "line3 = 33"), broken()):
        whet.write("app.py", text)
        whet("run", "--", "python3", "app.py")

    said = whet("bisect", "--attempts", "--hunks", "--", "python3", "app.py")
    diff = whet("diff", "1", "2")
    again = whet("again", "2", "--code", "then")

    assert "trial 3 is the first bad attempt (trial 2 is the last good one" in said.stdout
    assert "1 of 2 hunks: app.py:21" in said.stdout
    assert "git worktree" not in said.stdout  # the user's git has no such commit
    assert "+line3 = 33" in diff.stdout
    assert again.code == 0, again.stderr
    assert (whet.folder / "app.py").read_text() == broken()
    assert "isn't in a git repository" in whet("bisect", "HEAD~1", "HEAD", "--", "true").stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--working-tree", "HEAD"), "`--working-tree` searches your uncommitted edits"),
        (
            ("--attempts", "--terms", "a,b"),
            "`--attempts` searches the commits that it ran on before",
        ),
        (("--package", "x", "--hunks", "1", "2"), "`--hunks`, `--log`"),
        (("a", "b", "c"), "`a b c` does not name one or two ends"),
        (("--package", "x"), "`x` has no release to start from"),
    ],
)
def test_words_that_do_not_go_together_are_refused(
    whet: Whet, words: tuple[str, ...], message: str
) -> None:
    said = whet("bisect", *words, "--", "python3", "app.py")

    assert said.code == 64
    assert message in said.stderr


def test_where_no_end_is_named_the_newest_commit_is_the_bad_one(whet: Whet) -> None:
    whet.commit("break it", app_py=broken())
    culprit = whet.git("rev-parse", "HEAD").strip()

    said = whet("bisect", "--json", "--", "python3", "app.py")

    assert json.loads(said.stdout)["first_bad"] == culprit[:10]


def test_how_many_commits_needed_no_run_is_said(whet: Whet) -> None:
    for number in range(6):
        whet.commit(f"docs {number}", docs=str(number))
    whet.commit("break it", app_py=broken())
    for number in range(6):
        whet.commit(f"more docs {number}", docs=str(number))

    said = whet("bisect", "-j1", "HEAD~12", "HEAD", "--json", "--", "python3", "app.py")

    found = json.loads(said.stdout)
    assert found["first_bad_description"].endswith("app.py")
    assert found["judged_without_a_run"] >= 5
    assert found["trials"] - found["looked_again"]["runs"] <= 4
