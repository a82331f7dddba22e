"""What `whet watch --when` does as a level crosses a threshold."""

import difflib
import json
import shutil
import signal
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from whet.core.errors import BadThreshold
from whet.core.observations.evidence import STACKS, Evidence
from whet.core.observations.stack import ProcessStack
from whet.core.threshold import Threshold
from whet.evidence.stacks.stack_groups import groups_of, sentence
from whet.host.inspect.spying import take_all
from whet.host.kernel.daemon_thread import DaemonThread
from whet.host.levels.commands import RepeatedCommand
from whet.host.levels.subjects import Subject
from whet.workbench.watch.readers import Surroundings

BELL, STACK, KILL = "bell", "stacks", "kill"
_ACTIONS = (BELL, STACK, KILL)
_COMMAND_SECONDS = 60.0
_CLOSING_SECONDS = 70.0
_MOST_GROUPS = 3


def parse_threshold(condition: str, action: str) -> Threshold:
    """Return a threshold whose action can be done.

    Raises:
        BadThreshold: if it can't be read, or its action is neither known nor a command.
    """
    threshold = Threshold.parse(condition, action)
    word = threshold.action
    if word in _ACTIONS or any(each.isspace() for each in word) or shutil.which(word) is not None:
        return threshold
    near = difflib.get_close_matches(word, _ACTIONS, n=1, cutoff=0.5)
    raise BadThreshold(
        f"`{word}` is neither an action nor a command",
        hint=f"did you mean `{near[0]}`?"
        if near
        else "write bell, stacks, kill or a shell command",
    )


@dataclass(slots=True)
class Actions:
    """Does what thresholds ask for, in threads of their own: levels are watched meanwhile.

    Attributes:
        evidence: the stacks that were taken.
    """

    around: Surroundings
    subject: Subject
    kill: Callable[[int], None] | None
    tell: Callable[[str], None]
    evidence: list[Evidence] = field(default_factory=list[Evidence])
    _threads: list[DaemonThread] = field(default_factory=list[DaemonThread])
    _commands: list[RepeatedCommand] = field(default_factory=list[RepeatedCommand])

    def perform(self, threshold: Threshold, at: float) -> None:
        """Begin with the action of a threshold."""
        if threshold.action == BELL:
            return  # whoever shows it rings
        thread = DaemonThread(target=self._perform, args=(threshold, at), name="whet-action")
        self._threads.append(thread)
        thread.start()

    def finish(self) -> None:
        """Wait for what has begun."""
        for each in self._threads:
            each.join(_CLOSING_SECONDS)

    def close(self) -> None:
        """End the commands that still run."""
        for each in self._commands:
            each.close()
        self.finish()

    def _perform(self, threshold: Threshold, at: float) -> None:
        if threshold.action == STACK:
            self._take_stacks(threshold, at)
        elif threshold.action == KILL:
            self._kill(threshold)
        else:
            self._call(threshold)

    def _take_stacks(self, threshold: Threshold, at: float) -> None:
        pids = self.subject()
        processes = take_all(pids, agent_folder=self.around.agent_folder, looks_again=False)
        data = json.dumps({"processes": [each.to_json() for each in processes]})
        detail = {"processes": len(processes), "when": threshold.text, "at": round(at, 3)}
        self.evidence.append(Evidence(kind=STACKS, detail=detail, data=data.encode("ascii")))
        self.tell(f"{threshold.text}: {_stack_words(processes)}")

    def _kill(self, threshold: Threshold) -> None:
        if self.kill is None:
            return
        self.kill(signal.SIGKILL)
        self.tell(f"{threshold.text}: whet killed the program")

    def _call(self, threshold: Threshold) -> None:
        around = self.around
        command = RepeatedCommand(
            threshold.action, around.cleanup_journal, around.scratch, around.environment, around.cwd
        )
        self._commands.append(command)
        try:
            answer = command.answer(_COMMAND_SECONDS)
        finally:
            command.release()
        said = " ".join((answer.trouble or answer.text).split())[:200]
        self.tell(f"{threshold.text}: `{threshold.action}`: {said or 'done'}")


def _stack_words(processes: Sequence[ProcessStack]) -> str:
    """Return where the processes are, in a line."""
    groups = [each for each in groups_of(processes) if each.is_main][:_MOST_GROUPS]
    if not groups:
        return "whet saw no Python stack"
    return "; ".join(sentence(each) for each in groups)
