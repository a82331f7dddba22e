"""What a trial inherits from the machine and the shell."""

import json
import os
from collections.abc import Mapping
from pathlib import Path

from whet.core.output import digest_of
from whet.core.trial import EnvironmentFacts
from whet.core.value_class import value_class
from whet.host.python.installed_packages import python_at
from whet.host.python.interpreters import Search
from whet.host.trial.kept_environment import environment_to_keep


@value_class(kw_only=True)
class Observation:
    """The environment of a trial: digests for its key, and the values behind them.

    Attributes:
        surroundings: the digests.
        environment: what ``surroundings.environment_digest`` is of; without secrets.
        packages: what ``surroundings.packages_digest`` is of: name to version.
    """

    surroundings: EnvironmentFacts
    environment: Mapping[str, str]
    packages: Mapping[str, str]


def look_around(
    command: tuple[str, ...], cwd: Path, environment: Mapping[str, str], *, state: Path
) -> Observation:
    """Return what ``command`` would inherit, without starting it."""
    kept = environment_to_keep(environment, state=state)
    path = Search(cwd=os.path.abspath(cwd), environment=environment).python_of(command)
    python = python_at(path, state=state) if path else None
    packages = {} if python is None else python.packages(environment)
    system = os.uname()
    surroundings = EnvironmentFacts(
        environment_digest=digest_of_texts(kept),
        interpreter="" if python is None else python.version,
        packages_digest="" if python is None else digest_of_texts(packages),
        platform=f"{system.sysname} {system.machine} {system.nodename}",
    )
    return Observation(surroundings=surroundings, environment=kept, packages=packages)


def observe(
    command: tuple[str, ...], cwd: Path, environment: Mapping[str, str], *, state: Path
) -> EnvironmentFacts:
    """Return what ``command`` would inherit, by its digests alone."""
    return look_around(command, cwd, environment, state=state).surroundings


def packages_of(
    command: tuple[str, ...], cwd: Path, environment: Mapping[str, str], *, state: Path
) -> dict[str, str]:
    """Return name and version of each package that the Python of ``command`` sees."""
    return dict(look_around(command, cwd, environment, state=state).packages)


def digest_of_texts(texts: Mapping[str, str]) -> str:
    """Return the digest under which the notebook keeps ``texts``."""
    return digest_of(json.dumps(dict(texts), sort_keys=True).encode("ascii"))
