"""How each verb of whet is called once, in a small project whose names the test chooses.

A table of all verbs, so that none that is added later is forgotten.
"""

import sys
from collections.abc import Mapping
from dataclasses import dataclass

from whet_command import Whet

PYTHON = sys.executable

PROGRAM = """\
import sys, time

def check(text):
    kept = []
    for line in text.splitlines():
        kept.append(line)
    if "x" in text:
        raise ValueError("an x in " + path)

path = sys.argv[1]
text = open(path).read()
end = time.process_time() + 0.2 * ("busy" in text)
while time.process_time() < end:
    sum(range(1000))
check(text)
"""
CHECK_LINE = 6


@dataclass(frozen=True)
class Names:
    """What the files of the project are called, and the last argument of each command."""

    program: str = "prog.py"
    bad: str = "data.txt"
    good: str = "good.txt"
    busy: str = "busy.txt"
    configuration: str = "conf.json"
    model: str = "model"
    result: str = "result"
    argument: str = "argument"


@dataclass(frozen=True)
class Call:
    """How a verb is called, and what it answers.

    Attributes:
        words: behind the name of the verb.
        says: a part of its answer.
        code: its exit code; None: it depends on what is installed.
    """

    words: tuple[str, ...]
    says: str
    code: int | None = 0


def make_project(whet: Whet, names: Names) -> None:
    """Make a repository in which the last commit is bad, with a trial of it and one that is kept."""
    whet.git("init", "--quiet")
    whet.write(names.program, PROGRAM)
    whet.write(names.good, "a\nb\n")
    whet.write(names.busy, "busy\n")
    whet.write(names.configuration, '{"rows": 1}')
    whet.write(f"{names.model}/config.json", '{"model_type": "gpt2"}')
    whet.write(names.bad, "a\nb\n")
    _commit(whet, "good")
    whet.write(names.bad, "a\nx\nb\n")
    _commit(whet, "bad")
    whet.write("changed.txt", "not committed\n")
    command = (PYTHON, names.program, names.bad, names.argument)
    assert whet("run", "--locals", "--", *command).code == 1
    assert whet("run", "--", *command).code == 1


def _commit(whet: Whet, message: str) -> None:
    whet.git("add", "--all")
    whet.git("commit", "--quiet", "--message", message)


def calls(names: Names) -> Mapping[str, Call]:
    """Return how each verb is called in that project."""
    program, bad, good = names.program, names.bad, names.good
    command = ("--", PYTHON, program, bad, names.argument)
    passing = ("--", PYTHON, program, good, names.argument)
    busy = ("--", PYTHON, program, names.busy, names.argument)
    row = ("--", PYTHON, program, names.configuration, names.argument)
    both = (f"{PYTHON} '{program}' '{good}'", f"{PYTHON} '{program}' '{good}' '{names.argument}'")
    result = names.result
    return {
        "run": Call(command, "BAD exit 1", 1),
        "again": Call(("1",), "an x in", 1),
        "loop": Call(("--runs", "1", *command), "BAD ValueError"),
        "log": Call((), "exit 1"),
        "show": Call(("1",), "ValueError"),
        "notebook": Call(("list",), "B  "),
        "secrets": Call((), ""),
        "settings": Call((), "timeout_seconds"),
        "post-mortem": Call(("1", "--list"), "1* ValueError: an x in", 1),
        "watch": Call(("memory", f"files:{program}", f"ls '{bad}'", *busy), "open files"),
        "stacks": Call(("--trial", "2"), "", None),
        "syscalls": Call(command, "read ", 1),
        "where": Call((program, *command), "ran: 1 call"),
        "probe": Call((f"{program}:{CHECK_LINE}", "count", *command), "3 times", 1),
        "trace": Call((f"{program}:*", *command), "check(text='a\\nx\\nb\\n')", 1),
        "profile": Call(("--once", "--html", f"{result}.html", *busy), "CPU"),
        "toggle": Call(("hash-seed", *command), "same"),
        "diff": Call(("1", "2"), "the same"),
        "shrink": Call((bad, *command), "6 B → 1 B"),
        "tiny": Call((names.model, "-o", result), "", None),
        "make": Call(("text", "-o", f"{result}.txt"), "text of 2 lines"),
        "sample": Call((bad, "-n", "1"), "1 of 3 lines"),
        "bisect": Call(("HEAD~1", "HEAD", *command), "is the first bad commit"),
        "repeat": Call(("-n", "2", *command), "failed in 2 of 2 runs"),
        "compare": Call(("--runs", "7", *both), "both print the same output", None),
        "delta": Call((good, bad, "--", PYTHON, program, "{}"), "line 2: x"),
        "starve": Call(("--memory", "1G", *command), "BAD exit 1", 1),
        "grow": Call(("-d", f"{names.configuration}:rows=1..2", *row), "from 1 to 2"),
        "leak": Call(("--budget", "20s", *passing), "check", None),
        "investigate": Call(("--no-releases", *command), "is the first bad commit"),
        "expect": Call(("--lines", f"{program}:check", *command), "kept.append(line)", 1),
        "annotate": Call(("--vendor", f"{result}.py"), "wrote"),
        "one-liner": Call(("1",), PYTHON),
        "completion": Call(("bash",), "_whet_completion"),
        "explain": Call((result,), "there is no page", 64),
    }  # fmt: skip
