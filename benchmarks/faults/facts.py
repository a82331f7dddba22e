"""A trial and an outcome with all that they can have, as seeds for the readers of what is kept."""

from whet.core.failure import Failure, FailureKind, FailureSignature, Frame
from whet.core.limits import LimitMet, Limits
from whet.core.observations.resources import ProcessPeak, ResourceUse
from whet.core.outcome import Outcome, ProcessExit
from whet.core.output import BytesOutput
from whet.core.room import Disk, Fault, Room
from whet.core.site import Site
from whet.core.trial import (
    CodeState,
    EnvironmentFacts,
    PayloadBinding,
    PayloadPlace,
    ResetStep,
    Trial,
)

FRAME = Frame(path="/project/x.py", line=3, function="A.main", in_user_code=True)
_DIGEST = "0" * 64


def a_trial() -> Trial:
    """Return a trial that has all that one can have."""
    return Trial(
        command=("python", "x.py", "data.csv"), cwd="/project", environment={"A": "1"}, stdin=_DIGEST,
        reset=(ResetStep(command="rm -f out", must_succeed=False),), unset=("B",), setup="pip install -e .",
        payloads=(
            PayloadBinding(
                argument=2, text="data.csv", name="data.csv", digest=_DIGEST, beside="/project", is_home=True,
                more=(PayloadPlace(argument=1, text="x.py"),),
            ),
        ),
        code=CodeState(repository="/project", commit="1" * 40, tree="2" * 40, snapshot="3" * 40,
                       large_files=("big.bin 5000000000 17",)),
        revision="1" * 40, packages={"numpy": "2.0"}, measures={"loss": "loss: ([0-9.]+)"},
        surroundings=EnvironmentFacts(environment_digest="e", interpreter="CPython 3.11.7", platform="Linux"),
        limits=Limits(
            wall_seconds=5.0, memory_bytes=1 << 30, cpus=0.5,
            room=Room(disks=(Disk(path="/d", size_bytes=1000),), faults=(Fault(call="write", error="EIO"),),
                      gpu_free=(("0", 1000),), network="none"),
        ),
        hang_seconds=2.0, hangs_if_idle=True,
    )  # fmt: skip


def an_outcome() -> Outcome:
    """Return an outcome that has all that one can have."""
    signature = FailureSignature(
        kind=FailureKind.EXCEPTION, exception="KeyError", message="'price'", user_function="x.py:main",
        causes=("ValueError",),
    )  # fmt: skip
    return Outcome(
        exit_code=1, wall_seconds=0.25, cpu_seconds=0.125, peak_rss_bytes=9_000_000,
        stdout=BytesOutput(b"out\n"), stderr=BytesOutput(b"KeyError: 'price'\n"),
        processes=(ProcessExit(pid=7, host="here", exit_code=1), ProcessExit(pid=8, host="here", rank=1, signal=9)),
        measurements={"loss": 0.5}, stacks=((FRAME, FRAME),), notes=("a note",), hung_seconds=1.0,
        limits_met=(LimitMet(name="memory", limit=100, reached=100, process="python", pid=7),),
        limited_by=("memory by cgroups",), looks=_DIGEST, resumed_from="x.py:3",
        failure=Failure(
            signature=signature, summary="KeyError: 'price'", frames=(FRAME,), limit="memory",
            site=Site(at="x.py:main:3:1-2", operation="x['price']", callers=("x.py:f:1",)),
        ),
    )  # fmt: skip


def a_resource_use() -> ResourceUse:
    """Return what a trial may have used."""
    return ResourceUse(
        seconds=(0.1, 0.2), memory_bytes=(10, 20), cpu_seconds=(0.1, 0.15), files=(3, 4), read_bytes=(0, 1),
        written_bytes=(0, 1), processes=(1, 2), largest=(ProcessPeak(pid=7, name="python", peak_bytes=20),),
    )  # fmt: skip
