"""Errors of `whet watch`."""

from whet.core.errors.base import NO_INPUT, USAGE, WhetError


class UnknownPanel(WhetError):
    """`whet watch` knows no panel of this name, and `PATH` has no command of this name.

    A panel is one of:

    - `processes`, `processes:PATTERN` (the whole command line), `processes:PID`, `name:PATTERN` (the name alone)
    - `memory`, `cpu`, `files`: of those processes; each takes `:PATTERN` or `:PID` too
    - `gpu`, `gpu:0`; `disk`, `disk:/tmp` (the one file system that holds this path); `network`
    - `torch`, `jax`, `sections`: of the Python program behind `--`
    - any command, quoted if it has more than one word: `whet watch 'df -h /tmp'`
    """

    exit_code = USAGE


class BadThreshold(WhetError):
    """`whet watch --when` can't read the condition or the action.

    A condition is `LEVEL OPERATOR QUANTITY`, such as `rss > 8G`, `disk.free < 500MB`, `cpu >= 90%` or
    `gpu.memory > 70GiB`. `G` and `GB` are powers of 1000, as the panels count; `GiB` is a power of 1024.
    An action is `bell`, `stacks`, `kill` or a shell command.
    """

    exit_code = USAGE


class NothingRecorded(WhetError):
    """`whet watch --replay` has nothing to show for this trial.

    `whet watch -- COMMAND` records its panels with the trial. For trials of other verbs, whet has
    memory, processors and open files if they ran long enough to be sampled.
    """

    exit_code = NO_INPUT
