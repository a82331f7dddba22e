"""The line of a recorded trial: a stand-in for its program says what a shell makes of it."""

import json
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from whet.core.limits import Limits
from whet.core.output import digest_of
from whet.core.text.record import text_map
from whet.core.trial import STDIN_EMPTY, STDIN_INHERITED, Trial
from whet.desk.one_liner import Quote, quote_word
from whet.host.process.tool import ToolMissingError, call_tool
from whet.host.trial.agent_tasks import TOGGLES_VARIABLE
from whet.host.trial.trial_secrets import for_shell
from whet.notebook.entry import Entry
from whet.workbench.files.recipe import path_beside
from whet.workbench.files.wording import Wording, stored_steps
from whet.workbench.trials.bench import Workbench
from whet.workbench.trials.investigation import PastedLine

_STAND_IN = """\
import json, os, sys
def in_hex(text): return os.fsencode(text).hex()
with open(sys.argv[1], "w") as file:
    json.dump({
        "words": [in_hex(word) for word in sys.argv[2:]], "folder": in_hex(os.getcwd()),
        "variables": {in_hex(name): in_hex(value) for name, value in os.environ.items()},
    }, file)
sys.stdout.buffer.write(sys.stdin.buffer.read())
"""


def recorded_line(bench: Workbench, entry: Entry) -> PastedLine:
    """Return the line that runs a recorded trial where it ran.

    Whoever asks for a line hasn't asked for another run, which may cost hours or remove what it
    finds. So a stand-in is run in the program's place, which says what it is given: the words, the
    folder, the variables and the input have to be those of the trial.
    """
    trial = entry.trial

    def write(named: Trial, quote: Quote) -> list[str]:
        return stored_steps(bench, named, quote)

    failure = entry.outcome.failure if entry.outcome is not None else None
    said = f"trial {entry.number}" + ("" if failure is None else f": {failure.summary}")
    if trial.revision is not None:
        complaint = (
            f"trial {entry.number} ran on commit {trial.revision[:10]}, and this line runs today's"
            f" code; to run that commit: `whet again {entry.number} --code then`"
        )
    else:
        complaint = _complaint(bench, trial)
    return PastedLine(text=Wording(bench=bench, write=write).text(trial, said), complaint=complaint)


def _complaint(bench: Workbench, trial: Trial) -> str:
    """Return what a shell doesn't give the program; empty: all is as in the trial."""
    place = bench.cleanup_journal.temporary_folder()
    told = place / "told.json"
    stand_in = tuple(map(quote_word, (sys.executable, "-I", "-S", "-c", _STAND_IN, str(told))))
    # What is left out here are words of whet's and of uv's, and commands that may remove something.
    plain = replace(
        trial, reset=(), limits=Limits(), packages={},
        environment={
            name: value for name, value in trial.environment.items() if name != TOGGLES_VARIABLE
        },
    )  # fmt: skip
    _, secrets = for_shell(plain)
    wording = Wording(
        bench=bench, write=lambda named, quote: stored_steps(bench, named, quote, prefix=stand_in)
    )
    try:
        with wording.placed(plain) as words:
            ran = call_tool(words, cwd=place, environment={**bench.environment, **secrets})
        if ran.exit_code != 0:
            return f"the shell says: {ran.complaint}"
        found = json.loads(told.read_text())
    except (OSError, ValueError, ToolMissingError) as error:
        return str(error)
    finally:
        bench.cleanup_journal.discard(place)
    return _differs(plain, found, ran.stdout)


def _differs(trial: Trial, found: Mapping[str, object], stdin: bytes) -> str:
    words = list(trial.command)
    for payload in trial.payloads:
        payload.put(path_beside(payload.digest, payload.name, payload.beside), words)
    if found["words"] != [_hex(word) for word in words]:
        return "the shell gives the program other words"
    if found["folder"] != _hex(str(Path(trial.cwd).resolve())):
        return "the program starts in another folder"
    seen = text_map(found, "variables")
    for name, value in trial.environment.items():
        if seen.get(_hex(name)) != _hex(value):
            return f"the program sees another `{name}`"
    if still := [name for name in trial.unset if _hex(name) in seen]:
        return f"the program still sees `{still[0]}`"
    of_payload = [each.digest for each in trial.payloads if each.argument is None]
    expected = of_payload[0] if of_payload else trial.stdin
    is_kept = expected not in {STDIN_EMPTY, STDIN_INHERITED}
    if is_kept and digest_of(stdin) != expected:
        return "the program reads another input"
    return ""


def _hex(text: str) -> str:
    return text.encode("utf-8", "surrogateescape").hex()
