"""What is observed of a trial beside its end: by the agent, which leaves files, and from outside."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

from whet.agent.site.whet_state.secret_rule import VARIABLE as SECRETS_VARIABLE
from whet.agent.site.whet_state.secret_rule import listed_secrets
from whet.core.errors import DiskFull
from whet.core.observations.evidence import Evidence
from whet.core.value_class import value_class

if TYPE_CHECKING:  # not loaded for a trial that nobody follows
    from whet.host.inspect.call_groups import Sieve
    from whet.host.inspect.following import Following
    from whet.host.limits.enforcer import Prepared
    from whet.host.process.cleanup_journal import CleanupJournal
    from whet.host.profiling.inside import Inside
    from whet.host.profiling.request import Profiling
    from whet.host.profiling.sampling import Sampling

_LEVELS = "WHET_LEVELS"
_LOCALS, _COUNT, _PROBES = "WHET_LOCALS", "WHET_COUNT", "WHET_PROBES"
_CLOSER, _EDIT = "WHET_CLOSER", "WHET_EDIT"
_LEAK, _LINES = "WHET_LEAK", "WHET_LINES"
_LEAST_BYTES = 1 << 20
STEPS_ASKED = "steps:"
"""So begins what asks the closer look for the steps up to an error."""
TOGGLES_VARIABLE = "WHET_TOGGLES"
"""What is to be switched inside a program, by name; also empty, it lets the agent tell its signs."""


@value_class(kw_only=True)
class AgentTasks:
    """What is asked of the agent beside a stack on request; on its own nothing.

    Attributes:
        keeps_locals: keep what the frames of failures hold, and which Pythons there were.
        counted: a function (``package.module:Class.method``) whose calls are counted.
        closer: look closer at what is known to fail, which is slower; a word more asks for an
            experiment on one line (`whet_closer.accesses`), or for ``numbers`` that are none, or
            for the ``functions:`` that are called in files below a folder, or for the ``steps:`` up
            to an error (`whet_closer.recording.steps`).
        probes: what is looked out for, as `whet.workbench.inspect.probe` says it; empty: nothing.
        lines: the file whose statements are counted and timed, as `whet_lines` reads it; empty: none.
        edit: a module's real path, and the text that it is to run with instead of its file's;
            None: each runs as it is. It must fit into a variable (128 KiB).
        leak: which piece is repeated and measured, as `whet.workbench.leak.wish` says it; empty:
            none is.
        levels_seconds: how often processes tell what the allocators of torch and JAX hold; None: never.
        reads_signs: ask what programs have loaded; they tell where `TOGGLES_VARIABLE` is set.
        profiles: what a profiler is to see of it; None: none looks.
        follows: says which failing system calls are kept; None: calls aren't followed.
        counters: what the kernel counts of all processes, by name (`whet.host.kernel.counters`).
    """

    keeps_locals: bool = False
    counted: str = ""
    probes: str = ""
    leak: str = ""
    lines: str = ""
    reads_signs: bool = False
    follows: "Sieve | None" = None
    profiles: "Profiling | None" = None
    closer: str | None = None
    edit: tuple[str, str] | None = None
    levels_seconds: float | None = None
    counters: tuple[str, ...] = ()

    @property
    def variables(self) -> dict[str, str]:
        """What tells the agent; as long for any trial that isn't looked into."""
        counting = {_COUNT: self.counted} if self.counted else {}
        closer = {} if self.closer is None else {_CLOSER: self.closer}
        probed = {_PROBES: self.probes} if self.probes else {}
        lines = {_LINES: self.lines} if self.lines else {}
        levels = {} if self.levels_seconds is None else {_LEVELS: f"{self.levels_seconds:g}"}
        edited = {} if self.edit is None else {_EDIT: "\n".join(self.edit)}
        repeated = {_LEAK: self.leak} if self.leak else {}
        secret_names = listed_secrets()
        secrets = {SECRETS_VARIABLE: secret_names} if secret_names else {}
        locals_kept = "1" if self.keeps_locals else "0"
        return {
            _LOCALS: locals_kept,
            **secrets,
            **counting,
            **closer,
            **probed,
            **repeated,
            **lines,
            **edited,
            **levels,
        }

    @property
    def counting(self) -> "tuple[Prepared, ...]":
        """What has the spawner count, beside a trial; the numbers are measurements of its outcome."""
        if not self.counters:
            return ()
        from whet.host.limits.enforcer import Plain

        return (Plain(way="", watches=tuple(("counted", name) for name in self.counters)),)

    def following(self, agent_folder: Path, *, holds_calls: bool) -> "Following | None":
        """Return what follows the calls of one trial; None: nothing does.

        Args:
            agent_folder: where its agents write.
            holds_calls: some of its calls are held, and are to fail.
        """
        if self.follows is None:
            return None
        from whet.host.inspect.following import Following

        return Following(self.follows, agent_folder, is_filtered=not holds_calls)

    def profiling(
        self, command: str, agent_folder: Path, cleanup_journal: "CleanupJournal"
    ) -> "Sampling | Inside | None":
        """Return what profiles one trial, from beside it or from inside; None: nothing does.

        Args:
            command: its first word.
            agent_folder: where its agents write.
            cleanup_journal: where the processes of profilers are written down.
        """
        if self.profiles is None:
            return None
        if self.profiles.question != "cpu":
            from whet.host.profiling.inside import Inside

            return Inside(self.profiles, agent_folder)
        from whet.host.profiling.sampling import Sampling

        return Sampling(self.profiles, command, agent_folder, cleanup_journal)

    def wrapped(self, command: tuple[str, ...], agent_folder: Path) -> tuple[str, ...]:
        """Return a command with what profiles it before it, if anything does so.

        Args:
            command: argument vector.
            agent_folder: where the report goes.
        """
        if self.profiles is None or not self.profiles.trace:
            return command
        from whet.host.profiling.nsys import nsys_words

        asked = self.profiles
        words = nsys_words(asked.trace, is_captured=asked.is_captured, folder=str(agent_folder))
        return (*words, *command)

    def ask_before_end(self, pid: int, agent_folder: Path) -> None:
        """Have a command that is about to be killed tell what it otherwise tells at its end."""
        if self.closer is not None and self.closer.startswith(STEPS_ASKED):
            from whet.host.inspect.recorder import ask_for_steps

            ask_for_steps(pid, agent_folder)

    def check_room(self, agent_folder: Path) -> None:
        """Raise where nothing could be told: that would read as if nothing had been met.

        Raises:
            DiskFull: if there is no space for what agents are to write.
        """
        if not (self.counted or self.probes or self.leak or self.lines):
            return
        system = os.statvfs(agent_folder)
        if system.f_bavail * system.f_frsize < _LEAST_BYTES:
            raise DiskFull(
                f"no space left in `{agent_folder.parent}` for what is to be told of the program",
                hint="free some space there (`df -h`), or set `TMPDIR` to a folder with space",
            )

    def evidence(self, agent_folder: Path) -> tuple[Evidence, ...]:
        """Return what the agents of a trial have left in their folder."""
        pieces: list[Evidence] = []
        if self.counted:
            from whet.host.python.module_search import counts_told

            pieces.append(counts_told(agent_folder))
        if self.probes:
            from whet.host.trial.probe_reports import read_probes

            pieces.append(read_probes(agent_folder, self.probes))
        if self.leak:
            from whet.host.trial.leak_reports import read_leak

            pieces.append(read_leak(agent_folder))
        if self.lines:
            from whet.host.python.line_counts import read_lines

            pieces.append(read_lines(agent_folder, self.lines))
        if self.keeps_locals:
            from whet.host.inspect.failures import read_failures
            from whet.host.inspect.presence import read_pythons

            pieces += [*read_failures(agent_folder), read_pythons(agent_folder)]
        if self.reads_signs:
            from whet.host.trial.loaded_modules import read_signs

            pieces.append(read_signs(agent_folder))
        if self.closer is not None:
            from whet.host.trial.instrumented_evidence import read_closer, read_steps

            pieces += [read_closer(agent_folder), *read_steps(agent_folder)]
        if any(agent_folder.glob("*.made")):
            from whet.host.trial.made_payloads import read_made

            pieces.append(read_made(agent_folder))
        return tuple(pieces)


NO_TASKS = AgentTasks()
