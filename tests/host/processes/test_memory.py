"""How much memory is left, by the figures that the kernel shows."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from whet.host.files.memory import FullGroups, MemoryLeft, memory_left

MEMINFO = "MemTotal:       1000 kB\nMemFree:  1 kB\nMemAvailable:    600 kB\n"


@pytest.mark.parametrize(
    ("group", "files", "total_kb", "available_kb"),
    [
        pytest.param("0::/", {}, 1000, 600, id="no limit"),
        pytest.param("0::/a/b", {"a/b/memory.max": "max"}, 1000, 600, id="a group without a limit"),
        pytest.param(
            "0::/a/b",
            {"a/memory.max": str(400 << 10), "a/memory.current": str(300 << 10)},
            400, 100, id="a limit of the group above",
        ),
        pytest.param(
            "0::/a",
            {"a/memory.max": str(400 << 10), "a/memory.current": str(300 << 10), "a/memory.stat": f"anon 1\ninactive_file {50 << 10}\n"},
            400, 150, id="pages of files that go when they must",
        ),
        pytest.param(
            "5:cpu,memory:/a\n0::/",
            {"memory/a/memory.limit_in_bytes": str(500 << 10), "memory/a/memory.usage_in_bytes": str(600 << 10)},
            500, 0, id="control groups of the first kind",
        ),
    ],
)  # fmt: skip
def test_the_tightest_limit_counts(
    tmp_path: Path, group: str, files: Mapping[str, str], total_kb: int, available_kb: int
) -> None:
    written = {"proc/meminfo": MEMINFO, "proc/self/cgroup": f"{group}\n"}
    for name, text in {
        **written,
        **{f"groups/{name}": text for name, text in files.items()},
    }.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    assert memory_left(f"{tmp_path}/proc", f"{tmp_path}/groups") == MemoryLeft(
        total_bytes=total_kb << 10, available_bytes=available_kb << 10
    )


def test_this_machine_has_memory() -> None:
    left = memory_left()

    assert 1 << 20 < left.available_bytes <= left.total_bytes


@pytest.mark.parametrize(
    ("group", "limit", "events"),
    [
        ("0::/a/b", "a/memory.max", "a/memory.events"),
        ("5:memory:/a\n0::/", "memory/a/memory.limit_in_bytes", "memory/a/memory.oom_control"),
    ],
)
def test_who_was_ended_for_a_full_group_is_told_of_once(
    tmp_path: Path, group: str, limit: str, events: str
) -> None:
    def write(name: str, text: str) -> None:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    write("proc/self/cgroup", f"{group}\n")
    write(f"groups/{limit}", "4096\n")
    write(f"groups/{events}", "under_oom 0\noom_kill 2\n")
    full = FullGroups(f"{tmp_path}/proc", f"{tmp_path}/groups")
    assert full.news() is None

    write(f"groups/{events}", "under_oom 0\noom_kill 3\n")

    assert [full.news(), full.news()] == [4096, None]
