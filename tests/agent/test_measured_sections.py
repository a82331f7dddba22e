"""Sections: what a program measures of itself is right, bounded, and never the program's problem."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import whet
from whet.agent.site.whet_sections.memory import Peaks
from whet.core.observations.timeline import SectionTotal, Timeline
from whet.core.outcome import Outcome
from whet.host.trial.sections import with_sections

MEGABYTE = 1 << 20
NOISE = 2 * MEGABYTE  # of the interpreter itself
SLACK = 128 << 10


class Sections:
    """What a program reports, run as a trial runs it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.seconds = 0.0

    def of(self, program: str, *, code: int = 0) -> Timeline:
        path, reports = self.folder / "program.py", self.folder / "agent"
        path.write_text(f"import whet\n{program}")
        reports.mkdir()
        started_at = time.monotonic()
        # As large as many a program that starts others: that is no memory of theirs.
        ballast = bytearray(b"x") * (60 * MEGABYTE)
        done = subprocess.run(
            [sys.executable, str(path)],
            env={**os.environ, "WHET_AGENT": str(reports)},
            cwd=self.folder,
            check=False,
            capture_output=True,
            text=True,
            timeout=60,
        )
        self.seconds = time.monotonic() - started_at
        del ballast
        assert done.returncode == code, done.stderr
        outcome = with_sections(Outcome(), reports, started_at)
        return Timeline.from_bytes(outcome.evidence[0].data) if outcome.evidence else Timeline()


@pytest.fixture
def sections(tmp_path: Path) -> Sections:
    return Sections(tmp_path)


def total(timeline: Timeline, name: str) -> SectionTotal:
    return next(each for each in timeline.totals if each.name == name)


# ---- peaks -----------------------------------------------------------------------------------


@given(
    st.lists(st.tuples(st.sampled_from(["begin", "end", "level"]), st.integers(0, 40)), max_size=60)
)
def test_each_of_many_open_sections_has_its_own_peak(steps: Sequence[tuple[str, int]]) -> None:
    level = mark = 0
    true: list[int] = []  # of those that are open
    began: list[tuple[int, int]] = []

    def reset() -> bool:
        nonlocal mark
        mark = level
        return True

    peaks = Peaks(reset)
    for step, number in steps:
        if step == "level":
            level = number * MEGABYTE
            mark = max(mark, level)
            true = [max(each, level) for each in true]
        elif step == "begin":
            began.append(peaks.begin(level, mark, is_alone=not began))
            true.append(level)
        elif began:
            place = number % len(began)
            most = peaks.end(began.pop(place), mark)
            assert true[place] <= most <= true.pop(place) + max(SLACK, level // 256)


def test_a_peak_is_unknown_where_the_mark_stays_and_does_not_rise() -> None:
    peaks = Peaks(lambda: False)

    first = peaks.begin(5, 9 * MEGABYTE, is_alone=True)
    second = peaks.begin(6, 9 * MEGABYTE, is_alone=False)
    assert peaks.end(second, 9 * MEGABYTE) == -1
    assert peaks.end(first, 10 * MEGABYTE) == 10 * MEGABYTE


def test_peak_and_kept_memory_are_those_of_the_section(sections: Sections) -> None:
    timeline = sections.of(
        """
big = bytearray(250 << 20)
del big
with whet.section("outer"):
    held = bytearray(10 << 20)
    with whet.section("inner"):
        brief = bytearray(30 << 20)
        del brief
    with whet.section("nothing"):
        pass
with whet.section("frees"):
    del held
"""
    )
    outer, inner, nothing, frees = timeline.totals
    at_first = (outer.peak_memory_bytes or 0) - 40 * MEGABYTE

    assert [each.name for each in timeline.totals] == ["outer", "inner", "nothing", "frees"]
    assert inner.peak_memory_bytes == pytest.approx(at_first + 40 * MEGABYTE, abs=NOISE)
    assert nothing.peak_memory_bytes == pytest.approx(at_first + 10 * MEGABYTE, abs=NOISE)
    assert outer.peak_memory_bytes is not None
    assert inner.peak_memory_bytes is not None
    assert outer.peak_memory_bytes >= inner.peak_memory_bytes
    assert outer.kept_memory_bytes == pytest.approx(10 * MEGABYTE, abs=NOISE)
    assert inner.kept_memory_bytes == pytest.approx(0, abs=NOISE)
    assert frees.kept_memory_bytes == pytest.approx(-10 * MEGABYTE, abs=NOISE)


def test_the_peak_before_a_section_stays_known_of_the_trial(sections: Sections) -> None:
    reports = sections.folder / "agent"
    sections.of(
        """
big = bytearray(200 << 20)
del big
with whet.section("small"):
    pass
"""
    )

    assert with_sections(Outcome(), reports, 0).peak_rss_bytes > 200 * MEGABYTE


def test_what_tracemalloc_traces_is_measured_as_well(sections: Sections) -> None:
    timeline = sections.of(
        """
import tracemalloc
with whet.section("untraced"):
    pass
tracemalloc.start()
with whet.section("outer"):
    brief = bytearray(9 << 20)
    del brief
    held = bytearray(1 << 20)
    with whet.section("inner"):
        brief = bytearray(3 << 20)
        del brief
"""
    )
    untraced, outer, inner = (
        total(timeline, each).others for each in ("untraced", "outer", "inner")
    )

    assert untraced == {}
    assert outer["python_peak_memory"] == pytest.approx(9 * MEGABYTE, abs=MEGABYTE)
    assert inner["python_peak_memory"] == pytest.approx(4 * MEGABYTE, abs=MEGABYTE)
    assert outer["python_kept_memory"] == pytest.approx(MEGABYTE, abs=MEGABYTE / 2)
    assert inner["python_kept_memory"] == pytest.approx(0, abs=MEGABYTE / 2)


def test_objects_are_counted_if_asked_for(sections: Sections) -> None:
    timeline = sections.of(
        """
class Row:
    pass
held = []
with whet.section("rows", objects=True):
    for _ in range(300):
        row = Row()
        row.own = {"a": []}
        held.append(row)
    garbage = []
    garbage.append(garbage)
    del garbage
"""
    )

    assert timeline.totals[0].numbers["rows.kept_objects"] == pytest.approx(900, abs=320)
    assert "300 __main__.Row" in str(timeline.spans[0].words["objects"])


def test_objects_of_whet_itself_are_not_named_as_the_sections(sections: Sections) -> None:
    timeline = sections.of(
        """
with whet.section("around", objects=True):
    with whet.section("nothing", objects=True):
        pass
for _ in range(2):
    with whet.section("alone", objects=True):
        pass
"""
    )

    named = " ".join(str(each.words.get("objects", "")) for each in timeline.spans)
    assert "whet" not in named
    assert "hamt" not in named  # of a context variable, which is whet's too
    assert abs(total(timeline, "alone").numbers["alone.kept_objects"]) <= 5


GPU = """
import sys, types
class Cuda(types.ModuleType):
    # Stands for PyTorch's allocator: two GPUs that hold `held` bytes each.
    held, marks = 0, [0, 0]
    def is_initialized(self): return True
    def device_count(self): return 2
    def memory_allocated(self, device): return self.held
    def max_memory_allocated(self, device): return self.marks[device]
    def memory_reserved(self, device): return 100
    max_memory_reserved = memory_reserved
    def mem_get_info(self, device): return 400, 1000
    def reset_peak_memory_stats(self, device): self.marks[device] = self.held
    def take(self, count):
        self.held += count
        self.marks = [max(mark, self.held) for mark in self.marks]
cuda = sys.modules["torch.cuda"] = Cuda("torch.cuda")
"""


def test_gpu_memory_is_what_the_allocator_counts_on_all_gpus(sections: Sections) -> None:
    timeline = sections.of(
        GPU
        + """
cuda.take(9 << 20)
with whet.section("outer"):
    cuda.take(-(8 << 20))
    with whet.section("inner"):
        cuda.take(2 << 20)
        cuda.take(-(1 << 20))
"""
    )
    outer, inner = (each.others for each in timeline.totals)

    assert outer == {
        "gpu_peak_memory": 18 << 20,
        "gpu_kept_memory": -(14 << 20),
        "gpu_reserved_peak_memory": 200,
        "gpu_reserved_kept_memory": 0,
        "gpu_outside_peak_memory": 1000,
        "gpu_outside_kept_memory": 0,
    }
    assert (inner["gpu_peak_memory"], inner["gpu_kept_memory"]) == (6 << 20, 2 << 20)


def test_what_starts_in_a_section_was_nothing_before_it(sections: Sections) -> None:
    timeline = sections.of(
        GPU
        + """
Cuda.started = False
Cuda.is_initialized = lambda self: self.started
with whet.section("load"):
    Cuda.started = True
    cuda.take(9 << 20)
    with whet.section("warm up"):
        cuda.take(-(4 << 20))
"""
    )
    load, warm_up = (each.others for each in timeline.totals)

    assert load["gpu_peak_memory"] == 18 << 20
    assert load["gpu_kept_memory"] == 10 << 20
    assert "gpu_outside_peak_memory" not in load
    assert warm_up["gpu_kept_memory"] == -(8 << 20)


def test_an_allocator_that_refuses_is_not_the_programs_problem(sections: Sections) -> None:
    timeline = sections.of(
        GPU
        + """
del Cuda.memory_allocated
with whet.section("load"):
    del Cuda.is_initialized
"""
    )

    assert (timeline.totals[0].count, timeline.totals[0].others) == (1, {})


# ---- time and places ---------------------------------------------------------------------------


def test_nested_sections_name_what_they_are_in(sections: Sections) -> None:
    timeline = sections.of(
        """
import time
for _ in range(2):
    with whet.section("outer"):
        with whet.section("inner"):
            end = time.process_time() + 0.02
            while time.process_time() < end:
                pass
"""
    )
    outer, inner = timeline.totals

    assert [(each.name, each.parent) for each in timeline.spans] == [
        ("outer", None), ("inner", 0), ("outer", None), ("inner", 2),
    ]  # fmt: skip
    assert (outer.count, inner.count) == (2, 2)
    assert outer.seconds >= inner.seconds >= 0.04
    assert outer.cpu_seconds >= inner.cpu_seconds >= 0.04
    assert 0 < timeline.spans[0].start < timeline.spans[1].start < sections.seconds


def test_a_section_inside_itself_counts_its_time_once(sections: Sections) -> None:
    timeline = sections.of(
        """
import time
@whet.section("deep")
def deep(depth):
    if depth:
        deep(depth - 1)
    else:
        time.sleep(0.05)
deep(9)
"""
    )
    deep = total(timeline, "deep")

    assert deep.count == 10
    assert deep.seconds == timeline.spans[0].seconds


def test_threads_and_tasks_have_sections_of_their_own(sections: Sections) -> None:
    timeline = sections.of(
        """
import asyncio, threading
both = threading.Barrier(2)
def work():
    with whet.section("thread"):
        both.wait()
thread = threading.Thread(target=work, name="helper")
with whet.section("main"):
    thread.start()
    both.wait()
    thread.join()

async def task(name):
    with whet.section(name):
        await asyncio.sleep(0.01)
async def main():
    with whet.section("all"):
        one = asyncio.create_task(task("a"), name="one")
        two = asyncio.create_task(task("b"), name="two")
        await one
        await two
asyncio.run(main())
"""
    )
    places = {each.name: (each.thread, each.task, each.parent) for each in timeline.spans}

    assert places["main"] == ("", "", None)
    assert places["thread"] == ("helper", "", None)
    assert places["a"] == ("", "one", None)
    assert places["b"] == ("", "two", None)
    assert all(each.seconds is not None for each in timeline.spans)
    assert any("at the same time" in each for each in timeline.notes)


def test_no_section_of_many_threads_and_signals_is_lost(sections: Sections) -> None:
    timeline = sections.of(
        """
import signal, sys, threading
sys.setswitchinterval(1e-5)
@whet.section("handler")
def handle(number, frame):
    pass
signal.signal(signal.SIGALRM, handle)
signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
def work():
    for _ in range(200):
        with whet.section("outer"):
            with whet.section("inner"):
                pass
threads = [threading.Thread(target=work) for _ in range(4)]
for thread in threads: thread.start()
work()
for thread in threads: thread.join()
signal.setitimer(signal.ITIMER_REAL, 0)
"""
    )

    assert total(timeline, "outer").count == total(timeline, "inner").count == 1000
    assert total(timeline, "handler").open_count == 0
    parents = {timeline.spans[each.parent or 0].name for each in timeline.named("inner")}
    assert parents == {"outer"}


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_child_processes_have_sections_of_their_own(sections: Sections, method: str) -> None:
    timeline = sections.of(
        f"""
import multiprocessing
def child(number):
    with whet.section("child"):
        return number
if __name__ == "__main__":
    with whet.section("parent"):
        with multiprocessing.get_context("{method}").Pool(2) as pool:
            pool.map(child, range(4), 1)
            pool.close()
            pool.join()
"""
    )
    children = timeline.named("child")

    assert total(timeline, "parent").count == 1
    assert total(timeline, "child").count == 4
    assert all(each.parent is None for each in children)
    assert {each.pid for each in children}.isdisjoint(each.pid for each in timeline.named("parent"))


def test_a_process_forked_in_a_section_leaves_it_to_its_parent(sections: Sections) -> None:
    timeline = sections.of(
        """
import os
with whet.section("parent"):
    pid = os.fork()
    if pid == 0:
        with whet.section("child"):
            pass
if pid == 0:
    os._exit(0)
os.waitpid(pid, 0)
"""
    )
    parent, child = total(timeline, "parent"), total(timeline, "child")

    assert (parent.count, parent.open_count, child.count) == (1, 0, 1)
    assert timeline.named("child")[0].parent is None


def test_every_kind_of_function_can_be_a_section(sections: Sections) -> None:
    timeline = sections.of(
        """
import asyncio, inspect
class Holder:
    @whet.section("method")
    def method(self): return self
    @whet.section("static")
    @staticmethod
    def static(): return 2
    @classmethod
    @whet.section("class")
    def of_class(cls): return cls
@whet.section("generator")
def numbers():
    got = yield 1
    yield got
    return 3
@whet.section("coroutine")
async def later(value):
    await asyncio.sleep(0)
    return value
@whet.section("async generator")
async def stream():
    try:
        got = yield 1
        yield got
    except KeyError:
        yield "key"
holder = Holder()
assert holder.method() is holder and Holder.static() == holder.static() == 2
assert Holder.of_class() is Holder
steps = numbers()
assert next(steps) == 1 and steps.send(7) == 7
try: next(steps)
except StopIteration as end: assert end.value == 3
async def main():
    assert await later(5) == 5
    steps = stream()
    assert await steps.asend(None) == 1
    assert await steps.asend(4) == 4
    assert await steps.athrow(KeyError("a")) == "key"
    await steps.aclose()
    early = stream()
    await early.asend(None)
    await early.aclose()
asyncio.run(main())
assert inspect.iscoroutinefunction(later) and later.__name__ == "later"
try:
    @whet.section("refused")
    class No: pass
except TypeError as error:
    assert str(error) == "No is no function: decorate its methods"
else:
    raise AssertionError
"""
    )

    assert {each.name: each.count for each in timeline.totals} == {
        "method": 1, "static": 2, "class": 1, "generator": 1, "coroutine": 1, "async generator": 2,
    }  # fmt: skip


def test_sections_that_end_in_another_order_are_all_measured(sections: Sections) -> None:
    timeline = sections.of(
        """
one, two = whet.section("one"), whet.section("two")
one.__enter__()
two.__enter__()
one.__exit__(None, None, None)
with whet.section("three"):
    pass
two.__exit__(None, None, None)
again = whet.section("again")
with again:
    with again:
        pass
"""
    )

    assert [each.count for each in timeline.totals] == [1, 1, 1, 2]
    assert [each.parent for each in timeline.spans] == [None, 0, 1, None, 3]


def test_an_error_passes_through_and_ends_the_section(sections: Sections) -> None:
    timeline = sections.of(
        """
with whet.section("fails"):
    raise ValueError("its own")
""",
        code=1,
    )

    assert total(timeline, "fails").count == 1
    assert timeline.notes == ()


# ---- ends --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("end", "code"), [("os._exit(0)", 0), ("os.kill(os.getpid(), 9)", -signal.SIGKILL)]
)
def test_what_was_written_survives_any_end(sections: Sections, end: str, code: int) -> None:
    timeline = sections.of(
        f"""
import os
with whet.section("whole"):
    pass
with whet.section("cut"):
    {end}
""",
        code=code,
    )
    whole, cut = timeline.totals

    assert (whole.count, whole.open_count) == (1, 0)
    assert (cut.count, cut.open_count, dict(cut.numbers)) == (0, 1, {})
    assert timeline.named("cut")[0].seconds is None
    assert timeline.notes == (f"`cut` was still open when process {timeline.spans[0].pid} ended",)


def test_many_sections_are_summed_in_a_small_file(sections: Sections) -> None:
    timeline = sections.of(
        """
with whet.section("around"):
    for number in range(7000):
        with whet.section("many"):
            pass
"""
    )
    size = sum(path.stat().st_size for path in (sections.folder / "agent").iterdir())

    assert total(timeline, "many").count == 7000
    assert total(timeline, "around").count == 1
    assert len(timeline.spans) == 5000
    assert size < 2 * MEGABYTE
    assert "more than 5,000 sections" in timeline.notes[0]


def test_too_many_names_are_said(sections: Sections) -> None:
    timeline = sections.of(
        """
for number in range(1200):
    with whet.section(f"step {number}"):
        pass
"""
    )

    assert len(timeline.totals) == 1000
    assert sum(each.count for each in timeline.totals) == 1000
    assert "200 runs of other names count nowhere" in timeline.notes[0]


def test_a_full_disk_is_not_the_programs_problem(sections: Sections) -> None:
    timeline = sections.of(
        """
import resource
most = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
for number in range(30):
    size = 1500 if 5 <= number < 20 else resource.RLIM_INFINITY
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, most))
    with whet.section("step"):
        pass
"""
    )

    assert total(timeline, "step").count == 30
    assert 0 < len(timeline.spans) < 30
    assert any("no space was left" in each for each in timeline.notes)


def test_a_folder_that_is_gone_is_not_the_programs_problem(sections: Sections) -> None:
    timeline = sections.of(
        """
import os
os.rmdir(os.environ["WHET_AGENT"])
with whet.section("lost"):
    pass
os.mkdir(os.environ["WHET_AGENT"])
"""
    )

    assert timeline == Timeline()


def test_nothing_is_written_into_a_file_of_the_program(sections: Sections) -> None:
    timeline = sections.of(
        """
import os
with whet.section("before"):
    pass
os.closerange(3, 5000)
for number in range(1000):
    os.dup2(os.open("own.txt", os.O_RDWR | os.O_CREAT), number + 3)
with whet.section("after"):
    pass
assert os.path.getsize("own.txt") == 0
"""
    )

    assert [each.count for each in timeline.totals] == [1, 1]
    assert total(timeline, "after").peak_memory_bytes is not None


# ---- names -------------------------------------------------------------------------------------


def test_any_text_is_a_name(sections: Sections) -> None:
    names = ["wörk\t1\n", "\ud800", "a" * 500, "日本", "back\\slash", "x.seconds"]
    timeline = sections.of(
        f"""
import enum
class Name(str, enum.Enum):
    LOAD = "load"
for name in {names!a}:
    with whet.section(name):
        pass
with whet.section(Name.LOAD):
    pass
"""
    )
    *odd, load = [each.name for each in timeline.totals]

    assert odd == [name if len(name) < 300 else f"{name[:200]}..." for name in names]
    assert load == "load"
    assert all(each.count == 1 for each in timeline.totals)


def test_sections_whose_measures_have_one_name_are_said(sections: Sections) -> None:
    timeline = sections.of(
        """
for name in ("a b", "a_b", "c"):
    with whet.section(name):
        pass
"""
    )

    assert timeline.notes == ("`a_b.seconds` and the like are of the section `a b`, not of `a_b`",)


@pytest.mark.parametrize(
    ("name", "measure"),
    [("load", "load"), ("load data", "load_data"), ("1st", "_1st"), ("a.b", "a.b"), (".", "_.")],
)
def test_a_measure_is_a_name_that_a_condition_can_say(name: str, measure: str) -> None:
    section = SectionTotal(name=name, count=1, seconds=2.0, cpu_seconds=1.0)

    assert section.measure == measure
    condition = whet.Condition.parse(f"{measure}.seconds > 1")
    assert condition.holds(Outcome(measurements=section.numbers)) is True
    assert condition.weighs_resources


@pytest.mark.parametrize(
    ("name", "error", "message"),
    [
        (3, TypeError, r"section\(3\): the name is of type int; give a text"),
        (print, TypeError, "the name is of type builtin_function_or_method"),
        ("", ValueError, r"section\(''\): give a name, such as 'load'"),
    ],
)
def test_a_name_that_is_none_is_refused_with_and_without_whet(
    name: object, error: type[Exception], message: str
) -> None:
    refused: object = whet.section
    assert callable(refused)
    with pytest.raises(error, match=message):
        refused(name)


def test_without_whet_a_function_stays_what_it_is() -> None:
    def load() -> None:
        pass

    with whet.section("load"):
        pass
    assert whet.section("load")(load) is load
