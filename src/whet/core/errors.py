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
    """whet can't tell from the command line what to do.

    whet reads `whet VERB [options] -- COMMAND ...`. The command follows `--`, word by word;
    no shell interprets it. See `whet VERB --help`.
    """

    exit_code = USAGE


class EmptyCommand(WhetError):
    """There is no command to run, or its first word is empty.

    Write the command after `--`, as in `whet run -- python train.py`. If the command comes
    from a shell variable, the variable is probably empty: `echo "$VARIABLE"` shows it.
    """

    exit_code = USAGE


class BadCondition(WhetError):
    """whet can't parse the text after `--bad-if`.

    A condition is `NAME OPERATOR VALUE`, joined by `and` or `or`:

    - `seconds > 2`, `cpu_seconds >= 1.5`, `peak_memory > 500MB`, `exit == 3`
    - `stdout ~ NaN`, `stderr !~ 'deprecated'`, `output ~ 'loss: (nan|inf)'`
    - `loss > 10`, where `--measure 'loss=loss: ([0-9.]+)'` extracts `loss`
    """

    exit_code = USAGE


class BadExpectation(WhetError):
    """whet can't parse the text after `--expect`, so it can't score it after the run.

    An expectation is one of:

    - `exit 0`: the exit code as a shell shows it
    - `good`, `bad`, `skip`: the verdict
    - `KeyError`, `json.JSONDecodeError`: the exception, with or without its module
    - `timeout`, `out of memory`, `test failure`, `SIGSEGV`: the kind of failure or the signal
    - `seconds < 2`, `stdout ~ done`: a condition like those of `--bad-if`
    """

    exit_code = USAGE


class CommandNotFound(WhetError):
    """The program doesn't exist, neither as a path nor on `PATH`.

    Check the spelling, the folder (`--cwd`) and whether its virtual environment is active.
    Shell built-ins such as `cd`, aliases and functions need `sh -c '...'`.
    """

    exit_code = NO_INPUT


class CommandNotExecutable(WhetError):
    """The program exists, but you may not execute it.

    `chmod +x FILE` makes a script executable; a script also needs a first line such as
    `#!/usr/bin/env python3`. Or name the interpreter: `whet run -- python FILE`.
    """

    exit_code = NO_PERMISSION


class FolderNotFound(WhetError):
    """The folder in which to start the command doesn't exist or isn't a folder."""

    exit_code = NO_INPUT


class BaselineDoesNotFail(WhetError):
    """The command doesn't fail, so there is nothing to search for.

    A search needs a failure. Run the command until it fails; for a failure that comes and goes, use
    `whet repeat --amplify -- COMMAND`. If the command exits 0 although it is wrong, define "bad":
    `--bad-if 'stdout ~ NaN'`, `--bad-if 'seconds > 2'`, `--oracle SCRIPT`.
    """

    exit_code = DATA


class CopyFailsOtherwise(WhetError):
    """The command fails on the file itself, but not in the same way on a copy of it.

    A search varies a copy in a folder of its own, with links to the files next to the original.
    This program also looks at something else, such as the folders above or the file's exact path.
    Move the data into a file that the program takes as an argument, or let a script put the copy in
    place: `whet shrink FILE --interesting SCRIPT`.
    """

    exit_code = DATA


class PayloadMissing(WhetError):
    """The file to shrink doesn't exist. Check the path; it is relative to `--cwd`."""

    exit_code = NO_INPUT


class PayloadEmpty(WhetError):
    """The file to shrink is empty: there is nothing to remove."""

    exit_code = DATA


class PayloadIsFolder(WhetError):
    """The command's standard input can't be a folder. Name one file in it.

    whet can shrink a folder that is one of the command's arguments: `whet shrink FOLDER -- COMMAND FOLDER`.
    """

    exit_code = DATA


class PayloadTooLarge(WhetError):
    """The folder to shrink is too large: each trial gets a copy of it.

    Move out what the failure doesn't need, such as `.git`, environments and build folders, or
    name a subfolder.
    """

    exit_code = DATA


class PayloadUnreadable(WhetError):
    """whet can't read the file to shrink. `ls -l FILE` shows who may read it."""

    exit_code = NO_PERMISSION


class SettingsUnreadable(WhetError):
    """A configuration, or the file with its defaults, doesn't have the format that its name implies.

    `whet shrink config.yaml --towards defaults.yaml` compares the two setting by setting, so
    both must parse in the format that the name `config.yaml` implies: JSON, YAML, TOML or INI.
    The message shows where one of them doesn't. whet compares other files line by line.
    `whet delta good.toml bad.json` names a value that the bad one's format can't express.
    """

    exit_code = DATA


class PayloadNotInCommand(WhetError):
    """The command doesn't name the file to shrink, so whet can't vary it.

    Write it there exactly as you give it to `whet shrink`, or write `{}` instead:
    `whet shrink data.csv -- python load.py --input={}`. Standard input is `--stdin FILE`.
    """

    exit_code = USAGE


class NotARepository(WhetError):
    """The folder isn't inside a git repository, so it has no history to search.

    Run the command inside the repository, or name it with `--repo DIR`. For a bug in a
    package from PyPI, `--package NAME` searches its releases instead.
    """

    exit_code = NO_INPUT


class UnknownRevision(WhetError):
    """git doesn't know the revision. `git log --oneline` and `git tag` show those it knows.

    A shallow clone has only the newest commits: `git fetch --unshallow` fetches the rest.
    """

    exit_code = DATA


class NotAnAncestor(WhetError):
    """The two revisions aren't on one line of history.

    A bisection needs one end to be an ancestor of the other.
    `git merge-base A B` shows where the two lines part.
    """

    exit_code = DATA


class SameEnds(WhetError):
    """Both ends of the search are the same version, so there is nothing between them."""

    exit_code = DATA


class NothingBetween(WhetError):
    """There is no version between the ends that whet could test.

    With `--path`, no commit in between touches that path. A first commit has none before it;
    a shallow clone ends early: `git fetch --unshallow` fetches the rest. For a package, no release
    in between installs here.
    """

    exit_code = DATA


class NothingDiffers(WhetError):
    """The two cases don't differ in anything that `whet delta` can switch.

    Then the cause is elsewhere: in the environment (`whet delta --env a.env b.env`), in the
    packages (`whet bisect --packages good.txt bad.txt`), in the code (`whet bisect GOOD BAD`), or
    the failure is intermittent.
    """

    exit_code = DATA


class EndsReversed(WhetError):
    """The good end fails and the bad end passes: the ends are swapped.

    To find the version that *fixed* something, name the terms:
    `whet bisect --terms broken,fixed OLD NEW -- COMMAND`.
    """

    exit_code = DATA


class EndMisjudged(WhetError):
    """An end of the search isn't what you said it is.

    The good end must pass and the bad end must fail; a search from a wrong end blames an innocent
    version. An installed release must behave the same in the environment that whet makes for it.
    The message shows what happened instead; `whet show` shows all of its output.
    """

    exit_code = DATA


class InputChanged(WhetError):
    """A file that no version contains changed while the search ran, such as the script or the oracle.

    Some versions ran with the old file, some with the new one: run the same line again.
    """

    exit_code = INCOMPLETE


class UnknownPackage(WhetError):
    """The package index has no package of that name. Check the spelling."""

    exit_code = NO_INPUT


class UnknownRelease(WhetError):
    """The package has no release of that version, or none that installs here.

    `pip index versions NAME` lists the releases.
    """

    exit_code = DATA


class IndexUnreachable(WhetError):
    """whet can't reach the package index, so it can neither list nor install releases.

    Check the network and the proxy. `PIP_INDEX_URL` (or `UV_INDEX_URL`) names another index,
    such as a mirror inside a company or a cluster.
    """

    exit_code = UNAVAILABLE


class ReleaseNotInstallable(WhetError):
    """A release didn't install: its build failed, or nothing satisfies its requirements.

    Inside a search whet skips such a release; at an end of the search, name another end.
    """

    exit_code = UNAVAILABLE


class SetupFailed(WhetError):
    """The command of `--setup` failed on a commit.

    Inside a search whet skips such a commit; at an end of the search, name another end, or fix
    the command: it starts at the top of a checkout of that commit, and in a separate Python
    environment if it names a Python tool.
    """

    exit_code = UNAVAILABLE


class DiskFull(WhetError):
    """The disk has no space left for what whet must keep.

    Everything recorded so far is safe. Free some space (`df -h`, `df -i`), or keep the project's
    trials elsewhere: `WHET_DIR=/path/with/space`.
    """

    exit_code = INPUT_OUTPUT


class CannotWrite(WhetError):
    """whet can't write to the folder for its trials or its results.

    The folder is read-only or belongs to another user. Keep the project's trials elsewhere:
    `WHET_DIR=/path/that/is/yours`.
    """

    exit_code = CANNOT_CREATE


class StateNotOwned(WhetError):
    """Your whet didn't make this folder of trials on this machine.

    It may come with a clone, an archive or a copy, and another person's trials can start programs
    when you run them again. `whet notebook adopt FOLDER` shows what is in it and takes it over.
    """

    exit_code = NO_PERMISSION


class ResultInUse(WhetError):
    """Another whet is writing its result to the same file.

    Two of them would overwrite each other's result. Wait until the first one ends, or name
    another file: `-o FILE`. Without `-o` whet chooses another name.
    """

    exit_code = UNAVAILABLE


class NotebookTooNew(WhetError):
    """A newer whet wrote the project's notebook.

    Upgrade whet, or set `WHET_DIR` to start another notebook. whet leaves the file as it is.
    """

    exit_code = CONFIGURATION


class NotebookDamaged(WhetError):
    """The project's notebook isn't a whole SQLite database.

    whet never repairs in place. Move the file away to start a new notebook;
    `sqlite3 FILE .recover` may bring the old one back.
    """

    exit_code = DATA


class NotebookBusy(WhetError):
    """Another process has locked the project's notebook and doesn't release it.

    Many whets can use one notebook at once; each locks it for less than a millisecond. A process
    that keeps the lock is stopped (Ctrl-Z), is an SQLite client inside a transaction, or runs on
    another machine that shares the folder. `fuser -v FILE`, with the file that `whet notebook`
    names, shows the processes on this machine.
    """

    exit_code = UNAVAILABLE


class UnknownTrial(WhetError):
    """The notebook has no such trial. `whet log` lists the trials."""

    exit_code = NO_INPUT


class CodeNotKept(WhetError):
    """The code of that trial is missing, so it can't run again.

    Its command wasn't inside a git repository, or the repository is gone.
    `whet again` without `--code then` runs the trial on today's code.
    """

    exit_code = DATA


class SecretNotKept(WhetError):
    """A trial needs a secret that is missing here, so it can't run again as it was.

    whet keeps secrets in files of their own outside the notebook (`sealed`); a copy of the notebook
    doesn't include them. Give the secret again: `whet again TRIAL --env NAME=VALUE`, or `whet run --like TRIAL -- COMMAND`.
    """

    exit_code = NO_INPUT


class NoFailureKept(WhetError):
    """whet kept no frames of this trial.

    `whet run --locals` and the first runs of `whet investigate` keep them when a Python error ends
    the program, a thread, a test or a `multiprocessing` process. A program that catches its own
    errors and calls `sys.exit`, or that a signal ends, leaves no frames.
    """

    exit_code = NO_INPUT


class UnknownTarget(WhetError):
    """There is no module, class or function of that name, as the command's own Python sees it.

    A target is `package.module`, `package.module:Class.method`, or the path of a file. whet
    looks for it as the command after `--` would, or `python` in this folder; `whet where` shows how.
    """

    exit_code = NO_INPUT


class NoSuchProcess(WhetError):
    """There is no process with that number or a matching command line, or it just ended.

    `pgrep -af PATTERN` lists the processes whose command line matches. For a program that ends too
    soon, `whet run --hang 10 -- COMMAND` keeps the stacks when it falls silent.
    """

    exit_code = NO_INPUT


class NoStacksKept(WhetError):
    """The trial has ended, and whet took no stacks while it ran.

    `--hang SECONDS` keeps them when a trial writes nothing for that time. For a trial that
    `--timeout` killed, `whet show` has the stack of its main thread.
    """

    exit_code = NO_INPUT


class StackForbidden(WhetError):
    """The system doesn't let whet look into the process (ptrace). There are three ways to allow it.

    1. Start the program with `whet run` or `whet syscalls --`: a child process needs no permission.
    2. Look as root: `sudo $(which whet) stacks PID`; a process of another user needs this.
    3. Allow it: `sudo sysctl kernel.yama.ptrace_scope=0` on the machine; in Docker
       `--cap-add SYS_PTRACE`, in Kubernetes `securityContext.capabilities.add: [SYS_PTRACE]`.
    """

    exit_code = NO_PERMISSION


class BudgetTooSmall(WhetError):
    """The time budget ended before the command failed once.

    Raise it with `--budget`, or make the command faster first.
    """

    exit_code = INCOMPLETE


class ReproductionFailed(WhetError):
    """The one-line command ran again elsewhere and didn't show the failure.

    The report shows what happened instead. The payload and the trials are kept.
    """

    exit_code = DATA


class UnknownPage(WhetError):
    """There is no page with that name. `whet explain` lists them."""

    exit_code = USAGE


class BadSetting(WhetError):
    """A setting in `whet.toml`, `[tool.whet]`, a user's settings or a `WHET_*` variable is wrong.

    A flag overrides the environment, the environment the project's settings, and these the user's.
    """

    exit_code = CONFIGURATION


class UnknownFormat(WhetError):
    """There is no payload format with that name.

    Without a name, whet looks at the content and uses every format that fits. The message
    lists all formats.
    """

    exit_code = USAGE


class LimitMakesNoSense(WhetError):
    """A limit isn't a size or a number, exceeds what this machine has, or is too low for a program to start.

    Write sizes as `300M`, `5G` or `1.5GiB`; a letter is a power of 1024. The message shows how
    much this machine has, or the least that works.
    """

    exit_code = USAGE


class LimitNotEnforced(WhetError):
    """whet can't enforce a limit on this machine, or a probe didn't meet it.

    The message lists the ways that whet tried and what each one lacks. It limits memory with
    control groups (version 2 if this user has a delegated one or gets one from
    `systemd-run --user`, version 1 if it is writable), or else with a watchdog of its own.
    whet didn't run the command: a limit that doesn't hold would prove nothing.
    """

    exit_code = UNAVAILABLE


class NeverSucceeds(WhetError):
    """`whet starve --find` looks for the least with which a command succeeds, but it never does.

    It fails without that limit too: leave out other limits, or use `whet run` to see what is wrong.
    """

    exit_code = DATA


class RoomRefused(WhetError):
    """This machine can't give a trial a disk, a network or a clean room of its own.

    These need Linux namespaces, which root can always create, and other users where the system
    allows it; clean rooms and `--disk-free` need overlays (without root from Linux 5.11 on). System
    calls that fail (`--fail`) need seccomp, and don't work one inside another. Common obstacles, and
    what to do:

    - `sysctl user.max_user_namespaces` is 0, or `kernel.unprivileged_userns_clone` is 0
      (older Debian): an administrator sets it.
    - Ubuntu 24.04 and later: `kernel.apparmor_restrict_unprivileged_userns` is 1. Set it to 0,
      or run as root.
    - A container: Docker forbids namespaces inside it unless you start it with
      `--cap-add SYS_ADMIN` or `--security-opt seccomp=unconfined`.
    """

    exit_code = UNAVAILABLE


class GpuNotHeld(WhetError):
    """whet can't occupy a GPU's memory to leave only the given amount.

    The driver says why: no visible GPU (`CUDA_VISIBLE_DEVICES`), or too little free memory.
    """

    exit_code = UNAVAILABLE


class ClockNotPossible(WhetError):
    """This machine can't give a trial another time of day.

    `--clock` needs libfaketime (`apt-get install faketime`), which a program loads when it starts.
    Statically linked programs, such as those in Go, don't load it.
    """

    exit_code = UNAVAILABLE


class HostFailure(WhetError):
    """The operating system refused something that whet needs."""

    exit_code = 71


class InternalFault(WhetError):
    """whet has a bug. Please report it with the file that the message names."""

    exit_code = SOFTWARE


def error_classes() -> Iterator[type[WhetError]]:
    """Yield every kind of error, in the order of this file."""
    yield from WhetError.__subclasses__()
