"""A profile as one HTML page that needs nothing else: sentences, table, flame graphs, timeline."""

from base64 import b64encode
from collections.abc import Sequence
from functools import partial
from hashlib import sha256
from pathlib import Path

from whet.core.observations.profile import CPU_SECONDS, SECONDS, Profile
from whet.core.observations.timeline import Timeline
from whet.core.text.quantity import shown_seconds
from whet.core.value_class import value_class
from whet.host.trial.known_secrets import veiled
from whet.measurement.profiles.flame import flame
from whet.measurement.profiles.line_table import LineTable, lines_of
from whet.measurement.profiles.sentences import Measured, sentences_of
from whet.measurement.profiles.words import UNIT_WORDS, short_path, shown_amount
from whet.report.flame_graph import flame_graph
from whet.report.pages import page_renderer
from whet.report.timeline_picture import timeline_picture

_SCRIPT = Path(__file__).with_name("templates") / "zoom.js"
_MOST_LINES = 40
_MANY_WAITS = 0.1


@value_class(kw_only=True)
class Picture:
    """A picture with its heading.

    Attributes:
        title: the heading.
        svg: the picture.
        hint: how to read it.
    """

    title: str
    svg: str
    hint: str = ""


@value_class(kw_only=True)
class ShownProfile:
    """A profile as the page shows it.

    Attributes:
        profile: the profile.
        table: its lines.
        summary: how much of what, in one line.
        sentences: what it shows.
        pictures: the pictures of it.
    """

    profile: Profile
    table: LineTable
    summary: str
    sentences: Sequence[str]
    pictures: Sequence[Picture]


def profile_page(
    profiles: Sequence[Profile],
    measured: Measured | None,
    *,
    title: str,
    command: str,
    folder: str,
    timelines: Sequence[Timeline] = (),
) -> bytes:
    """Return the page.

    Args:
        profiles: of one trial.
        measured: what the kernel counted of it.
        title: the page's heading.
        command: the command, with its secrets masked.
        folder: where it ran; paths of files in it are shortened.
        timelines: what else was recorded, such as sections.
    """
    script = _SCRIPT.read_text("utf-8")
    page = page_renderer("profile.html.jinja")(
        title=title,
        command=command,
        shown=[_shown(each, measured, timelines) for each in profiles],
        script=script,
        script_digest=b64encode(sha256(script.encode()).digest()).decode("ascii"),
        short=partial(_short, folder),
        unit_words=UNIT_WORDS,
    )
    return (veiled(page).rstrip("\n") + "\n").encode("utf-8", "backslashreplace")


def _short(folder: str, path: str) -> str:
    return short_path(path).removeprefix(f"{folder}/")


def _shown(
    profile: Profile, measured: Measured | None, timelines: Sequence[Timeline]
) -> ShownProfile:
    table = lines_of(profile, most=_MOST_LINES)
    total = table.total
    if profile.unit == CPU_SECONDS and measured is not None:
        total = min(total, measured.cpu_seconds)
    words = [f"{shown_amount(total, profile.unit)} {UNIT_WORDS[profile.unit]}"]
    words += [f"in {shown_seconds(profile.seconds)}"] if profile.seconds else []
    samples = f"{profile.samples:,} samples, " if profile.samples else ""
    return ShownProfile(
        profile=profile,
        table=table,
        summary=f"{' '.join(words)} ({samples}{profile.engine})",
        sentences=sentences_of(profile, measured),
        pictures=_pictures(profile, table, timelines),
    )


def _pictures(
    profile: Profile, table: LineTable, timelines: Sequence[Timeline]
) -> Sequence[Picture]:
    pictures: list[Picture] = []
    if table.total:
        words = partial(shown_amount, unit=profile.unit)
        title = f"Where the {UNIT_WORDS[profile.unit]} goes"
        svg = flame_graph(flame(profile, profile.unit), words, title)
        pictures.append(Picture(title=title, svg=svg, hint=_HOW))
    if profile.unit == CPU_SECONDS and table.waits > _MANY_WAITS * profile.seconds:
        words = partial(shown_amount, unit=SECONDS)
        title = "Where the main thread is, also while it waits"
        svg = flame_graph(flame(profile, SECONDS, only_main=True), words, title)
        pictures.append(Picture(title=title, svg=svg))
    svg = timeline_picture([*timelines, profile.timeline], profile.processes, profile.seconds)
    if svg:
        pictures.append(Picture(title="What ran when", svg=svg))
    return pictures


_HOW = (
    "Callers are above what they call, and a box is as wide as its share. Orange is your code."
    " Click a box to enlarge it, and the first row to go back."
)
