"""Whatever a secret looks like: no verb that shows a trial shows it."""

import json
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from whet_command import Said, Whet

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
characters = st.characters(
    min_codepoint=32, blacklist_categories=["Cs", "Cc"], blacklist_characters="\0"
)
values = st.text(characters, min_size=8, max_size=24).filter(
    lambda text: (
        len(set(text)) > 4
        and text.strip() == text
        and not text.startswith("-")
        and not text.replace("_", "").isalpha()  # one such as `resumed_` is in whet's own words
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
