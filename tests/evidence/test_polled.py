"""Which of the files that a program looked for it waited for: those that it looked for until the end."""

from dataclasses import replace

import pytest

from whet.core.failure import Frame
from whet.core.observations.system_call import (
    AddressUse,
    FailedCall,
    FileLook,
    PathFacts,
    SystemCalls,
)
from whet.evidence.hangs.polled import PolledPath, Wish, polled_paths, tried_addresses

OWN = Frame(path="/p/main.py", line=7, function="wait", in_user_code=True)
PATHLIB = Frame(path="/lib/python3.11/pathlib.py", line=1235, function="exists", in_user_code=False)
IMPORT = Frame(
    path="<frozen importlib._bootstrap_external>", line=147, function="stat", in_user_code=False
)
FACTS = PathFacts(existing="/p", near=("raedy",))
ABSENT = FailedCall(
    call="newfstatat", error="ENOENT", path="/p/ready", count=9, before_end_seconds=0.1, frames=(OWN, PATHLIB),
    facts=FACTS,
)  # fmt: skip
LOCKED = replace(ABSENT, call="openat", error="EEXIST", path="/p/lock", frames=(OWN,), facts=None)
FOUND = FileLook(path="/p/busy", count=9, before_end_seconds=0.1, frames=(OWN, PATHLIB))


def test_a_file_that_is_not_there_is_waited_for_with_what_is_known_of_it() -> None:
    (polled,) = polled_paths(SystemCalls(failures=(ABSENT,)))

    assert polled == PolledPath(
        path="/p/ready", is_there=False, wish=Wish.FIND, frame=OWN, facts=FACTS
    )


def test_a_file_that_cannot_be_made_twice_and_one_that_stays_are_waited_for_to_go() -> None:
    linked = replace(LOCKED, call="link", path="/p/mine → /p/lock")

    for failures, path in (((LOCKED,), "/p/lock"), ((linked,), "/p/lock")):
        (polled,) = polled_paths(SystemCalls(failures=failures))
        assert polled == PolledPath(path=path, is_there=True, wish=Wish.MAKE, frame=OWN)
    (polled,) = polled_paths(SystemCalls(looks=(FOUND,)))
    assert polled == PolledPath(path="/p/busy", is_there=True, wish=Wish.FIND, frame=OWN)


def test_a_lock_that_another_process_holds_is_waited_for() -> None:
    for call, error in (("flock", "EAGAIN"), ("fcntl", "EAGAIN"), ("fcntl", "EACCES")):
        (polled,) = polled_paths(SystemCalls(failures=(replace(LOCKED, call=call, error=error),)))
        assert polled == PolledPath(path="/p/lock", is_there=True, wish=Wish.LOCK, frame=OWN)


def test_an_address_of_this_machine_that_is_connected_to_again_and_again_is_tried() -> None:
    here = AddressUse(call="connect", address="127.0.0.1:5432", count=9)
    also = replace(here, address="[::1]:5432")
    seldom = replace(here, address="127.0.0.1:81", count=3)
    far = replace(here, address="10.1.1.1:82")
    own = replace(here, address="127.0.0.1:83")
    bound = AddressUse(call="bind", address="0.0.0.0:83")

    calls = SystemCalls(addresses=(here, also, seldom, far, own, bound))

    assert tried_addresses(calls) == (here,)


@pytest.mark.parametrize(
    "calls",
    [
        pytest.param(SystemCalls(failures=(replace(ABSENT, count=3),)), id="seldom"),
        pytest.param(
            SystemCalls(failures=(replace(ABSENT, before_end_seconds=4.0),)), id="earlier"
        ),
        pytest.param(SystemCalls(looks=(replace(FOUND, before_end_seconds=None),)), id="not ended"),
        pytest.param(SystemCalls(failures=(replace(ABSENT, error="EACCES"),)), id="another error"),
        pytest.param(SystemCalls(failures=(replace(ABSENT, call="flock"),)), id="another call"),
        pytest.param(SystemCalls(looks=(replace(FOUND, frames=(OWN, IMPORT)),)), id="an import"),
        pytest.param(SystemCalls(looks=(replace(FOUND, frames=()),)), id="by nobody known"),
        pytest.param(SystemCalls(failures=(replace(ABSENT, looked_in=3),)), id="in many folders"),
        pytest.param(
            SystemCalls(failures=(replace(LOCKED, path="/proc/self/maps"),)), id="the kernel's"
        ),
        pytest.param(
            SystemCalls(looks=tuple(replace(FOUND, path=f"/p/{n}.py") for n in range(3))),
            id="many files",
        ),
    ],
)
def test_no_file_is_waited_for_that_is_looked_for(calls: SystemCalls) -> None:
    assert polled_paths(calls) == ()
