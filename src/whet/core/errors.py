"""Every error of whet: what it means, its exit code, and its page.

The docstring of a class is its page: `whet explain SLUG` shows it and the documentation
is generated from it. A raise site gives the value that caused the error and the next step.
"""

import re
from collections.abc import Iterator
from typing import ClassVar


class WhetError(Exception):
    """Something that the user can act on.

    Attributes:
        slug: name of the error's page.
        exit_code: as in sysexits.h, 64 to 78.
        hint: the next step, in one line.
    """

    slug: ClassVar[str] = ""
    exit_code: ClassVar[int] = 70

    def __init__(self, message: str, *, hint: str) -> None:
        super().__init__(message)
        self.hint = hint

    def __init_subclass__(cls) -> None:
        cls.slug = re.sub(r"(?<!^)(?=[A-Z])", "-", cls.__name__).lower()


USAGE, DATA, NO_INPUT, UNAVAILABLE, SOFTWARE = 64, 65, 66, 69, 70
CANNOT_CREATE, INPUT_OUTPUT, INCOMPLETE, NO_PERMISSION, CONFIGURATION = 73, 74, 75, 77, 78


class BadUsage(WhetError):
    """The command line does not say what to do.

    whet reads `whet VERB [options] -- COMMAND ...`. What follows `--` is the command,
    word by word; it is not given to a shell. Look at `whet VERB --help`.
    """

    exit_code = USAGE


class EmptyCommand(WhetError):
    """There is no command to run, or its first word is empty.

    Write the command after `--`, as in `whet run -- python train.py`. If the command comes
    from a shell variable, the variable is probably empty: `echo "$VARIABLE"` shows it.
    """

    exit_code = USAGE


class BadCondition(WhetError):
    """The text after `--bad-if` cannot be read.

    A condition is `NAME OPERATOR VALUE`, joined by `and` or `or`:

    - `seconds > 2`, `cpu_seconds >= 1.5`, `peak_memory > 500MB`, `exit == 3`
    - `stdout ~ NaN`, `stderr !~ 'deprecated'`, `output ~ 'loss: (nan|inf)'`
    - `loss > 10`, where `--measure 'loss=loss: ([0-9.]+)'` says how to read `loss`
    """

    exit_code = USAGE


class BadExpectation(WhetError):
    """The text after `--expect` cannot be read, so it could not be scored after the run.

    An expectation is one of:

    - `exit 0`: the exit code as a shell shows it
    - `good`, `bad`, `skip`: the verdict
    - `KeyError`, `json.JSONDecodeError`: the exception, with or without its module
    - `timeout`, `out of memory`, `test failure`, `SIGSEGV`: the kind of failure or the signal
    - `seconds < 2`, `stdout ~ done`: a condition as of `--bad-if`

    What you merely think goes into `--note`.
    """

    exit_code = USAGE


class CommandNotFound(WhetError):
    """The program to run does not exist, neither as a path nor on `PATH`.

    Check the spelling, the folder (`--cwd`) and whether its virtual environment is active.
    Shell words such as `cd`, aliases and functions are not programs: put them into
    `sh -c '...'`.
    """

    exit_code = NO_INPUT


class CommandNotExecutable(WhetError):
    """The program to run exists but may not be executed.

    `chmod +x FILE` makes a script executable; a script also needs a first line such as
    `#!/usr/bin/env python3`. Or name the interpreter: `whet run -- python FILE`.
    """

    exit_code = NO_PERMISSION


class FolderNotFound(WhetError):
    """The folder that the command should start in does not exist or is not a folder."""

    exit_code = NO_INPUT


class BaselineDoesNotFail(WhetError):
    """The command does not fail, so there is nothing to search for.

    A search needs a failure to hold on to. Run the command until it fails; one that fails now and
    then: `whet repeat --amplify -- COMMAND`. If it exits 0 while it is wrong, say what "bad" means:
    `--bad-if 'stdout ~ NaN'`, `--bad-if 'seconds > 2'`, `--oracle SCRIPT`.
    """

    exit_code = DATA


class CopyFailsOtherwise(WhetError):
    """The command fails on the file itself, but not in the same way on a copy of it.

    A search never touches the file: it varies a copy, in a folder of its own, with the files
    that lie beside the original linked beside it where that is needed. The program looks at
    still more, such as the folders above it or the file's exact place, so that what is made
    smaller would be another failure. Move what varies into a data file that the program is
    given as an argument; or let a script put the copy in its place:
    `whet shrink FILE --interesting SCRIPT`.
    """

    exit_code = DATA


class PayloadMissing(WhetError):
    """The file to be shrunk does not exist. Check the path; it is relative to `--cwd`."""

    exit_code = NO_INPUT


class PayloadEmpty(WhetError):
    """The file to be shrunk is empty: there is nothing to take away from it."""

    exit_code = DATA


class PayloadIsFolder(WhetError):
    """What a command should read from standard input is a folder. Name one file in it.

    A folder among the command's arguments can be shrunk: `whet shrink FOLDER -- COMMAND FOLDER`.
    """

    exit_code = DATA


class PayloadTooLarge(WhetError):
    """The folder to be shrunk holds too much: each trial gets a copy of it.

    Move out what the failure does not need, such as `.git`, environments and build folders, or
    name a folder below it.
    """

    exit_code = DATA


class PayloadUnreadable(WhetError):
    """The file to be shrunk cannot be read. `ls -l FILE` shows who may."""

    exit_code = NO_PERMISSION


class SettingsUnreadable(WhetError):
    """A configuration, or the file with its defaults, is not what its name says that it is.

    `whet shrink config.yaml --towards defaults.yaml` compares the two setting by setting, so
    both must parse as what `config.yaml` is by its name: JSON, YAML, TOML or INI. The message
    says where one of them does not. Other files are compared line by line.

    `whet delta good.toml bad.json` says the settings of the good one in the language of the bad
    one. A value that this language has no word for, such as a null in TOML, is named.
    """

    exit_code = DATA


class PayloadNotInCommand(WhetError):
    """The file to be shrunk does not stand in the command, so it cannot be varied.

    Name it among the command's arguments just as it is given to `whet shrink`, or write `{}`
    in its place: `whet shrink data.csv -- python load.py --input={}`. If the program reads
    standard input, use `--stdin FILE`.
    """

    exit_code = USAGE


class NotARepository(WhetError):
    """The folder is not inside a git repository, so it has no history to search.

    Run the command inside the repository, or name it with `--repo DIR`. For a bug in a
    package from PyPI, `--package NAME` searches its releases instead.
    """

    exit_code = NO_INPUT


class UnknownRevision(WhetError):
    """git does not know the revision. `git log --oneline` and `git tag` show those it knows.

    A shallow clone has only its newest commits: `git fetch --unshallow` brings the rest.
    """

    exit_code = DATA


class NotAnAncestor(WhetError):
    """The two revisions do not lie on one line of history.

    A bisection needs the one end to be an ancestor of the other.
    `git merge-base A B` names the commit where the two lines part.
    """

    exit_code = DATA


class SameEnds(WhetError):
    """Both ends of the search are the same version, so nothing lies between them."""

    exit_code = DATA


class NothingBetween(WhetError):
    """No version lies between the ends that could be tested.

    With `--path`, no commit in between touches that path. A first commit has none before it;
    a shallow clone ends early: `git fetch --unshallow` brings the rest. Of a package, no release
    in between can be installed here.
    """

    exit_code = DATA


class NothingDiffers(WhetError):
    """The two cases do not differ in anything that `whet delta` can switch.

    What decides lies elsewhere then: in the environment (`whet delta --env a.env b.env`), in the
    packages (`whet bisect --packages good.txt bad.txt`), in the code (`whet bisect GOOD BAD`), or
    the failure comes only sometimes.
    """

    exit_code = DATA


class EndsReversed(WhetError):
    """The good end fails and the bad end passes: the ends are the other way round.

    To find the version that *fixed* something, name the terms:
    `whet bisect --terms broken,fixed OLD NEW -- COMMAND`.
    """

    exit_code = DATA


class EndMisjudged(WhetError):
    """An end of the search is not what it was said to be.

    The good end must pass and the bad end must fail; a search from a wrong end names an innocent
    version. A release that is installed must do in the environment made for it what the command
    does with it. The message shows what was done instead; `whet show` shows all of its output.
    """

    exit_code = DATA


class UnknownPackage(WhetError):
    """The package index has no package of that name. Check the spelling."""

    exit_code = NO_INPUT


class UnknownRelease(WhetError):
    """The package has no release of that version, or none that can be installed here.

    `pip index versions NAME` lists the releases.
    """

    exit_code = DATA


class IndexUnreachable(WhetError):
    """The package index cannot be reached, so releases can be neither listed nor installed.

    Check the network and the proxy. `PIP_INDEX_URL` (or `UV_INDEX_URL`) names another index,
    such as a mirror inside a company or a cluster.
    """

    exit_code = UNAVAILABLE


class ReleaseNotInstallable(WhetError):
    """A release could not be installed: its build failed or its requirements cannot be met.

    Inside a search such a release is skipped; at an end of the search, name another end.
    """

    exit_code = UNAVAILABLE


class SetupFailed(WhetError):
    """The command of `--setup` failed on a commit.

    Inside a search such a commit is skipped; at an end of the search, name another end, or mend
    the command: it starts at the top of a checkout of that commit, and in a Python environment
    of its own if it names a Python tool.
    """

    exit_code = UNAVAILABLE


class DiskFull(WhetError):
    """There is no space left to write what whet has to keep.

    Nothing recorded so far is lost. Free some space (`df -h`, `df -i`), or keep the project's
    trials elsewhere: `WHET_DIR=/path/with/space`.
    """

    exit_code = INPUT_OUTPUT


class CannotWrite(WhetError):
    """whet may not write where it keeps its trials or its results.

    The folder is read-only or belongs to somebody else. Keep the project's trials elsewhere:
    `WHET_DIR=/path/that/is/yours`.
    """

    exit_code = CANNOT_CREATE


class StateNotOwned(WhetError):
    """The folder of trials was not made by your whet on this machine.

    It may come with a clone, an archive or a copy, and trials of others can start programs when
    they are run again. `whet notebook adopt FOLDER` shows what is in it and takes it over.
    """

    exit_code = NO_PERMISSION


class ResultInUse(WhetError):
    """Another whet is writing to the file that was named for the result.

    Two that write to one file would each leave what the other one found. Wait until the first
    one ends, or name another file: `-o FILE`. Without `-o` whet takes another name by itself.
    """

    exit_code = UNAVAILABLE


class NotebookTooNew(WhetError):
    """The project's notebook was written by a newer whet.

    Upgrade whet, or set `WHET_DIR` to start another notebook. The file is left as it is.
    """

    exit_code = CONFIGURATION


class NotebookDamaged(WhetError):
    """The project's notebook is not a whole SQLite database.

    whet never repairs in place. Move the file away to start a new notebook;
    `sqlite3 FILE .recover` may bring the old one back.
    """

    exit_code = DATA


class NotebookBusy(WhetError):
    """Another process holds the project's notebook and does not let go.

    Many whets may use one notebook at once; each holds it for less than a millisecond. Who
    holds it for long is stopped (Ctrl-Z), is an SQLite client inside a transaction, or sits on
    another machine that shares the folder. `fuser -v FILE` with the file that `whet notebook` names shows those of this one.
    """

    exit_code = UNAVAILABLE


class UnknownTrial(WhetError):
    """The notebook has no such trial. `whet log` lists those it has."""

    exit_code = NO_INPUT


class CodeNotKept(WhetError):
    """The code of that trial is not there to be run again.

    Its command was not inside a git repository, or the repository has been removed.
    `whet again` without `--code then` runs the trial on today's code.
    """

    exit_code = DATA


class SecretNotKept(WhetError):
    """A trial has a secret that is not kept here, so that it cannot run again as it was.

    Secrets stand in files of their own beside the notebook (`sealed`), and come with no copy of it.
    Give it anew: `whet again TRIAL --env NAME=VALUE`, or `whet run --like TRIAL -- COMMAND`.
    """

    exit_code = NO_INPUT


class NoFailureKept(WhetError):
    """Of this trial there are no frames to look at.

    Frames are kept by `whet run --locals`, and of the first runs of `whet investigate`, when an
    error of Python ends the program, a thread, a test or a process of `multiprocessing`. A program
    that catches its own errors and leaves by `sys.exit`, or one that a signal ends, has none.
    """

    exit_code = NO_INPUT


class UnknownTarget(WhetError):
    """There is no module, class or function of that name, as the command's own Python sees it.

    A target is `package.module`, `package.module:Class.method`, or the path of a file. It is
    looked for as the command behind `--` would, or `python` in this folder; `whet where` shows how.
    """

    exit_code = NO_INPUT


class NoSuchProcess(WhetError):
    """There is no process of that number, none whose command line matches, or it has just ended.

    `pgrep -af PATTERN` lists those whose command line matches. What ends too soon to be looked at
    is caught by `whet run --hang 10 -- COMMAND`, which keeps the stacks when it falls silent.
    """

    exit_code = NO_INPUT


class NoStacksKept(WhetError):
    """The trial has ended, and nobody looked at its stacks while it ran.

    `--hang SECONDS` keeps them when a trial writes nothing for so long. A trial that was killed by
    `--timeout` has the stack of its main thread in `whet show`.
    """

    exit_code = NO_INPUT


class StackForbidden(WhetError):
    """The system does not let whet look into the process (ptrace). There are three ways to get it.

    1. Start the program with `whet run`, or `whet syscalls --`: no right is needed for one's own.
    2. Look as root: `sudo $(which whet) stacks PID`; a process of another user needs this.
    3. Allow it: `sudo sysctl kernel.yama.ptrace_scope=0` on the machine; in Docker
       `--cap-add SYS_PTRACE`, in Kubernetes `securityContext.capabilities.add: [SYS_PTRACE]`.
    """

    exit_code = NO_PERMISSION


class BudgetTooSmall(WhetError):
    """The time budget ends before the command has been seen to fail once.

    Give more with `--budget`, or make the command quicker first.
    """

    exit_code = INCOMPLETE


class ReproductionFailed(WhetError):
    """The one-line command was run again, elsewhere, and did not show the failure.

    The report says what came instead. The payload and the trials are kept.
    """

    exit_code = DATA


class UnknownPage(WhetError):
    """There is no page of that name. `whet explain` lists them."""

    exit_code = USAGE


class BadSetting(WhetError):
    """A setting in `whet.toml`, `[tool.whet]`, a user's settings or a `WHET_*` variable is wrong.

    A flag wins over the environment, the environment over the project's settings, and these
    over the user's.
    """

    exit_code = CONFIGURATION


class UnknownFormat(WhetError):
    """There is no payload format of that name.

    Without a name whet looks at the content and uses every format that fits. The message
    lists the formats there are.
    """

    exit_code = USAGE


class LimitMakesNoSense(WhetError):
    """A limit is not a size or a number, is more than there is, or less than a program needs to start.

    Sizes are written `300M`, `5G` or `1.5GiB`; a letter is a power of 1024. The message says how
    much there is on this machine, or the least that works.
    """

    exit_code = USAGE


class LimitNotEnforced(WhetError):
    """No way to enforce a limit works on this machine, or a probe did not meet it.

    The message lists the ways that were tried and what each one lacks. Memory is limited by
    control groups (version 2 if one was delegated to this user, or is by `systemd-run --user`,
    version 1 if it can be written to), or else by a watchdog that whet runs itself.
    Nothing was run: a limit that does not hold would prove nothing.
    """

    exit_code = UNAVAILABLE


class NeverSucceeds(WhetError):
    """`whet starve --find` looks for the least with which a command succeeds, and it never does.

    It failed without that limit too: leave other limits out, or look with `whet run` what is wrong.
    """

    exit_code = DATA


class RoomRefused(WhetError):
    """A trial cannot be given a disk, a network or a clean room of its own on this machine.

    These are made of Linux namespaces, which root may always make and other users where the system
    allows it; clean rooms and `--disk-free` of overlays, from Linux 5.11 on without root. System
    calls that fail (`--fail`) need seccomp, and cannot be had twice, one within the other. What
    commonly forbids it, and what to do:

    - `sysctl user.max_user_namespaces` is 0, or `kernel.unprivileged_userns_clone` is 0
      (older Debian): an administrator sets it.
    - Ubuntu 24.04 and later: `kernel.apparmor_restrict_unprivileged_userns` is 1. Set it to 0,
      or run as root.
    - A container: Docker forbids namespaces to what runs in it unless it is started with
      `--cap-add SYS_ADMIN` or `--security-opt seccomp=unconfined`.
    """

    exit_code = UNAVAILABLE


class GpuNotHeld(WhetError):
    """The memory of a GPU cannot be held so that only so much is left.

    The message says what NVIDIA's driver answered: there may be none, no GPU that is visible
    (`CUDA_VISIBLE_DEVICES`), or another program that holds more than that already.
    """

    exit_code = UNAVAILABLE


class ClockNotPossible(WhetError):
    """A trial cannot be given another time of day on this machine.

    `--clock` needs libfaketime (`apt-get install faketime`), which a program loads when it starts.
    Programs that were linked statically, such as those in Go, do not load it.
    """

    exit_code = UNAVAILABLE


class HostFailure(WhetError):
    """The operating system refused something that whet cannot do without."""

    exit_code = 71


class InternalFault(WhetError):
    """whet has a bug. Please report it with the file that the message names."""

    exit_code = SOFTWARE


def error_classes() -> Iterator[type[WhetError]]:
    """Yield every kind of error, in the order of this file."""
    yield from WhetError.__subclasses__()
