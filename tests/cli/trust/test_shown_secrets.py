"""A secret that a command was given is kept to run it again, and not shown."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from whet_command import Whet

from whet.agent.site.whet_state.secret_rule import MASK

SECRETS = ("hunter22-of-the-flag", "hunter22-of-the-variable")


def test_a_secret_of_a_command_is_masked_in_what_is_shown_and_there_when_it_runs_again(
    whet: Whet,
) -> None:
    flag, variable = SECRETS
    program = (
        "import os, sys; print(len(sys.argv[1]) + len(os.environ['API_TOKEN'])); raise KeyError"
    )
    words = (sys.executable, "-c", program, f"--password={flag}")
    ran = whet("run", "--env", f"API_TOKEN={variable}", "--", *words)

    for verb in (["show"], ["show", "--json"], ["log"], ["log", "--json"]):
        said = whet(*verb)
        assert not any(secret in said.stdout + said.stderr for secret in SECRETS), verb
    assert whet("again").stdout == ran.stdout


PROGRAM = """\
import os, sys

class Login:
    def __init__(self, word):
        self.password, self.url = word, f"redis://ada:{word}@db/0"

def connect(login, header):
    raise ConnectionError(f"refused {login.password} {os.environ['OTHER_TOKEN']}")

word = sys.argv[1].partition("=")[2]
print(len(word), word, os.environ["API_TOKEN"], os.environ["OTHER_TOKEN"], flush=True)
connect(Login(word), {"Authorization": f"Bearer {word}"})
"""


def test_each_masked_place_is_listed_with_its_reason_and_without_its_value(whet: Whet) -> None:
    whet.write("app.py", PROGRAM)
    flag, variable = SECRETS
    whet(
        "run", "--locals", "--env", f"API_TOKEN={variable}", "--", sys.executable, "app.py",
        f"--password={flag}", environment={"OTHER_TOKEN": "hunter22-inherited"},
    )  # fmt: skip

    said, data = whet("secrets"), whet("secrets", "--json")

    assert "hunter22" not in said.stdout + data.stdout + said.stderr
    rows = {(each["place"], each["why"]) for each in json.loads(data.stdout)["secrets"]}
    assert rows >= {
        ("argument 2 (`--password`)", "its name"),
        ("`--env API_TOKEN`", "its name"),
        ("environment OTHER_TOKEN", "its name"),
        ("stdout: argument 2 (`--password`)", "its name"),
        ("stderr: environment OTHER_TOKEN", "its name"),
        ("variable `login.password` kept at app.py:8", "its name"),
        ("variable `login.url` kept at app.py:8", "its form"),
        ("variable `header.Authorization` kept at app.py:8", "its name"),
    }
    assert "argument 2 (`--password`)  (its name)" in said.stdout
    shown = whet("show", "--locals").stdout
    assert "hunter22" not in shown
    assert "login = app" not in shown
    assert f"password=str {MASK}" in shown


def test_the_user_s_own_list_holds_for_what_is_shown_sealed_and_kept(
    whet: Whet, tmp_path: Path
) -> None:
    config = tmp_path / "config"
    (config / "whet").mkdir(parents=True)
    (config / "whet" / "settings.toml").write_text(
        'secrets = ["ACME_*", "prefix:acme_live_"]\nnot_secrets = ["password"]\n'
    )
    own = {"XDG_CONFIG_HOME": str(config)}
    program = "import sys; acme_id = word = sys.argv[1][10:]; 1 / 0"
    words = ("--acme-id=abcd-of-acme", "acme_live_of-acme", "--password=shown-of-acme")
    whet("run", "--locals", "--", sys.executable, "-c", program, *words, environment=own)

    shown = whet("show", environment=own).stdout
    assert "abcd-of-acme" not in shown
    assert "acme_live_of" not in shown
    assert "--password=shown-of-acme" in shown
    listed = whet("secrets", environment=own).stdout
    assert listed.count("your list") >= 3
    assert "variable `acme_id` kept at" in listed
    assert b"shown-of-acme" in (whet.state / "notebook.db").read_bytes()
    assert b"abcd-of-acme" not in (whet.state / "notebook.db").read_bytes()


def test_a_project_may_add_a_secret_and_take_none_away(whet: Whet) -> None:
    whet.write("whet.toml", 'secrets = ["ACME_ID"]\n')
    whet("run", "--env", "ACME_ID=abcd-of-acme", "--", sys.executable, "-c", "1")
    assert "abcd-of-acme" not in whet("show").stdout

    whet.write("whet.toml", 'not_secrets = ["PASSWORD"]\n')
    said = whet("show")
    assert said.code == 78
    assert "only your own settings can say so" in said.stderr


@pytest.mark.parametrize("verb", ["one-liner", "script"])
def test_what_is_passed_on_asks_for_its_secrets_and_fails_the_same_way_with_them(
    whet: Whet, verb: str
) -> None:
    whet.write("app.py", PROGRAM)
    flag, variable = SECRETS
    inherited = {"OTHER_TOKEN": "hunter22-inherited"}
    command = (
        "--env",
        f"API_TOKEN={variable}",
        "--",
        sys.executable,
        "app.py",
        f"--password={flag}",
    )
    if verb == "script":
        said = whet("investigate", *command, environment=inherited)
        report = whet.folder / "whet-report"
        for path in (*report.iterdir(), None):
            text = path.read_text() if path else said.stdout + said.stderr
            assert "hunter22" not in text, path
        line = f"sh {report / 'reproduce.sh'}"
    else:
        whet("run", *command, environment=inherited)
        line = whet("one-liner").stdout
        assert "hunter22" not in line

    values = {**os.environ, **inherited, "API_TOKEN": variable, "PASSWORD": flag}
    done = subprocess.run(["sh", "-c", line], env=values, capture_output=True, check=False)
    assert f"ConnectionError: refused {flag} hunter22-inherited" in done.stderr.decode()
    del values["PASSWORD"]
    bare = subprocess.run(["sh", "-c", line], env=values, capture_output=True, check=False)
    assert "set PASSWORD first" in bare.stderr.decode()
