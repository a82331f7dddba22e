"""A copy that waits has pages of its own, those that runs from there write to, and no others."""

import ctypes
import mmap
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_warm_search import Search, search

from whet.agent.site.whet_stage.forking import prefault
from whet.agent.site.whet_stage.forking.memory import words_of
from whet.agent.site.whet_stage.forking.prefault import Pages

__all__ = ["search"]

PAGE_BYTES = mmap.PAGESIZE
MANY_PAGES = 2000
COUNTS_FAULTS = """
import resource, sys
block = bytearray({bytes})
for place in range(0, len(block), 4096):
    block[place] = 1
assert 'bad' not in open(sys.argv[1]).read(), 'bad'
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for place in range(0, len(block), 4096):
    block[place] = 2
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""

needs_populate = pytest.mark.skipif(
    not prefault._can_populate(),
    reason="this kernel cannot be asked for pages (Linux 5.14)",
)

ranges = st.lists(st.integers(0, 60), unique=True, max_size=12).map(
    lambda bounds: [
        (start, end) for start, end in zip(sorted(bounds)[::2], sorted(bounds)[1::2], strict=False)
    ]
)


def _numbers(found: list[tuple[int, int]]) -> set[int]:
    return {number for start, end in found for number in range(start, end)}


@given(ranges, ranges)
def test_what_of_some_stretches_lies_in_ranges_is_what_both_hold(
    stretches: list[tuple[int, int]], others: list[tuple[int, int]]
) -> None:
    flat = [bound for stretch in stretches for bound in stretch]

    found = list(prefault._within(flat, others))

    assert _numbers(found) == _numbers(stretches) & _numbers(others)
    assert found == sorted(found)


@given(st.lists(st.sampled_from([0x00, 0x80, 0x81, 0xA0, 0xA1, 0xFF])))
def test_a_stretch_is_pages_in_memory_that_no_other_process_has(highest: list[int]) -> None:
    found = list(prefault._stretches(bytes(highest)))

    alone = {number for number, each in enumerate(highest) if each == 0x81}
    assert _numbers(found) == alone


def _seen_faults(search: Search, times: int) -> Iterator[int]:
    for number in range(times):
        outcome = search.warm.submit(search.on(f"fine {number}")).result(60)
        if outcome.resumed_from:
            yield int(outcome.stdout.head(99))


@pytest.mark.slow
@needs_populate
def test_in_the_end_no_run_waits_for_the_pages_that_all_runs_write_to(search: Search) -> None:
    search.write(COUNTS_FAULTS.format(bytes=8 << 20))

    faults = _seen_faults(search, 200)

    assert next(faults) > MANY_PAGES
    assert any(count < MANY_PAGES / 10 for count in faults)


@pytest.mark.slow
def test_more_pages_than_are_worth_it_are_copied_when_they_are_written_to(search: Search) -> None:
    search.write(COUNTS_FAULTS.format(bytes=40 << 20))

    assert all(count > 5 * MANY_PAGES for count in _seen_faults(search, 8))


def _place_of(memory: mmap.mmap) -> int:
    return ctypes.addressof(ctypes.c_char.from_buffer(memory))


def _words(*numbers: int) -> bytes:
    return b"".join(number.to_bytes(8, sys.byteorder) for number in numbers)


def _is_in_memory(place: int) -> bool:
    with Path("/proc/self/pagemap").open("rb", buffering=0) as pagemap:
        entry = os.pread(pagemap.fileno(), 8, place // PAGE_BYTES * 8)
    return bool(entry[7] & 0x80)


@needs_populate
def test_the_pages_that_are_asked_for_are_there_and_hold_what_they_did() -> None:
    memory = mmap.mmap(-1, 4 * PAGE_BYTES, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    place = _place_of(memory)
    memory[PAGE_BYTES] = 7
    pages = Pages()

    pages.expect(_words(place + PAGE_BYTES, place + 3 * PAGE_BYTES))
    pages.prefault(lambda: False)

    assert [_is_in_memory(place + number * PAGE_BYTES) for number in range(4)] == [
        False, True, True, False,
    ]  # fmt: skip
    assert memory[PAGE_BYTES] == 7
    assert memory[2 * PAGE_BYTES] == 0


@needs_populate
def test_who_is_wanted_elsewhere_asks_for_no_page() -> None:
    memory = mmap.mmap(-1, PAGE_BYTES, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    place = _place_of(memory)
    pages = Pages()

    pages.expect(_words(place, place + PAGE_BYTES))
    pages.prefault(lambda: True)

    assert not _is_in_memory(place)


@needs_populate
def test_a_file_that_is_shared_is_not_written_to() -> None:
    with tempfile.TemporaryFile() as file:
        file.truncate(4 * PAGE_BYTES)
        memory = mmap.mmap(file.fileno(), 4 * PAGE_BYTES)
        place = _place_of(memory)
        pages = Pages()

        pages.expect(_words(place, place + 4 * PAGE_BYTES))
        pages.prefault(lambda: False)

        assert os.fstat(file.fileno()).st_blocks == 0
        assert not _is_in_memory(place)


@needs_populate
def test_a_page_of_a_file_shows_what_is_written_to_the_file_until_it_is_written_to_itself() -> None:
    with tempfile.TemporaryFile() as file:
        file.truncate(PAGE_BYTES)
        memory = mmap.mmap(file.fileno(), PAGE_BYTES, access=mmap.ACCESS_COPY)
        place = _place_of(memory)
        pages = Pages()

        pages.expect(_words(place, place + PAGE_BYTES))
        pages.prefault(lambda: False)
        os.pwrite(file.fileno(), b"new", 0)

        assert memory[:3] == b"new"


def test_what_this_process_has_written_to_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prefault, "_MOST_PAGES", 1 << 30)
    memory = mmap.mmap(-1, 64 * PAGE_BYTES, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    place = _place_of(memory)
    pages = Pages()
    memory[5 * PAGE_BYTES] = 1

    told = words_of(pages.written())

    stretches = list(zip(told[::2], told[1::2], strict=True))
    at = place + 5 * PAGE_BYTES
    assert any(start <= at < end for start, end in stretches)
    assert all(start < end for start, end in stretches)


# What whet finds in a source needs no look at classes.
LATE_WORDS = """\
Late = type('Late', (), {'__d' + 'el__': lambda self: print('the last word')})
late = Late()
"""


@pytest.mark.long
@pytest.mark.parametrize(
    "text",
    [
        pytest.param("import late\n", id="a module that is new"),
        pytest.param("del sys.modules['early']\nimport late\n", id="in the place of the newest"),
        pytest.param(f"exec({LATE_WORDS!r}, vars(early))\n", id="a class that is new"),
        pytest.param("del sys.modules['early']\nimport early\nearly.grow()\n", id="a module anew"),
        pytest.param(
            "kept = sys.modules.pop('early')\nimport late\nsys.modules['early'] = kept\n",
            id="before the newest",
        ),
    ],
)
def test_last_words_of_what_is_new_since_the_copy_are_heard(search: Search, text: str) -> None:
    search.write(LATE_WORDS, "late.py")
    search.write(f"def grow():\n    exec({LATE_WORDS!r}, globals())\n", "early.py")
    search.write(f"import json, sys, early\nopen(sys.argv[1]).read()\n{text}print('end')\n")

    outcomes = search.run("a", "b", "c", "d")

    assert outcomes[-1].resumed_from
    assert b"the last word" in outcomes[-1].stdout.head(99)


@pytest.mark.slow
def test_memory_that_is_larger_than_can_be_looked_through_costs_no_time(search: Search) -> None:
    search.write(
        "import mmap, sys, time\n"
        "large = mmap.mmap(-1, 1 << 40, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x4000)\n"
        "open(sys.argv[1]).read()\n"
        "began = time.process_time()\n"
    )

    outcomes = [search.warm.submit(search.on(text)).result(60) for text in "abc"]

    assert outcomes[-1].resumed_from
    assert outcomes[-1].cpu_seconds < 1  # 1 TB takes 3 s


@pytest.mark.parametrize("largest", [0, PAGE_BYTES, 7 * PAGE_BYTES])
def test_ranges_are_looked_through_up_to_a_limit(
    largest: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(prefault, "_MOST_BYTES", largest)
    found = [(0, PAGE_BYTES), (2 * PAGE_BYTES, 6 * PAGE_BYTES), (7 * PAGE_BYTES, 8 * PAGE_BYTES)]

    looked_at = list(prefault._worth_a_look(found))

    assert sum(end - start for start, end in looked_at) <= largest
    assert looked_at == (found if largest > 6 * PAGE_BYTES else found[: min(largest, 1)])


READS = "text = open(sys.argv[1]).read()\nassert 'bad' not in text, 'bad'\n"
FILLS = """import os, resource, sys
def fill(most, free):
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, 99))
    held = [os.open('/dev/null', os.O_RDONLY)]
    while True:
        try:
            held.append(os.open('/dev/null', os.O_RDONLY))
        except OSError:
            break
    for _ in range(free):
        os.close(held.pop())
"""
LIMITED = """import mmap, resource, sys
large = mmap.mmap(-1, 1 << 38, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x4000)
"""
LIMITS = """pages = int(open('/proc/self/statm').read().split()[0])
resource.setrlimit(resource.RLIMIT_AS, (pages * 4096 + (10 << 20),) * 2)
print('limited')
"""
PROXY = """class Proxy:
    @property
    def __class__(self):
        print('asked')
        raise RuntimeError('outside of a context')
"""
LAZY = """import importlib.util
spec = importlib.util.find_spec('noisy')
spec.loader = importlib.util.LazyLoader(spec.loader)
sys.modules['noisy'] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(sys.modules['noisy'])
"""
SPIES = """for name in ('open', 'listdir', 'readlink'):
    setattr(os, name, lambda *given, name=name, **_: print(name, given))
"""
LETS_GO = "del sys.modules['held'], held\ngc.collect()\nprint('end')\n"
AGAIN = """spec = importlib.util.spec_from_file_location('early', 'late.py')
sys.modules['early'] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(sys.modules['early'])
del early
print('end')
"""
ODD = """class Odd:
    @property
    def __dict__(self):
        print('asked')
        raise ValueError('odd')
sys.modules['odd'] = Odd()
"""


@pytest.mark.long
@pytest.mark.parametrize(
    "text",
    [
        pytest.param(f"import sys\nsys.modules['_ctypes'] = None\n{READS}", id="no _ctypes", marks=pytest.mark.long),
        pytest.param(f"import sys\nsys.modules['_ctypes'] = sys\n{READS}", id="another _ctypes"),
        pytest.param(f"{FILLS}{READS}fill(30, 0)\n", id="no descriptor left"),
        pytest.param(f"{FILLS}fill(60, 5)\n{READS}", id="few descriptors left", marks=pytest.mark.long),
        pytest.param(f"{LIMITED}{READS}{LIMITS}", id="no memory left"),
        pytest.param(f"import sys\n{PROXY}{READS}proxy = Proxy()\n", id="a proxy of a class", marks=pytest.mark.long),
        pytest.param(f"import sys\n{LAZY}{READS}print('end')\n", id="a lazy module"),
        pytest.param(f"import sys, os\n{READS}{SPIES}print('end')\n", id="other functions in os", marks=pytest.mark.long),
        pytest.param(f"import sys, gc, held\n{READS}{LETS_GO}", id="a module is let go of"),
        pytest.param(f"import sys, importlib.util, early, colorsys\n{READS}{AGAIN}", id="a module in place", marks=pytest.mark.long),
        pytest.param(f"import sys\n{ODD}{READS}print('end')\n", id="an odd module", marks=pytest.mark.long),
        pytest.param(f"import os, sys\n{READS}os.chroot('.')\n", id="in a root of its own", marks=pytest.mark.skipif(os.geteuid() != 0, reason="only root may")),
    ],
)  # fmt: skip
def test_the_end_of_a_run_is_that_of_one_from_the_start(search: Search, text: str) -> None:
    search.write(LATE_WORDS, "late.py")
    search.write("number = 1\n", "early.py")
    search.write("print('noisy')\n", "noisy.py")
    search.write(
        "import os\nclass Held:\n    def __del__(self, write=os.write):\n        write(1, b'gone')\n"
        "held = Held()\n",
        "held.py",
    )
    search.write(text)

    outcomes = search.run("a", "b", "c", "d", "e", "bad", "bad")

    assert outcomes[4].resumed_from
    assert outcomes[-1].resumed_from


FAILING = "class Odd:\n    __dict__ = property(lambda self: 1 / 0)\n"


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        pytest.param(f"import os, sys\n{FAILING}sys.modules['_ctypes'] = Odd()\n", id="later"),
        *(pytest.param(f"{FILLS}fill(60, {number})\n", id=str(number)) for number in range(6)),
    ],
)  # fmt: skip
def test_no_snapshot_runs_on_as_the_program_when_it_cannot_be_one(
    search: Search, text: str
) -> None:
    log = search.folder / "log"
    search.write(
        f"{text}"
        "try:\n    open(sys.argv[1])\nexcept BaseException as error:\n    print(repr(error))\n"
        "import resource\nresource.setrlimit(resource.RLIMIT_NOFILE, (90, 90))\n"
        f"with open({str(log)!r}, 'a') as log:\n"
        "    print(os.readlink('/proc/self/fd/1').partition(':')[0], file=log)\n"
    )

    for payload in "abcd":
        search.warm.submit(search.on(payload)).result(60)

    assert set(log.read_text().split()) == {"pipe"}
