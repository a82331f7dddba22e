"""A shell whose prompt shows its limits."""

import shlex
from dataclasses import replace
from pathlib import Path

from whet.core.limits import Limits, shown_size
from whet.workbench.trials.bench import Workbench
from whet.workbench.trials.limit_sets import limits_asked
from whet.workbench.trials.request import TrialRequest

MEMORY_VARIABLE = "MEMLIMIT"


def in_shell(bench: Workbench, request: TrialRequest, *, is_typed: bool) -> TrialRequest:
    """Return the request for a shell with these limits: the user's own, if it is bash or zsh.

    Args:
        bench: the workbench.
        request: what the user asked for.
        is_typed: somebody types into it, and is shown a prompt; else it reads what is given.
    """
    limits = limits_asked(request.limits, request.limit_set, bench.settings.limits)
    words = _words(limits)
    variables = {"WHET_LIMITS": words}
    if limits.memory_bytes is not None:
        variables[MEMORY_VARIABLE] = shown_size(limits.memory_bytes).replace(" ", "")
    shell = bench.environment.get("SHELL") or "/bin/sh"
    command: tuple[str, ...]
    if not is_typed:
        command = (shell,)
    elif Path(shell).name == "bash":
        folder = bench.cleanup_journal.temporary_folder()
        start = folder / "bashrc"
        start.write_text(
            f'[ -f ~/.bashrc ] && . ~/.bashrc\nPS1={shlex.quote(f"({words}) ")}"$PS1"\n',
            encoding="utf-8",
        )
        command = (shell, "--rcfile", str(start), "-i")
    else:
        variables["PS1"] = f"({words}) $ "
        command = (shell, "-i")
    return replace(
        request,
        command=command,
        environment={**request.environment, **variables},
        limits=replace(limits, spares_command=True),
    )


def _words(limits: Limits) -> str:
    """Return the limits as a prompt shows them: ``memory 5 GiB, files 64``."""
    words: list[str] = []
    for name, amount in limits.to_json().items():
        if isinstance(amount, int | float) and not isinstance(amount, bool):
            amount_text = shown_size(amount) if name.endswith("_bytes") else f"{amount:g}"
            amount_text += "/s" if name == "slow_disk_bytes" else ""
            words.append(f"{name.removesuffix('_bytes').replace('_', '-')} {amount_text}")
    if limits.room is not None:
        words.append(" ".join(limits.room.options))
    return ", ".join(words)
