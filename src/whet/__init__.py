"""whet turns a failing command into a small, fast, repeatable and explained one.

These are the public names. Each is loaded when it is first asked for, so that
`import whet` in a user's program costs nothing until it is used.
"""

from sys import audit as _audit

TYPE_CHECKING = False  # type checkers know the name; importing `typing` would cost 5 ms
if TYPE_CHECKING:
    from whet import make as make
    from whet.agent.site.whet_sections.annotations import annotate
    from whet.agent.site.whet_sections.captures import capture
    from whet.agent.site.whet_sections.sections import section
    from whet.core.budget import Budget, StopReason
    from whet.core.condition import Condition
    from whet.core.errors import WhetError
    from whet.core.event import Event, Observer
    from whet.core.executor import Executor
    from whet.core.failure import Failure, FailureKind, FailureSignature
    from whet.core.limits import Limits
    from whet.core.oracle import BadIf, Oracle, SameFailure
    from whet.core.outcome import Outcome
    from whet.core.output import Output
    from whet.core.trial import ResetStep, Trial
    from whet.core.verdict import Verdict
    from whet.reduction.objects.shrinking import shrink

__version__ = "0.1.0"

__all__ = [
    "BadIf",
    "Budget",
    "Condition",
    "Event",
    "Executor",
    "Failure",
    "FailureKind",
    "FailureSignature",
    "Limits",
    "Observer",
    "Oracle",
    "Outcome",
    "Output",
    "ResetStep",
    "SameFailure",
    "StopReason",
    "Trial",
    "Verdict",
    "WhetError",
    "__version__",
    "annotate",
    "capture",
    "checkpoint",
    "section",
    "shrink",
]

_HOMES = {
    "BadIf": "oracle",
    "Budget": "budget",
    "Condition": "condition",
    "Event": "event",
    "Executor": "executor",
    "Failure": "failure",
    "FailureKind": "failure",
    "FailureSignature": "failure",
    "Limits": "limits",
    "Observer": "event",
    "Oracle": "oracle",
    "Outcome": "outcome",
    "Output": "output",
    "ResetStep": "trial",
    "SameFailure": "oracle",
    "StopReason": "budget",
    "Trial": "trial",
    "Verdict": "verdict",
    "WhetError": "errors",
    "annotate": "agent.site.whet_sections.annotations",
    "capture": "agent.site.whet_sections.captures",
    "section": "agent.site.whet_sections.sections",
    "shrink": "reduction.objects.shrinking",
}


def checkpoint(name: str = "") -> None:
    """Mark a place of a program from which ``whet loop`` may run on after an edit further down.

    Without whet it does nothing. Where `whet` can't be imported, `sys.audit("whet.checkpoint",
    name)` does the same.

    Args:
        name: what the place is called, such as ``step 37``; empty: its file and line.
    """
    _audit("whet.checkpoint", _text(name))


def _text(name: object) -> str:
    if isinstance(name, str):
        return name
    kind = type(name).__name__
    message = f"checkpoint({name!r}): the name is of type {kind}; give a text, such as str(name)"
    raise TypeError(message)


if not TYPE_CHECKING:  # a checker that saw it would let every misspelt name pass

    def __getattr__(name: str) -> object:
        """Load the public ``name`` from its home, in `whet.core` unless it says more (PEP 562)."""
        from importlib import import_module

        if name == "make":
            return import_module("whet.make")
        if name == "load_ipython_extension":
            return import_module("whet.plugins.ipython").load_ipython_extension
        home = _HOMES.get(name)
        if home is None:
            raise AttributeError(f"module 'whet' has no attribute {name!r}")
        module = import_module(f"whet.{home}" if "." in home else f"whet.core.{home}")
        value: object = getattr(module, name)
        globals()[name] = value  # the next look-up doesn't come here
        return value


def __dir__() -> list[str]:
    """List the public names, loaded or not."""
    return sorted({*globals(), *__all__})
