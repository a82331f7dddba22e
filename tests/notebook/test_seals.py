"""A notebook finds trials by their secrets and does not hold one."""

import re
from dataclasses import replace
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from whet.core.outcome import Outcome
from whet.core.output import BytesOutput
from whet.core.trial import ResetStep, Trial
from whet.host.trial.known_secrets import veiled
from whet.notebook.notebook import Notebook

secrets = st.text(st.characters(blacklist_characters="\0"), min_size=8, max_size=40)
TRIAL = Trial(command=("python", "x.py"), cwd="/x")


def with_secret(secret: str) -> Trial:
    return replace(
        TRIAL,
        command=(*TRIAL.command, "--password", f"x{secret}"),
        environment={"API_TOKEN": secret},
        reset=(ResetStep(command="login --token hunter22-of-the-step"),),
    )


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(secret=secrets, note=st.text(max_size=10))
def test_a_trial_comes_back_whole_and_what_is_shown_of_it_is_masked(
    tmp_path: Path, secret: str, note: str
) -> None:
    trial = with_secret(secret)
    with Notebook.open(tmp_path) as notebook:
        number = notebook.begin(trial, verb="run", note=f"{note}{secret}")
        entry = notebook.trial(number)

    assert entry.trial == trial
    assert entry.note in {f"{note}{secret}", _as_stored(f"{note}{secret}")}
    is_word = re.fullmatch(r"(?=.{,15}$)[A-Za-z][a-z]+([_.-][a-z]*)?", secret) is not None
    assert (secret in veiled(f"{note} {secret}")) == is_word


def _as_stored(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode()


def test_equal_trials_are_found_by_what_is_sealed_and_others_are_not(tmp_path: Path) -> None:
    trial, other = with_secret("hunter22-first"), with_secret("hunter22-second")
    with Notebook.open(tmp_path) as notebook:
        search = notebook.begin_investigation(verb="shrink", trial=trial)
        number = notebook.begin(trial, verb="shrink", investigation=search)
        notebook.finish(number, Outcome(exit_code=1, stdout=BytesOutput(b"hunter22-first")))

    with Notebook.open(tmp_path) as notebook:
        found = notebook.outcome_for(trial)
        assert found is not None
        assert found.exit_code == 1
        assert notebook.outcome_for(other) is None
        assert notebook.searches_from(trial, verb="shrink") == [search]
        assert notebook.searches_from(other, verb="shrink") == []
        previous = notebook.previous_of(trial)
        assert previous is not None
        assert previous.number == number
        assert notebook.previous_of(other) is None
    assert b"hunter22" not in (tmp_path / "notebook.db").read_bytes()


def test_a_notebook_with_another_key_finds_none_of_them(tmp_path: Path) -> None:
    trial = with_secret("hunter22-first")
    with Notebook.open(tmp_path, lambda: b"one") as notebook:
        notebook.begin(trial, verb="run")
    with Notebook.open(tmp_path, lambda: b"another") as notebook:
        assert notebook.previous_of(trial) is None
        assert notebook.trial(1).trial.environment["API_TOKEN"].startswith("<sealed ")
