"""The picture of a search over versions."""

from xml.etree import ElementTree as ET

from whet.report.history_line import history_line
from whet.workbench.trials.investigation import VersionPlace, VersionSearch

SVG = "{http://www.w3.org/2000/svg}"


def place(position: int, told: str, *, is_suspect: bool = False) -> VersionPlace:
    return VersionPlace(label=f"<v{position}>", position=position, told=told, is_suspect=is_suspect)


def search(*places: VersionPlace, first_bad: str | None = None) -> VersionSearch:
    return VersionSearch(
        kind="commit", subject="s", good="<v0>", bad="<v100>", first_bad=first_bad,
        places=places, place_count=101, old_term="slow & old", new_term="fast",
    )  # fmt: skip


def test_each_tested_version_stands_where_it_is_in_the_history() -> None:
    places = [
        place(0, "good"),
        place(25, "skip"),
        place(50, "bad", is_suspect=True),
        place(100, "bad"),
    ]

    root = ET.fromstring(history_line(search(*places, first_bad="<v50>")))

    words = [each.text or "" for each in root.iter(f"{SVG}text")]
    assert "<v25> skip" in words
    assert "<v0> slow & old" in words
    assert "<v50> fast" in words
    good, ring = root.findall(f"{SVG}circle")
    middle = (float(root.get("viewBox", "").split()[2])) / 2
    assert float(ring.get("cx", "")) == middle
    assert float(good.get("cx", "")) < middle / 2


def test_suspects_that_were_not_tested_are_a_bar_without_words() -> None:
    places = [place(0, "good"), place(40, "", is_suspect=True), place(60, "bad", is_suspect=True)]

    root = ET.fromstring(history_line(search(*places)))

    assert not any("<v40>" in (each.text or "") for each in root.iter(f"{SVG}text"))
    bars = [each for each in root.iter(f"{SVG}line") if each.get("stroke-width") == "8"]
    assert len(bars) == 1
