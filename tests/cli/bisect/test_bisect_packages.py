"""`whet bisect --packages` and `--python`: real environments from an index on loopback."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from local_index import LocalIndex, served
from whet_command import Said, Whet

from whet.host.python.environments import find_uv
from whet.host.python.pythons import pythons_between

PYTHON = sys.executable
pytestmark = pytest.mark.slow

BROKEN_SINCE_1_4 = """
import tool, other
assert not (tool.VERSION >= "1.4" and other.VERSION >= "2"), "no flag"
"""


@pytest.fixture
def index() -> Iterator[LocalIndex]:
    with served(LocalIndex()) as local:
        for number in range(9):
            uploaded = f"2024-0{number + 1}-01T00:00:00Z"
            local.wheel("tool", f"1.{number}", uploaded=uploaded,
                        yanked="lost data" if number == 2 else None)  # fmt: skip
        for version in ("1.0", "2.0"):
            local.wheel("other", version, uploaded=f"2024-0{version[0]}-01T00:00:00Z")
            local.wheel("third", version, uploaded="2024-01-01T00:00:00Z")
        local.wheel("strict", "1.0", requires=("third<2",))
        local.wheel("strict", "2.0", requires=("third>=2",))
        yield local


@pytest.fixture
def bisect(whet: Whet, index: LocalIndex, tmp_path: Path) -> Whet:
    if not find_uv(os.environ):
        pytest.skip("uv is not installed")
    own = {
        "UV_DEFAULT_INDEX": index.url, "UV_INDEX": "", "UV_CACHE_DIR": str(tmp_path / "uv"),
        "XDG_CACHE_HOME": str(tmp_path / "cache"), "NO_PROXY": "127.0.0.1",
    }  # fmt: skip
    return Whet(whet.folder, {**whet.environment, **own})


def found_by(said: Said) -> dict[str, object]:
    assert said.code == 0, said.stderr
    found: dict[str, object] = json.loads(said.stdout)
    return found


def names(found: dict[str, object], side: str) -> set[str]:
    told = found[side]
    assert isinstance(told, dict)
    return {each["name"] for each in told["changes"]}


def test_a_release_of_another_package_stands_beside_those_that_are_searched(bisect: Whet) -> None:
    bisect.write("try.py", BROKEN_SINCE_1_4)

    said = bisect("bisect", "--json", "--package", "tool", "--with", "other==2.0", "1.0", "1.8",
                  "--", "python", "try.py")  # fmt: skip

    assert found_by(said)["first_bad"] == "1.4"
    for words in (("--with", "other==2.0", "HEAD"), ("--package", "tool", "--with", "other", "1")):
        refused = bisect("bisect", *words, "--", "python", "try.py")
        assert (refused.code, "doesn't name a release of a second package" in refused.stderr) == (
            64,
            True,
        )


@pytest.mark.long
def test_which_of_many_packages_and_with_which_release(bisect: Whet) -> None:
    bisect.write("good.txt", "tool==1.0\nother==1.0\nthird==1.0\nstrict==1.0\n")
    bisect.write("bad.txt", "tool==1.8\nother==2.0\nthird==2.0\nstrict==2.0\n")
    bisect.write("try.py", BROKEN_SINCE_1_4)

    said = bisect("bisect", "--json", "--packages", "good.txt", "bad.txt", "--", "python", "try.py")

    found = found_by(said)
    assert names(found, "fails") == {"tool", "other"}
    assert len(names(found, "passes")) == 1
    releases = found["releases"]
    assert isinstance(releases, list)
    assert {each["subject"]: each["first_bad"] for each in releases} == {
        "tool": "1.4", "other": "2.0",
    }  # fmt: skip
    assert (bisect.folder / "bad.fails.txt").read_text().splitlines() == [
        "other==2.0", "strict==1.0", "third==1.0", "tool==1.8",
    ]  # fmt: skip


@pytest.mark.long
def test_a_day_stands_for_the_packages_of_the_other_end_as_they_were_then(bisect: Whet) -> None:
    bisect.write("now.txt", "tool==1.8\nother==2.0\nmine @ file:///nowhere\n")
    bisect.write("try.py", "import tool\nassert tool.VERSION < '1.6', tool.VERSION[:1]\n")

    said = bisect("bisect", "--packages", "2024-04-15", "now.txt", "--", "python", "try.py")

    assert said.code == 0, said.stderr
    assert "2024-04-15 with this one difference fails" in said.stdout
    assert "tool: 1.3 → 1.8" in said.stdout
    assert "tool 1.6 is the first bad release" in said.stdout
    assert "now.txt: skipped: mine: it doesn't come from a package index" in said.stderr


def test_packages_that_do_not_go_together_are_skipped_and_said(bisect: Whet) -> None:
    bisect.write("good.txt", "third==1.0\nstrict==1.0\nother==1.0\n")
    bisect.write("bad.txt", "third==2.0\nstrict==2.0\nother==1.0\n")
    bisect.write("try.py", "import third\nassert third.VERSION < '2'\n")

    said = bisect("bisect", "--packages", "good.txt", "bad.txt", "--", "python", "try.py")

    assert said.code == 0, said.stderr
    assert "good.txt with these 2 fails" in said.stdout
    assert "skipped: can't install `other==1.0` and 2 packages with it" in said.stderr


@pytest.mark.long
def test_an_investigation_names_the_package_and_the_release_beside_a_good_set(bisect: Whet) -> None:
    uv = find_uv(os.environ)
    assert uv is not None
    python = bisect.folder / "own" / "bin" / "python"
    own = {**os.environ, **bisect.environment}
    for words in (
        ("venv", "--quiet", "--python", PYTHON, str(python.parent.parent)),
        ("pip", "install", "--quiet", "--python", str(python), "tool==1.8", "other==2.0", "third==2.0"),
    ):  # fmt: skip
        subprocess.run([uv, *words], env=own, check=True)
    bisect.write("good.txt", "tool==1.0\nother==2.0\nthird==1.0\n")
    bisect.write("try.py", BROKEN_SINCE_1_4)

    said = bisect("investigate", "--good-packages", "good.txt", "--", str(python), "try.py")

    assert said.code == 0, said.stderr
    decides = "package tool: `1.0` → `1.8`"
    found = (
        f"good.txt fails with {decides}; now passes without {decides}; tool 1.4 is the first bad"
    )
    assert found in said.stderr
    text = (bisect.folder / "whet-report" / "report.json").read_text()
    assert any(found in step["result"] for step in json.loads(text)["steps"])


SLIPS_WITH_NEWER_PACKAGES = """
import third, tool
if third.VERSION >= "2":
    raise ImportError("cannot import name 'old' from 'third'")
if tool.VERSION >= "1.4":
    [][0]
"""


def own_python(bisect: Whet, *packages: str) -> str:
    """Install packages as a user has them, and return the Python that sees them."""
    uv = find_uv(os.environ)
    assert uv
    folder = bisect.folder / "own"
    own = {**os.environ, **bisect.environment}
    for words in (
        ("venv", "--quiet", "--python", PYTHON, str(folder)),
        ("pip", "install", "--quiet", "--python", str(folder), *packages),
    ):
        subprocess.run([uv, *words], env=own, check=True)
    return str(folder / "bin" / "python")


@pytest.fixture
def with_needs(bisect: Whet, index: LocalIndex) -> Whet:
    for number in range(3, 9):
        needs = ("third",) if number < 8 else ("third", "other>=2")
        index.wheel("tool", f"1.{number}", requires=needs)
    return bisect


@pytest.mark.long
def test_of_the_users_packages_only_the_one_that_is_searched_changes(with_needs: Whet) -> None:
    python = own_python(with_needs, "tool==1.7", "third==1.0")
    with_needs.write("try.py", SLIPS_WITH_NEWER_PACKAGES)

    said = with_needs("bisect", "--json", "--package", "tool", "1.3", "1.7", "--", python, "try.py")

    assert found_by(said)["first_bad"] == "1.4"


@pytest.mark.long
def test_what_only_another_release_requires_is_installed_beside_it(with_needs: Whet) -> None:
    python = own_python(with_needs, "tool==1.7", "third==1.0")
    with_needs.write("try.py", "import tool\nif tool.VERSION >= '1.8':\n    import other, third\n"
                     "    assert (other.VERSION, third.VERSION) != ('2.0', '1.0')\n")  # fmt: skip

    said = with_needs("bisect", "--package", "tool", "1.7", "1.8", "--", python, "try.py")

    assert said.code == 0, said.stderr
    assert "tool 1.8 is the first bad release" in said.stdout


@pytest.mark.long
def test_an_investigation_of_a_package_shows_the_users_failure(with_needs: Whet) -> None:
    python = own_python(with_needs, "tool==1.7", "third==1.0")
    with_needs.write("try.py", SLIPS_WITH_NEWER_PACKAGES)

    said = with_needs("investigate", "--package", "tool", "--", python, "try.py")

    assert said.code == 0, said.stderr
    found = json.loads((with_needs.folder / "whet-report" / "report.json").read_text())
    assert found["failure"]["signature"]["exception"] == "IndexError"
    assert found["history"]["first_bad"] == "1.4"
    assert "third==1.0" in (with_needs.folder / "whet-report" / "reproduce.sh").read_text()


@pytest.mark.long
@pytest.mark.parametrize(
    "words", [("investigate", "--package", "tool"), ("bisect", "--package", "tool", "1.7")]
)
def test_an_environment_that_fails_otherwise_is_refused_with_both_failures(
    words: tuple[str, ...], with_needs: Whet
) -> None:
    python = own_python(with_needs, "tool==1.7", "third==1.0")
    with_needs.write("try.py", "import sys, tool\nif sys.prefix.endswith('own'):\n    [][0]\n"
                     "raise KeyError('moved')\n")  # fmt: skip

    said = with_needs(*words, "--", python, "try.py")

    assert said.code == 65
    assert "your command fails: `IndexError: list index out of range`" in said.stderr
    assert "it fails: `KeyError: 'moved'`" in said.stderr
    assert "first bad" not in said.stdout


@pytest.mark.long
def test_a_program_that_the_users_python_installed_runs_with_each_release(with_needs: Whet) -> None:
    python = own_python(with_needs, "tool==1.7", "third==1.0", "other==1.0")
    program = Path(python).with_name("check")
    program.write_text(f"#!{python}\nimport tool\nassert tool.VERSION < '1.5'\n")
    program.chmod(0o755)

    said = with_needs("bisect", "--json", "--package", "tool", "1.3", "1.7", "--", str(program))

    assert found_by(said)["first_bad"] == "1.5"


def test_an_end_that_cannot_be_installed_is_named(bisect: Whet, index: LocalIndex) -> None:
    index.sdist("old", "1.0", is_broken=True)
    bisect.write("good.txt", "tool==1.0\n")
    bisect.write("bad.txt", "tool==1.8\nold==1.0\n")

    said = bisect("bisect", "--packages", "good.txt", "bad.txt", "--", "python", "-c", "1/0")

    assert said.code == 69
    assert "can't install `old==1.0` and 1 package with it" in said.stderr
    assert "hint: " in said.stderr


@pytest.mark.parametrize(
    ("ends", "words"),
    [
        (("a.txt", "b.txt"), "`a.txt` is neither a file nor a date nor `now`"),
        (("2024-13-41", "now"), "`2024-13-41` is neither a file nor a date nor `now`"),
        (("2024-01-01", "2024-02-01"), "are both dates, without any packages"),
        (("pins.txt", "pins.txt"), "are the same packages"),
        (
            ("pins.txt", "loose.txt"),
            "`loose.txt` pins no packages: tool: `tool>1` doesn't name one",
        ),
        (("a", "b", "c"), "doesn't name two sets of packages"),
    ],
)
def test_ends_that_are_no_two_sets_are_refused_with_the_next_step(
    bisect: Whet, ends: tuple[str, ...], words: str
) -> None:
    bisect.write("pins.txt", "tool==1.0\n")
    bisect.write("loose.txt", "tool>1\n")

    said = bisect("bisect", "--packages", *ends, "--", "python", "-c", "1/0")

    assert said.code in {64, 65, 66}
    assert words in said.stderr
    assert "hint: " in said.stderr


@pytest.mark.long
def test_the_first_python_on_which_it_fails_is_found(bisect: Whet) -> None:
    there = pythons_between((3, 8), (3, 14), os.environ)
    minors = list(there)[-3:]
    if len(minors) < 2:
        pytest.skip("this machine has fewer than two Pythons")
    oldest, newest = (".".join(map(str, each)) for each in (minors[0], minors[-1]))
    bisect.write("try.py", f"import sys, tool\nassert sys.version_info[:2] < {minors[1]}\n")
    bisect.write("pins.txt", "tool==1.3\n")

    said = bisect(
        "bisect", "--json", "--python", f"{oldest}..{newest}", "pins.txt", "--", "python", "try.py",
        environment={"UV_PYTHON_DOWNLOADS": "never"},
    )  # fmt: skip

    assert found_by(said)["first_bad"] == there[minors[1]].version


def test_a_range_of_pythons_that_cannot_be_read_is_refused(bisect: Whet) -> None:
    said = bisect("bisect", "--python", "3.9", "--", "python", "-c", "1/0")

    assert said.code == 64
    assert "write the oldest and the newest: `--python 3.10..3.13`" in said.stderr
