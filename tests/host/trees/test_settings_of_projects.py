"""Settings: which place wins, and what needs the user's word."""

import os
from collections.abc import Mapping
from dataclasses import fields, replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.core.errors import BadSetting
from whet.host.code.project import Project
from whet.host.code.settings import Settings, agree, load_settings


def project_in(folder: Path) -> Project:
    return Project(root=folder, state=folder / ".whet", folder=folder)


def test_without_any_settings_the_defaults_hold(tmp_path: Path) -> None:
    assert load_settings(project_in(tmp_path), {"HOME": str(tmp_path)}) == Settings()
    assert load_settings(project_in(tmp_path), {}) == Settings()


@given(
    user=st.none() | st.integers(1, 9),
    pyproject=st.none() | st.integers(1, 9),
    own=st.none() | st.integers(1, 9),
    environment=st.none() | st.integers(1, 9),
)
def test_the_nearer_place_wins_and_a_project_widens_nothing(
    tmp_path_factory: pytest.TempPathFactory,
    user: int | None,
    pyproject: int | None,
    own: int | None,
    environment: int | None,
) -> None:
    """But a project allows no more than the user does, or than the machine has cores."""
    folder = tmp_path_factory.mktemp("project")
    variables = {"XDG_CONFIG_HOME": str(folder / "config")}
    if user is not None:
        (folder / "config" / "whet").mkdir(parents=True)
        (folder / "config" / "whet" / "settings.toml").write_text(f"jobs = {user}")
    if pyproject is not None:
        (folder / "pyproject.toml").write_text(f"[tool.whet]\njobs = {pyproject}")
    if own is not None:
        (folder / "whet.toml").write_text(f"jobs = {own}")
    if environment is not None:
        variables["WHET_JOBS"] = str(environment)

    theirs = own if own is not None else pyproject
    is_wider = theirs is not None and theirs > (user or os.cpu_count() or 1)
    said = [each for each in (environment, None if is_wider else theirs, user) if each is not None]
    settings = load_settings(project_in(folder), variables)
    assert settings.jobs == (said[0] if said else None)
    assert settings.wider_limits == ({"jobs": theirs} if is_wider else {})


WIDER = """\
jobs = 1
timeout_seconds = 90
keep_untracked_below_bytes = 20_000_000
[limits.laptop]
memory = "64G"
[limits.theirs]
memory = "1G"
[toggles.no-cache]
variables = { APP_CACHE = "0" }
"""


def test_what_allows_more_holds_once_the_user_has_agreed_and_until_it_changes(
    tmp_path: Path,
) -> None:
    (tmp_path / "config" / "whet").mkdir(parents=True)
    (tmp_path / "config" / "whet" / "settings.toml").write_text("timeout_seconds = 60")
    (tmp_path / "whet.toml").write_text(WIDER)
    variables = {"XDG_CONFIG_HOME": str(tmp_path / "config")}
    project = project_in(tmp_path)
    project.prepare()

    before = load_settings(project, variables)
    assert (before.jobs, before.timeout_seconds, set(before.limits)) == (1, 60, {"theirs"})
    assert before.keep_untracked_below_bytes == Settings().keep_untracked_below_bytes
    assert set(before.wider_limits) == {
        "timeout_seconds", "keep_untracked_below_bytes", "limits.laptop",
    }  # fmt: skip
    assert set(before.switches_not_agreed) == {"no-cache"}

    agree(project, before)
    after = load_settings(project, variables)
    assert (after.timeout_seconds, after.keep_untracked_below_bytes) == (90, 20_000_000)
    assert (set(after.limits), set(after.toggles)) == ({"laptop", "theirs"}, {"no-cache"})
    assert not after.not_agreed

    (tmp_path / "whet.toml").write_text(WIDER.replace("= 90", "= 91"))
    assert load_settings(project, variables) == replace(
        before, not_agreed={**before.not_agreed, "timeout_seconds": 91}
    )


def test_every_setting_is_read_from_each_kind_of_place(tmp_path: Path) -> None:
    (tmp_path / "whet.toml").write_text(
        "timeout_seconds = 1.5\njobs = 1\nkeep_untracked_below_bytes = 0\n"
    )
    wanted = Settings(timeout_seconds=1.5, jobs=1, keep_untracked_below_bytes=0)
    variables = {
        f"WHET_{field.name.upper()}": str(getattr(wanted, field.name)) for field in fields(Settings)
    }

    assert load_settings(project_in(tmp_path), {}) == wanted
    assert load_settings(project_in(tmp_path / "other"), variables) == wanted


def test_user_settings_are_found_in_the_home_folder(tmp_path: Path) -> None:
    (tmp_path / ".config" / "whet").mkdir(parents=True)
    (tmp_path / ".config" / "whet" / "settings.toml").write_text("jobs = 3")
    variables = {"HOME": str(tmp_path), "XDG_CONFIG_HOME": "relative/is/ignored"}

    assert load_settings(project_in(tmp_path / "project"), variables).jobs == 3


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("job = 3", "`job`"),
        ("jobs = 0", "0"),
        ("jobs = 1.5", "1.5"),
        ("jobs = true", "True"),
        ("jobs = '4'", "'4'"),
        ("keep_untracked_below_bytes = -1", "-1"),
        ("keep_untracked_below_bytes = false", "False"),
        ("timeout_seconds = 0", "0"),
        ("timeout_seconds = inf", "inf"),
        ("timeout_seconds = nan", "nan"),
        ("timeout_seconds = false", "False"),
        ("timeout_seconds = '5min'", "'5min'"),
        ("timeout_seconds = [1]", "[1]"),
        ("jobs = ", "TOML"),
        ("\xff", "TOML"),
    ],
)
@pytest.mark.parametrize("name", ["whet.toml", "whet/settings.toml"])
def test_a_wrong_setting_names_file_key_and_value(
    tmp_path: Path, name: str, line: str, said: str
) -> None:
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(line.encode("latin-1"))

    with pytest.raises(BadSetting) as caught:
        load_settings(project_in(tmp_path), {"XDG_CONFIG_HOME": str(tmp_path)})

    assert f"`{path}`" in str(caught.value)
    assert said in str(caught.value)
    assert line.split(" ", maxsplit=1)[0] in str(caught.value) or "TOML" in str(caught.value)


def test_an_unknown_setting_is_answered_with_the_known_ones(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool]\nwhet.job = 3")

    with pytest.raises(BadSetting) as caught:
        load_settings(project_in(tmp_path), {})

    assert "pyproject.toml" in str(caught.value)
    known = {field.name for field in fields(Settings)} - {"not_agreed"}
    assert all(f"`{name}`" in caught.value.hint for name in known)


@pytest.mark.parametrize("value", ["many", "0", "1.5", "-3", "nan"])
def test_a_wrong_variable_is_named(tmp_path: Path, value: str) -> None:
    with pytest.raises(BadSetting, match="`WHET_JOBS`") as caught:
        load_settings(project_in(tmp_path), {"WHET_JOBS": value})

    assert value.lstrip("-") in str(caught.value)


def test_other_variables_are_left_alone(tmp_path: Path) -> None:
    variables = {"WHET_DIR": "/x", "WHET_SLOT": "token", "WHET_JOBS": ""}

    assert load_settings(project_in(tmp_path), variables) == Settings()


@pytest.mark.parametrize(
    "text",
    ["[tool.other]\njobs = 'x'", "[tool.whet", "whet = [", "name = 'whet'\n", "# whet \xff"],
)
def test_a_pyproject_without_our_table_is_none_of_our_business(tmp_path: Path, text: str) -> None:
    (tmp_path / "pyproject.toml").write_bytes(text.encode("latin-1"))

    assert load_settings(project_in(tmp_path), {}) == Settings()


def test_our_table_must_be_a_table(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool]\nwhet = 3")

    with pytest.raises(BadSetting, match="not a table"):
        load_settings(project_in(tmp_path), {})


def test_settings_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    (tmp_path / "whet.toml").mkdir()

    with pytest.raises(BadSetting, match=r"can't read .*whet\.toml"):
        load_settings(project_in(tmp_path), {})


def test_who_has_no_settings_does_not_pay_for_their_parser(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[project]\nname = 'x'")
    script = (
        "import sys; from pathlib import Path; from whet.host.code.project import *;from whet.host.code.settings import *;"
        "load_settings(Project.find(Path.cwd(), {}), {}); sys.exit('tomllib' in sys.modules)"
    )

    assert exit_code_of(script, tmp_path, {}) == 0


def exit_code_of(script: str, cwd: Path, environment: Mapping[str, str]) -> int:
    import subprocess
    import sys

    done = subprocess.run(
        [sys.executable, "-c", script], cwd=cwd, env={**os.environ, **environment}, check=False
    )
    return done.returncode
