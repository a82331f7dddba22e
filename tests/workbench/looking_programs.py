"""Programs that look at a checkout in one way each, and two states between which only that tells."""

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from whet.bisection.equal_trees import EqualTrees
from whet.core.observations.file_accesses import FileAccesses
from whet.core.outcome import Outcome
from whet.core.trial import ResetStep, Trial
from whet.core.verdict import Verdict
from whet.host.code.git_trees import GitTrees
from whet.host.code.worktrees import Worktrees
from whet.host.process.git import Repository
from whet.workbench.trials.bench import Workbench
from whet.workbench.trials.request import TrialRequest
from whet.workbench.trials.session import Session
from whet.workbench.versions.revisions import Checkouts
from whet.workbench.versions.setups import Setup, Setups

_WHO = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")


@dataclass(frozen=True, kw_only=True)
class Way:
    """A way to look, and what is to be seen by it.

    Attributes:
        program: what is run; it exits with 1 if it sees the second state.
        before: path to content in the first state; ``@`` before it is a link, ``!`` a program.
        after: what is other in the second state; None: it is gone.
        seen: the path that is to be noted.
        reset: shell command before it.
    """

    program: str
    before: Mapping[str, str]
    after: Mapping[str, str | None]
    seen: str
    reset: str = ""


WAYS = {
    "a file that is read": Way(
        program="import sys; sys.exit('two' in open('data.txt').read())",
        before={"data.txt": "one"}, after={"data.txt": "two"}, seen="data.txt",
    ),
    "a file that is not there": Way(
        program="import os, sys; sys.exit(os.path.exists('local.cfg'))",
        before={}, after={"local.cfg": ""}, seen="local.cfg",
    ),
    "a module that is not there": Way(
        program="import sys\ntry: import extra\nexcept ImportError: sys.exit(0)\nsys.exit(1)",
        before={"pkg/x.py": ""}, after={"extra.py": ""}, seen="",
    ),
    "a file in a folder that is not there": Way(
        program="import os, sys; sys.exit(os.path.exists('conf/local.cfg'))",
        before={}, after={"conf/local.cfg": ""}, seen="conf",
    ),
    "a folder that is listed": Way(
        program="import os, sys; sys.exit(len(os.listdir('tests')) - 1)",
        before={"tests/a": ""}, after={"tests/b": ""}, seen="tests",
    ),
    "the size of a file": Way(
        program="import os, sys; sys.exit(os.stat('big.bin').st_size > 3)",
        before={"big.bin": "abc"}, after={"big.bin": "abcd"}, seen="big.bin",
    ),
    "whether a file may be run": Way(
        program="import os, sys; sys.exit(os.access('tool.sh', os.X_OK) and bool(os.stat('tool.sh').st_mode & 64))",
        before={"tool.sh": "#!/bin/sh\n"}, after={"tool.sh": "!#!/bin/sh\n"}, seen="tool.sh",
    ),
    "where a link leads": Way(
        program="import os, sys; sys.exit(os.readlink('current') == 'v2')",
        before={"current": "@v1"}, after={"current": "@v2"}, seen="current",
    ),
    "a file behind a link": Way(
        program="import sys; sys.exit('two' in open('current/data').read())",
        before={"current": "@v1", "v1/data": "one"}, after={"v1/data": "two"}, seen="v1/data",
    ),
    "a link on the way": Way(
        program="import sys; sys.exit('two' in open('current/data').read())",
        before={"current": "@v1", "v1/data": "one", "v2/data": "two"}, after={"current": "@v2"},
        seen="current",
    ),
    "a child process": Way(
        program="import subprocess, sys; sys.exit(subprocess.call(['grep', '-q', 'one', 'data.txt']))",
        before={"data.txt": "one"}, after={"data.txt": "two"}, seen="data.txt",
    ),
    "a grandchild that has left its session": Way(
        program="import subprocess, sys; sys.exit(subprocess.call(['setsid', '-w', 'sh', '-c', '(grep -q one data.txt)']))",
        before={"data.txt": "one"}, after={"data.txt": "two"}, seen="data.txt",
    ),
    "a thread": Way(
        program="import sys, threading\nfound = []\n"
        "t = threading.Thread(target=lambda: found.append(open('data.txt').read()))\n"
        "t.start(); t.join(); sys.exit(found == ['two'])",
        before={"data.txt": "one"}, after={"data.txt": "two"}, seen="data.txt",
    ),
    "from below, by two dots": Way(
        program="import os, sys; os.chdir('a/b'); sys.exit('two' in open('../../data.txt').read())",
        before={"a/b/x": "", "data.txt": "one"}, after={"data.txt": "two"}, seen="data.txt",
    ),
    "by a descriptor of its folder": Way(
        program="import os, sys\nfolder = os.open('a', os.O_PATH)\n"
        "sys.exit(b'two' in os.read(os.open('data.txt', os.O_RDONLY, dir_fd=folder), 9))",
        before={"a/data.txt": "one"}, after={"a/data.txt": "two"}, seen="a/data.txt",
    ),
    "by the working folder of the process": Way(
        program="import sys; sys.exit('two' in open('/proc/self/cwd/data.txt').read())",
        before={"data.txt": "one"}, after={"data.txt": "two"}, seen="data.txt",
    ),
    "behind a link that it has made itself": Way(
        program="import os, sys; os.symlink('v1', 'mine'); sys.exit('two' in open('mine/data').read())",
        before={"v1/data": "one"}, after={"v1/data": "two"}, seen="v1/data",
    ),
    "behind a link that it has made elsewhere": Way(
        program="import os, sys, tempfile\nwith tempfile.TemporaryDirectory() as place:\n"
        "    os.symlink(os.getcwd(), place + '/here')\n"
        "    sys.exit('two' in open(place + '/here/v1/data').read())",
        before={"v1/data": "one"}, after={"v1/data": "two"}, seen="v1/data",
    ),
    "after it has moved it": Way(
        program="import os, sys; os.rename('data.txt', 'kept.txt'); sys.exit('two' in open('kept.txt').read())",
        before={"data.txt": "one"}, after={"data.txt": "two"}, seen="data.txt",
    ),
    "a file that it writes over": Way(
        program="import sys\ntry: open('made/out', 'w').close()\nexcept OSError: sys.exit(1)",
        before={"made/x": ""}, after={"made/out/x": ""}, seen="made/out",
    ),
    "a file that it removes": Way(
        program="import os, sys\ntry: os.unlink('data.txt')\nexcept OSError: sys.exit(1)",
        before={"data.txt": ""}, after={"data.txt": None}, seen="data.txt",
    ),
    "a program of the checkout": Way(
        program="import subprocess, sys; sys.exit(subprocess.call(['./tool.sh']))",
        before={"tool.sh": "!#!/bin/sh\nexit 0\n"}, after={"tool.sh": "!#!/bin/sh\nexit 1\n"},
        seen="tool.sh",
    ),
    "the interpreter of a program that is run by its descriptor": Way(
        program="import os, sys\nos.set_inheritable(at := os.open('tool.sh', os.O_RDONLY), True)\n"
        "os.execve(at, ['tool.sh'], os.environ) if not (pid := os.fork()) else None\n"
        "sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))",
        before={"tool.sh": "!#!inner.sh\n", "inner.sh": "@/bin/true"}, after={"inner.sh": "@/bin/false"},
        seen="inner.sh",
    ),
    "a reset step": Way(
        program="import sys; sys.exit('two' in open('/dev/shm/whet-' + sys.argv[1]).read())",
        before={"data.txt": "one"}, after={"data.txt": "two"}, seen="data.txt",
        reset="cat data.txt > /dev/shm/whet-$TOKEN",
    ),
    "how git writes a file out": Way(
        program="import sys; sys.exit(b'\\r' in open('data.txt', 'rb').read())",
        before={"data.txt": "one\n"}, after={".gitattributes": "*.txt text eol=crlf\n"},
        seen="data.txt",
    ),
}  # fmt: skip


def make_history(folder: Path, states: Sequence[Mapping[str, str | None]]) -> list[str]:
    """Make a repository with a commit for each state; return the commits."""
    folder.mkdir(parents=True, exist_ok=True)
    commits: list[str] = []
    _git(folder, "init", "--quiet")
    for state in states:
        for name, content in state.items():
            _write(folder / name, content)
        _git(folder, "add", "--all")
        _git(folder, *_WHO, "commit", "--quiet", "--allow-empty", "--message", "a change")
        commits.append(_git(folder, "rev-parse", "HEAD"))
    return commits


def _write(path: Path, content: str | None) -> None:
    path.unlink(missing_ok=True)
    if content is None:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    if content.startswith("@"):
        path.symlink_to(content[1:])
        return
    path.write_text(content.removeprefix("!"))
    path.chmod(0o755 if content.startswith("!") else 0o644)


def _git(folder: Path, *words: str) -> str:
    done = subprocess.run(["git", *words], cwd=folder, capture_output=True, check=True)
    return done.stdout.decode().strip()


def run_on(
    bench: Workbench, repository: Path, commits: Sequence[str], way: Way
) -> list[tuple[Outcome, FileAccesses]]:
    """Run a program on commits; return of each run what it did and what it looked at."""
    worktrees = Worktrees(
        Repository(repository), bench.cleanup_journal, bench.project.state / "trees"
    )
    setups = Setups(worktrees=worktrees, setup=Setup(), environment=bench.environment)
    checkouts = Checkouts(worktrees=worktrees, bench=bench, setups=setups)
    token = f"{os.getpid()}"
    trial = Trial(
        command=(sys.executable, "-c", way.program, token),
        cwd=str(repository),
        reset=(ResetStep(command=way.reset),) if way.reset else (),
        environment={"TOKEN": token, "PYTHONDONTWRITEBYTECODE": "1"},
    )
    outcomes: list[Outcome] = []
    request = TrialRequest(command=trial.command)
    session = Session(bench=bench, verb="run", request=request, observe=checkouts.observe)
    with session.executor(place=checkouts.place) as executor:
        for commit in commits:
            outcomes.append(executor.submit(replace(trial, revision=commit)).result())
            Path(f"/dev/shm/whet-{token}").unlink(missing_ok=True)
    worktrees.discard_all()
    read = bench.notebook.blobs.read
    return [(outcome, FileAccesses.from_bytes(read(outcome.looks))) for outcome in outcomes]


def follows(repository: Path, tested: str, looks: FileAccesses, others: Sequence[str]) -> set[str]:
    """Return which commits need no run after one on ``tested``."""
    equal = EqualTrees(GitTrees(Repository(repository)))
    equal.learn(tested, Verdict.GOOD, looks)
    return set(equal.known(others))
