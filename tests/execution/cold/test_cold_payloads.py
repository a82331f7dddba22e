"""A trial finds its payloads in a folder of its own, under the names it looks for."""

import os
from dataclasses import replace
from pathlib import Path

import pytest
from laboratory import Laboratory, outcome_of

from whet.core.trial import STDIN_INHERITED, PayloadBinding


def _binding(laboratory: Laboratory, content: bytes | Path, **fields: object) -> PayloadBinding:
    defaults: dict[str, object] = {"argument": 1, "text": "data.csv", "name": "data.csv"}
    merged = {**defaults, **fields}
    argument = merged["argument"]
    assert argument is None or isinstance(argument, int)
    return PayloadBinding(
        argument=argument,
        text=str(merged["text"]),
        name=str(merged["name"]),
        digest=laboratory.hold(content),
    )


@pytest.mark.parametrize("kept", ["in memory", "in a file"])
def test_the_path_takes_the_place_of_the_text_in_the_argument(
    laboratory: Laboratory, kept: str
) -> None:
    content: bytes | Path = b"\xff1,2\n"
    if kept == "in a file":
        content = laboratory.folder / "blob"
        content.write_bytes(b"\xff1,2\n")
    script = 'for word; do case "$word" in --in=*) cat "${word#--in=}";; esac; echo "$word"; done'
    trial = replace(
        laboratory.trial("sh", "-c", script, "sh", "--in=data.csv", "data.csv.bak"),
        payloads=(_binding(laboratory, content, argument=4),),
    )

    lines = laboratory.run(trial).stdout.head(1000).splitlines()

    assert lines[0] == b"\xff1,2"
    assert lines[1].startswith(b"--in=/")
    assert lines[1].endswith(b"/data.csv")
    assert lines[2] == b"data.csv.bak"


def test_a_file_that_the_program_changes_changes_for_nobody_else(laboratory: Laboratory) -> None:
    blob = laboratory.folder / "blob"
    blob.write_bytes(b"whole")
    script = 'cat "$1"; echo more >>"$1"; touch "$1.beside"; ls "$(dirname "$1")" | wc -l'
    trial = replace(
        laboratory.trial("sh", "-c", script, "sh", "data.csv"),
        payloads=(_binding(laboratory, blob, argument=4),),
    )
    with laboratory.make() as executor:
        first = outcome_of(executor.submit(trial))
        second = outcome_of(executor.submit(trial))

    assert first.stdout.head(100) == second.stdout.head(100) == b"whole2\n"
    assert blob.read_bytes() == b"whole"


def test_two_payloads_may_have_one_name(laboratory: Laboratory) -> None:
    trial = replace(
        laboratory.trial("cat", "one/x", "two/x"),
        payloads=(
            _binding(laboratory, b"1", argument=1, text="one/x", name="x"),
            _binding(laboratory, b"2", argument=2, text="two/x", name="x"),
        ),
    )

    assert laboratory.run(trial).stdout.head(100) == b"12"


def test_standard_input_can_be_a_payload_or_a_blob_or_nothing(laboratory: Laboratory) -> None:
    cat = laboratory.trial("cat")
    with laboratory.make() as executor:
        varied = replace(cat, payloads=(_binding(laboratory, b"varied", argument=None),))
        assert outcome_of(executor.submit(varied)).stdout.head(100) == b"varied"
        fixed = replace(cat, stdin=laboratory.hold(b"fixed"))
        assert outcome_of(executor.submit(fixed)).stdout.head(100) == b"fixed"
        assert outcome_of(executor.submit(cat)).stdout.head(100) == b""
        nobody_watches = replace(cat, stdin=STDIN_INHERITED)
        assert outcome_of(executor.submit(nobody_watches)).stdout.head(100) == b""


def test_a_payload_can_be_the_program(laboratory: Laboratory) -> None:
    trial = replace(
        laboratory.trial("./script"),
        payloads=(
            _binding(
                laboratory, b"#!/bin/sh\necho ran\n", argument=0, text="./script", name="script"
            ),
        ),
    )

    assert laboratory.run(trial).stdout.head(100) == b"ran\n"


def test_read_only_folders_that_a_program_leaves_are_removed(laboratory: Laboratory) -> None:
    script = (
        'd=$(dirname "$1"); mkdir -p $d/a/b/c; touch $d/a/b/x; chmod 500 $d/a/b $d/a; chmod 0 $d'
    )
    trial = replace(
        laboratory.trial("sh", "-c", script, "sh", "data.csv"),
        payloads=(_binding(laboratory, b"", argument=4),),
    )

    assert laboratory.run(trial).exit_code == 0


def test_slots_do_not_share_a_folder(laboratory: Laboratory) -> None:
    laboratory.jobs = 2
    script = 'echo "$1"; until [ -e other ]; do [ -e one ] && touch other; touch one; done'
    trial = replace(
        laboratory.trial("sh", "-c", script, "sh", "data.csv"),
        payloads=(_binding(laboratory, b"", argument=4),),
    )
    with laboratory.make() as executor:
        futures = [executor.submit(trial) for _ in range(2)]
        paths = {outcome_of(future).stdout.head(1000) for future in futures}

    assert len(paths) == 2


def test_the_folder_of_the_command_is_what_its_environment_says(laboratory: Laboratory) -> None:
    laboratory.environment = {**os.environ, "PWD": "/"}

    outcome = laboratory.run(laboratory.trial("sh", "-c", 'echo "$PWD"; printenv PWD WHET_TRIAL'))

    assert outcome.stdout.head(1000).split() == [os.fsencode(laboratory.work)] * 2 + [b"1"]


@pytest.mark.parametrize(
    "does",
    [
        'rm -r "$WHET_AGENT"',
        'rm -r "$HERE"',
        'mv "$WHET_AGENT" "$WHET_AGENT.x"',
        'rm -r "$HERE"; ln -s "$1" "$HERE"',
        'rm -r "$WHET_AGENT"; ln -s "$1" "$WHET_AGENT"',
        'rm -r "$HERE"; : > "$HERE"',
    ],
)
def test_a_program_that_changes_whets_temporary_folder_is_a_trial_like_any_other(
    laboratory: Laboratory, does: str
) -> None:
    outside = laboratory.folder / "outside"
    (outside / "folder").mkdir(parents=True)
    (outside / "folder" / "kept").touch()
    (outside / "1.made").touch()
    line = f'HERE=$(dirname "$WHET_AGENT"); {does}; exit 3'
    trial = laboratory.trial("sh", "-c", line, "sh", str(outside))
    with laboratory.make() as executor:
        outcomes = [outcome_of(executor.submit(trial)) for _ in range(2)]
    assert [outcome.exit_code for outcome in outcomes] == [3, 3]
    assert sorted(path.name for path in outside.rglob("*")) == ["1.made", "folder", "kept"]
