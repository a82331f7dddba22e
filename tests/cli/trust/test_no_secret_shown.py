"""Whatever a secret looks like: no verb that shows a trial shows it."""

import json
import re
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from loop_command import SLOW, looping
from whet_command import Said, Whet

from whet.notebook.notebook import Notebook

PROGRAM = """\
import os, sys

class Login:
    def __init__(self, word):
        self.word, self.password = word, word

def connect(login, words):
    raise ConnectionError("refused " + words[0] + "|" + os.environ["API_TOKEN"])

word = sys.argv[1].partition("=")[2]
print(word, repr(word), [word], os.environ["API_TOKEN"], os.environ["OTHER_TOKEN"])
connect(Login(word), [word, os.environ["OTHER_TOKEN"]])
"""

VERBS = (
    ("show",),
    ("show", "--json"),
    ("show", "--output"),
    ("show", "--locals"),
    ("show", "--locals", "--json"),
    ("log",),
    ("log", "--all", "--json"),
    ("diff", "1", "2"),
    ("diff", "1", "2", "--json"),
    ("one-liner",),
    ("one-liner", "--json"),
    ("secrets",),
    ("secrets", "--json"),
    ("post-mortem", "--json"),
    ("stacks", "--trial", "1"),
    ("notebook", "--json"),
    ("settings",),
)


@cache
def empty_notebook() -> bytes:
    """Return what a notebook holds that holds no trial: the names of its tables, for example."""
    with tempfile.TemporaryDirectory() as folder:
        Notebook.open(Path(folder)).close()
        return b"".join(path.read_bytes() for path in Path(folder).glob("notebook.db*"))


characters = st.characters(
    min_codepoint=32, blacklist_categories=["Cs", "Cc"], blacklist_characters="\0"
)
values = st.text(characters, min_size=8, max_size=24).filter(
    lambda text: (
        len(set(text)) > 4
        and text.strip() == text
        and not text.startswith("-")
        # Words, as below; with a blank between them they may stand in a sentence of whet's.
        and not re.fullmatch(r"(?=.{,15}$)[A-Za-z][a-z]+([ _.-][a-z]*)*", text)
        and text.encode() not in empty_notebook()
    )
)


@contextmanager
def a_folder_of_its_own(whet: Whet) -> Iterator[Whet]:
    with tempfile.TemporaryDirectory() as folder:
        yield replace(whet, folder=Path(folder))


@settings(
    max_examples=4, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(flag=values, variable=values, inherited=values)
@example(
    flag="""it's "quoted" \\n""", variable="a&b <c> `d` *e*_f_", inherited="caf\u00e9 \u2014 |x|#"
)
def test_no_verb_shows_a_secret_of_a_trial(
    whet: Whet, flag: str, variable: str, inherited: str
) -> None:
    with a_folder_of_its_own(whet) as own:
        own.write("app.py", PROGRAM)
        command = (
            "--env",
            f"API_TOKEN={variable}",
            "--",
            sys.executable,
            "app.py",
            f"--password={flag}",
        )
        said: dict[tuple[str, ...], Said] = {
            ("run",): own("run", "--locals", *command, environment={"OTHER_TOKEN": inherited}),
            ("again",): own("again", "1", environment={"OTHER_TOKEN": inherited}),
        }
        talk: dict[tuple[str, ...], str] = {
            verb: each.stderr[each.stderr.index("whet: ") :] for verb, each in said.items()
        }  # the program's own output goes live, as it is
        talk[("repeat",)] = own(
            "repeat", "-n", "2", *command, environment={"OTHER_TOKEN": inherited}
        ).stdout
        for verb in VERBS:
            shown = own(*verb)
            talk[verb] = shown.stdout + shown.stderr
        secrets = (flag, variable, inherited)
        leaks = {
            verb: secret
            for verb, text in talk.items()
            for secret in secrets
            if secret in text or json.dumps(secret)[1:-1] in text
        }
        assert not leaks
        masked = {verb for verb, text in talk.items() if "<secret>" in text}
        assert masked >= {
            ("run",), ("again",), ("show",), ("show", "--output"), ("log",), ("show", "--locals"),
        }  # fmt: skip
        held = b"".join(path.read_bytes() for path in own.state.glob("notebook.db*"))
        assert not [
            each
            for each in secrets
            if each.encode() in held or json.dumps(each)[1:-1].encode() in held
        ]


@pytest.mark.parametrize("word", ["postgres", "change_me", "development"])
def test_a_secret_that_is_a_plain_word_is_masked_in_its_place_and_spoils_no_other_sentence(
    whet: Whet, word: str
) -> None:
    whet.write("app.py", f"print('{word} is up')\nraise KeyError('{word}')\n")
    variables = {"POSTGRES_PASSWORD": word}

    said = whet(
        "run", "--env", f"API_TOKEN={word}", "--", sys.executable, "app.py", f"--password={word}",
        environment=variables,
    )  # fmt: skip

    assert f"KeyError: '{word}' at app.py:2" in said.stderr
    shown = whet("show", environment=variables).stdout
    assert f"KeyError: '{word}'" in shown
    assert f"password={word}" not in shown
    assert f"API_TOKEN={word}" not in shown
    assert f"{word} is up" in whet("show", "--output", environment=variables).stdout
    stored = json.loads(whet("show", "--json", environment=variables).stdout)
    assert word not in json.dumps(stored["spec"])


READS = """\
import os, sys
word = sys.stdin.read().strip()
print(word, os.environ["API_TOKEN"])
raise ConnectionError("refused " + word)
"""


@pytest.mark.parametrize(
    "verb", [("run", "--locals"), ("repeat", "-n", "2"), ("loop", "--runs", "1")]
)
def test_a_secret_on_standard_input_is_masked_in_what_is_shown(
    whet: Whet, verb: tuple[str, ...]
) -> None:
    secret = "tok-81k!2hS_x92"
    whet.write("app.py", READS)
    whet.write("token.txt", f"{secret}\n")

    said = whet(
        *verb, "--stdin", "token.txt", "--env", f"API_TOKEN={secret}", "--", sys.executable, "app.py"
    )  # fmt: skip

    shown = [whet(*each) for each in VERBS]
    assert not [each.stdout for each in shown if secret in each.stdout + each.stderr]
    assert secret not in "".join(
        line for line in said.stderr.splitlines() if line.startswith("whet")
    )
    held = b"".join(path.read_bytes() for path in whet.state.glob("notebook.db*"))
    assert secret.encode() not in held


def test_a_secret_of_a_warm_run_is_masked_in_what_is_shown(whet: Whet) -> None:
    secret = "tok-81k!2hS_x92"
    program = f"import os\nword = os.environ['API_TOKEN']\n{SLOW}print(word)\n"
    whet.write("app.py", f"{program}pass\n")
    told: list[dict[str, object]] = []

    with looping(
        whet, sys.executable, "app.py", options=("--env", f"API_TOKEN={secret}", "--locals")
    ) as loop:
        told.append(loop.next())
        loop.save("app.py", f"{program}raise ConnectionError('refused ' + word)\n")
        told.append(loop.next())

    assert "warm" in str(told[1])
    shown = [json.dumps(told), *(said.stdout + said.stderr for said in map(whet_of(whet), VERBS))]
    assert not [each for each in shown if secret in each]
    assert "refused <secret>" in "".join(shown)
    held = b"".join(path.read_bytes() for path in whet.state.glob("notebook.db*"))
    assert secret.encode() not in held


def whet_of(whet: Whet) -> Callable[[tuple[str, ...]], Said]:
    return lambda words: whet(*words)
