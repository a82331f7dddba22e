"""In what two trials differ, and what that did to their outcomes."""

from collections.abc import Mapping
from dataclasses import field

from whet.core.limits import Limits
from whet.core.measurements import is_of_section
from whet.core.outcome import Outcome
from whet.core.text.json_record import Record
from whet.core.trial import CodeState, EnvironmentFacts, Trial
from whet.core.value_class import value_class


def _no_texts() -> dict[str, str]:
    return {}


@value_class(kw_only=True)
class Change(Record):
    """One thing in which two trials differ.

    Attributes:
        what: its kind, such as ``environment``.
        name: which one of its kind, such as ``LANG``; empty if there is only one.
        before: how it is in the first trial; None if it doesn't exist.
        after: how it is in the second trial; None if it doesn't exist.
    """

    what: str
    name: str = ""
    before: str | None = None
    after: str | None = None

    def __str__(self) -> str:
        """Return the change in one line."""
        subject = f"{self.what} {self.name}" if self.name else self.what
        if self.before is None:
            return f"{subject}: new, {_shown(self.after)}"
        if self.after is None:
            return f"{subject}: gone, was {_shown(self.before)}"
        return f"{subject}: {_shown(self.before)} → {_shown(self.after)}"


@value_class(kw_only=True)
class Inheritance:
    """What stands behind the digests of a trial's surroundings.

    Attributes:
        environment: inherited variables.
        packages: name to version of what the trial's Python sees.
    """

    environment: Mapping[str, str] = field(default_factory=_no_texts)
    packages: Mapping[str, str] = field(default_factory=_no_texts)


NOTHING_INHERITED = Inheritance()


@value_class(kw_only=True)
class Difference:
    """In what two trials differ.

    Attributes:
        changes: every one, in the order in which a reader looks for the cause.
    """

    changes: tuple[Change, ...] = ()

    def __bool__(self) -> bool:
        """Whether they differ at all."""
        return bool(self.changes)

    def lines(self) -> tuple[str, ...]:
        """Return each change as a line to read."""
        return tuple(map(str, self.changes))


def compare(
    before: Trial,
    after: Trial,
    inherited_before: Inheritance = NOTHING_INHERITED,
    inherited_after: Inheritance = NOTHING_INHERITED,
) -> Difference:
    """Return in what ``after`` differs from ``before``.

    Where what stands behind two different digests is the same or unknown, that the digests
    differ is a change of its own: nothing that decides an outcome goes unsaid.

    Args:
        before: the first trial.
        after: the second trial.
        inherited_before: what the first one inherited, where that was kept.
        inherited_after: what the second one inherited, where that was kept.
    """
    changes = (
        *_values("command", _words(before.command), _words(after.command)),
        *_code(before.code, after.code),
        *_values("revision", before.revision, after.revision),
        *_maps("release", before.packages, after.packages),
        *_payloads(before, after),
        *_values("stdin", before.stdin, after.stdin),
        *_values("reset", _resets(before), _resets(after)),
        *_maps("variable", before.environment, after.environment),
        *_values("variables unset", _unset(before), _unset(after)),
        *_values("folder", before.cwd, after.cwd),
        *_limits(before.limits, after.limits),
        *_maps("measure", before.measures, after.measures),
        *_surroundings(before.surroundings, after.surroundings, inherited_before, inherited_after),
    )
    if not changes and before.key != after.key:
        # Two trials that read the same, such as reset steps `a && b` and `a`, `b`.
        changes = _values("trial", before.key, after.key)
    return Difference(changes=changes)


@value_class(kw_only=True)
class OutcomeDifference:
    """What two outcomes say about each other.

    Attributes:
        same_stdout: they wrote the same to standard output, byte for byte.
        same_stderr: they wrote the same to standard error, byte for byte.
        seconds_ratio: wall time of the second over that of the first; None if that was none.
        memory_ratio: peak memory of the second over that of the first; None if that was none.
        changes: in exit code, failure and measurements; of sections in how often they ran.
    """

    same_stdout: bool
    same_stderr: bool
    seconds_ratio: float | None
    memory_ratio: float | None
    changes: tuple[Change, ...]

    def lines(self) -> tuple[str, ...]:
        """Return each difference as a line to read."""
        return (
            *map(str, self.changes),
            *_ratio_line("seconds", self.seconds_ratio),
            *_ratio_line("peak memory", self.memory_ratio),
            f"stdout: {'the same' if self.same_stdout else 'different'}",
            f"stderr: {'the same' if self.same_stderr else 'different'}",
        )


def compare_outcomes(before: Outcome, after: Outcome) -> OutcomeDifference:
    """Return in what the second outcome differs from the first."""
    # Times and memory of sections differ from run to run, as those of the whole program do.
    measured = [
        {
            name: f"{value:g}"
            for name, value in sorted(each.measurements.items())
            if not is_of_section(name) or name.endswith(".count")
        }
        for each in (before, after)
    ]
    return OutcomeDifference(
        same_stdout=before.stdout.digest == after.stdout.digest,
        same_stderr=before.stderr.digest == after.stderr.digest,
        seconds_ratio=_ratio(before.wall_seconds, after.wall_seconds),
        memory_ratio=_ratio(before.peak_rss_bytes, after.peak_rss_bytes),
        changes=(
            *_values("exit", str(before.shell_exit_code), str(after.shell_exit_code)),
            *_failure(before, after),
            *_maps("measurement", measured[0], measured[1]),
        ),
    )


def _failure(before: Outcome, after: Outcome) -> tuple[Change, ...]:
    if before.signature == after.signature:
        return ()
    old, new = (None if o.failure is None else o.failure.summary for o in (before, after))
    # Two bugs may say the same; then the places where they say it tell them apart.
    if old == new:
        old, new = (_place(o) for o in (before, after))
    return (Change(what="failure", before=old, after=new),)


def _place(outcome: Outcome) -> str:
    signature = outcome.signature
    assert signature is not None, "neither failed"
    places = (signature.user_function, signature.library_function)
    return f"{signature.kind.value} in {' and '.join(filter(None, places)) or 'no known place'}"


def _values(what: str, before: str | None, after: str | None) -> tuple[Change, ...]:
    return () if before == after else (Change(what=what, before=before, after=after),)


def _maps(what: str, before: Mapping[str, str], after: Mapping[str, str]) -> tuple[Change, ...]:
    return tuple(
        Change(what=what, name=name, before=before.get(name), after=after.get(name))
        for name in sorted({*before, *after})
        if before.get(name) != after.get(name)
    )


def _code(before: CodeState | None, after: CodeState | None) -> tuple[Change, ...]:
    if before is None or after is None:
        trees = (None if code is None else code.tree for code in (before, after))
        return _values("code", *trees)
    places = (
        *_values("repository", before.repository, after.repository),
        *_values("commit", before.commit, after.commit),
    )
    # With the commit the tree changes as a matter of course.
    return places or _values("code", before.tree, after.tree)


def _payloads(before: Trial, after: Trial) -> tuple[Change, ...]:
    old, new = (
        {f"{number} {item.name}": item.digest for number, item in enumerate(trial.payloads, 1)}
        for trial in (before, after)
    )
    return _maps("payload", old, new)


def _surroundings(
    before: EnvironmentFacts, after: EnvironmentFacts, old: Inheritance, new: Inheritance
) -> tuple[Change, ...]:
    packages = _maps("package", old.packages, new.packages)
    environment = _maps("environment", old.environment, new.environment)
    return (
        *_values("interpreter", before.interpreter, after.interpreter),
        *(packages or _values("packages", before.packages_digest, after.packages_digest)),
        *(
            environment
            or _values("environment", before.environment_digest, after.environment_digest)
        ),
        *_values("platform", before.platform, after.platform),
        *_files(before.files_digest, after.files_digest),
    )


def _files(before: str, after: str) -> tuple[Change, ...]:
    # Only a search looks at them: a single trial says nothing of them.
    return _values("files outside the code", before, after) if before and after else ()


def _resets(trial: Trial) -> str | None:
    steps = [f"{step.command}{' &&' if step.must_succeed else ' ;'}" for step in trial.reset]
    return " ".join(steps) or None


def _unset(trial: Trial) -> str | None:
    return " ".join(trial.unset) or None


def _limits(before: Limits, after: Limits) -> tuple[Change, ...]:
    first, second = before.to_json(), after.to_json()
    names = {"wall_seconds": "limit of seconds", "output_bytes": "limit of output"}
    rooms = [" ".join(each.room.options) if each.room else None for each in (before, after)]
    return _values("room", *rooms) + tuple(
        change
        for name in dict.fromkeys((*first, *second))
        for change in _values(
            names.get(name, f"limit of {name.removesuffix('_bytes').replace('_', ' ')}"),
            _amount(first.get(name)),
            _amount(second.get(name)),
        )
    )


def _amount(value: object) -> str | None:
    return f"{value:g}" if isinstance(value, int | float) else None


def _words(command: tuple[str, ...]) -> str:
    return " ".join(
        word if word and not set(word) & set(" \t\n\"'") else repr(word) for word in command
    )


def _ratio(before: float, after: float) -> float | None:
    return after / before if before > 0 else None


def _ratio_line(what: str, ratio: float | None) -> tuple[str, ...]:
    return () if ratio is None else (f"{what}: {ratio:.2f} times",)


_LONG = 64  # characters; a digest's length, beyond which a line is hard to read


def _shown(value: str | None) -> str:
    text = "" if value is None else value
    return f"`{text}`" if len(text) <= _LONG else f"`{text[:_LONG]}…`"
