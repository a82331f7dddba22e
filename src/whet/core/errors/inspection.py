"""Errors about inspecting a process or a failure."""

from whet.core.errors.base import DATA, NO_INPUT, NO_PERMISSION, UNAVAILABLE, WhetError


class NoFailureKept(WhetError):
    """whet kept no frames of this trial.

    `whet run --locals` and the first runs of `whet investigate` keep them when a Python error ends
    the program, a thread, a test or a `multiprocessing` process. A program that catches its own
    errors and calls `sys.exit`, or that a signal ends, leaves no frames.
    """

    exit_code = NO_INPUT


class UnknownTarget(WhetError):
    """The command's Python finds no module, class or function of that name.

    A target is `package.module`, `package.module:Class.method`, or the path of a file. whet
    searches for it like the command after `--`, or like `python` in this folder; `whet where` shows how.
    """

    exit_code = NO_INPUT


class NothingCounted(WhetError):
    """The command ran, but not the file whose lines you asked for.

    `whet expect --lines FILE.py -- COMMAND` counts the lines of one file in the Pythons that the
    command starts. It sees no file that another interpreter than CPython runs, none that was compiled
    before the program started, and none that a program compiles itself.
    """

    exit_code = NO_INPUT


class NotEstimated(WhetError):
    """whet can't tell what a step of a model costs, because the step fails or asks for values.

    `whet expect --estimate FILE.py:step` calls `step()` with tensors that have shapes and no data. A step
    that looks at values, with `.item()`, `print` or `if loss > 3`, can't continue there. Put what computes
    into a function of its own, without arguments, and name that one.
    """

    exit_code = DATA


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
    """The system doesn't let whet inspect the process (ptrace). There are three solutions.

    1. Start the program with `whet run` or `whet syscalls --`: a child process needs no permission.
    2. Use root: `sudo $(which whet) stacks PID`; a process of another user needs this.
    3. Allow it: `sudo sysctl kernel.yama.ptrace_scope=0` on the machine; in Docker
       `--cap-add SYS_PTRACE`, in Kubernetes `securityContext.capabilities.add: [SYS_PTRACE]`.
    """

    exit_code = NO_PERMISSION


class ProfilerMissing(WhetError):
    """The profiler that answers the question isn't installed. The trial ran and is recorded.

    - `whet profile` needs py-spy for Python programs, which comes with whet: `pip install py-spy`.
    - For programs in other languages it needs perf: `apt-get install linux-perf` (Debian),
      `apt-get install linux-tools-generic` (Ubuntu), `dnf install perf` (Fedora).
    - `whet profile --heap` needs memray in the program's own Python: `pip install memray`.
    - `whet profile --trace` needs nsys, which comes with NVIDIA's CUDA toolkit or as Nsight Systems.
    """

    exit_code = UNAVAILABLE


class ProfilerForbidden(WhetError):
    """The system doesn't let the profiler look into the program. The trial ran and is recorded.

    py-spy reads the program's memory, which needs the permission to trace it (ptrace):

    1. Use root: `sudo $(which whet) profile -- COMMAND`.
    2. Allow it: `sudo sysctl kernel.yama.ptrace_scope=0` on the machine; in Docker
       `--cap-add SYS_PTRACE`, in Kubernetes `securityContext.capabilities.add: [SYS_PTRACE]`.

    perf, for programs that aren't Python, needs `sudo sysctl kernel.perf_event_paranoid=2` or less;
    in Docker also `--cap-add PERFMON`, and a seccomp profile that allows `perf_event_open`.
    """

    exit_code = NO_PERMISSION


class ProfilerFailed(WhetError):
    """The profiler ran but saw nothing. The trial ran and is recorded.

    A program that ends within a few milliseconds gives a sampling profiler nothing to see.
    `--rate 1000` looks more often; a longer input makes the program take longer.
    """

    exit_code = NO_INPUT


class NotProfiled(WhetError):
    """No profile is kept with this trial: only `whet profile` makes one."""

    exit_code = NO_INPUT
