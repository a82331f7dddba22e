"""Deciding which of the things that a failed program left behind explains the failure."""

from functools import cached_property

from whet.core.failure import Failure, FailureKind, FailureSignature, Frame
from whet.core.observations.evidence import STACKS
from whet.core.outcome import Outcome
from whet.evidence.printed.console_text import is_cut, readable_tail
from whet.evidence.printed.deciding import called_exception, deciding_traceback, outside
from whet.evidence.printed.fatal_error import (
    FatalError,
    read_fatal_error,
    signal_in_words,
    signal_name,
    signal_number,
)
from whet.evidence.printed.foreign_crash import ForeignCrash, read_foreign_crash
from whet.evidence.printed.last_words import last_words, telling_words, usage_error
from whet.evidence.printed.python_traceback import Traceback, find_tracebacks
from whet.evidence.printed.test_report import (
    read_conftest_failure,
    read_pytest_report,
    read_unittest_report,
)
from whet.evidence.signature.limit_met import (
    before_whet,
    failure_of_memory,
    killed_by_memory,
    told_by_whet,
)
from whet.evidence.signature.message import normalise
from whet.evidence.signature.ownership import Ownership, own
from whet.evidence.signature.place import is_deep, place_of
from whet.evidence.signature.python_failure import failure_of_exception, said, shown
from whet.evidence.signature.shortage import first_sentence, shortage_of
from whet.evidence.signature.tested import failure_of_tests
from whet.evidence.signature.timeout import place_of_hang, steady_frames

_LAST_LINES = 8  # where a shell says by which signal its command died
_LAST_SPOKEN_LINES = 200
_PYTEST_FAILED = frozenset({1, 2})
_PYTEST_USAGE = 4


class Diagnosis:
    """Reads one outcome; what is costly to read is read once, and only when it is asked for."""

    def __init__(self, outcome: Outcome, ownership: Ownership) -> None:
        self._outcome = outcome
        self._ownership = ownership

    def failure(self) -> Failure:
        """Return the failure; there is one, because the program did not exit with 0."""
        outcome = self._outcome
        limit = killed_by_memory(outcome)
        if limit is not None:
            return failure_of_memory(limit, self._last_frames())
        if outcome.timed_out:
            return self._of_limit(FailureKind.TIMEOUT, "")
        if outcome.overran_output:
            return self._of_limit(FailureKind.EXIT, "more output than its limit")
        if outcome.signal is not None:
            return self._of_signal(signal_name(outcome.signal))
        return (
            told_by_whet(self._with_whet)
            or self._of_tests()
            or self._of_shell()
            or self._of_python()
            or self._of_fatal_error()
            or self._of_foreign_crash()
            or self._of_usage()
            or self._of_last_words()
        )

    @property
    def spoken(self) -> str:
        """The end of where the program complained."""
        return "\n".join(self._spoken[-_LAST_SPOKEN_LINES:])

    def _last_frames(self) -> tuple[Frame, ...]:
        sample = self._outcome.stacks[-1] if self._outcome.stacks else ()
        return shown(
            [item.frame for item in own([(frame, 1) for frame in sample], self._ownership)]
        )

    @cached_property
    def _with_whet(self) -> list[str]:
        return readable_tail(self._outcome.stderr).split("\n")

    @cached_property
    def _stderr(self) -> list[str]:
        return before_whet(self._with_whet)

    @cached_property
    def _stdout(self) -> list[str]:
        return readable_tail(self._outcome.stdout).split("\n")

    @cached_property
    def _spoken(self) -> list[str]:
        """Where the program complained: a terminal shows both streams as one."""
        return self._stderr if any(line.strip() for line in self._stderr) else self._stdout

    @cached_property
    def _tracebacks(self) -> list[Traceback]:
        return find_tracebacks(self._stderr, is_cut=is_cut(self._outcome.stderr))

    @cached_property
    def _fatal_error(self) -> FatalError | None:
        return read_fatal_error(self._spoken)

    @cached_property
    def _deciding(self) -> tuple[Traceback, str] | None:
        """The exception that ended the program, and that of a program which it had called."""
        lines, tracebacks = self._stderr, self._tracebacks
        if not tracebacks:
            lines = self._stdout
            tracebacks = find_tracebacks(lines, is_cut=is_cut(self._outcome.stdout))
        decided = deciding_traceback(tracebacks, lines, self._outcome.exit_code)
        return None if decided is None else (decided, called_exception(decided, tracebacks))

    def _of_limit(self, kind: FailureKind, message: str) -> Failure:
        frames = steady_frames(self._outcome.stacks, self._ownership)
        place = place_of_hang(frames)
        where = place.user_function or place.library_function
        seconds = f"{self._outcome.wall_seconds:.3g} s"
        hung = self._outcome.hung_seconds
        ending = f"no end after {seconds}" if hung is None else f"no output for {hung:.3g} s"
        what = message or ending
        sentence = f"{what}, in {where}" if where else what
        deadlock = self._deadlock
        return Failure(
            signature=FailureSignature(
                kind=kind,
                message=message,
                user_function=place.user_function,
                library_function=place.library_function,
            ),
            summary=deadlock or said("", sentence),
            frames=self._last_frames(),
            names_its_lines=bool(deadlock),
        )

    @property
    def _deadlock(self) -> str:
        """Which threads wait for each other; empty: none are known to."""
        evidence = [each for each in self._outcome.evidence if each.kind == STACKS]
        if not evidence:
            return ""
        from whet.evidence.stacks.deadlock import deadlock_sentence
        from whet.evidence.stacks.stack_groups import stacks_in

        return deadlock_sentence([process for each in evidence for process in stacks_in(each)])

    def _of_signal(self, name: str) -> Failure:
        if name == "SIGINT":
            interrupted = self._of_python()
            if interrupted is not None and interrupted.signature.exception == "KeyboardInterrupt":
                return interrupted
        fatal = self._fatal_error
        if fatal is None or fatal.signal not in {"", name}:
            return self._of_silent_signal(name)
        frames = own([(frame, 1) for frame in fatal.stack], self._ownership)
        place = place_of(frames, is_recursion=is_deep(frames))
        shortage = shortage_of(fatal.exception, fatal.message)
        return Failure(
            signature=FailureSignature(
                kind=FailureKind.SIGNAL if shortage is None else shortage,
                exception=fatal.exception,
                message=normalise(fatal.message),
                user_function=fatal.function or place.user_function,
                library_function=place.library_function,
                signal=name if shortage is None else "",
            ),
            summary=said("", fatal.line),
            frames=tuple(frame.frame for frame in frames) or self._last_frames(),
        )

    def _of_silent_signal(self, name: str) -> Failure:
        words = telling_words(self._stderr)
        shortage = shortage_of("", "\n".join(words))
        if shortage is not None:
            return _plain(shortage, first_sentence(words[-1]), words[-1])
        summary = f"killed by {name}"
        if name == "SIGKILL":
            why = " (by another process, or by the kernel when memory runs out: `dmesg` shows that)"
            if self._outcome.filled_group:
                why = ", as the control group around whet was full"
            elif self._outcome.killed_on_request:
                why = " (by whet, as `--when` asked)"
            summary += why
        crash = read_foreign_crash(self._stderr)
        return Failure(
            signature=FailureSignature(
                kind=FailureKind.SIGNAL,
                signal=name,
                exception="" if crash is None else crash.exception,
                message="" if crash is None else normalise(crash.message),
                user_function="" if crash is None else crash.function,
            ),
            summary=summary if crash is None else said(crash.exception, crash.message),
            frames=self._last_frames(),
        )

    def _of_tests(self) -> Failure | None:
        code = self._outcome.exit_code
        if code in _PYTEST_FAILED:
            report = read_pytest_report(self._stdout) or read_unittest_report(self._spoken)
            return None if report is None else failure_of_tests(report, self._ownership)
        if code == _PYTEST_USAGE:
            conftest = read_conftest_failure(self._spoken)
            return None if conftest is None else failure_of_exception(conftest, self._ownership)
        return None

    def _of_shell(self) -> Failure | None:
        """Read the death of a program that a shell started."""
        number = signal_number(self._outcome.exit_code)
        if number is None:
            return None
        name = signal_name(number)
        if name == "SIGINT":
            return self._of_signal(name) if self._of_python() is not None else None
        in_words = any(signal_in_words(line) == name for line in self._spoken[-_LAST_LINES:])
        fatal = self._fatal_error
        if in_words or (fatal is not None and fatal.signal == name):
            return self._of_signal(name)
        return None

    def _of_python(self) -> Failure | None:
        if self._deciding is None:
            return None
        traceback, caller = self._deciding
        return failure_of_exception(traceback, self._ownership, caller)

    def _of_fatal_error(self) -> Failure | None:
        fatal = self._fatal_error
        if fatal is None:
            return None
        if fatal.signal:
            # Its launcher exits with a code of its own.
            return self._of_signal(fatal.signal)
        return self._of_crash(
            ForeignCrash(exception=fatal.exception, message=fatal.message, function=fatal.function),
            fatal.line,
        )

    def _of_foreign_crash(self) -> Failure | None:
        crash = read_foreign_crash(self._spoken)
        if crash is None:
            return None
        return self._of_crash(crash, said(crash.exception, crash.message))

    def _of_crash(self, crash: ForeignCrash, summary: str) -> Failure:
        shortage = shortage_of(crash.exception, crash.message)
        return Failure(
            signature=FailureSignature(
                kind=FailureKind.EXIT if shortage is None else shortage,
                exception=crash.exception,
                message=normalise(crash.message),
                user_function=crash.function,
                causes=crash.causes,
                exit_code=self._outcome.exit_code if shortage is None else None,
            ),
            summary=said("", summary),
        )

    def _of_usage(self) -> Failure | None:
        complaint = usage_error(self._spoken, self._outcome.exit_code)
        return None if complaint is None else _plain(FailureKind.USAGE_ERROR, complaint, complaint)

    def _of_last_words(self) -> Failure:
        words = last_words(outside(self._tracebacks, self._stderr)) or telling_words(
            outside(find_tracebacks(self._stdout), self._stdout)
        )
        text = "\n".join(words)
        code = self._outcome.exit_code
        shortage = shortage_of("", text)
        if shortage is not None:
            line = next(word for word in reversed(words) if shortage_of("", word) is shortage)
            return _plain(shortage, first_sentence(line), line)
        return Failure(
            signature=FailureSignature(
                kind=FailureKind.EXIT, message=normalise(text), exit_code=code
            ),
            summary=said("", words[-1] if words else f"exit code {code}"),
        )


def _plain(kind: FailureKind, message: str, summary: str) -> Failure:
    return Failure(
        signature=FailureSignature(kind=kind, message=normalise(message)), summary=said("", summary)
    )
