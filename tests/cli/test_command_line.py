"""What people type: names of trials, words for verbs, commands of a shell, errors for machines."""

import json
import sys

import pytest
from whet_command import Whet

PYTHON = sys.executable


def number_of(whet: Whet, *words: str) -> int:
    shown = json.loads(whet(*words, "--json").stdout)
    number = shown["trial"]
    assert isinstance(number, int)
    return number


def test_a_trial_is_found_by_number_by_name_and_from_the_last_one_back(whet: Whet) -> None:
    whet("run", "--name", "base", "--", "true")
    whet("repeat", "-n", "2", "--", "true")
    whet("run", "--", "false")
    named = {words: number_of(whet, "show", words) for words in ("1", "base", "last~1", "-2")}
    assert named == dict.fromkeys(named, 1)
    assert {number_of(whet, "show", words) for words in ("4", "last", "-1")} == {4}
    assert number_of(whet, "show", "3") == 3
    assert number_of(whet, "one-liner", "-1") == 4
    assert whet("run", "--like", "base").code == 0
    assert whet("run", "--like", "-2").code == whet("run", "--like", "4").code
    assert json.loads(whet("show", "-1", "--json").stdout)["spec"]["command"] == ["false"]
    again = json.loads(whet("again", "base", "--json").stdout)
    assert again["spec"]["command"] == ["true"]


@pytest.mark.parametrize(
    ("words", "said", "hint"),
    [
        ("bse", "no trial has the name `bse`", "did you mean `base`?"),
        ("qqq", "no trial has the name `qqq`", "`whet run --name NAME` names a trial"),
        ("-3", "there is no trial `last~2`: you have run 1", "`whet log` lists them"),
        ("0", "the notebook has no trial 0", "`whet log --all`"),
    ],
)
def test_a_trial_that_is_not_there_is_named_with_what_is(
    whet: Whet, words: str, said: str, hint: str
) -> None:
    whet("run", "--name", "base", "--", "true")
    answer = whet("show", words)
    assert answer.code == 66
    assert said in answer.stderr
    assert hint in answer.stderr


def test_without_arguments_the_last_two_trials_are_compared(whet: Whet) -> None:
    for word in ("true", "false", "true"):
        whet("run", "--", word)
    assert "`false` → `true`" in whet("diff").stdout
    assert "`true`" not in whet("diff", "1").stdout
    assert "`true` → `false`" in whet("diff", "1", "2").stdout


@pytest.mark.parametrize(
    ("word", "verb"),
    [("clean", "notebook prune"), ("flaky", "repeat"), ("measure", "repeat"), ("undo", "again"),
     ("why", "investigate"), ("shirnk", "shrink"), ("Hang", "stacks")],
)  # fmt: skip
def test_a_word_that_is_no_verb_leads_to_the_one_that_is_meant(
    whet: Whet, word: str, verb: str
) -> None:
    said = whet(word)
    assert said.code == 64
    assert f"`whet {verb}`" in said.stderr


def test_help_takes_a_verb(whet: Whet) -> None:
    assert whet("help", "log").stdout == whet("log", "--help").stdout
    assert whet("help").stdout == whet("--help").stdout
    assert "`nonsense` is not a verb" in whet("help", "nonsense").stderr


@pytest.mark.parametrize(
    ("command", "line"),
    [
        (["rm -r data; ./launch.sh"], "-- sh -c 'rm -r data; ./launch.sh'"),
        (["FLAG=1", "python", "a.py"], "-- env FLAG=1 python a.py"),
        (["cat a | sort"], "-- sh -c 'cat a | sort'"),
    ],
)
def test_what_a_shell_would_understand_is_shown_as_the_right_line(
    whet: Whet, command: list[str], line: str
) -> None:
    said = whet("run", "--", *command)
    assert said.code == 66
    assert line in said.stderr


@pytest.mark.parametrize(
    "words",
    [["show", "--json", "7"], ["run", "--json", "--", "no-such-program"],
     ["log", "--json", "--bogus"], ["bisect", "--json", "x", "--", "true"]],
)  # fmt: skip
def test_an_error_is_json_where_json_is_asked_for(whet: Whet, words: list[str]) -> None:
    said = whet(*words)
    error = json.loads(said.stdout)["error"]
    assert error["exit_code"] == said.code != 0
    assert error["message"] in said.stderr
    assert f"whet explain {error['slug']}" in said.stderr
    assert error["hint"]


def test_a_json_option_of_the_command_changes_nothing(whet: Whet) -> None:
    said = whet("run", "--", "no-such-program", "--json")
    assert said.stdout == ""
