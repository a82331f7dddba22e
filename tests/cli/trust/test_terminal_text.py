"""What whet says in its own words shows what is in a name, and no reader obeys it, piped or not."""

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from whet_command import Whet

from whet.cli import main

NAME = "a\x1b[2Jb\x1b]0;title\x07\x9bc.py"
HOSTILE = "a\x1b[2Jb\x9bc\u202ed\u2028e\nINJECTED"
OBEYED = "\x1b\x07\x9b\u202e\u2028\r\x00"
PROGRAM = f"""import os, sys
data = open(sys.argv[1]).read()
def check(value):
    if "bad" in data:
        raise ValueError({HOSTILE!r} + value)
check(os.environ.get("HOSTILE", ""))
"""


def on_terminal(whet: Whet, *words: str) -> bytes:
    """Return what whet writes where all its streams are a terminal."""
    master, slave = os.openpty()
    try:
        whole = {**os.environ, **whet.environment, "TERM": "xterm"}
        whole.pop("NO_COLOR", None)
        subprocess.run(
            [sys.executable, "-m", "whet", *words], cwd=whet.folder, env=whole, check=False,
            stdin=slave, stdout=slave, stderr=slave, timeout=60,
        )  # fmt: skip
        return os.read(master, 65536)
    finally:
        os.close(slave)
        os.close(master)


def test_a_name_on_a_terminal_is_shown_and_not_obeyed(whet: Whet) -> None:
    whet.write(NAME, "x = 1\n")
    whet("run", "--", sys.executable, NAME)
    told = on_terminal(whet, "log")

    assert rb"$'a\x1b[2Jb\x1b]0;title\x07\xc2\x9bc.py'" in told
    assert b"\x1b[2J" not in told
    assert b"\x1b[32mGOOD\x1b[0m" in told, "whet's own colours stay"


def test_a_colour_in_a_name_is_shown_and_not_obeyed(whet: Whet) -> None:
    whet("run", "--", "true", "\x1b[32mGOOD\x1b[0m")

    assert rb"$'\x1b[32mGOOD\x1b[0m'" in on_terminal(whet, "log")


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Whet:
    """Return a project in which every name, message and value attacks who reads it, and its trials."""
    place = tmp_path_factory.mktemp("hostile")
    (place / "tmp").mkdir()
    whet = Whet(place / "project", {"TMPDIR": str(place / "tmp")})
    whet.folder.mkdir()
    whet.git("init", "--quiet")
    program = f"{HOSTILE}.py"
    whet.write(program, PROGRAM)
    whet.write(f"{HOSTILE}.txt", "good\n")
    whet.commit("first")
    whet.commit(HOSTILE, other_py="x = 1\n")
    whet.write(f"{HOSTILE}.txt", "so bad\n" * 3)
    whet.commit(HOSTILE.replace("\n", " "))
    whet.commit(HOSTILE, other_py="x = 2\n")
    whet.git("branch", HOSTILE.translate(dict.fromkeys(map(ord, "\x1b[\n\u2028")))[:9])
    whet.write(f"test_{HOSTILE}.py", "def test_it():\n    assert False, '\\x1b[2J'\n")
    whet.write(
        f"{HOSTILE}.toml", '[toggles."\\u001b[2J"]\nvariables = { A = "\\u001b[2J\\nINJECTED" }\n'
    )
    (whet.folder / f"{HOSTILE}.toml").rename(whet.folder / "whet.toml")
    whet(*VERBS["run"])
    whet("run", "--", "true", HOSTILE)
    whet(*VERBS["run"])
    return whet


def _command(python: Sequence[str] = (sys.executable,)) -> tuple[str, ...]:
    return ("--env", f"HOSTILE={HOSTILE}", "--", *python, f"{HOSTILE}.py", f"{HOSTILE}.txt")


VERBS: dict[str, tuple[str, ...]] = {
    "run": ("run", "--locals", "--name", HOSTILE, "--note", HOSTILE, *_command()),
    "log": ("log", "--all"),
    "show": ("show", "3"),
    "show with its frames": ("show", "--locals", "3"),
    "again": ("again", "3"),
    "one-liner": ("one-liner", "3"),
    "diff": ("diff", "1", "2"),
    "post-mortem": ("post-mortem", "1", "--list"),
    "settings": ("settings",),
    "notebook": ("notebook", "list"),
    "repeat": ("repeat", "-n", "2", *_command()),
    "loop": ("loop", "--runs", "1", "--explain", *_command()),
    "probe": ("probe", f"{HOSTILE}.py:4", *_command()),
    "trace": ("trace", *_command()),
    "where": ("where", f"{HOSTILE}.py", *_command()),
    "toggle": ("toggle", "--list"),
    "toggle of a name": ("toggle", HOSTILE, *_command()),
    "shrink": ("shrink", f"{HOSTILE}.txt", *_command()),
    "shrink of variables": ("shrink", "--environment", *_command()),
    "bisect": ("bisect", "HEAD~3", "HEAD", *_command()),
    "investigate": ("investigate", "--no-releases", "--no-changes", *_command()),
    "delta": ("delta", f"{HOSTILE}.txt", f"{HOSTILE}.py", "--", "false", "{}"),
    "watch": ("watch", f"files:{HOSTILE}", f"ls '{HOSTILE}'", *_command()),
    "stacks": ("stacks", HOSTILE),
    "syscalls": ("syscalls", *_command()),
    "profile": ("profile", "--io", "--html", f"{HOSTILE}.html", *_command()),
    "tiny": ("tiny", HOSTILE),
    "make": ("make", "text", "-o", f"{HOSTILE}.made"),
    "sample": ("sample", f"{HOSTILE}.txt", *_command()),
    "compare": ("compare", "--runs", "7", f"ls '{HOSTILE}.py'", f"ls '{HOSTILE}.txt'"),
    "starve": ("starve", "--memory", "1G", *_command()),
    "grow": ("grow", "-d", f"{HOSTILE}=1..2", *_command()),
    "leak": ("leak", "--budget", "5s", *_command()),
    "expect": ("expect", "--lines", f"{HOSTILE}.py", *_command()),
    "annotate": ("annotate", "--vendor", f"{HOSTILE}.annotated"),
    "secrets": ("secrets",),
    "explain": ("explain", HOSTILE),
    "no verb": (HOSTILE,),
    "no option": ("log", f"--{HOSTILE}"),
    "no file": ("shrink", f"{HOSTILE}.csv", "--", "false", f"{HOSTILE}.csv"),
    "no command": ("run", "--", f"./{HOSTILE}"),
    "no folder": ("run", "--cwd", HOSTILE, "--", "true"),
    "no revision": ("bisect", HOSTILE, "HEAD", "--", "true"),
    "no notebook": ("notebook", "adopt", HOSTILE),
    "no module": ("where", HOSTILE),
}  # fmt: skip


def _own_output(whet: Whet) -> str:
    """Return what the program itself writes, which whet passes on as it is."""
    done = subprocess.run(
        _command()[3:], cwd=whet.folder, capture_output=True, check=False,
        env={**os.environ, "HOSTILE": HOSTILE},
    )  # fmt: skip
    return done.stderr.decode("utf-8", "replace")


def test_each_verb_is_called_above() -> None:
    assert {words[0] for words in VERBS.values()} >= set(main.VERBS) - {"completion"}


@pytest.mark.parametrize("verb", VERBS)
def test_no_words_of_whet_in_a_pipe_hold_what_a_terminal_obeys(verb: str, hostile: Whet) -> None:
    own = [part for part in _own_output(hostile).split("\n") if part]
    said = hostile(*VERBS[verb])
    errors = said.stderr  # a line of whet's can stand between two of the program's
    for part in own:
        errors = errors.replace(f"{part}\n", "")

    assert "whet itself failed" not in said.stderr
    assert said.stdout or said.stderr
    for text in (said.stdout.partition("--- stderr")[0], errors):
        assert not set(text) & set(OBEYED), ascii(text)
        assert not [line for line in text.splitlines() if line.startswith("INJECTED")], text


def test_no_page_of_a_report_holds_what_a_terminal_obeys(hostile: Whet) -> None:
    assert hostile(*VERBS["investigate"]).code == 0

    pages = [path for path in Path(hostile.folder, "whet-report").iterdir() if path.is_file()]
    texts = {path.name: path.read_text("utf-8") for path in pages if path.suffix != ".txt"}
    assert {"report.html", "report.md", "report.json", "reproduce.sh"} <= set(texts)
    for name, text in texts.items():
        assert not set(text) & set(OBEYED), name
        told = re.sub(r"(?s)<pre>.*?</pre>|^ *(`{3,}).*?^ *\1$", "", text, flags=re.MULTILINE)
        assert not re.findall(r"(?m)^\W*INJECTED.*", told), name


def test_a_command_that_is_shown_runs_when_it_is_pasted(hostile: Whet) -> None:
    hostile("run", "--", "printf", "%s", HOSTILE)
    shown = hostile("show", "--json").stdout
    row = next(line for line in hostile("show").stdout.splitlines() if "command" in line)

    pasted = subprocess.run(
        ["bash", "-c", row.split("command", 1)[1]], capture_output=True, check=True
    )
    line = subprocess.run(
        ["sh", "-c", hostile("one-liner").stdout], capture_output=True, check=True
    )

    assert pasted.stdout.decode() == line.stdout.decode() == HOSTILE
    assert shlex.quote(HOSTILE) not in shown
