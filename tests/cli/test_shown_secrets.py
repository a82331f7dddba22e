"""A secret that a command was given is kept to run it again, and not shown."""

import sys

from whet_command import Whet

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
