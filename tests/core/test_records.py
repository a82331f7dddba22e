import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.core.errors import WhetError, error_classes
from whet.core.failure import Failure, FailureKind, FailureSignature, Frame
from whet.core.limits import Limits
from whet.core.outcome import Outcome, ProcessExit
from whet.core.output import BytesOutput, Output, digest_of
from whet.core.site import Site
from whet.core.text import record
from whet.core.text.record import MalformedRecordError
from whet.core.trial import CodeState, EnvironmentFacts, PayloadBinding, ResetStep, Trial

texts = st.text(max_size=8)
names = st.dictionaries(texts, texts, max_size=2)
counts = st.integers(0, 10**12)
seconds = st.floats(0, 1e6)
frames = st.builds(Frame, path=texts, line=counts, function=texts, in_user_code=st.booleans())
signatures = st.builds(
    FailureSignature,
    kind=st.sampled_from(FailureKind),
    exception=texts,
    message=texts,
    user_function=texts,
    library_function=texts,
    causes=st.lists(texts, max_size=2).map(tuple),
    exit_code=st.none() | st.integers(0, 255),
    signal=texts,
)
sites = st.builds(
    Site,
    at=texts,
    operation=texts,
    callers=st.lists(texts, max_size=2).map(tuple),
    is_recursive=st.booleans(),
    sign=st.sampled_from([None, -1, 0, 1]),
)
failures = st.builds(
    Failure,
    signature=signatures,
    summary=texts,
    frames=st.lists(frames, max_size=2).map(tuple),
    site=st.none() | sites,
)
outcomes = st.builds(
    Outcome,
    exit_code=st.none() | st.integers(0, 255),
    signal=st.none() | st.integers(1, 64),
    timed_out=st.booleans(),
    interrupted=st.booleans(),
    overran_output=st.booleans(),
    failed_reset=st.none() | texts,
    wall_seconds=seconds,
    cpu_seconds=seconds,
    peak_rss_bytes=counts,
    stdout=st.builds(BytesOutput, st.binary(max_size=5)),
    stderr=st.builds(BytesOutput, st.binary(max_size=5)),
    processes=st.lists(
        st.builds(ProcessExit, pid=counts, host=texts, rank=st.none() | counts), max_size=2
    ).map(tuple),
    measurements=st.dictionaries(texts, seconds, max_size=2),
    stacks=st.lists(st.lists(frames, max_size=2).map(tuple), max_size=2).map(tuple),
    notes=st.lists(texts, max_size=2).map(tuple),
    failure=st.none() | failures,
)
code_states = st.builds(
    CodeState,
    repository=texts,
    commit=texts,
    tree=texts,
    snapshot=st.none() | texts,
    large_files=st.lists(texts, max_size=2).map(tuple),
)
trials = st.builds(
    Trial,
    command=st.lists(texts, max_size=3).map(tuple),
    unset=st.lists(texts, max_size=2).map(tuple),
    cwd=texts,
    environment=names,
    stdin=texts,
    reset=st.lists(st.builds(ResetStep, command=texts, must_succeed=st.booleans()), max_size=2).map(
        tuple
    ),
    payloads=st.lists(
        st.builds(
            PayloadBinding, argument=st.none() | counts, text=texts, name=texts, digest=texts
        ),
        max_size=2,
    ).map(tuple),
    code=st.none() | code_states,
    revision=st.none() | texts,
    packages=names,
    limits=st.builds(Limits, wall_seconds=st.none() | seconds, output_bytes=st.none() | counts),
    measures=names,
    surroundings=st.builds(
        EnvironmentFacts,
        environment_digest=texts,
        interpreter=texts,
        packages_digest=texts,
        platform=texts,
    ),
)


@given(trials)
def test_a_trial_comes_back_from_json_as_it_was(trial: Trial) -> None:
    again = Trial.from_json(json.loads(json.dumps(trial.to_json())))

    assert again == trial
    assert again.key == trial.key


@given(trials, trials)
def test_two_trials_have_one_key_only_if_they_are_equal(a: Trial, b: Trial) -> None:
    assert (a.key == b.key) is (_without_snapshot(a) == _without_snapshot(b))


def _without_snapshot(trial: Trial) -> Trial:
    """The commit that holds the tree's state says no more than the digest of that state."""
    if trial.code is None:
        return trial
    return replace(trial, code=replace(trial.code, snapshot=None))


@given(outcomes)
def test_an_outcome_comes_back_from_json_as_it_was(outcome: Outcome) -> None:
    streams: dict[str, Output] = {
        stream.digest: stream for stream in (outcome.stdout, outcome.stderr)
    }
    data = json.loads(json.dumps(outcome.to_json()))

    assert Outcome.of_record(data, lambda digest, _size: streams[digest]) == outcome


def test_a_payload_is_varied_alone() -> None:
    first = PayloadBinding(argument=1, text="a", name="a", digest="1")
    trial = Trial(command=("x", "a", "b"), cwd="/", payloads=(first, replace(first, argument=2)))

    varied = trial.with_payload("9", 1)

    assert varied.payloads == (first, replace(first, argument=2, digest="9"))
    assert replace(varied, payloads=trial.payloads) == trial


def test_a_command_that_is_no_utf8_has_a_key() -> None:
    assert Trial(command=("\udcff",), cwd="/").key != Trial(command=("\udcfe",), cwd="/").key


@pytest.mark.parametrize(
    ("reader", "value"),
    [
        (record.text, 1),
        (record.integer, "1"),
        (record.integer, True),
        (record.number, "1"),
        (record.number, True),
        (record.boolean, 0),
        (record.record, [1]),
        (record.records, {"a": 1}),
        (record.records, [1]),
        (record.texts, [1]),
        (record.texts, "abc"),
        (record.text_map, {"a": 1}),
    ],
)
def test_a_record_of_another_shape_is_refused_with_its_name(reader: object, value: object) -> None:
    assert callable(reader)
    with pytest.raises(MalformedRecordError):
        reader({"field": value}, "field")


@given(st.binary(max_size=50), st.integers(0, 60))
def test_a_short_stream_is_its_head_and_its_tail(data: bytes, count: int) -> None:
    output = BytesOutput(data)

    assert output.head(count) == data[:count]
    assert output.tail(count) == data[max(0, len(data) - count) :]
    assert (output.size_bytes, output.digest) == (len(data), digest_of(data))


def test_a_failure_is_shown_where_the_users_own_code_is() -> None:
    own = Frame(path="a.py", line=1, function="f", in_user_code=True)
    library = Frame(path="lib.py", line=2, function="g", in_user_code=False)
    signature = FailureSignature(kind=FailureKind.EXCEPTION)

    assert Failure(signature=signature, summary="", frames=(own, library)).place == own
    assert Failure(signature=signature, summary="", frames=(library,)).place == library
    assert Failure(signature=signature, summary="").place is None


def test_an_outcome_shows_its_exit_code_as_a_shell_does() -> None:
    assert Outcome(exit_code=3).shell_exit_code == 3
    assert Outcome(exit_code=None, signal=9).shell_exit_code == 137
    assert Outcome(exit_code=None, signal=9, timed_out=True).shell_exit_code == 124
    assert Outcome(exit_code=None).shell_exit_code == 0


def test_an_outcome_gives_its_failures_kind_and_signature() -> None:
    signature = FailureSignature(kind=FailureKind.TIMEOUT)
    outcome = Outcome().with_failure(Failure(signature=signature, summary=""))

    assert (outcome.signature, outcome.failed_by) == (signature, FailureKind.TIMEOUT)
    assert (Outcome().signature, Outcome().failed_by) == (None, None)


@pytest.mark.parametrize("error", list(error_classes()), ids=lambda error: error.slug)
def test_every_error_has_a_page_and_a_code_of_sysexits(error: type[WhetError]) -> None:
    assert error.__doc__
    assert 64 <= error.exit_code <= 78
    assert error("what", hint="next").hint == "next"


def test_a_trial_that_unsets_nothing_has_the_key_that_it_always_had() -> None:
    trial = Trial(command=("true",), cwd="/")

    assert "unset" not in trial.to_json()
    assert replace(trial, unset=("HOME",)).key != trial.key
