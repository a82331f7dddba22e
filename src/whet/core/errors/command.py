"""Errors about the command line, and about commands that can't start."""

from whet.core.errors.base import INCOMPLETE, NO_INPUT, NO_PERMISSION, USAGE, WhetError


class BadUsage(WhetError):
    """whet can't tell from the command line what to do.

    whet reads `whet VERB [options] -- COMMAND ...`. The command follows `--`, word by word;
    no shell interprets it. See `whet VERB --help`.
    """

    exit_code = USAGE


class BadDimension(WhetError):
    """whet can't use what `whet grow --dimension` names, or its range.

    A dimension is a place in the command with a range of whole numbers:

    - `n=1..4096`: each `{n}` in the command, or in a `--reset` step, becomes the number
    - `env:OMP_NUM_THREADS=1..16`: an environment variable
    - `config.json:model.layers=1..64`: a key of a JSON, TOML, YAML or INI file that the command names;
      the program reads a copy with the number
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

    - `seconds > 2`, `cpu_seconds >= 1.5`, `peak > 500M`, `exit == 3`
    - `stdout ~ NaN`, `stderr !~ 'deprecated'`, `output ~ 'loss: (nan|inf)'`
    - `loss > 10`, where `--measure 'loss=loss: ([0-9.]+)'` extracts `loss`
    """

    exit_code = USAGE


class BadExpectation(WhetError):
    """whet can't parse an expectation, or two of them contradict each other.

    An expectation is one of:

    - `exit 0`: the exit code as a shell shows it
    - `good`, `bad`, `skip`: the verdict
    - `KeyError`, `json.JSONDecodeError`: the exception, with or without its module
    - `timeout`, `out of memory`, `test failure`, `SIGSEGV`: the kind of failure or the signal
    - `seconds ~ 3s`: about 3 seconds, which is from 2 to 4.5, a factor of 1.5 each way
    - `seconds ~ 3s ± 20%`, `seconds ~ 2s..4s`: about that, in the range that you give
    - `seconds < 2`, `stdout ~ done`: a condition like those of `--bad-if`

    The numbers are `seconds`, `cpu`, `peak`, those of a section (`train.seconds`), those of
    `--measure`, and what the program prints as `loss: 3.9` or `loss=3.9`.
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
    """The folder to start the command in doesn't exist or isn't a folder."""

    exit_code = NO_INPUT


class BudgetTooSmall(WhetError):
    """The time budget ended before the command failed once.

    Raise it with `--budget`, or make the command faster first.
    """

    exit_code = INCOMPLETE


class UnknownPage(WhetError):
    """There is no page with that name. `whet explain` lists them."""

    exit_code = USAGE
