"""What is promised about versions is said in one way everywhere."""

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import Version

import whet

from .tree import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
GROUPS = PROJECT["dependency-groups"]
LOCKS = {"dev.txt": ["dev"], "demo.txt": ["build", "demo"], "ml.txt": ["ml"]}


def test_the_version_is_written_in_two_places_as_one() -> None:
    assert PROJECT["project"]["version"] == whet.__version__


def test_classifiers_name_the_pythons_that_are_supported() -> None:
    supported = SpecifierSet(PROJECT["project"]["requires-python"])
    named = [
        found[1]
        for classifier in PROJECT["project"]["classifiers"]
        if (found := re.fullmatch(r"Programming Language :: Python :: (3\.\d+)", classifier))
    ]

    assert named
    assert all(supported.contains(version) for version in named)
    assert not supported.contains(f"3.{min(int(version[2:]) for version in named) - 1}")
    assert PROJECT["tool"]["mypy"]["python_version"] == named[0]
    assert PROJECT["tool"]["basedpyright"]["pythonVersion"] == named[0]
    assert PROJECT["tool"]["ruff"]["target-version"] == "py" + named[0].replace(".", "")


def _requirements(group: str) -> list[Requirement]:
    found: list[Requirement] = []
    for line in GROUPS[group]:
        if isinstance(line, str):
            found.append(Requirement(line))
        else:
            found += _requirements(line["include-group"])
    return found


def _locked(name: str) -> dict[str, list[Version]]:
    versions: dict[str, list[Version]] = {}
    for line in (ROOT / "locks" / name).read_text("utf-8").splitlines():
        if found := re.match(r"([\w.-]+)==([^\s;]+)", line):
            versions.setdefault(canonicalize_name(found[1]), []).append(Version(found[2]))
    return versions


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_holds_all_that_is_asked_for(lock: str) -> None:
    locked = _locked(lock)
    asked = [Requirement(line) for line in PROJECT["project"]["dependencies"]]
    asked += [requirement for group in LOCKS[lock] for requirement in _requirements(group)]

    unmet = [
        str(requirement)
        for requirement in asked
        if not any(
            requirement.specifier.contains(version, prereleases=True)
            for version in locked.get(canonicalize_name(requirement.name), [])
        )
    ]

    assert unmet == [], "run `make lock`"


def test_locks_agree_with_each_other() -> None:
    dev = _locked("dev.txt")

    for lock in ("demo.txt", "ml.txt"):
        other = _locked(lock)
        assert {name: dev[name] for name in dev.keys() & other.keys()} == {
            name: other[name] for name in dev.keys() & other.keys()
        }, lock


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_pins_contents_and_no_place_to_get_them_from(lock: str) -> None:
    text = Path(ROOT / "locks" / lock).read_text("utf-8")
    pins = re.split(r"\n(?=\S)", text)

    assert not re.search(
        r"://|^\s*-(f|i|-find-links|-index-url|-extra-index-url)\b", text, re.MULTILINE
    )
    assert [
        pin.splitlines()[0] for pin in pins if "==" in pin and "--hash=sha256:" not in pin
    ] == []
