"""What the words of `whet watch` name: panels, or commands whose output is one."""

import difflib
import shutil
from collections.abc import Mapping, Sequence

from whet.core.errors import BadUsage, UnknownPanel
from whet.core.threshold import LEVEL_NAMES, Threshold
from whet.core.value_class import value_class
from whet.host.limits.gpu.gpus import device_nodes

COMMAND = "command"
"""The kind of a panel that runs a command again and again."""

KINDS: Mapping[str, str] = {
    "processes": "the processes, with memory as GB; `processes:PATTERN` by command line",
    "name": "`name:PATTERN`: as `processes`, by the name alone",
    "memory": "memory of the processes together; without a program, of the machine",
    "cpu": "how busy they keep the processors",
    "files": "their open files",
    "gpu": "GPU memory, load and processes",
    "disk": "space of one file system; `disk:PATH`, by default that of this folder",
    "network": "bytes received and sent in a second",
    "torch": "torch's CUDA allocator in the program",
    "jax": "JAX's live arrays and compilations in the program",
    "sections": "the program's sections as they happen (`whet.section`)",
}
"""The panels, and what each of them shows."""

ALLOCATORS = frozenset({"torch", "jax"})
OF_PROCESSES = frozenset({"processes", "name", "memory", "cpu", "files"})
IN_PROGRAM = frozenset({"torch", "jax", "sections"})
_WITHOUT_ARGUMENT = frozenset({"network", *IN_PROGRAM})
_ALONE = ("processes", "memory", "disk")
_WITH_PROGRAM = ("memory", "cpu", "processes")


@value_class(kw_only=True)
class Wish:
    """A panel that the user asked for.

    Attributes:
        word: as it was written.
        kind: one of `KINDS`, or `COMMAND`.
        argument: what stands after the colon; the text of a command.
    """

    word: str
    kind: str
    argument: str = ""


def parse_panels(words: Sequence[str], *, has_program: bool) -> tuple[Wish, ...]:
    """Return the panels that words name, each once; without words, those of the first screen.

    Raises:
        UnknownPanel: if a word is neither a panel nor a command.
        BadUsage: if a panel can't be had so.
    """
    if not words:
        gpus = ("gpu",) if device_nodes() else ()
        words = (*(_WITH_PROGRAM if has_program else _ALONE), *gpus)
    return tuple(_wish(word, has_program=has_program) for word in dict.fromkeys(words))


def panels_for(wishes: Sequence[Wish], thresholds: Sequence[Threshold]) -> tuple[Wish, ...]:
    """Return the panels, and one more for each level of a threshold that none of them measures.

    Raises:
        BadUsage: if a threshold is on a command's number, and there is no command.
    """
    kinds = [each.kind for each in wishes]
    more: list[Wish] = []
    for each in thresholds:
        panel = LEVEL_NAMES[each.name].panel or COMMAND
        has_it = panel in kinds or (panel == "processes" and "name" in kinds)
        if panel == COMMAND and not has_it:
            raise BadUsage(
                f"`{each.text}` is about a command's number, and no panel runs a command",
                hint="add one: whet watch 'df -h /tmp' --when 'value > 90' bell",
            )
        if not has_it:
            kinds.append(panel)
            more.append(Wish(word=panel, kind=panel))
    return (*wishes, *more)


def _wish(word: str, *, has_program: bool) -> Wish:
    kind, _, argument = word.partition(":")
    if kind not in KINDS:
        if any(each.isspace() for each in word.strip()) or shutil.which(word) is not None:
            return Wish(word=word, kind=COMMAND, argument=word)
        near = difflib.get_close_matches(kind, KINDS, n=1, cutoff=0.5)
        raise UnknownPanel(
            f"`{word}` is neither a panel nor a command",
            hint=f"did you mean `{near[0]}`?" if near else f"the panels are {', '.join(KINDS)}",
        )
    if kind == "name" and not argument:
        raise BadUsage("`name` needs a pattern", hint="write it like `name:python`")
    if argument and kind in _WITHOUT_ARGUMENT:
        raise BadUsage(f"`{kind}` takes no argument, but got `{argument}`", hint=f"write `{kind}`")
    if kind == "gpu" and argument and not argument.isdecimal():
        raise BadUsage(
            f"`{argument}` in `{word}` is not the number of a GPU", hint="write it like `gpu:0`"
        )
    if kind in IN_PROGRAM and not has_program:
        raise BadUsage(
            f"`{kind}` shows what is inside a program, and there is none",
            hint=f"name it: whet watch {kind} -- python train.py",
        )
    return Wish(word=word, kind=kind, argument=argument)
