"""Pools of threads: what OpenMP has is ended before a fork; who owns another thread is named."""

import ctypes.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from test_fork_safety import blocker_of
from workshop import SLOW, Workshop

import whet.agent

pytestmark = pytest.mark.slow

GOMP = ctypes.util.find_library("gomp")
COMPILER = shutil.which("cc")

# What a compiler makes of a parallel region of two threads.
REGION = f"""
import ctypes
gomp, libc = ctypes.CDLL({GOMP!r}), ctypes.CDLL(None)
region = lambda: gomp.GOMP_parallel(ctypes.cast(libc.abs, ctypes.c_void_p), None, 2, 0)
region()
"""
POOL = """
#include <pthread.h>
#include <unistd.h>
static void *work(void *no) { for (;;) pause(); return no; }
static void *spin(void *no) { for (;;) ; return no; }
struct frame { void *words[64]; };
__attribute__((always_inline)) static inline long asleep(struct frame *decoys) {
    long result = 34;  /* pause, in no function of the C library; what lies there looks like code */
    __asm__ volatile("syscall" : "+a"(result) : "r"(decoys) : "rcx", "r11", "memory");
    return result;
}
static void *misled(void *code) {
    struct frame frame;
    for (int i = 0; i < 64; i++) frame.words[i] = (char *)code + 1;
    for (;;) asleep(&frame);
    return code;
}
void start_misled(void *code) { pthread_t t; pthread_create(&t, 0, misled, code); usleep(10000); }
void start(void) { pthread_t t; pthread_create(&t, 0, work, 0); usleep(10000); }
void start_spinning(void) { pthread_t t; pthread_create(&t, 0, spin, 0); usleep(10000); }
"""

needs_openmp = pytest.mark.skipif(GOMP is None, reason="libgomp is not installed")
needs_compiler = pytest.mark.skipif(COMPILER is None, reason="there is no C compiler")


@needs_openmp
def test_a_parallel_region_works_before_and_after_a_snapshot(workshop: Workshop) -> None:
    text = f"{REGION}{SLOW}region()\nprint(gomp.omp_get_max_threads() > 0)\n"

    workshop.edit(text, f"{text}print('more')\n")


@needs_openmp
def test_without_the_pause_there_is_no_snapshot(tmp_path: Path) -> None:
    off = (
        "import whet_stage.forking.openmp; whet_stage.forking.openmp.pause = lambda memory: None\n"
    )

    assert blocker_of(REGION, tmp_path) == ""
    assert "which whet couldn't pause" in blocker_of(REGION + off, tmp_path)


@pytest.fixture
def pool(tmp_path: Path) -> Path:
    """A library with threads of its own, of which whet knows nothing."""
    source, library = tmp_path / "pool.c", tmp_path / "libpool.so"
    source.write_text(POOL)
    subprocess.run(
        [str(COMPILER), "-shared", "-fPIC", "-o", str(library), str(source), "-lpthread"],
        check=True,
    )
    return library


@needs_compiler
@pytest.mark.parametrize("start", ["start", "start_spinning"])
def test_the_library_that_owns_a_thread_is_named(pool: Path, start: str, tmp_path: Path) -> None:
    reason = blocker_of(f"import ctypes; ctypes.CDLL({str(pool)!r}).{start}()", tmp_path)

    assert reason.startswith("a thread of libpool.so runs")


@needs_compiler
@pytest.mark.skipif(os.uname().machine != "x86_64", reason="the specimen is written for x86-64")
def test_numbers_on_a_stack_that_look_like_code_name_nobody(pool: Path, tmp_path: Path) -> None:
    other = (
        "ctypes.cast(ctypes.CDLL(__import__('_ctypes').__file__).PyInit__ctypes, ctypes.c_void_p)"
    )
    starts = f"import ctypes; ctypes.CDLL({str(pool)!r}).start_misled({other})"

    assert blocker_of(starts, tmp_path).startswith("a thread of libpool.so runs")


STACK_THAT_GOES = """
import ctypes, sys
sys.path.insert(0, sys.argv[2])
from whet_stage.forking.fork_safety import _threads
from whet_stage.forking.memory import Memory
libc = ctypes.CDLL(None)
libc.mmap.restype, size = ctypes.c_void_p, 1 << 17
ctypes.CDLL(sys.argv[1]).start_spinning()
stack = libc.mmap(None, ctypes.c_size_t(size), 0, 0x22, -1, ctypes.c_long(0))
libc.mprotect(ctypes.c_void_p(stack + size // 2), ctypes.c_size_t(size // 2), 3)
memory = Memory()
assert stack + size in memory.stack_ends()
libc.munmap(ctypes.c_void_p(stack), ctypes.c_size_t(size))
print(*_threads(memory))
"""


@needs_compiler
def test_a_stack_that_goes_while_it_is_looked_for_hinders_nothing(pool: Path) -> None:
    site = f"{whet.agent.__path__[0]}/site"
    looked = subprocess.run(
        [sys.executable, "-c", STACK_THAT_GOES, str(pool), site],
        capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert looked.stdout.startswith("a thread of libpool.so runs"), looked.stderr


@needs_compiler
def test_a_program_with_a_strange_pool_is_never_frozen(workshop: Workshop, pool: Path) -> None:
    text = f"if True:\n    import ctypes; ctypes.CDLL({str(pool)!r}).start()\n{SLOW}print(1)\n"
    workshop.write({"main.py": text})
    workshop.run()
    workshop.run()

    assert [start.place for start in workshop.starts] == ["", ""]


@needs_openmp
def test_what_asks_openmp_is_not_what_the_program_finds(tmp_path: Path) -> None:
    hidden_frame = "import sys\nfor name in list(sys.modules):\n    if 'ctypes' in name: del sys.modules[name]\n"

    assert blocker_of(f"{REGION}{hidden_frame}", tmp_path) == ""
    assert blocker_of(
        f"{REGION}{hidden_frame}blocker(bool); print('_ctypes' in sys.modules); blocker = lambda _: ('ctypes' in str(list(sys.modules)),)",
        tmp_path,
    ) == "False"  # fmt: skip
