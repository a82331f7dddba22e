"""Errors about the project: its settings, its notebook, its disk."""

from whet.core.errors.base import (
    CANNOT_CREATE,
    CONFIGURATION,
    DATA,
    INPUT_OUTPUT,
    NO_INPUT,
    NO_PERMISSION,
    UNAVAILABLE,
    WhetError,
)


class SettingsUnreadable(WhetError):
    """A configuration, or the file with its defaults, doesn't have the format that its name implies.

    `whet shrink config.yaml --towards defaults.yaml` compares the two setting by setting, so
    both must parse in the format that the name `config.yaml` implies: JSON, YAML, TOML or INI.
    The message shows where one of them doesn't. whet compares other files line by line.
    `whet delta good.toml bad.json` names a value that the bad one's format can't express.
    """

    exit_code = DATA


class BadSetting(WhetError):
    """A setting in `whet.toml`, `[tool.whet]`, a user's settings or a `WHET_*` variable is wrong.

    A flag overrides the environment, the environment the project's settings, and these the user's.
    """

    exit_code = CONFIGURATION


class DiskFull(WhetError):
    """The disk has no space left for whet's records.

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
    when you run them again. `whet notebook adopt FOLDER` shows and adopts them.
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
    `sqlite3 FILE .recover` can recover the old one.
    """

    exit_code = DATA


class OutputNotKept(WhetError):
    """The trial is so old that its output or its payload isn't kept any more.

    Once a project's trials take more than `notebook_bytes`, or are older than `notebook_days`, whet
    removes what the oldest printed and read; the trials stay in the log. A trial with a name, a note
    or an expectation keeps everything.
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

    whet kept none, as in a home folder (it said so then), or the folder or its repository is gone.
    `whet again` without `--code then` runs the trial on today's code.
    """

    exit_code = DATA


class SecretNotKept(WhetError):
    """A trial needs a secret that is missing here, so it can't run again as it was.

    whet keeps secrets in files of their own outside the notebook (`sealed`); a copy of the notebook
    doesn't include them. Give the secret again: `whet again TRIAL --env NAME=VALUE`, or `whet run --like TRIAL -- COMMAND`.
    """

    exit_code = NO_INPUT


class ReproductionFailed(WhetError):
    """The one-line command ran again elsewhere and didn't show the failure.

    The report shows how it ended instead. whet keeps the payload and the trials.
    """

    exit_code = DATA
