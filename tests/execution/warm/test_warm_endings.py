"""What goes when Python ends goes in the order in which it goes cold, and says what it says cold."""

import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from crossed import crossed, one_in
from program_edits import Change, Edit, Session
from program_twins import twins, write
from programs import Content
from workshop import python_of

from whet.core.trial import Trial
from whet.execution.cold import ColdExecutor

pytestmark = pytest.mark.slow

_NAMED = "class Named:\n    def __init__(self, name): self.name = name\n    def __del__(self): print('gone', self.name)\n"
_MODULE = f"{_NAMED}def words(): return Named\nhere = Named('in a module')\n"
_MAIN = _NAMED.replace("Named", "Mine")

_WORDS = {"a file": ("main.py",), "a module": ("-m", "main")}
_PYTHONS = [sys.version_info.minor, *({9, 10, 11, 12, 13} - {sys.version_info.minor})]

_ENDINGS: dict[str, tuple[Mapping[str, str], str]] = {
    "two modules": ({"part.py": _MODULE}, f"import part\n{_MAIN}mine = Mine('in the script')\n"),
    "modules that import each other": (
        {"part.py": _MODULE, "one.py": f"import two\n{_NAMED}here = Named('one')\n", "two.py": f"import one\n{_NAMED}here = Named('two')\n"},
        f"import one, part\n{_MAIN}mine = Mine('in the script')\n",
    ),
    "names from a module": (
        {"part.py": _MODULE},
        f"from part import *\nother = Named('of the class of a module')\n{_MAIN}mine = Mine('in the script')\n",
    ),
    "circles": (
        {"part.py": _MODULE},
        f"import part\n{_MAIN}one, two = Mine('one'), part.Named('two')\none.other, two.other = two, one\nthird = Mine('three')\nthird.own = third\ndel third, one\n",
    ),
    "circles that go on the way": (
        {"part.py": _MODULE},
        f"import part\n{_MAIN}def circle(name):\n    each = part.Named(name)\n    each.own = each\nlist(map(circle, range(2000)))\ngc.collect()\nlist(map(circle, range(20)))\n",
    ),
    "generators": (
        {"part.py": f"{_MODULE}def steps():\n    try:\n        yield 1\n    finally:\n        print('left in a module')\ngoing = steps()\nnext(going)\n"},
        "import part\ndef steps():\n    try:\n        yield 1\n    finally:\n        print('left')\ngoing = steps()\nnext(going)\nother = part.steps()\nnext(other)\n",
    ),
    "files": (
        {"part.py": "import io\nclass Loud(io.StringIO):\n    def close(self): print('closed', self.getvalue()) if not self.closed else None; super().close()\nfile = Loud('in a module')\n"},
        "import part\nclass Own(part.Loud): pass\nfile = Own('in the script')\nother = part.Loud('another')\n",
    ),
    "what is called at the end": (
        {"part.py": f"{_MODULE}import atexit, weakref\natexit.register(print, 'exit of a module')\nfinal = weakref.finalize(here, print, 'final of a module')\n"},
        f"import atexit, weakref, part\n{_MAIN}mine = Mine('in the script')\natexit.register(print, 'exit')\nfinal = weakref.finalize(mine, print, 'final')\nend = weakref.ref(mine, lambda _: print('ref'))\n",
    ),
    "what threads hold": (
        {"part.py": f"{_MODULE}import threading\nlocal = threading.local()\nlocal.here = Named('of the main thread')\n"},
        f"import threading, part\n{_MAIN}mine = Mine('in the script')\ndef other(): part.local.here = Mine('of a thread')\nthread = threading.Thread(target=other)\nthread.start()\nthread.join()\n",
    ),
    "an error": (
        {"part.py": f"{_MODULE}def fail(held): raise KeyError(held.name)\n"},
        f"import part\n{_MAIN}mine = Mine('in the script')\ndef main():\n    local = Mine('in a frame')\n    part.fail(local)\nmain()\n",
    ),
    "defaults, closures and caches": (
        {"part.py": f"{_MODULE}import functools\n@functools.lru_cache\ndef cached(name, held=Named('default')): return Named(name)\ncached('cached')\n"},
        f"import part\n{_MAIN}def over(held):\n    return lambda: held\nkept = over(Mine('closed over'))\npart.cached('cached by the script')\npart.more = [Mine('put there')]\nimport builtins\nbuiltins._ = Mine('a builtin')\n",
    ),
    "many objects between": (
        {"part.py": f"{_MODULE}many = [[] for _ in range(1200)]\n"},
        f"import part\n{_MAIN}mine = Mine('in the script')\nmany = [{{}} for _ in range(9000)]\nlast = part.Named('last')\n",
    ),
}  # fmt: skip


_AWAITED = "class Waited:\n    def __await__(self): yield 1\n"
_LAST_WORDS = {
    "a coroutine that nobody awaits": "async def never(): pass\nnever_begun = never()\n",
    "a coroutine in a block": f"{_AWAITED}async def steps():\n    try: await Waited()\n    finally: print('left')\ngoing = steps()\ngoing.send(None)\n",
    "a task that is pending": "import asyncio\nloop = asyncio.new_event_loop()\nasync def sleep(): await asyncio.sleep(10)\nloop.create_task(sleep(), name='late')\n",
    "an error that nobody asked for": "import asyncio\nloop = asyncio.new_event_loop()\nfailed = loop.create_future()\nfailed.set_exception(KeyError(1))\n",
    "a file of its own": "import io\nclass Loud(io.StringIO):\n    def close(self): print('closed'); super().close()\nfile = Loud()\n",
    "a file that is still open": "import warnings\nwarnings.simplefilter('always')\nfile = open('data')\n",
    "a weak reference": "import weakref\nclass Held: pass\nheld = Held()\ndef heard(_, say=print): say('heard')\nimport builtins\nbuiltins.kept = weakref.ref(held, heard)\n",
}  # fmt: skip


@crossed(ending=_ENDINGS, words=_WORDS, minor=_PYTHONS)
def test_objects_go_in_the_order_in_which_they_go_cold(
    ending: tuple[Mapping[str, str], str], words: tuple[str, ...], minor: int, tmp_path: Path
) -> None:
    modules, main = ending
    main = f"import gc\ngc.disable()\n{main}"  # else it also depends on how much was made by then
    said = "print('said')\n"
    edits = (
        Edit("last line", (Change("main.py", f"{main}{said}print('more')\n"),)),
        Edit("a module", (Change("part.py", f"{modules['part.py']}print('more of it')\n"),)),
    )

    with twins(tmp_path, python=python_of(minor)) as pair:
        start: dict[str, Content] = {**modules, "main.py": f"{main}{said}"}
        cases = list(pair.play(Session(words, start, edits)))

    assert [case.difference for case in cases] == [""] * 3


@pytest.mark.long
@crossed(last=_LAST_WORDS, words=_WORDS, minor=_PYTHONS)
def test_what_is_said_when_python_ends_is_said(
    last: str, words: tuple[str, ...], minor: int, tmp_path: Path
) -> None:
    start: dict[str, Content] = {"data": "", "main.py": f"{last}print('end')\n"}
    edit = Edit("last line", (Change("main.py", f"{last}print('the end')\n"),))

    with twins(tmp_path, python=python_of(minor)) as pair:
        cases = list(pair.play(Session(words, start, (edit,))))

    assert [case.difference for case in cases] == [""] * 2


_COUNTS = (
    "import gc\ndef made():\n    young = gc.get_count()[0]\n"
    "    return gc.get_stats()[0]['collections'] * (gc.get_threshold()[0] + 1) + young\n"
)
_MADE = f"{_COUNTS}import part\nfirst = made()\nkept = [set() for _ in range(300)]\nfor number in range(20):\n    kept.append({{number}})\n"
_MOST_APART = 100  # of 700 or 2000 after which it is collected


@pytest.mark.parametrize("minor", one_in(len(_PYTHONS), _PYTHONS))
def test_what_whet_makes_between_statements_does_not_count_for_the_collector(
    minor: int, tmp_path: Path
) -> None:
    tells = "print(made() - first)\n"
    more = "".join(f"def more{n}(a, b): return [a + {n}, b, (a, b, {n})]\n" for n in range(60))
    texts = (f"{_MADE}{tells}", f"{_MADE}print('edited')\n{tells}", f"{_MADE}{more}{tells}")

    with twins(tmp_path, python=python_of(minor)) as pair:
        write(tmp_path, {"part.py": "X = 1\n"})
        for text in texts:
            write(tmp_path, {"main.py": text})
            for _ in range(2):
                cold = _counted(pair.cold, pair.python, tmp_path)
                warm = _counted(pair.warm, pair.python, tmp_path)
                assert abs(warm - cold) < _MOST_APART, (warm, cold)


def _counted(executor: ColdExecutor, python: str, folder: Path) -> int:
    outcome = executor.submit(Trial(command=(python, "main.py"), cwd=str(folder))).result()
    return int(outcome.stdout.head(1 << 10).split()[-1])
