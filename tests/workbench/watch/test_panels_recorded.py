"""What was seen of a trial is kept, and can be shown again as it was."""

import json
from itertools import pairwise

import pytest

from whet.core.observations.panel import Number, Reading, Sight
from whet.core.observations.resources import ResourceUse
from whet.core.observations.timeline import Timeline
from whet.workbench.watch import recording as recordings
from whet.workbench.watch.recording import Recording, replay_of


def sight(at: float, *, lines: tuple[str, ...] = ()) -> Sight:
    memory = Reading(
        panel="memory", title="memory", headline=f"{at:g} GB",
        numbers=(Number(name="rss", value=at * 1e9, unit="bytes"),),
    )  # fmt: skip
    text = Reading(panel="df -h", title="df -h", lines=lines)
    return Sight(seconds=at, readings=(memory, text))


def recorded(count: int) -> Recording:
    recording = Recording()
    for at in range(count):
        recording.note(
            sight(float(at), lines=(f"line {at // 3}",)), {"stdout": at * 10, "stderr": 0}
        )
    return recording


def again(recording: Recording) -> Timeline:
    return Timeline.from_json(json.loads(json.dumps(recording.timeline().to_json())))


def test_what_was_seen_is_seen_again() -> None:
    recording = recorded(10)
    recording.note_event(4.0, "rss > 3G", {"action": "bell", "told": "rss > 3G: it is 4.0 GB"})
    replay = replay_of([again(recording)], None, 9.5)
    assert replay is not None
    for at, (shown, (seen, sizes)) in enumerate(zip(replay.sights, recording.sights, strict=True)):
        assert (shown.seconds, shown.readings) == (seen.seconds, seen.readings)
        assert replay.stream_bytes[at] == sizes
    assert [each.events for each in replay.sights if each.events] == [("rss > 3G: it is 4.0 GB",)]
    assert replay.seconds == 9.5


def test_a_frame_is_kept_only_where_it_has_changed() -> None:
    frames = [each for each in again(recorded(9)).marks if each.name == "df -h"]
    assert [each.at for each in frames] == [0.0, 3.0, 6.0]


def test_a_long_trial_keeps_as_many_sights_as_a_short_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recordings, "_MOST_SIGHTS", 16)
    recording = recorded(1000)
    assert 8 <= len(recording.sights) <= 16
    times = [each.seconds for each, _ in recording.sights]
    assert len({later - earlier for earlier, later in pairwise(times)}) == 1
    assert recording.timeline().notes


def test_much_text_is_cut_and_its_numbers_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recordings, "_MOST_BYTES", 20)
    timeline = again(recorded(30))
    assert sum(len(str(each.words.get("lines", ""))) for each in timeline.marks) < 200
    assert [len(each.values) for each in timeline.levels if each.name == "rss"] == [30]


def test_a_trial_that_was_not_watched_shows_its_samples() -> None:
    use = ResourceUse(
        seconds=(1.0, 2.0), memory_bytes=(10, 20), cpu_seconds=(1.0, 1.5), files=(3, 4),
        read_bytes=(0, 0), written_bytes=(0, 0), processes=(1, 2),
    )  # fmt: skip
    replay = replay_of([Timeline()], use, 2.5)
    assert replay is not None
    assert [each.number("rss") for each in replay.sights] == [10, 20]
    assert [each.number("cpu") for each in replay.sights] == [100, 50]


def test_there_is_nothing_to_show_of_a_trial_without_levels() -> None:
    assert replay_of([Timeline()], None, 1.0) is None
