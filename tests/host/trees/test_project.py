import os
import shutil
import stat
from pathlib import Path

import pytest

from whet.core.errors import CannotWrite, StateNotOwned
from whet.host.code.project import Project
from whet.host.files import user_state as host_user_state
from whet.host.files.user_state import user_state


def project_in(folder: Path) -> Project:
    return Project(root=folder, state=folder / ".whet", folder=folder)


def test_a_repository_below_a_state_folder_is_a_project_of_its_own(tmp_path: Path) -> None:
    (tmp_path / ".whet").mkdir()
    (tmp_path / "inner" / ".git").mkdir(parents=True)
    (tmp_path / "inner" / "src").mkdir()

    assert Project.find(tmp_path / "inner" / "src", {}).root == tmp_path / "inner"


def test_the_nearest_state_folder_upwards_is_the_project(tmp_path: Path) -> None:
    inner = tmp_path / "outer" / "inner"
    (inner / "src").mkdir(parents=True)
    (tmp_path / "outer" / ".whet").mkdir()
    (tmp_path / ".whet").mkdir()

    found = Project.find(inner / "src", {})

    assert found.root == tmp_path / "outer"
    assert found.folder == inner / "src"


@pytest.mark.parametrize("mark", [".whet", ".git"])
def test_a_project_that_a_stranger_put_above_does_not_count(tmp_path: Path, mark: str) -> None:
    if os.geteuid() != 0:
        pytest.skip("needs root: makes a folder of another user's")
    stranger = 12345
    (tmp_path / mark).mkdir()
    os.chown(tmp_path / mark, stranger, stranger)
    (tmp_path / "mine").mkdir()
    (tmp_path / "theirs").mkdir()
    os.chown(tmp_path / "theirs", stranger, stranger)

    assert Project.find(tmp_path / "mine", {}).root == tmp_path / "mine"
    assert Project.find(tmp_path / "theirs", {}).root == tmp_path


@pytest.mark.parametrize("mode", [0o1777, 0o777])
def test_a_state_folder_where_others_can_write_catches_no_project_below(
    tmp_path: Path, mode: int
) -> None:
    (tmp_path / "shared" / ".whet").mkdir(parents=True)
    (tmp_path / "shared").chmod(mode)
    inner = tmp_path / "shared" / "mine" / "src"
    inner.mkdir(parents=True)

    assert Project.find(inner, {}).root == inner
    assert Project.find(tmp_path / "shared", {}).root == tmp_path / "shared"
    (tmp_path / "shared" / "mine" / ".whet").mkdir()
    assert Project.find(inner, {}).root == inner.parent


def test_a_file_of_that_name_is_no_state_folder(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / ".whet").write_text("mine")

    assert Project.find(tmp_path / "sub", {}).root == tmp_path


@pytest.mark.parametrize("is_worktree", [False, True])
def test_without_a_state_folder_the_top_of_the_git_tree_is_the_project(
    tmp_path: Path, *, is_worktree: bool
) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    if is_worktree:
        (tmp_path / ".git").write_text("gitdir: elsewhere\n")
    else:
        (tmp_path / ".git").mkdir()

    assert Project.find(tmp_path / "a" / "b", {}).root == tmp_path


def test_without_either_the_folder_itself_is_the_project(tmp_path: Path) -> None:
    if any((above / mark).exists() for above in tmp_path.parents for mark in (".git", ".whet")):
        pytest.skip("the temporary folder lies in a project")

    assert Project.find(tmp_path, {}).root == tmp_path


def test_finding_makes_nothing(tmp_path: Path) -> None:
    Project.find(tmp_path, {})

    assert list(tmp_path.iterdir()) == []


def test_whet_dir_moves_the_state_and_is_relative_to_the_folder(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "sub").mkdir()

    assert Project.find(tmp_path, {"WHET_DIR": "/elsewhere"}).state == Path("/elsewhere")
    moved = Project.find(tmp_path / "sub", {"WHET_DIR": "../kept"})
    assert (moved.root, moved.state) == (tmp_path, tmp_path / "kept")
    assert not Project.find(tmp_path, {"WHET_DIR": ""}).state.is_relative_to(tmp_path)


def test_the_state_of_each_project_is_in_the_users_folder_and_not_in_the_project(
    tmp_path: Path,
) -> None:
    variables = {"XDG_STATE_HOME": str(tmp_path / "state")}
    for name in ("one", "two", "deeper/one"):
        (tmp_path / name / ".git").mkdir(parents=True)
        (tmp_path / name / "inner").mkdir()
    places = [tmp_path / name / "inner" for name in ("one", "two", "deeper/one")]

    states = [Project.find(place, variables).state for place in places]

    assert len(set(states)) == len(places)
    assert {state.parent for state in states} == {tmp_path / "state" / "whet" / "projects"}
    assert [Project.find(place.parent, variables).state for place in places] == states
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "one")
    assert Project.find(link, variables).state.name[-12:] == states[0].name[-12:]


def test_the_state_folder_is_the_users_alone(tmp_path: Path) -> None:
    project = Project.find(tmp_path, {"XDG_STATE_HOME": str(tmp_path / "state")})

    project.prepare()

    for folder in (project.state, *(each for each in project.state.iterdir() if each.is_dir())):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700


@pytest.mark.parametrize("name", ["", "blobs", "made", "scratch", "pycache", "claims", "worktrees"])
def test_a_state_folder_that_is_a_link_is_refused(tmp_path: Path, name: str) -> None:
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    project = Project(root=tmp_path, state=tmp_path / "state", folder=tmp_path)
    if name:
        project.prepare()
        shutil.rmtree(project.state / name, ignore_errors=True)
    (project.state / name).symlink_to(theirs)

    with pytest.raises(StateNotOwned, match=f"`{project.state / name}`"):
        project.prepare()

    assert list(theirs.iterdir()) == []


def test_a_folder_that_whet_dir_names_is_known_again(tmp_path: Path) -> None:
    variables = {"XDG_STATE_HOME": str(tmp_path / "state"), "WHET_DIR": "kept"}

    Project.find(tmp_path, variables).prepare()
    Project.find(tmp_path, variables).prepare()

    (tmp_path / "kept").rename(tmp_path / "moved")
    Project.find(tmp_path, {**variables, "WHET_DIR": "moved"}).prepare()


@pytest.mark.parametrize("how", ["a copy", "another user's key", "no seal", "half of it"])
def test_a_folder_that_whet_dir_names_and_somebody_else_made_is_refused(
    tmp_path: Path, how: str
) -> None:
    variables = {"XDG_STATE_HOME": str(tmp_path / "state"), "WHET_DIR": "kept"}
    project = Project.find(tmp_path, variables)
    project.prepare()
    (project.state / "notebook.db").write_text("")
    if how == "a copy":
        shutil.copytree(project.state, tmp_path / "copy")
        variables["WHET_DIR"] = "copy"
    elif how == "another user's key":
        variables["XDG_STATE_HOME"] = str(tmp_path / "other")
    else:
        (project.state / "owner").unlink()
        if how == "half of it":
            shutil.rmtree(project.state / "pycache")

    with pytest.raises(StateNotOwned) as caught:
        Project.find(tmp_path, variables).prepare()

    assert "whet notebook adopt" in caught.value.hint


@pytest.mark.parametrize(
    "variables",
    [
        {},
        {"HOME": "/nowhere"},
        {"HOME": "relative"},
    ],
    ids=str,
)
def test_without_a_home_to_write_to_there_is_a_private_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variables: dict[str, str]
) -> None:
    common = tmp_path / "common"
    common.mkdir()
    monkeypatch.setattr(host_user_state, "_COMMON", (str(tmp_path / "none"), str(common)))
    mine = common / f"whet-{os.geteuid()}"

    assert user_state(variables) == mine
    assert user_state({**variables, "XDG_RUNTIME_DIR": str(tmp_path)}) == tmp_path / "whet"
    mine.symlink_to(tmp_path)  # somebody else was first
    with pytest.raises(CannotWrite, match="no folder of yours"):
        user_state(variables)
    mine.unlink()
    mine.mkdir(mode=0o777)
    mine.chmod(0o777)
    with pytest.raises(CannotWrite):
        user_state(variables)
    mine.chmod(0o700)
    assert user_state(variables) == mine


def test_the_state_folder_ignores_itself(tmp_path: Path) -> None:
    project = project_in(tmp_path)

    project.prepare()
    project.prepare()

    assert (project.state / ".gitignore").read_text() == "*\n"
    assert sorted(path.name for path in project.state.iterdir() if path.is_dir()) == [
        "blobs",
        "made",
        "pycache",
        "scratch",
    ]


@pytest.mark.parametrize("written", ["", "*\n"])
def test_a_state_folder_that_was_left_half_made_is_completed(tmp_path: Path, written: str) -> None:
    project = project_in(tmp_path)
    project.state.mkdir()
    (project.state / ".gitignore").write_text(written)

    project.prepare()

    assert (project.state / ".gitignore").read_text() == "*\n"


def test_a_folder_of_the_user_is_not_hidden_from_git(tmp_path: Path) -> None:
    (tmp_path / "theirs").write_text("x")
    project = Project(root=tmp_path, state=tmp_path, folder=tmp_path)

    project.prepare()

    assert not (tmp_path / ".gitignore").exists()
    assert (tmp_path / "blobs").is_dir()


@pytest.mark.parametrize("place", ["taken", "taken/state"])
def test_a_state_folder_that_cannot_be_made_is_named(tmp_path: Path, place: str) -> None:
    (tmp_path / "taken").write_text("a file")

    with pytest.raises(CannotWrite) as caught:
        Project.find(tmp_path, {"WHET_DIR": place}).prepare()

    assert f"`{tmp_path / place}`" in str(caught.value)
    assert "WHET_DIR" in caught.value.hint
    assert (tmp_path / "taken").read_text() == "a file"


def test_a_place_where_nobody_may_make_a_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(CannotWrite, match="`/sys/whet`"):
        Project.find(tmp_path, {"WHET_DIR": "/sys/whet"}).prepare()
