"""What ``whet investigate`` says of other releases of a package in which the failure lies."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from local_index import LocalIndex, served
from whet_command import Whet

from whet.core.budget import StopReason
from whet.core.verdict import Verdict
from whet.host.python.environments import find_uv
from whet.workbench.investigate.steps.fixed_already import none_older
from whet.workbench.trials.investigation import TestedVersion, VersionSearch

pytestmark = pytest.mark.slow

GOOD = """
def first(items):
    '''Return the first one, as of {version}.'''
    return pick(items, 0)
def pick(items, at):
    return items[at] if items else None
def unused(items):
    return {version}
"""
OWN_STATE = """
import tool
def left(number, taken=[]):
    taken.append(number)
    return [each for each in range(2) if each not in taken]
for number in (0, 1):
    print(tool.first(left(number)))
"""
BAD = GOOD.replace("items[at] if items else None", "items[at]")


@pytest.fixture
def index() -> Iterator[LocalIndex]:
    with served(LocalIndex()) as local:
        yield local


def release(index: LocalIndex, *, broken: range) -> None:
    for number in range(9):
        source = BAD if number in broken else GOOD
        index.wheel("tool", f"1.{number}", source=source.replace("{version}", str(number)))


@pytest.fixture
def user(whet: Whet, tmp_path: Path, index: LocalIndex) -> Whet:
    if not find_uv(os.environ):
        pytest.skip("uv is not installed")
    own = {
        "UV_DEFAULT_INDEX": index.url, "UV_INDEX": "", "UV_CACHE_DIR": str(tmp_path / "uv"),
        "XDG_CACHE_HOME": str(tmp_path / "cache"), "NO_PROXY": "127.0.0.1",
    }  # fmt: skip
    whet.write("app.py", "import tool\nprint(tool.first([1]))\nprint(tool.first([]))\n")
    return Whet(whet.folder, {**whet.environment, **own})


def investigated(user: Whet, version: str, *words: str, program: str = "app.py") -> dict[str, Any]:
    uv = find_uv(os.environ)
    assert uv
    own, folder = {**os.environ, **user.environment}, str(user.folder / "own")
    for command in (
        ("venv", "--quiet", "--python", sys.executable, folder),
        ("pip", "install", "--quiet", "--python", folder, f"tool=={version}"),
    ):
        subprocess.run([uv, *command], env=own, check=True)
    said = user("investigate", *words, "--", f"{folder}/bin/python", program)
    assert said.code == 0, said.stderr
    found: dict[str, Any] = json.loads((user.folder / "whet-report" / "report.json").read_text())
    return found


def test_the_release_that_fixed_it_is_named_with_the_function_that_it_changed(
    user: Whet, index: LocalIndex
) -> None:
    release(index, broken=range(4, 7))

    clue = investigated(user, "1.5")["clues"][0]

    assert clue["says"].startswith("tool fails this way with 1.6, and passes since 1.7: ")
    assert "`pick` at tool.py:" in clue["says"]
    assert "unused" not in clue["says"]
    assert Path(clue["path"]).is_relative_to(user.folder / "own")
    assert Path(clue["path"]).read_text().splitlines()[clue["line"] - 1] == "def pick(items, at):"
    assert clue["sureness"] == "shown"
    assert len(clue["trials"]) == 2
    assert clue["next_step"] == "Upgrade: `pip install 'tool>=1.7'`."


def test_where_no_newer_release_passes_the_one_that_brought_it_is_named(
    user: Whet, index: LocalIndex
) -> None:
    release(index, broken=range(4, 9))

    found = investigated(user, "1.5")

    clue = found["clues"][0]
    assert clue["says"].startswith("tool passes with 1.3, and fails this way since 1.4: ")
    assert "`pick` at tool.py:" in clue["says"]
    assert clue["next_step"] == "Until it is fixed, `tool==1.3` doesn't have this failure."
    titles = [each["title"] for each in found["steps"]]
    place = titles.index("Try other releases of tool")
    assert titles.index("Look closer") < place
    assert found["steps"][place]["result"].endswith("; so does 1.8")


@pytest.mark.long
def test_where_every_release_fails_none_is_blamed(user: Whet, index: LocalIndex) -> None:
    release(index, broken=range(9))

    found = investigated(user, "1.5")

    assert not [clue for clue in found["clues"] if "tool 1." in clue["says"]]
    (step,) = (each for each in found["steps"] if "other releases of tool" in each["title"])
    assert (
        step["result"]
        == "tool 1.5 fails; so does 1.8, and none of the 4 older releases judged passes"
    )


def test_of_older_releases_that_no_time_was_left_for_nothing_is_said() -> None:
    tested = tuple(
        TestedVersion(label=each, verdict=Verdict.BAD, trial=None)
        for each in ("1.5", "1.4", "1.10", "1.2")
    )
    cut = VersionSearch(
        kind="release", subject="tool", good="", bad="1.5", first_bad=None, tested=tested,
        stopped=StopReason.OUT_OF_TIME,
    )  # fmt: skip

    assert none_older("1.5", {}, cut) == (
        ", and so does each of the 2 older releases tried: 1.4 … 1.2; the time budget is used up"
    )
    assert none_older("1.2", {}, cut) == "; no older release was tried; the time budget is used up"


@pytest.mark.long
@pytest.mark.parametrize(
    ("words", "program"),
    [(("--no-releases",), "app.py"), ((), "own_fault.py"), ((), "own_state.py")],
    ids=["turned-off", "no-package-fails", "the-cause-is-shown-before"],
)
def test_the_index_is_not_asked(
    words: tuple[str, ...], program: str, user: Whet, index: LocalIndex
) -> None:
    release(index, broken=range(9))
    user.write("own_fault.py", "import tool\nprint(tool.first([1]))\n[][0]\n")
    user.write("own_state.py", OWN_STATE)

    found = investigated(user, "1.5", *words, program=program)

    assert not [each for each in found["steps"] if "other releases" in each["title"]]


@pytest.mark.long
def test_without_an_index_it_says_that_nothing_is_known(user: Whet, index: LocalIndex) -> None:
    release(index, broken=range(4, 7))
    uv = find_uv(os.environ)
    assert uv
    investigated(user, "1.5", "--no-releases")
    index.status = 503

    said = user("investigate", "--", str(user.folder / "own/bin/python"), "app.py")

    assert said.code == 0, said.stderr
    assert "unknown: the package index" in said.stderr
