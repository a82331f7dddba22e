"""Small trials and outcomes, and a notebook to put them in."""

from dataclasses import replace

from hypothesis import strategies as st

from whet.core.failure import Failure, FailureKind, FailureSignature, Frame
from whet.core.outcome import Outcome, ProcessExit
from whet.core.output import BytesOutput, Output
from whet.core.trial import PayloadBinding, Trial

KEY_ERROR = FailureSignature(kind=FailureKind.EXCEPTION, exception="KeyError", message="'price'")


def a_trial(*words: str, cwd: str = "/project", note: str = "") -> Trial:
    """Return a trial of ``python x.py`` and these words; ``note`` varies what is no command."""
    return Trial(command=("python", "x.py", *words), cwd=cwd, environment={"NOTE": note})


def failing(stdout: bytes = b"", stderr: bytes = b"KeyError: 'price'\n") -> Outcome:
    """Return the outcome of a program that raised."""
    frame = Frame(path="/project/x.py", line=3, function="main", in_user_code=True)
    return Outcome(
        exit_code=1,
        wall_seconds=0.25,
        cpu_seconds=0.125,
        peak_rss_bytes=9_000_000,
        stdout=BytesOutput(stdout),
        stderr=BytesOutput(stderr),
        processes=(ProcessExit(pid=7, host="here", exit_code=1),),
        measurements={"loss": 0.5},
        failure=Failure(signature=KEY_ERROR, summary="KeyError: 'price'", frames=(frame,)),
    )


def same(wanted: Outcome, found: Outcome | None) -> bool:
    """Whether an outcome came back whole, down to the last byte of its streams."""
    if found is None:
        return False
    return found == replace(wanted, stdout=found.stdout, stderr=found.stderr) and all(
        there.digest == here.digest
        and there.size_bytes == here.size_bytes
        and whole(there) == whole(here)
        for there, here in ((found.stdout, wanted.stdout), (found.stderr, wanted.stderr))
    )


def whole(output: Output) -> bytes:
    """Return all of a stream."""
    return output.head(output.size_bytes)


words = st.text(max_size=5)
"""Also what comes of bytes that are no UTF-8 on a command line."""

any_words = words | st.binary(max_size=3).map(lambda data: data.decode("utf-8", "surrogateescape"))

trials = st.builds(
    Trial,
    command=st.lists(any_words, min_size=1, max_size=2).map(tuple),
    cwd=st.sampled_from(["/", "/project"]),
    environment=st.dictionaries(words, any_words, max_size=1),
    payloads=st.lists(
        st.builds(
            PayloadBinding, argument=st.none() | st.integers(0, 3), text=words, name=words,
            digest=st.just("0" * 64),
        ),
        max_size=1,
    ).map(tuple),
)  # fmt: skip

failures = st.builds(
    Failure,
    signature=st.builds(
        FailureSignature, kind=st.sampled_from(FailureKind), message=st.sampled_from(["a", "b"])
    ),
    summary=any_words,
)

outcomes = st.builds(
    Outcome,
    exit_code=st.none() | st.integers(0, 255),
    signal=st.none() | st.integers(1, 64),
    timed_out=st.booleans(),
    interrupted=st.booleans(),
    wall_seconds=st.floats(0, 1e6),
    cpu_seconds=st.floats(0, 1e6),
    peak_rss_bytes=st.integers(0, 2**40),
    stdout=st.builds(BytesOutput, st.binary(max_size=20)),
    stderr=st.builds(BytesOutput, st.binary(max_size=20)),
    measurements=st.dictionaries(words, st.floats(allow_nan=False), max_size=1),
    notes=st.lists(any_words, max_size=1).map(tuple),
    failure=st.none() | failures,
)
