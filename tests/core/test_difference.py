from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.core.difference import Change, Inheritance, compare, compare_outcomes
from whet.core.failure import Failure, FailureKind, FailureSignature
from whet.core.limits import Limits
from whet.core.outcome import Outcome
from whet.core.output import BytesOutput
from whet.core.trial import (
    CodeState,
    EnvironmentFacts,
    PayloadBinding,
    ResetStep,
    Trial,
)

words = st.text("ab '\n&", max_size=4)
maps = st.dictionaries(st.sampled_from("XY"), words, max_size=2)
codes = st.none() | st.builds(
    CodeState,
    repository=st.just("/r"),
    commit=st.sampled_from(["c1", "c2"]),
    tree=st.sampled_from(["t1", "t2"]),
    snapshot=st.none() | st.just("s"),
)
trials = st.builds(
    Trial,
    command=st.lists(words, max_size=2).map(tuple),
    cwd=st.sampled_from(["/", "/r"]),
    environment=maps,
    unset=st.lists(st.sampled_from("XY"), max_size=2).map(tuple),
    stdin=st.sampled_from(["empty", "inherited"]),
    reset=st.lists(st.builds(ResetStep, command=words, must_succeed=st.booleans()), max_size=2).map(
        tuple
    ),
    payloads=st.lists(
        st.builds(
            PayloadBinding,
            argument=st.none() | st.integers(0, 2),
            text=words,
            name=st.sampled_from(["p", "q"]),
            digest=st.sampled_from(["d1", "d2"]),
        ),
        max_size=2,
    ).map(tuple),
    code=codes,
    revision=st.none() | st.sampled_from(["c1", "c2"]),
    packages=maps,
    limits=st.builds(
        Limits,
        wall_seconds=st.none() | st.floats(0, 9),
        output_bytes=st.none() | st.integers(0, 9),
    ),
    measures=maps,
    surroundings=st.builds(
        EnvironmentFacts,
        environment_digest=words,
        interpreter=words,
        packages_digest=words,
        platform=words,
    ),
)

RUN = Trial(command=("python", "train.py"), cwd="/r")
CODE = CodeState(repository="/r", commit="c1", tree="t1")


@given(trials, trials)
def test_two_trials_differ_exactly_when_their_keys_do(a: Trial, b: Trial) -> None:
    assert bool(compare(a, b)) is (a.key != b.key)


@given(trials, trials)
def test_what_is_new_one_way_is_gone_the_other_way(a: Trial, b: Trial) -> None:
    there, back = compare(a, b).changes, compare(b, a).changes

    assert [(c.what, c.name, c.before, c.after) for c in there] == [
        (c.what, c.name, c.after, c.before) for c in back
    ]


@given(trials, trials)
def test_each_change_is_one_readable_line(a: Trial, b: Trial) -> None:
    lines = compare(a, b).lines()

    assert len(lines) == len(compare(a, b).changes)
    assert all(line.strip() for line in lines)


@pytest.mark.parametrize(
    ("after", "line"),
    [
        (replace(RUN, command=("python", "-O", "train.py")), "command: `python train.py` → `python -O train.py`"),
        (replace(RUN, command=("python", "a b")), "command: `python train.py` → `python 'a b'`"),
        (replace(RUN, cwd="/r/sub"), "folder: `/r` → `/r/sub`"),
        (replace(RUN, environment={"SEED": "1"}), "variable SEED: new, `1`"),
        (replace(RUN, unset=("HOME", "LANG")), "variables unset: new, `HOME LANG`"),
        (replace(RUN, revision="abc"), "revision: new, `abc`"),
        (replace(RUN, packages={"numpy": "2.0"}), "release numpy: new, `2.0`"),
        (replace(RUN, limits=Limits(wall_seconds=2.5)), "limit of seconds: new, `2.5`"),
        (replace(RUN, reset=(ResetStep(command="make"),)), "reset: new, `make &&`"),
        (replace(RUN, measures={"loss": "x" * 70}), f"measure loss: new, `{'x' * 64}…`"),
        (replace(RUN, code=CODE), "code: new, `t1`"),
    ],
)  # fmt: skip
def test_a_change_names_what_it_was_and_what_it_is(after: Trial, line: str) -> None:
    assert compare(RUN, after).lines() == (line,)


def test_what_is_no_longer_there_is_said_to_be_gone() -> None:
    before = replace(RUN, environment={"SEED": "1"})

    assert compare(before, RUN).lines() == ("variable SEED: gone, was `1`",)


def test_a_new_commit_is_told_by_its_name_and_an_edit_by_its_tree() -> None:
    before = replace(RUN, code=CODE)
    edited = replace(RUN, code=replace(CODE, tree="t2", snapshot="s"))
    committed = replace(RUN, code=replace(CODE, commit="c2", tree="t2"))

    assert compare(before, edited).changes == (Change(what="code", before="t1", after="t2"),)
    assert compare(before, committed).changes == (Change(what="commit", before="c1", after="c2"),)


def test_names_stand_in_place_of_the_digests_that_they_are_behind() -> None:
    before = replace(
        RUN, surroundings=EnvironmentFacts(environment_digest="1", packages_digest="1")
    )
    after = replace(RUN, surroundings=EnvironmentFacts(environment_digest="2", packages_digest="2"))

    named = compare(
        before,
        after,
        Inheritance(environment={"A": "1", "B": "1"}, packages={"numpy": "1.26"}),
        Inheritance(environment={"A": "2", "B": "1"}, packages={"numpy": "2.0"}),
    )

    assert named.lines() == ("package numpy: `1.26` → `2.0`", "environment A: `1` → `2`")
    assert tuple(each for each in named.changes if each.what == "package") == (
        Change(what="package", name="numpy", before="1.26", after="2.0"),
    )
    assert [change.what for change in compare(before, after).changes] == ["packages", "environment"]


def failing(message: str, function: str = "") -> Failure:
    signature = FailureSignature(
        kind=FailureKind.EXCEPTION, message=message, user_function=function
    )
    return Failure(signature=signature, summary=f"ValueError: {message}")


def test_outcomes_are_compared_by_exit_failure_output_time_and_memory() -> None:
    before = Outcome(wall_seconds=2.0, peak_rss_bytes=100, stdout=BytesOutput(b"a"))
    after = Outcome(
        exit_code=1,
        wall_seconds=1.0,
        peak_rss_bytes=250,
        stdout=BytesOutput(b"b"),
        measurements={"loss": 0.5},
        failure=failing("nan"),
    )

    found = compare_outcomes(before, after)

    assert found.lines() == (
        "exit: `0` → `1`",
        "failure: new, `ValueError: nan`",
        "measurement loss: new, `0.5`",
        "seconds: 0.50 times",
        "peak memory: 2.50 times",
        "stdout: different",
        "stderr: the same",
    )


def test_two_bugs_that_say_the_same_are_told_apart_by_their_place() -> None:
    before = Outcome(failure=failing("nan", "a.py:f"))
    after = Outcome(failure=failing("nan"))

    assert compare_outcomes(before, after).changes == (
        Change(
            what="failure",
            before="exception in a.py:f",
            after="exception in no known place",
        ),
    )


def test_a_failure_without_words_is_told_from_none() -> None:
    silent = replace(failing(""), summary="")

    found = compare_outcomes(Outcome(failure=silent), Outcome())

    assert found.lines()[0] == "failure: gone, was ``"


def test_no_time_is_no_base_for_a_ratio() -> None:
    found = compare_outcomes(Outcome(), Outcome(wall_seconds=1.0))

    assert found.seconds_ratio is None
    assert found.lines() == ("stdout: the same", "stderr: the same")
