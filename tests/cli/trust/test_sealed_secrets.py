"""A secret is kept to run its trial again, and `notebook.db` does not hold it."""

import shutil
import sys
from pathlib import Path

import pytest
from whet_command import Whet

SECRETS = (
    "hunter22-of-the-flag",
    "hunter22-of-the-variable",
    "hunter22-of-the-step",
    "hunter22-inherited",
)
FLAG, VARIABLE, STEP, INHERITED = SECRETS
PROGRAM = """\
import os, sys
words = [sys.argv[1], os.environ["API_TOKEN"], os.environ.get("OTHER_TOKEN", ""), open("step").read()]
print(words)
raise ValueError("refused: " + " ".join(words))
"""


def run(whet: Whet, *words: str) -> str:
    whet.write("app.py", PROGRAM)
    said = whet(
        "run",
        *words,
        "--reset",
        f"printf %s password={STEP} > step",
        "--env",
        f"API_TOKEN={VARIABLE}",
        "--note",
        f"with {FLAG}",
        "--",
        sys.executable,
        "app.py",
        f"--password={FLAG}",
        environment={"OTHER_TOKEN": INHERITED},
    )
    assert said.code == 1, said.stderr
    return said.stdout


def files_of_the_notebook(whet: Whet) -> bytes:
    return b"".join(path.read_bytes() for path in whet.state.glob("notebook.db*"))


def test_no_secret_stands_in_a_notebook_and_nobody_else_may_read_what_lies_beside_it(
    whet: Whet,
) -> None:
    run(whet)

    held = files_of_the_notebook(whet)
    assert b"refused: " in held
    assert not [secret for secret in SECRETS if secret.encode() in held]
    assert b"hunter<n>" not in held
    # git makes what lies below `snapshots`, and the folder keeps everybody else out.
    below = {path.name: [path, *path.rglob("*")] for path in whet.state.iterdir()}
    above = (whet.state, *whet.state.parents)[
        :3
    ]  # up to the folder of all projects, and whet's own
    assert [folder.stat().st_mode & 0o077 for folder in above] == [0, 0, 0]
    assert above[-1].name == "whet"
    assert below.pop("snapshots")[0].stat().st_mode & 0o077 == 0
    files = [path for paths in below.values() for path in paths if path.is_file()]
    assert {path.read_text() for path in (whet.state / "sealed").iterdir()} >= set(SECRETS)
    assert not [path for path in files if path.stat().st_mode & 0o077]
    assert (whet.state / "sealed").stat().st_mode & 0o077 == 0


def test_every_way_to_run_a_trial_again_has_its_secrets(whet: Whet) -> None:
    whet.git("init", "--quiet")
    whet.commit("first", app_py=PROGRAM)
    ran = run(whet)
    whet.write("app.py", "raise SystemExit(3)")

    inherited = {"OTHER_TOKEN": INHERITED}
    then = whet("again", "1", "--code", "then", environment=inherited)
    whet.write("app.py", PROGRAM)
    again = whet("again", "1", environment=inherited)
    like = whet("run", "--like", "1", environment=inherited)

    assert [then.stdout, again.stdout, like.stdout] == [ran] * 3
    assert all("same failure as trial" in each.stderr for each in (then, again, like))


def test_another_variable_may_be_given_when_a_trial_runs_again(whet: Whet) -> None:
    run(whet)
    said = whet("again", "--env", "API_TOKEN=hunter22-anew", environment={"OTHER_TOKEN": INHERITED})
    assert "hunter22-anew" in said.stdout
    assert VARIABLE not in said.stdout


@pytest.mark.parametrize("lost", ["variable", "all"])
def test_a_secret_that_is_not_there_any_more_is_named_and_may_be_given_anew(
    whet: Whet, lost: str
) -> None:
    run(whet)
    for path in (whet.state / "sealed").iterdir():
        if lost == "all" or path.read_text() == VARIABLE:
            path.unlink()

    shown, failed = whet("show"), whet("again")

    assert "<secret>" in shown.stdout
    assert "<sealed" not in shown.stdout
    assert failed.code == 66
    assert ("argument 2 (`--password`)" if lost == "all" else "`--env API_TOKEN`") in failed.stderr
    if lost == "variable":
        anew = whet("again", "1", "--env", f"API_TOKEN={VARIABLE}")
        assert VARIABLE in anew.stdout
    else:
        assert "whet run --like TRIAL -- COMMAND" in failed.stderr


def test_a_notebook_that_is_taken_over_brings_the_secrets_along_that_its_user_has_sealed(
    whet: Whet, tmp_path: Path
) -> None:
    ran = run(whet)
    old = tmp_path / "old"
    shutil.copytree(whet.state, old)
    shutil.rmtree(whet.state)
    taken = whet("notebook", "adopt", str(old), "--yes")
    assert taken.code == 0, taken.stderr
    assert FLAG not in taken.stderr

    assert whet("again", environment={"OTHER_TOKEN": INHERITED}).stdout == ran


def test_a_stranger_s_sealed_files_are_not_believed(whet: Whet, tmp_path: Path) -> None:
    run(whet)
    old = tmp_path / "old"
    shutil.copytree(whet.state, old)
    other = {"XDG_STATE_HOME": str(tmp_path / "other")}
    assert whet("notebook", "adopt", str(old), "--yes", environment=other).code == 0

    failed = whet("again", environment=other)
    assert failed.code == 66
    assert "this machine doesn't have the secret of" in failed.stderr


def test_what_stands_in_a_sealed_file_that_was_changed_is_not_run(whet: Whet) -> None:
    run(whet)
    for path in (whet.state / "sealed").iterdir():
        path.write_text("something else")
    assert whet("again").code == 66


@pytest.mark.parametrize("tree", ["repository", "folder"])
@pytest.mark.parametrize(
    "words", [("run", "--", "true"), ("log",), ("notebook", "list"), ("bisect", "--", "true")]
)
def test_whichever_command_is_the_first_nobody_else_may_list_a_folder_of_the_user(
    whet: Whet, tree: str, words: tuple[str, ...]
) -> None:
    """Also a folder above the one that a command needs: the first to make it decides."""
    state = whet.folder.parent / "state of a new user"
    if tree == "repository":
        whet.git("init", "--quiet")
        whet.commit("first", app_py=PROGRAM)
        whet.write("app.py", "")

    whet(*words, environment={"XDG_STATE_HOME": str(state)})

    folders = [state, *(path for path in state.glob("whet/*") if path.is_dir()), state / "whet"]
    assert [path for path in folders if path.exists() and path.stat().st_mode & 0o077] == []
