"""What programs print when they fail, as seeds for the readers of that."""

import re
from functools import cache
from pathlib import Path

_TRANSCRIPTS = Path(__file__).parents[2] / "tests" / "evidence" / "transcripts"
_PARTS = re.compile(r"^### \S+ (?:exit|signal) \d+\n", re.MULTILINE)
_MOST = 20_000

_REPORTS = (
    """Traceback (most recent call last):
  File "/home/user/project/app.py", line 12, in <module>
    main(depth=1)
    ~~~~^^^^^^^^^
  File "/home/user/project/app.py", line 7, in main
    return rows[index]["price"]
           ~~~~~~~~~~~^^^^^^^^^
  [Previous line repeated 995 more times]
KeyError: 'price'
note one

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File "/usr/lib/python3.11/json/decoder.py", line 355, in raw_decode
    obj, end = self.scan_once(s, idx)
json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)
""",
    """  + Exception Group Traceback (most recent call last):
  |   File "app.py", line 3, in <module>
  |     raise ExceptionGroup("two", [ValueError(1), TypeError(2)])
  | ExceptionGroup: two (2 sub-exceptions)
  +-+---------------- 1 ----------------
    | ValueError: 1
    +---------------- 2 ----------------
    | TypeError: 2
    +------------------------------------
""",
    """============================= test session starts ==============================
collected 2 items

test_a.py F.                                                             [100%]

=================================== FAILURES ===================================
________________________________ test_one[a-b] _________________________________

    def test_one(x):
>       assert f(x) == [1, 2, 3]
E       AssertionError: assert [1, 2] == [1, 2, 3]
E         Right contains one more item: 3

test_a.py:4: AssertionError
=========================== short test summary info ============================
FAILED test_a.py::test_one[a-b] - AssertionError: assert [1, 2] == [1, 2, 3]
ERROR test_b.py - ModuleNotFoundError: No module named 'x'
========================= 1 failed, 1 passed in 0.02s ==========================
""",
    """F
======================================================================
FAIL: test_one (test_a.T.test_one)
----------------------------------------------------------------------
Traceback (most recent call last):
  File "/home/user/project/test_a.py", line 5, in test_one
    self.assertEqual(1, 2)
AssertionError: 1 != 2

----------------------------------------------------------------------
Ran 1 test in 0.000s

FAILED (failures=1, errors=2)
""",
    """Fatal Python error: Segmentation fault

Thread 0x00007f8a (most recent call first):
  File "/usr/lib/python3.11/threading.py", line 320 in wait

Current thread 0x00007f8b (most recent call first):
  File "/home/user/project/app.py", line 3 in f
  File "/home/user/project/app.py", line ??? in <module>
""",
    ("terminate called after throwing an instance of 'std::out_of_range'\n  what():  vector::_M_range_check\n"
    "free(): double free detected in tcache 2\na.out: x.c:3: int main(void): Assertion `x > 1' failed.\n"
    "==7==ERROR: AddressSanitizer: heap-use-after-free on address 0x60 at pc 0x1\n    #0 0x1 in f /p/x.c:3:5\n"),
    ("panic: runtime error: index out of range [5] with length 3\n\ngoroutine 1 [running]:\nmain.f(...)\n\t/p/x.go:7\n"
    "thread 'main' panicked at src/main.rs:2:5:\nindex out of bounds: the len is 3 but the index is 5\n"
    'Exception in thread "main" java.lang.NullPointerException: x\n\tat a.B.c(B.java:3)\nCaused by: java.io.IOException\n'
    "/p/x.js:3\n    throw new Error('x')\n    ^\n\nError: x\n    at f (/p/x.js:3:11)\n"),
    ("\u256d\u2500 Traceback (most recent call last) \u2500\u256e\n\u2502 /p/app.py:3 in f         \u2502\n"
    "\u2502   2 def f():             \u2502\n\u2502 \u2771 3     return 1 / 0      \u2502\n"
    "\u2570\u2500\u2500\u256f\nZeroDivisionError: division by zero\n"),
    ("app.py:3: RuntimeWarning: coroutine 'f' was never awaited\nusage: app [-h] x\napp: error: the following arguments "
    "are required: x\n\x1b[31m[rank0]: loss: nan\x1b[0m\r100%\n"),
    ('2024-01-02 03:04:05 ERROR app: failed\nTraceback (most recent call last):\n  File "a.py", line 1, in f\nOSError: '
    "[Errno 28] No space left on device: '/data/x'\ntorch.cuda.OutOfMemoryError: CUDA out of memory. Tried to "
    "allocate 2.00 GiB (GPU 0; 8.00 GiB total capacity; 1.5 GiB free)\nWarning: Traceback of forward call that "
    'caused the error:\n  File "a.py", line 3, in f\n    y = x.log()\n'),
)  # fmt: skip


@cache
def printed() -> list[bytes]:
    """Return what programs printed, by all that was recorded of it."""
    found = [each.encode() for each in _REPORTS]
    for path in sorted(_TRANSCRIPTS.glob("python*.txt")):
        parts = _PARTS.split(path.read_text("utf-8"))
        found += [part.encode() for part in parts[1:] if len(part) < _MOST]
    return found
