"""The view of `whet watch`, driven without a terminal, on a recorded trial."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from textual.pilot import Pilot

from whet.core.observations.panel import Number, Reading, Sight
from whet.watch.sources import Recorded
from whet.watch.view import OutputView, PanelView, WatchView
from whet.workbench.watch.recording import Replay

LONG = 600


def sight(at: int) -> Sight:
    memory = Reading(
        panel="memory", title="memory", headline=f"{at}.5 GB", detail="9.9 GB free here",
        numbers=(Number(name="rss", value=at * 1e9 + 5e8, unit="bytes"),),
    )  # fmt: skip
    processes = Reading(
        panel="processes", title="processes [red]of[/red] 7", headline="1 process",
        table=(("PID", "GB", "command"), ("17", "0.500", f"python {'x' * 300}")),
    )  # fmt: skip
    text = Reading(panel="df", title="df", headline="25%", lines=(f"{at}% /", "y" * 300))
    return Sight(seconds=float(at), readings=(memory, processes, text))


def recorded() -> Recorded:
    sights = [sight(at) for at in range(LONG)]
    stream_bytes = [{"stdout": 8 * at} for at in range(LONG)]
    output = b"".join(b"line %02d\n" % (at % 100) for at in range(LONG))
    replay = Replay(sights, stream_bytes, float(LONG))
    return Recorded(replay=replay, streams={"stdout": output}, is_paused=True)


def driven(
    act: Callable[[Pilot[str], Recorded], Awaitable[None]], size: tuple[int, int] = (80, 24)
) -> WatchView:
    """Drive a view, and return it after its end."""
    source = recorded()
    view = WatchView(source)

    async def drive() -> None:
        async with view.run_test(size=size) as pilot:
            await pilot.pause()
            await act(pilot, source)

    asyncio.run(drive())
    return view


def shown(pilot: Pilot[str]) -> str:
    panels = [str(each.render()) for each in pilot.app.query(PanelView)]
    return "\n".join([*panels, str(pilot.app.query_one(OutputView).render())])


@pytest.mark.parametrize("size", [(80, 24), (60, 20), (200, 50), (30, 8)])
def test_each_panel_fits_into_its_frame(size: tuple[int, int]) -> None:
    async def act(pilot: Pilot[str], _source: Recorded) -> None:
        views = [*pilot.app.query(PanelView), pilot.app.query_one(OutputView)]
        for each in views:
            lines = str(each.render()).split("\n")
            assert len(lines) <= max(each.content_size.height, 1)
            assert max(map(len, lines)) <= each.content_size.width
        rights = {each.region.right for each in views}
        assert max(rights) == size[0]
        for one in views:
            assert not any(one.region.overlaps(each.region) for each in views if each is not one)

    driven(act, size)


def test_seeking_shows_the_moment_with_its_output() -> None:
    async def act(pilot: Pilot[str], source: Recorded) -> None:
        assert "0.5 GB" in shown(pilot) or "┏" in shown(pilot)
        await pilot.press("right", "right")
        await pilot.pause(0.2)
        assert source.at == 10
        assert "10% /" in shown(pilot)
        assert "line 09" in shown(pilot)
        assert "line 10" not in shown(pilot)
        await pilot.press("left")
        await pilot.pause(0.2)
        assert "5% /" in shown(pilot)
        assert "line 05" not in shown(pilot)
        await pilot.press("end")
        await pilot.pause(0.2)
        assert f"{LONG - 1}% /" in shown(pilot)
        await pilot.press("home")
        await pilot.pause(0.2)
        assert source.at == 0

    driven(act)


def test_the_speed_has_steps_and_space_stops_the_time() -> None:
    async def act(pilot: Pilot[str], source: Recorded) -> None:
        await pilot.press("plus", "plus")
        assert source.speed == 5
        await pilot.press("minus")
        assert source.speed == 2
        before = source.at
        await pilot.pause(0.3)
        assert source.at == before
        await pilot.press("plus", "plus", "plus", "plus", "plus", "space")
        assert source.speed == 60
        await pilot.pause(0.5)
        assert source.at > before + 5

    driven(act)


@pytest.mark.parametrize("key", ["q", "ctrl+c", "escape"])
def test_a_key_leaves(key: str) -> None:
    async def act(pilot: Pilot[str], _source: Recorded) -> None:
        await pilot.press(key)

    assert driven(act).return_value == key


def test_a_title_with_brackets_is_shown_as_it_is() -> None:
    async def act(pilot: Pilot[str], _source: Recorded) -> None:
        (title,) = [
            str(each.border_title)
            for each in pilot.app.query(PanelView)
            if each.panel == "processes"
        ]
        assert "\\[red]of" in title or "[red]of[/red] 7" in title
        await pilot.resize_terminal(100, 30)
        await pilot.pause()
        assert "[red]of[/red] 7" in pilot.app.export_screenshot().replace("&#160;", " ")

    driven(act)
