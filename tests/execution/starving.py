"""Programs that need too much of something, and the ways in which this machine can limit them."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from laboratory import Laboratory

from whet.core.limits import Limits
from whet.core.outcome import Outcome
from whet.core.trial import Trial
from whet.evidence.signature.classify import classify
from whet.host.limits import catalogue
from whet.host.limits.enforcer import Enforcer
from whet.host.limits.groups.groups_v1 import GroupsV1
from whet.host.limits.groups.groups_v2 import GroupsV2
from whet.host.limits.memory_watchdog import Watchdog

MEBIBYTE = 1 << 20
MEMORY_WAYS: Sequence[Enforcer] = (GroupsV2(), GroupsV1(), Watchdog())

GROWS = """
held = []
while True:
    held.append(b"1" * 1_000_000)
"""


def python(program: str) -> tuple[str, ...]:
    return (sys.executable, "-c", program)


def starve(laboratory: Laboratory, *command: str, limits: Limits) -> Outcome:
    """Run a command under limits, and tell what it died of."""
    trial = Trial(command=command, cwd=str(laboratory.work), limits=limits)
    outcome = laboratory.run(trial)
    assert groups_left() == []
    return outcome.with_failure(classify(trial, outcome))


def said(outcome: Outcome) -> str:
    assert outcome.failure is not None
    return outcome.failure.summary


def groups_left() -> list[str]:
    """Return the groups of this whet that are still there."""
    own = f"whet-{os.getpid()}-"
    return [str(path) for path in Path("/sys/fs/cgroup").glob(f"**/{own}*")]


def need(way: Enforcer, name: str, limits: Limits) -> None:
    """Skip a test that needs a way which this machine does not have."""
    blocker = way.blocker(name, limits)
    if blocker:
        pytest.skip(f"{way.way}: {blocker}")


def only(patch: pytest.MonkeyPatch, name: str, way: Enforcer) -> None:
    """Let one limit be enforced in one way alone."""
    families = [
        catalogue.Family(names=family.names, ways=(way,)) if name in family.names else family
        for family in catalogue.FAMILIES
    ]
    patch.setattr(catalogue, "FAMILIES", families)
