"""The report of an investigation, in Markdown, HTML and JSON: the same facts three times."""

import json
from base64 import b64encode
from collections.abc import Callable
from functools import cache, partial
from hashlib import sha256
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType
from typing import TYPE_CHECKING, Any
from zlib import crc32

from whet.core.observations.resources import ResourceUse
from whet.core.text.quantity import shown_bytes, shown_count, shown_seconds
from whet.core.text.shown_text import visible
from whet.core.verdict import Verdict
from whet.host.trial.known_secrets import veiled
from whet.report import markup
from whet.report.answer import answer_of, shown_trials
from whet.report.curve import memory_curve, size_curve
from whet.report.difference import difference
from whet.report.facts import facts_of
from whet.report.history_line import history_line
from whet.report.wording import fence, hex_dump, is_text, one_line, unbroken
from whet.workbench.trials.investigation import (
    Investigation,
    ShrunkPayload,
    TestedVersion,
    VersionSearch,
)

if TYPE_CHECKING:
    from jinja2 import Environment

_TEMPLATES = Path(__file__).with_name("templates")
_SHOWN_PAYLOAD_BYTES = 4000


def report_files(investigation: Investigation) -> dict[str, bytes]:
    """Return what ``report.md``, ``report.html`` and ``report.json`` hold."""
    pages = {
        "report.md": markdown(investigation),
        "report.html": html(investigation),
        "report.json": json.dumps(facts_of(investigation), indent=2) + "\n",
    }
    return {name: veiled(page).encode("utf-8", "backslashreplace") for name, page in pages.items()}


def markdown(investigation: Investigation) -> str:
    """Return the report as Markdown, ready to be pasted into an issue."""
    return _render("report.md.jinja", investigation)


def html(investigation: Investigation) -> str:
    """Return the report as one HTML page that needs nothing else."""
    return _render("report.html.jinja", investigation)


def headline(investigation: Investigation) -> str:
    """Return what fails, in one line."""
    if investigation.failure is None:
        return one_line(f"bad: {investigation.oracle}")
    return one_line(f"{investigation.failure.summary}{investigation.failure.at}")


def _render(template: str, investigation: Investigation) -> str:
    script = (_TEMPLATES / "copy.js").read_text("utf-8")
    page = page_renderer(template)(
        it=investigation,
        answer=answer_of(investigation),
        headline=headline(investigation),
        count=shown_count,
        versions=versions_in_order(investigation.history),
        script=script,
        script_digest=b64encode(sha256(script.encode()).digest()).decode("ascii"),
        linked=partial(
            markup.linked, known_numbers=frozenset(each.number for each in investigation.trials)
        ),
    )
    return page.rstrip("\n") + "\n"


@cache
def page_renderer(template: str) -> Callable[..., str]:
    """Return what fills in a page; its template is compiled once: an investigation writes its report often."""
    from jinja2 import Environment, StrictUndefined, Template

    environment = Environment(
        autoescape=template.endswith("html.jinja"),  # Markdown: `said`, `cell`, `fence` escape it
        undefined=StrictUndefined,
        optimized=False,  # no filter's answer is kept with the code
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        seconds=shown_seconds,
        size=shown_bytes,
        line=one_line,
        whole=unbroken,
        visible=visible,
        fence=fence,
        cell=_cell,
        said=_said,
        payload=shown_payload,
        curve=_curve,
        line_of=_line_of,
        usage=_usage,
        difference=_difference,
        trials=shown_trials,
        prose=markup.prose,
        source=markup.source,
        diff=markup.diff,
        block=markup.block,
    )
    return Template.from_code(
        environment, _code(environment, template), environment.make_globals(None)
    ).render


def _code(environment: "Environment", template: str) -> CodeType:
    """Return a template's code, which Python keeps for the next whet as it keeps that of a module."""
    from jinja2 import __version__

    def stats(own: SourceFileLoader, path: str) -> dict[str, int]:
        """Return what kept code has to agree with: the text, and the Jinja that it was made with."""
        text = own.get_data(path)
        return {"mtime": crc32(text + __version__.encode()), "size": len(text)}

    def compiled(_own: SourceFileLoader, text: bytes, path: str) -> CodeType:
        return environment.compile(text.decode("utf-8"), template, path)

    own = {"path_stats": stats, "source_to_code": compiled}
    loader: Any = type("TemplateLoader", (SourceFileLoader,), own)
    code: CodeType = loader(template, str(_TEMPLATES / template)).get_code(template)
    return code


def versions_in_order(history: VersionSearch | None) -> tuple[TestedVersion, ...]:
    """Return the versions that were tested from the oldest on; the others after them, as tested."""
    if history is None:
        return ()
    places = {each.label: each.position for each in history.places}
    if not places:
        return history.tested
    last = max(places.values()) + 1

    def place(tested: TestedVersion) -> int:
        # An end that was given has no place among those between the ends.
        return places.get(tested.label, -1 if tested.verdict is Verdict.GOOD else last)

    return tuple(sorted(history.tested, key=place))


def shown_payload(data: bytes) -> str:
    """Return a payload as it is shown: its text, or a dump if it is no text; cut if long."""
    cut = data[:_SHOWN_PAYLOAD_BYTES]
    text = visible(cut.decode("utf-8", "replace")) if is_text(data) else hex_dump(cut)
    if len(cut) < len(data):
        text += f"\n... {shown_bytes(len(data) - len(cut))} more"
    return text


def _difference(payload: ShrunkPayload) -> str:
    """Return the diff of the result and of the nearest that passes; empty if none is known."""
    if payload.nearest_passing is None:
        return ""
    return "\n".join(difference(payload.content, payload.nearest_passing))


def _curve(payload: ShrunkPayload) -> str:
    """Return the picture of size against time; empty if it never changed."""
    return size_curve(payload.sizes, payload.wall_seconds) if len(payload.sizes) > 1 else ""


def _line_of(search: VersionSearch) -> str:
    """Return the picture of the versions that were searched; empty if nothing was."""
    return history_line(search) if search.places else ""


def _usage(use: ResourceUse | None) -> str:
    """Return the picture of memory against time; empty for a program too short to be seen twice."""
    return memory_curve(use) if use is not None and len(use.seconds) > 1 else ""


def _said(text: str, without: str = "") -> str:
    """Return ``text`` for a line of Markdown: what is in backticks as code, without some characters."""
    parts = markup.CODE.split(unbroken(text))
    return "".join(
        f"`{part}`"
        if number % 2 and not set(without) & set(part)
        else _plain(f"`{part}`" if number % 2 else part)
        for number, part in enumerate(parts)
    )


def _cell(text: str) -> str:
    """Return ``text`` for a cell of a Markdown table: it ends at a bar, in code too."""
    return _said(text, without="|")


def _plain(text: str) -> str:
    """Return ``text`` with nothing in it that Markdown takes as markup."""
    for character in "\\`*_[]<>|#":
        text = text.replace(character, f"\\{character}")
    return text
