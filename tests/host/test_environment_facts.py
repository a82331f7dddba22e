import json
import os
import subprocess
import sys
import sysconfig
from importlib import metadata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.core.output import digest_of
from whet.host.python.installed_packages import Python, python_at
from whet.host.python.interpreters import Search
from whet.host.trial.environment_facts import digest_of_texts, look_around, observe, packages_of
from whet.host.trial.kept_environment import environment_to_keep


@pytest.fixture
def state(tmp_path: Path) -> Path:
    folder = tmp_path / "state"
    folder.mkdir()
    return folder


def program(path: Path, content: str = "") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)
    path.chmod(0o755)
    return path


# The environment


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("GITHUB_TOKEN", "abcdef"),
        ("aws_secret_access_key", "abcdef"),
        ("PGPASSWORD", "12345678"),
        ("MYSQL_PWD", "hunter2"),
        ("DB_PASS", "hunter2"),
        ("SSL_KEY_PASSPHRASE", "hunter2"),
        ("OPENAI_API_KEY", "abc"),
        ("APIKEY", "abc"),
        ("GOOGLE_CREDENTIALS", "{}x"),
        ("HTTP_AUTH", "abc"),
        ("PRIVATE_KEY", "abc"),
        ("SESSION_COOKIE", "abc"),
        ("SENTRY_DSN", "https://1234@example.org/1"),
        ("AZURE_STORAGE_CONNECTION_STRING", "abc"),
        ("SLACK_WEBHOOK", "https://example.org/x"),
        ("EXTRA", "-----BEGIN OPENSSH PRIVATE KEY-----"),
        ("EXTRA", "ghp_abcdefghijklmnop"),
        ("EXTRA", "--header=Bearer abcdefghij"),
        ("EXTRA", "Server=x;Password=hunter2;"),
        ("EXTRA", '{"token": "abc"}'),
    ],
)
def test_a_secret_is_not_kept_but_its_change_is_seen(state: Path, name: str, value: str) -> None:
    kept = environment_to_keep({name: value}, state=state)
    again = environment_to_keep({name: value}, state=state)
    other = environment_to_keep({name: f"{value}x"}, state=state)

    assert value not in kept[name]
    assert kept == again
    assert kept != other


@pytest.mark.parametrize(
    "url",
    [
        "https://user:hunter2@example.org/simple",
        "postgres://user:p@ss/hunter2@db/x",
        "redis://:hunter2@db:6379",
        "https://hunter2hunter2hunter2hunter2@github.com/x.git",
        "http://proxy,https://user:hunter2@example.org",
    ],
)
def test_a_password_inside_a_url_is_not_kept(state: Path, url: str) -> None:
    kept = environment_to_keep({"PIP_INDEX_URL": url}, state=state)["PIP_INDEX_URL"]

    assert "hunter2" not in kept
    assert "://" in kept


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("PATH", "/usr/bin:/bin"),
        ("TOKENIZERS_PARALLELISM", "4"),
        ("GIT_AUTHOR_NAME", "a"),
        ("KEYBOARD", "us"),
        ("USE_AUTH", "true"),
        ("SECRET", ""),
        ("URL", "https://example.org:8080/a"),
        ("REPO", "ssh://git@example.org/x"),
        ("BAD", "caf\udce9"),
    ],
)
def test_what_is_no_secret_is_kept_as_it_is(state: Path, name: str, value: str) -> None:
    assert environment_to_keep({name: value}, state=state) == {name: value}


def test_a_mark_is_too_short_to_confirm_a_guess_and_differs_between_projects(
    state: Path, tmp_path: Path
) -> None:
    (tmp_path / "other").mkdir()
    kept = environment_to_keep({"TOKEN": "hunter2"}, state=state)
    elsewhere = environment_to_keep({"TOKEN": "hunter2"}, state=tmp_path / "other")

    assert len(kept["TOKEN"]) == len("<secret 123456>")
    assert kept != elsewhere
    assert (state / "salt").stat().st_mode & 0o077 == 0


def test_without_a_place_for_the_salt_secrets_are_still_not_kept(tmp_path: Path) -> None:
    kept = environment_to_keep({"TOKEN": "hunter2"}, state=tmp_path / "none")

    assert kept["TOKEN"].startswith("<secret ")


@given(st.dictionaries(st.sampled_from(["PWD", "OLDPWD", "SHLVL", "_", "WINDOWID", "LINES",
                                        "SSH_AUTH_SOCK", "DBUS_SESSION_BUS_ADDRESS",
                                        "TERM_SESSION_ID", "WHET_DIR"]), st.text()))  # fmt: skip
def test_what_changes_by_itself_does_not_count(volatile: dict[str, str]) -> None:
    here = Path("/nonexistent")

    assert environment_to_keep({"A": "1", **volatile}, state=here) == {"A": "1"}


# The interpreter


def test_the_python_of_a_command_is_found(tmp_path: Path) -> None:
    python = program(tmp_path / "bin" / "python3", "\x7fELF")
    program(tmp_path / "bin" / "python3.11", "\x7fELF")
    program(tmp_path / "bin" / "pytest", f"#!{python}\nimport pytest\n")
    program(tmp_path / "bin" / "by-env", "#!/usr/bin/env python3\n")
    program(tmp_path / "bin" / "by-env-s", "#!/usr/bin/env -S python3 -u\n")
    program(tmp_path / "bin" / "long", f"#!/bin/sh\n'''exec' {python} \"$0\" \"$@\"\n' '''\n")
    program(tmp_path / "bin" / "nested", f"#!{tmp_path}/bin/by-env\n")
    program(tmp_path / "bin" / "shell", "#!/bin/sh\n")
    program(tmp_path / "bin" / "empty", "#!\n")
    program(tmp_path / "bin" / "loop", f"#!{tmp_path}/bin/loop\n")
    (tmp_path / "bin" / "secret").write_text("not executable")
    (tmp_path / "bin" / "folder").mkdir()
    search = Search(cwd=str(tmp_path), environment={"PATH": f"/none:{tmp_path}/bin:/usr/bin:/bin"})

    for command in (
        "python3 x.py", "pytest -q", "by-env", "by-env-s", "long", "nested", "bin/pytest",
        "./bin/python3 -c 0", f"{tmp_path}/bin/python3", "env -u B A=1 python3 x", "env -Spython3", "env -S python3",
        "env -- python3", "timeout -k 1 5 python3 x", "nice -n 5 python3", "nohup python3",
        "stdbuf -o L python3", "time -- python3",
    ):  # fmt: skip
        assert search.python_of(tuple(command.split())) == str(python), command
    assert search.python_of(("python3.11",)) == str(tmp_path / "bin" / "python3.11")
    for command in ("shell", "empty", "loop", "secret", "folder", "bin/secret", "no-such", "env",
                    "true", "timeout 5", "env -S'python3", "uv run x", "bin/no-such"):  # fmt: skip
        assert search.python_of(tuple(command.split())) == "", command


def test_a_runner_of_projects_is_taken_for_the_projects_environment(tmp_path: Path) -> None:
    python = program(tmp_path / ".venv" / "bin" / "python")
    (tmp_path / "src").mkdir()
    search = Search(cwd=str(tmp_path / "src"), environment={})

    assert search.python_of(("uv", "run", "train.py")) == str(python)
    assert search.python_of(("poetry", "run", "python", "train.py")) == str(python)


def test_a_pyenv_shim_is_looked_through(tmp_path: Path) -> None:
    root = tmp_path / ".pyenv"
    shim = "#!/usr/bin/env bash\nexec pyenv exec\n"
    program(root / "shims" / "python", shim)
    program(root / "shims" / "black", shim)
    for version in ("3.9.2", "3.11.7", "3.11.10"):
        program(root / "versions" / version / "bin" / "python")
    program(root / "versions" / "3.9.2" / "bin" / "black", f"#!{root}/versions/3.9.2/bin/python\n")
    system = program(tmp_path / "bin" / "python")
    (tmp_path / "project" / "src").mkdir(parents=True)

    def found(program_name: str = "python", **variables: str) -> str:
        environment = {
            "PATH": f"{root}/shims:/none:{tmp_path}/bin",
            "HOME": str(tmp_path),
            **variables,
        }
        search = Search(cwd=str(tmp_path / "project" / "src"), environment=environment)
        return search.python_of((program_name,)).removeprefix(f"{root}/versions/")

    assert found() == str(system)
    (root / "version").write_text("3.9.2\n")
    assert found() == "3.9.2/bin/python"
    assert found("black") == "3.9.2/bin/python"
    (tmp_path / "project" / ".python-version").write_text("3.11\n")
    assert found() == "3.11.10/bin/python"
    assert found(PYENV_VERSION="3.11.7:3.9.2") == "3.11.7/bin/python"
    assert found(PYENV_VERSION="system") == str(system)
    assert found(PYENV_ROOT=str(tmp_path / "no-pyenv"), PYENV_VERSION="3.9.2") == str(system)
    assert found("black", PYENV_VERSION="3.11.7") == ""


# Versions and packages


@pytest.mark.slow
def test_another_interpreter_is_started_once(state: Path, tmp_path: Path) -> None:
    real = Path(sys.base_prefix, "bin", f"python3.{sys.version_info.minor}")
    calls = tmp_path / "calls"
    python = program(
        tmp_path / "python", f'#!/bin/sh\necho called >> {calls}\nexec {real} "$@"\n'
    )  # fmt: skip

    first = python_at(str(python), state=state)
    second = python_at(str(python), state=state)

    assert first is not None
    assert first == second
    assert calls.read_text() == "called\n"
    assert first.version == f"CPython {sys.version.split()[0]}"
    assert first.prefix == sys.base_prefix
    assert any(folder.endswith("-packages") for folder in first.folders)
    os.utime(python)
    assert python_at(str(python), state=state) == first
    assert calls.read_text() == "called\ncalled\n"
    (state / "interpreters.json").write_text('{"x": {"version": 3}}')
    assert python_at(str(python), state=state) == first


@pytest.mark.parametrize(
    "content", ["#!/bin/sh\necho hello\n", "#!/bin/sh\necho '{}'\n", "\x7fELF"]
)
def test_what_only_looks_like_a_python_is_none(state: Path, tmp_path: Path, content: str) -> None:
    assert python_at(str(program(tmp_path / "python", content)), state=state) is None
    assert python_at(str(tmp_path / "none"), state=state) is None


@pytest.mark.slow
def test_a_virtual_environment_says_its_version_without_being_started(
    state: Path, tmp_path: Path
) -> None:
    made = [sys.executable, "-m", "venv", "--without-pip", str(tmp_path / "venv")]
    subprocess.run(made, check=True)
    python = tmp_path / "venv" / "bin" / "python"

    found = python_at(str(python), state=state)

    assert found is not None
    assert found.version == f"CPython {sys.version.split()[0]}"
    assert [*found.folders] == [
        str(tmp_path / "venv" / "lib" / f"python3.{sys.version_info.minor}" / "site-packages")
    ]
    assert not (state / "interpreters.json").exists()
    settings = tmp_path / "venv" / "pyvenv.cfg"
    text = settings.read_text()
    for other in (text.replace("= false", "= true"), text.replace("version = ", "version = x")):
        settings.write_text(other)
        asked = python_at(str(python), state=state)
        assert asked is not None
        assert asked.version == found.version
        assert found.folders[0] in asked.folders
    settings.write_text(text)
    os.utime(settings, (1, 1))  # the Python below is newer
    (state / "interpreters.json").unlink()
    assert python_at(str(python), state=state) is not None
    assert (state / "interpreters.json").exists()


def test_packages_are_what_python_itself_sees(state: Path) -> None:
    found = packages_of((sys.executable, "x.py"), Path.cwd(), {"HOME": "/none"}, state=state)

    site = sysconfig.get_path("purelib")
    expected = {
        one.name.lower().replace("_", "-").replace(".", "-"): one.version
        for one in metadata.distributions(path=[site])
    }
    assert {name: version for name, version in found.items() if "/" not in name} == expected
    source = Path(__file__).parents[2] / "src"
    if found.get(str(source)):
        assert found[str(source)] == "editable"


def test_the_first_folder_on_the_path_wins_and_all_kinds_are_read(tmp_path: Path) -> None:
    first, site, user = tmp_path / "first", tmp_path / "site", tmp_path / "base" / "user"
    (first / "numpy-2.0.dist-info").mkdir(parents=True)
    (site / "numpy-1.26.dist-info").mkdir(parents=True)
    (site / "Foo.Bar_baz-1.0+local.1.dist-info").mkdir()
    (site / "egg-3.0-py3.11.egg-info").mkdir()
    (site / "bare.egg-info").mkdir()
    (site / "bare.egg-info" / "PKG-INFO").write_text("Name: bare\nVersion: 4.0\n")
    (site / "none.egg-info").mkdir()
    (site / "empty.egg-info").mkdir()
    (site / "empty.egg-info" / "PKG-INFO").write_text("Name: empty\n")
    (site / "x.pth").write_text(f"import os\n{first}\n/no/such/folder\n")
    (site / "gone.pth").symlink_to("nowhere")
    (user / "scipy-1.0.dist-info").mkdir(parents=True)
    conda = tmp_path / "conda-meta"
    conda.mkdir()
    (conda / "cuda-toolkit-12.1-h1_0.json").write_text("{}")
    (conda / "history").write_text("")
    (conda / "odd.json").write_text("{}")
    python = Python(
        version="CPython 3.11.7",
        prefix=str(tmp_path),
        folders=(str(site), str(tmp_path / "none")),
        user="user",
    )

    found = python.packages({"PYTHONPATH": f"{first}:", "PYTHONUSERBASE": str(tmp_path / "base")})

    assert found == {
        str(first): "editable",
        "bare": "4.0",
        "cuda-toolkit (conda)": "12.1 h1_0",
        "egg": "3.0",
        "empty": "",
        "foo-bar-baz": "1.0+local.1",
        "none": "",
        "numpy": "2.0",
        "scipy": "1.0",
    }
    assert "scipy" not in python.packages({"PYTHONNOUSERSITE": "1"})
    assert "scipy" not in python.packages({"HOME": str(tmp_path)})


def test_the_digests_are_those_of_what_is_kept(state: Path) -> None:
    environment = {"PATH": os.environ["PATH"], "LANG": "C", "HOME": "/none"}

    seen = look_around((sys.executable, "x"), Path.cwd(), environment, state=state)

    assert seen.surroundings == observe((sys.executable,), Path.cwd(), environment, state=state)
    assert seen.surroundings.environment_digest == digest_of_texts(seen.environment)
    assert seen.surroundings.packages_digest == digest_of_texts(seen.packages)
    assert seen.surroundings.interpreter == f"CPython {sys.version.split()[0]}"
    assert os.uname().nodename in seen.surroundings.platform
    # This is how the notebook names what it keeps.
    data = json.dumps(dict(seen.environment), sort_keys=True).encode("ascii")
    assert seen.surroundings.environment_digest == digest_of(data)


def test_a_command_without_a_python_has_no_packages(state: Path) -> None:
    seen = observe(("true",), Path.cwd(), {"PATH": "/usr/bin:/bin"}, state=state)

    assert (seen.interpreter, seen.packages_digest) == ("", "")
    assert seen.environment_digest != ""
