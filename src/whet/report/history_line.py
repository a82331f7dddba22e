"""The line of versions that was searched, as a picture without a library: SVG is text."""

from html import escape

from whet.core.text.quantity import shown_count
from whet.workbench.trials.investigation import VersionPlace, VersionSearch

_WIDTH, _LEFT, _RIGHT = 720, 24, 24
_LINE_Y, _STEP_Y = 60, 18
_COLOURS = {"good": "#15803d", "bad": "#b91c1c", "skip": "#a16207"}
_INK, _GRID = "#888", "#8886"
_FONT = 'font-family="sans-serif" font-size="12"'


def history_line(search: VersionSearch) -> str:
    """Return an SVG picture of all versions in their order, the tested ones marked.

    A circle is of the old kind, a cross of the new one, a dash was skipped; the ring is what
    was found, and the bar is what may be it.
    """
    count = max(1, search.place_count - 1)

    def x(place: VersionPlace) -> float:
        return _LEFT + (_WIDTH - _LEFT - _RIGHT) * place.position / count

    tested_places = [place for place in search.places if place.told]
    height = _LINE_Y + _STEP_Y * (len(tested_places) + 1) + 12
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" {_FONT}>',
        f"<title>{escape(shown_count(search.place_count, search.kind))} searched</title>",
        _text(_LEFT, 20, f"old: {search.old_term}", "start"),
        _text(_WIDTH - _RIGHT, 20, f"new: {search.new_term}", "end"),
        f'<path d="M{_LEFT},{_LINE_Y}H{_WIDTH - _RIGHT}" stroke="{_INK}" stroke-width="2"/>',
    ]
    left = [x(place) for place in search.places if place.is_suspect]
    if left:
        parts.append(
            f'<line x1="{min(left) - 3:.1f}" y1="{_LINE_Y}" x2="{max(left) + 3:.1f}"'
            f' y2="{_LINE_Y}" stroke="{_COLOURS["bad"]}" stroke-width="8" opacity="0.4"/>'
        )
    for row, place in enumerate(tested_places, 1):
        at, down = x(place), _LINE_Y + _STEP_Y * row
        parts.append(
            f'<line x1="{at:.1f}" y1="{_LINE_Y}" x2="{at:.1f}" y2="{down}" stroke="{_GRID}"/>'
        )
        parts.append(_mark(at, place.told))
        # Beside its line, on the side where there is room.
        side, anchor = (8, "start") if at < _WIDTH / 2 else (-8, "end")
        word = {"good": search.old_term, "bad": search.new_term}.get(place.told, place.told)
        parts.append(_text(at + side, down + 4, f"{place.label} {word}", anchor))
    parts += [
        f'<circle cx="{x(place):.1f}" cy="{_LINE_Y}" r="10" fill="none"'
        f' stroke="{_COLOURS["bad"]}" stroke-width="2"/>'
        for place in search.places
        if place.label == search.first_bad
    ]
    return "\n".join([*parts, "</svg>"])


def _mark(at: float, word: str) -> str:
    colour = _COLOURS[word]
    if word == "good":
        return f'<circle cx="{at:.1f}" cy="{_LINE_Y}" r="5" fill="{colour}"/>'
    reach = 5
    path = f"M{at - reach:.1f},{_LINE_Y}h{2 * reach}"
    if word == "bad":
        path = (
            f"M{at - reach:.1f},{_LINE_Y - reach}l{2 * reach},{2 * reach}"
            f"m0,{-2 * reach}l{-2 * reach},{2 * reach}"
        )
    return f'<path d="{path}" stroke="{colour}" stroke-width="3"/>'


def _text(x: float, y: float, words: str, anchor: str) -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{_INK}">{escape(words)}</text>'
    )
