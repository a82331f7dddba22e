"""The exact place of a failure: what tells two bugs of one line apart while the code stays as it is."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from whet.core.failure import Failure
from whet.core.oracle import SameFailure
from whet.core.outcome import Outcome
from whet.core.output import BytesOutput
from whet.core.trial import PayloadBinding, Trial
from whet.core.verdict import Verdict
from whet.evidence.signature.classify import classify


def outcome_of(folder: Path, program: str, *words: str) -> Outcome:
    """Run a program, and return how it failed."""
    (folder / "main.py").write_text(program)
    done = subprocess.run(
        [sys.executable, "main.py", *words], cwd=folder, capture_output=True, check=False
    )
    trial = Trial(command=(sys.executable, "main.py", *words), cwd=str(folder))
    ended = Outcome(exit_code=done.returncode, stderr=BytesOutput(done.stderr))
    return ended.with_failure(classify(trial, ended))


def failure_in(outcome: Outcome) -> Failure:
    assert outcome.failure is not None
    return outcome.failure


TWO_SUBSCRIPTS = """\
import sys
one, other = {sys.argv[1]: 1}, {sys.argv[2]: 2}
print(one["a"] + other[sys.argv[3]] + one[sys.argv[3]])
"""


@pytest.mark.skipif(sys.version_info < (3, 11), reason="no columns in tracebacks")
def test_two_subscripts_of_one_line_are_two_sites_and_one_signature(tmp_path: Path) -> None:
    first = outcome_of(tmp_path, TWO_SUBSCRIPTS, "a", "b", "c")
    second = outcome_of(tmp_path, TWO_SUBSCRIPTS, "a", "c", "c")
    assert first.signature == second.signature
    site, other = failure_in(first).site, failure_in(second).site
    assert site is not None
    assert other is not None
    assert site.operation == "other[sys.argv[3]]"
    assert other.operation == "one[sys.argv[3]]"
    assert not site.is_that_of(other)


def test_the_same_subscript_with_another_key_is_the_same_site(tmp_path: Path) -> None:
    first = outcome_of(tmp_path, TWO_SUBSCRIPTS, "a", "b", "c")
    again = outcome_of(tmp_path, TWO_SUBSCRIPTS, "a", "b", "d")
    oracle = SameFailure(failure_in(first).signature, failure_in(first).site)
    assert oracle.judge(again) is Verdict.BAD


def test_without_a_site_the_place_in_a_function_does_not_count(tmp_path: Path) -> None:
    first = outcome_of(tmp_path, TWO_SUBSCRIPTS, "a", "b", "c")
    second = outcome_of(tmp_path, TWO_SUBSCRIPTS, "a", "c", "c")
    assert SameFailure(failure_in(first).signature).judge(second) is Verdict.BAD


TWO_CALLERS = """\
import sys
def half(number): return int(number) / 2
def one(): half(sys.argv[1])
def other(): half(sys.argv[2])
one(); other()
"""


def test_a_helper_that_is_called_from_elsewhere_fails_at_another_site(tmp_path: Path) -> None:
    first = failure_in(outcome_of(tmp_path, TWO_CALLERS, "x", "1")).site
    second = failure_in(outcome_of(tmp_path, TWO_CALLERS, "1", "x")).site
    assert first is not None
    assert second is not None
    assert first.at == second.at
    assert not first.is_that_of(second)


NESTED = """\
import json, sys
def walk(node):
    for each in node:
        if isinstance(each, list):
            walk(each)
        else:
            print(1 / each)
walk(json.loads(sys.argv[1]))
"""


def test_how_deep_a_function_calls_itself_does_not_count(tmp_path: Path) -> None:
    deep = failure_in(outcome_of(tmp_path, NESTED, "[[[[0]]]]")).site
    flat = failure_in(outcome_of(tmp_path, NESTED, "[0]")).site
    assert deep is not None
    assert deep.is_recursive
    assert deep.is_that_of(flat)


COUNTED = """\
import sys
seen, wanted = int(sys.argv[1]), int(sys.argv[2])
assert seen == wanted, f"{seen} instead of {wanted}"
"""


@pytest.mark.parametrize(("seen", "holds"), [("9", True), ("3", False)])
def test_the_sign_of_a_stated_difference_belongs_to_the_site(
    tmp_path: Path, seen: str, *, holds: bool
) -> None:
    first = failure_in(outcome_of(tmp_path, COUNTED, "8", "5")).site
    then = failure_in(outcome_of(tmp_path, COUNTED, seen, "5")).site
    assert first is not None
    assert first.sign == 1
    assert first.is_that_of(then) is holds


def test_a_file_that_is_varied_is_no_part_of_a_site(tmp_path: Path) -> None:
    outcome = outcome_of(tmp_path, COUNTED, "8", "5")
    trial = Trial(command=(sys.executable, "main.py", "8", "5"), cwd=str(tmp_path))
    payload = PayloadBinding(argument=1, text="main.py", name="main.py", digest="0" * 64)
    varied = classify(replace(trial, payloads=(payload,)), outcome)
    assert varied is not None
    assert varied.site is None


def test_a_recursion_without_end_has_no_site(tmp_path: Path) -> None:
    program = "def again(): again()\nagain()\n"
    assert failure_in(outcome_of(tmp_path, program)).site is None


GENERATED = """\
import sys, tempfile, runpy
with tempfile.TemporaryDirectory() as folder:
    with open(folder + "/made.py", "w") as file:
        file.write("\\n" * int(sys.argv[1]) + "def f(): return 1 / 0\\ndef g(): f()\\n" + sys.argv[2])
    sys.path.insert(0, folder)
    import made
"""


def test_code_that_the_program_makes_for_one_run_counts_by_its_functions(tmp_path: Path) -> None:
    first, lower, caller = (
        failure_in(outcome_of(tmp_path, GENERATED, *words)).site
        for words in (("0", "f()"), ("5", "f()"), ("0", "g()"))
    )
    assert first is not None
    assert first.at == "made.py:f"
    assert first.is_that_of(lower)
    assert not first.is_that_of(caller)


def test_a_project_in_a_temporary_folder_counts_by_its_lines(tmp_path: Path) -> None:
    folder = tmp_path / "tmpabcd1234"
    folder.mkdir()
    first, lower = (failure_in(outcome_of(folder, "\n" * lines + "1 / 0")).site for lines in (0, 5))
    assert first is not None
    assert not first.is_that_of(lower)
