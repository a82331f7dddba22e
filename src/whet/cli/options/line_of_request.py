"""A request as the line of a verb that asks for the same again."""

from collections.abc import Sequence

from whet.core.trial import Trial
from whet.desk.one_liner import quote_word
from whet.host.trial.trial_secrets import for_shell
from whet.workbench.trials.request import TrialRequest


def line_of_request(verb: Sequence[str], request: TrialRequest) -> str:
    """Return the line for a shell that asks for the same trial, judged in the same way.

    Args:
        verb: the first words, such as ``whet repeat -n 5``.
        request: what was asked for.
    """
    trial, _ = for_shell(
        Trial(command=request.command, cwd="", environment=request.environment, reset=request.reset)
    )
    judging = request.judging
    options = {
        "--cwd": request.cwd,
        "--stdin": request.stdin,
        "--timeout": _seconds(request.timeout_seconds),
        "--hang": _seconds(request.hang_seconds),
        "--limits": request.limit_set,
        "--bad-if": "" if judging.condition is None else judging.condition.text,
        "--oracle": judging.oracle,
        "--interesting": judging.interesting,
    }
    words = [word for name, value in options.items() if value for word in (name, value)]
    words += request.limits.options
    for name, value in trial.environment.items():
        words += ["--env", f"{name}={value}"]
    for name, pattern in request.measures.items():
        words += ["--measure", f"{name}={pattern}"]
    for step in trial.reset:
        words += ["--reset" if step.must_succeed else "--reset-try", step.command]
    return " ".join(map(quote_word, [*verb, *words, "--", *trial.command]))


def _seconds(seconds: float | None) -> str:
    return "" if seconds is None else f"{seconds:.15g}"
