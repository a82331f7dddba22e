"""One bug has one signature under every version of Python."""

import sys

import pytest
from failed_runs import PROJECT, failure_of, transcript, trial_of

from whet.core.failure import FailureSignature
from whet.evidence.signature.classify import classify

VERSIONS = ("3.8", "3.10", "3.11", "3.12", "3.13")
# The parser of 3.9 is another program than that of 3.8, and speaks another language.
REWORDED_SINCE_3_8 = {"eval_of_data.py"}


def signatures(version: str) -> dict[str, FailureSignature | None]:
    found = {}
    for name, outcome in transcript(version).items():
        failure = classify(trial_of("python", name, cwd=PROJECT), outcome)
        found[name] = None if failure is None else failure.signature
    return found


@pytest.mark.parametrize("version", VERSIONS)
def test_a_bug_has_the_signature_that_it_has_under_the_newest_version(version: str) -> None:
    newest = signatures(VERSIONS[-1])
    here = signatures(version)

    assert len(here) > 45
    for name, signature in here.items():
        if version != "3.8" or name not in REWORDED_SINCE_3_8:
            assert signature == newest[name], f"{name} under {version}"


def test_a_bug_has_the_same_signature_when_it_is_run_here_and_now() -> None:
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    if version not in VERSIONS:
        pytest.skip(f"no transcript was taken under Python {version}")
    for name in ("key_error.py", "in_library.py", "nested_group.py", "segfault.py", "retried.py"):
        assert failure_of(name).signature == signatures(version)[name]


def test_no_two_specimens_share_a_signature() -> None:
    # One bug however it is met: the same file cannot be parsed.
    told_apart = [
        signature
        for name, signature in signatures("3.13").items()
        if name != "import_of_syntax_error.py"
    ]

    assert len(set(told_apart)) == len(told_apart)
