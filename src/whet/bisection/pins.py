"""Sets of packages at one release each: what `pip freeze` prints, requirements and lock files."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import cast

from packaging.markers import Marker
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name, parse_wheel_filename

from whet.bisection.releases import supported_tags
from whet.core.text.record import items_of, record_of
from whet.core.text.toml import toml_data
from whet.core.value_class import value_class
from whet.host.python.python_interpreter import PythonFacts

_COMMENT = re.compile(r"(?:^|\s)#.*")
_HASH = re.compile(r"\s--hash[= ]\S+")
_NOT_FROM_AN_INDEX = ("editable", "virtual", "directory", "git", "url", "path", "vcs", "archive")
_SOURCES = {"git", "directory", "url", "file"}  # poetry's words for them


class NoPinsError(ValueError):
    """A file pins no package; the message says why."""


@value_class(kw_only=True)
class Pins:
    """Packages at one release each.

    Attributes:
        versions: by normalised name (PEP 503).
        left_out: what the file names beside them, and why it is no pin.
    """

    versions: Mapping[str, str]
    left_out: tuple[str, ...] = ()


def read_pins(content: bytes, python: PythonFacts) -> Pins:
    """Return the packages that a file pins for a Python on this machine.

    It may be what `pip freeze` prints, a requirements file, `uv.lock`, `poetry.lock` or
    `pylock.toml` (PEP 751). Of a lock file for many platforms the packages for others are left out.

    Raises:
        NoPinsError: if it pins nothing.
    """
    text = content.decode("utf-8-sig", "replace")
    environment = _environment(python)
    locked = _locked(text)
    versions: dict[str, str] = {}
    left_out: list[str] = []
    found = (
        _of_requirements(text, environment)
        if locked is None
        else _of_lock(locked, environment, python)
    )
    for name, version, why in found:
        if why:
            left_out.append(f"{name}: {why}" if name else why)
        elif version:
            versions[canonicalize_name(name)] = version
    if not versions:
        raise NoPinsError(left_out[0] if left_out else "it pins no package")
    return Pins(versions=dict(sorted(versions.items())), left_out=tuple(left_out))


_Found = tuple[str, str, str]
"""A name, its version, and why it doesn't count."""


def _environment(python: PythonFacts) -> dict[str, str]:
    return {
        "python_full_version": python.version,
        "python_version": ".".join(python.version.split(".")[:2]),
        "implementation_name": python.implementation,
        "extra": "",
    }


def _locked(text: str) -> Sequence[Mapping[str, object]] | None:
    """Return the packages of a lock file; None if it is none."""
    if "[[package" not in text:
        return None
    try:
        data = toml_data(text)
    except ValueError as error:
        raise NoPinsError(f"it looks like a lock file, but isn't TOML: {error}") from error
    packages = items_of(data.get("packages", data.get("package")))
    return [each for each in map(record_of, packages) if each is not None]


def _of_lock(
    packages: Sequence[Mapping[str, object]], environment: Mapping[str, str], python: PythonFacts
) -> Iterator[_Found]:
    for package in packages:
        name, version = str(package.get("name", "")), str(package.get("version", ""))
        if _is_elsewhere(package):
            yield name, version, "it doesn't come from a package index"
        elif not _is_for(package, environment):
            continue
        elif not _has_file(package, python):
            yield name, version, "it has only wheels for other platforms or Pythons"
        else:
            yield name, version, ""


def _is_elsewhere(package: Mapping[str, object]) -> bool:
    source = package.get("source")
    if isinstance(source, dict):
        told = cast("Mapping[str, object]", source)
        return any(key in told for key in _NOT_FROM_AN_INDEX) or told.get("type") in _SOURCES
    return any(key in package for key in _NOT_FROM_AN_INDEX)


def _is_for(package: Mapping[str, object], environment: Mapping[str, str]) -> bool:
    """Whether a locked package is for this platform, as far as its markers say."""
    told = package.get("resolution-markers", package.get("marker", package.get("markers")))
    markers = [told] if isinstance(told, str) else told
    if not isinstance(markers, list) or not markers:
        return True
    return any(_holds(str(marker), environment) for marker in cast("list[object]", markers))


def _holds(marker: str, environment: Mapping[str, str]) -> bool:
    try:
        return Marker(marker).evaluate(dict(environment))
    # It is no marker, or asks for what only an installer knows.
    except (ValueError, KeyError, RecursionError):
        return True


def _has_file(package: Mapping[str, object], python: PythonFacts) -> bool:
    """Whether a locked package has a source, or a wheel that can be installed."""
    files = package.get("wheels", package.get("files"))
    if package.get("sdist") or not isinstance(files, list) or not files:
        return True
    names = [_file_name(record_of(file) or {}) for file in cast("list[object]", files)]
    wheels = [name for name in names if name.endswith(".whl")]
    return len(wheels) < len(names) or any(_fits(wheel, python) for wheel in wheels)


def _file_name(file: Mapping[str, object]) -> str:
    told = file.get("name") or file.get("file") or file.get("filename") or file.get("url") or ""
    return str(told).partition("#")[0].rpartition("/")[2].replace("%2B", "+")


def _fits(wheel: str, python: PythonFacts) -> bool:
    try:
        return bool(parse_wheel_filename(wheel)[3] & supported_tags(python))
    except ValueError:
        return True


def _of_requirements(text: str, environment: Mapping[str, str]) -> Iterator[_Found]:
    for line in text.replace("\\\n", " ").splitlines():
        told = _HASH.sub("", _COMMENT.sub("", line)).strip()
        if not told:
            continue
        if told.startswith("-"):
            yield "", "", f"`{told}` isn't a pin"
            continue
        try:
            yield from _of_requirement(Requirement(told), told, environment)
        # `packaging` also raises these: of a number with 5,000 digits, of a thousand brackets.
        except (ValueError, RecursionError):
            yield "", "", f"`{told[:80]}` isn't a requirement"


def _of_requirement(
    wanted: Requirement, told: str, environment: Mapping[str, str]
) -> Iterator[_Found]:
    if wanted.url:
        yield wanted.name, "", "it doesn't come from a package index"
        return
    if wanted.marker is not None and not wanted.marker.evaluate(dict(environment)):
        return
    exact = [each for each in wanted.specifier if each.operator in {"==", "==="}]
    if len(exact) != 1 or "*" in exact[0].version:
        yield wanted.name, "", f"`{told}` doesn't name one release"
        return
    yield wanted.name, exact[0].version, ""
