"""Requirements of the installed packages that aren't met."""

from collections.abc import Mapping
from contextlib import suppress
from importlib.metadata import Distribution, distributions
from pathlib import Path
from typing import TYPE_CHECKING

from whet.host.python.installed_packages import named_by
from whet.host.python.python_interpreter import PythonFacts

if TYPE_CHECKING:
    from packaging.requirements import Requirement


def unmet_requirements(packages: Path, beside: Mapping[str, str], python: PythonFacts) -> list[str]:
    """Return the requirements of what is installed in a folder that are met neither there nor beside it.

    Args:
        packages: the folder, such as ``site-packages``.
        beside: name to version of what is seen beside it; what is in the folder comes first.
        python: the Python that runs them.
    """
    from packaging.markers import Marker
    from packaging.requirements import Requirement
    from packaging.utils import canonicalize_name

    def applies(marker: Marker | None) -> bool:
        short = ".".join(python.version.split(".")[:2])
        facts = {
            "python_version": short, "python_full_version": python.version,
            "implementation_name": python.implementation, "extra": "",
        }  # fmt: skip
        return marker is None or marker.evaluate(facts)

    def is_met(wanted: Requirement) -> bool:
        version = versions.get(canonicalize_name(wanted.name))
        return version is not None and _allows(wanted, version)

    packages_there = list(distributions(path=[str(packages)]))
    versions = dict(beside)
    versions.update(
        (canonicalize_name(name), version) for name, version in map(named_by, packages_there)
    )
    unmet: dict[str, str] = {}
    for text in (text for each in packages_there for text in _requires(each)):
        # An installer refuses it, where it matters; of a thousand brackets `packaging` raises the last.
        with suppress(ValueError, KeyError, RecursionError):
            requirement = Requirement(text)
            if applies(requirement.marker) and not is_met(requirement):
                requirement.marker = None
                unmet.setdefault(str(requirement), text)
    return list(unmet)


def _requires(distribution: Distribution) -> list[str]:
    with suppress(OSError, ValueError):
        return distribution.requires or []
    return []


def _allows(wanted: "Requirement", version: str) -> bool:
    try:
        return wanted.specifier.contains(version, prereleases=True)
    except ValueError:
        return True  # an editable installation may have a version that can't be compared
