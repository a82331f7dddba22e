"""`whet bisect` where commits need different dependencies, from an index of the test's own."""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from local_index import LocalIndex, served
from whet_command import Said, Whet

from whet.host.python.environments import find_uv

pytestmark = pytest.mark.slow


@pytest.fixture
def index(whet: Whet, tmp_path: Path) -> Iterator[LocalIndex]:
    if not find_uv(os.environ):
        pytest.skip("uv is not installed")
    with served(LocalIndex()) as local:
        whet.environment.update(
            UV_DEFAULT_INDEX=local.url, UV_INDEX="", UV_CACHE_DIR=str(tmp_path / "uv"),
            NO_PROXY="127.0.0.1",
        )  # fmt: skip
        yield local


def dated(whet: Whet, day: int, **files: str) -> str:
    """Commit on a day of January 2026."""
    os.environ["GIT_COMMITTER_DATE"] = f"2026-01-{day:02}T12:00:00Z"
    try:
        return whet.commit(f"day {day}", **files)
    finally:
        del os.environ["GIT_COMMITTER_DATE"]


@pytest.mark.long
def test_each_commit_runs_with_the_dependencies_of_its_day(whet: Whet, index: LocalIndex) -> None:
    index.wheel("helper", "1.0", uploaded="2026-01-01T00:00:00Z")
    index.wheel("helper", "2.0", uploaded="2026-01-04T00:00:00Z")
    whet.git("init", "--quiet", "--initial-branch", "main")
    whet.write("requirements.txt", "helper\n")
    commits = [
        dated(
            whet,
            day,
            app_py="import helper\n"
            f"assert helper.VERSION == '{2 if day >= 4 else 1}.0', 'of another day'\n"
            f"{'raise KeyError' if day >= 6 else ''}\n# {day}\n",
        )
        for day in range(2, 9)
    ]
    words = ("--setup", "uv pip install -r requirements.txt", commits[0], "main")

    then: Said = whet("bisect", "--json", "--as-of-commit", *words, "--", "python", "app.py")
    now: Said = whet("bisect", "--json", *words, "--", "python", "app.py")

    assert then.code == 0, then.stderr
    assert json.loads(then.stdout)["first_bad"] == commits[4][:10]
    assert now.code == 65
    assert "of another day" in now.stderr


def test_a_dependency_of_another_commit_is_not_there(whet: Whet, index: LocalIndex) -> None:
    index.wheel("helper", "1.0")
    whet.git("init", "--quiet", "--initial-branch", "main")
    commits = [
        whet.commit(
            f"c{n}",
            app_py=f"import helper\n# {n}\n",
            **{"requirements.txt": "helper\n" if n < 5 else "# none\n"},
        )
        for n in range(8)
    ]

    said: Said = whet(
        "bisect", "--json", "--jobs", "1", "--setup", "uv pip install -r requirements.txt",
        commits[0], "main", "--", "python", "app.py",
    )  # fmt: skip

    assert said.code == 0, said.stderr
    assert json.loads(said.stdout)["first_bad"] == commits[5][:10]
