"""What a program finds when it looks at itself and its process is what it finds without whet."""

import pytest
from workshop import SLOW, Workshop

pytestmark = pytest.mark.long

# fmt: off
PROGRAMS = {
    "cprofile": "import cProfile,pstats,io\ndef g(): return 1\ndef f():\n    return sum(g() for _ in range(3))\np=cProfile.Profile(); p.enable(); f(); p.disable()\ns=io.StringIO(); pstats.Stats(p,stream=s).sort_stats('name').print_stats(); print(len(s.getvalue().splitlines()), [l.split()[0] for l in s.getvalue().splitlines() if '(' in l])",
    "settrace": "import sys\ndef f(a):\n    b=a\n    return b\ndef t(fr,e,a): print(e,fr.f_lineno,fr.f_code.co_name); return t\nsys.settrace(t); f(1); f(2); sys.settrace(None)",
    "setprofile": "import sys\ndef f(a):\n    b=len([a])\n    return b\ndef t(fr,e,a): print(e,fr.f_lineno,fr.f_code.co_name,a)\nsys.setprofile(t)\nf(1); f(2)\nsys.setprofile(None)",
    "trace": "import trace,sys\ndef f(a):\n    b=a\n    return b\nt=trace.Trace(count=1,trace=0); t.runfunc(f,1); print(sorted((k[1],v) for k,v in t.results().counts.items()))",
    "stack": "import traceback\ndef f():\n    traceback.print_stack()\nf()\ndef g(): f()\ng()",
    "currentframes": "import sys\ndef f(): print([[x.f_code.co_name] for x in sys._current_frames().values()])\nf()",
    "fds": "import os\nprint(sorted(os.listdir('/proc/self/fd')))",
    "modules": "import sys\nprint(sorted(sys.modules))",
    "dis": "import dis\ndef f(a):\n    return a+1\ndis.dis(f)",
    "codeobjs": "import gc,types\ndef f(a):\n    return a+1\nprint(sorted((c.co_name,c.co_consts) for c in gc.get_referents(f) if isinstance(c,types.CodeType)))",
    "locals": "import sys\nprint(sorted(globals()), sorted(sys._getframe().f_locals)==sorted(globals()))",
    "exc": "def f():\n    raise ValueError(1)\ntry:\n    f()\nexcept ValueError as e:\n    t=e.__traceback__\n    while t: print(t.tb_lineno,t.tb_frame.f_code.co_name,t.tb_frame.f_code.co_positions is not None); t=t.tb_next",
    "caret": "def f(x):\n    return x['a']['b']\nf({'a':None})",
    "audit": "import sys\nL=[]\nsys.addaudithook(lambda e,a: L.append(e) if e in('import','open','compile','exec') else None)\nimport colorsys\nprint(L)",
    "signals": "import signal\nprint([signal.getsignal(s) for s in (2,15,17,13)], signal.pthread_sigmask(0,[]))",
    "rlimits": "import resource\nprint([resource.getrlimit(i) for i in range(10)])",
    "procstat": "import os\nprint(os.getpgrp()==os.getpid(), os.getsid(0)==os.getpid(), os.getcwd(), os.umask(0o22), os.getpriority(0,0), os.sched_getaffinity(0))",
    "cmdline": "print(open('/proc/self/cmdline').read().split(chr(0)), open('/proc/self/comm').read())",
    "annotations": "x: int = 1\nclass A:\n    y: str = 'a'\nprint(__annotations__, A.__annotations__, __doc__, __spec__, __loader__.__class__, __cached__, __builtins__.__name__)",
    "future": "from __future__ import annotations\ndef f(a: B) -> C: pass\nprint(f.__annotations__)",
    "excepthook": "import sys\nsys.excepthook=lambda *a: print('hook',a[0])\n1/0",
    "warn": "import warnings\nwarnings.warn('x')\ndef f(): warnings.warn('y', stacklevel=2)\nf()\nwarnings.warn('z', ResourceWarning)\nopen('data')",
    "resource": "import sys, warnings\nwarnings.simplefilter('always')\ndef f(): open('data')\nf()",
    "thread_exc": "import threading\nt=threading.Thread(target=lambda:1/0); t.start(); t.join()",
    "recursion": "import sys\nprint(sys.getrecursionlimit())\nd=0\ndef f():\n    global d\n    d+=1\n    f()\ntry: f()\nexcept RecursionError: print(d//50)",
    "coroutine": "import asyncio\nasync def f():\n    await asyncio.sleep(0)\n    return 3\nasync def main():\n    print(await asyncio.gather(f(),f()))\nasyncio.run(main())",
    "coro_never": "async def f(): pass\nf()",
    "yieldloc": "def g():\n    x = yield 1\n    yield x\nit=g(); print(next(it), it.send(5), it.gi_frame.f_lineno, it.gi_frame.f_locals)",
    "getsource": "import inspect\ndef f():\n    return 1\nprint(inspect.getsource(f), inspect.getsourcefile(f), inspect.currentframe().f_lineno, inspect.stack()[0].lineno, len(inspect.stack()))",
    "pickle": "import pickle\nclass A: pass\nprint(pickle.loads(pickle.dumps(A)))",
    "mp": "import multiprocessing as m\ndef f(x): return x*2\nif __name__=='__main__':\n    with m.get_context('fork').Pool(2) as p: print(p.map(f,[1,2]))",
    "mpspawn": "import multiprocessing as m\ndef f(x): return x*2\nif __name__=='__main__':\n    with m.get_context('spawn').Pool(1) as p: print(p.map(f,[1,2]))",
    "subproc": 'import subprocess,sys\nprint(subprocess.run([sys.executable,\'-c\',\'import os,sys;print(sorted(os.environ)==sorted(os.environ), sorted(sys.modules)[-3:], os.listdir("/proc/self/fd"))\'],capture_output=True,text=True).stdout)',
    "exitcode": "import sys\nsys.exit('bye')",
    "exit300": "import sys\nsys.exit(300)",
    "exitneg": "import sys\nsys.exit(-1)",
    "sysexitnone": "raise SystemExit",
    "kbd": "raise KeyboardInterrupt",
    "sigself": "import os,signal\nos.kill(os.getpid(),signal.SIGINT)\nimport time; time.sleep(1)",
    "segv": "import ctypes\nctypes.string_at(0)",
    "abort": "import os\nos.abort()",
    "execv": "import os,sys\nsys.stdout.flush()\nos.execv(sys.executable,[sys.executable,'-c','print(9)'])",
    "doublefork": "import os,sys\nsys.stdout.flush()\nif os.fork()==0:\n    print('c'); sys.exit(3)\nprint(os.wait()[1])",
    "reload": "import importlib, m\nimportlib.reload(m)\nprint(m.f())",
    "runpy": "import runpy\nprint(sorted(runpy.run_path('m.py')))\nprint(sorted(runpy.run_module('m')))",
    "maininspect": "import __main__\nprint(__main__.__file__.split('/')[-1], __main__ is __import__('sys').modules['__main__'], repr(__main__).split('/')[0])",
    "selfimport": "import sys\nif __name__=='__main__':\n    import main\n    print(main.__name__, main.x if hasattr(main,'x') else 0)\nx=1",
    "stdin": "import sys\nprint(sys.stdin.read(), sys.stdin.isatty(), sys.stdout.isatty())",
    "bigout": "print('x'*300000)\nimport sys\nsys.stderr.write('y'*100000)",
    "doc": "'''docstring?'''\nprint(__doc__)\ndef f():\n    'd'\nprint(f.__doc__)",
    "constid": "a='a b c'\nb='a b c'\nprint(a is b, (1,2) is (1,2))\ndef f(): return 'a b c'\nprint(f() is a)",
    "bigconst": "a=10**5\nb=100000\nc=100000\nprint(b is c)\ndef f(): return 100000\ndef g(): return 100000\nprint(f() is g())",
    "lineno": "import sys\ndef f():\n    return (\n      sys._getframe().f_lineno,\n      sys._getframe(1).f_lineno)\nprint(f())\nfor i in range(2): print(f(),\n  i)",
    "lambdas": "fs=[lambda: 1, lambda: 2]\nprint([f() for f in fs],[f.__qualname__ for f in fs], fs[0].__code__.co_firstlineno)",
    "gccount": "import gc\nprint(gc.isenabled(), gc.get_threshold(), gc.get_freeze_count(), gc.callbacks, gc.garbage)",
    "contextvars": "import contextvars\nprint(list(contextvars.copy_context()))",
    "locale": "import locale,sys\nprint(locale.getlocale(), sys.stdout.encoding, sys.getfilesystemencoding())",
    "decimal": "import decimal\nprint(decimal.getcontext())",
    "hash": "print(hash('abc'), {'a','b','c','d'})",
    "random": "import random\nrandom.seed(3)\nprint(random.random())",
    "tempfile": "import tempfile,os\nd=tempfile.mkdtemp(prefix='probe')\nos.rmdir(d)\nprint(len(d))",
    "sysstdout": "import sys,io\nsys.stdout=io.StringIO()\nprint('x')\nsys.__stdout__.write(sys.stdout.getvalue())",
    "closefd": "import os\nos.close(1)\nos.close(0)",
    "closeall": "import os\nos.closerange(3,2000)\nprint('fine')",
    "dup2": "import os\nfd=os.open('outf',os.O_WRONLY|os.O_CREAT)\nos.dup2(fd,1)\nprint('to file')",
    "lru": "import functools\n@functools.lru_cache\ndef f(x): return x\nf(1)\nprint(f.cache_info())",
    "sizeof": "import sys\ndef f(a): return a+1\nprint(sys.getsizeof(f))",
    "dataclass": "import dataclasses\n@dataclasses.dataclass\nclass A:\n    x: int = 1\n    def f(self): return self.x\nprint(A(), A().f())",
    "enum": "import enum\nclass E(enum.Enum):\n    A=1\n    def f(self): return self.value\nprint(E.A.f(), list(E))",
    "abc": "import abc\nclass A(abc.ABC):\n    @abc.abstractmethod\n    def f(self): ...\nclass B(A):\n    def f(self): return super().__init__()\nprint(B().f(), A.__abstractmethods__)",
    "metaclass": "class M(type):\n    def __new__(m,n,b,d): print(sorted(d)); return super().__new__(m,n,b,d)\nclass A(metaclass=M):\n    def f(self): pass",
    "typing": "import typing\ndef f(a: int) -> 'str': ...\nprint(typing.get_type_hints(f))",
    "doctest": "import doctest\ndef f():\n    '''\n    >>> f()\n    1\n    '''\n    return 1\nprint(doctest.testmod())",
    "timeit": "import timeit\nprint(timeit.timeit('1+1',number=10)<1)",
    "codeop": "import code\ncode.InteractiveConsole({'__name__':'x'}).push('print(3)')",
    "exec": "exec('def h(): return 5\\nprint(h())')\nexec(compile(open('m.py').read(),'m.py','exec'),{'__name__':'zz'})",
    "zipimport": "import zipfile,sys\nzipfile.ZipFile('z.zip','w').write('m.py','zm.py')\nsys.path.insert(0,'z.zip')\nimport zm\nprint(zm.__file__.split('/')[-1],zm.f())",
    "sqlite": "import sqlite3\nc=sqlite3.connect('db'); c.execute('create table if not exists t(a)'); c.execute('insert into t values(1)'); c.commit(); print(c.execute('select count(*) from t').fetchall())",
    "shelve": "import shelve\nwith shelve.open('sh') as s: s['a']=s.get('a',0)+1; print(s['a'])",
    "logfile": "import logging\nlogging.basicConfig(filename='log.txt',level=10)\nlogging.info('x')",
    "socketpair": "import socket\na,b=socket.socketpair(); a.send(b'x'); print(b.recv(1))",
    "globalsfn": "def f(): return sorted(globals())\nprint(f())",
    "star": "from m import *\nprint(f())",
    "nestedfn": "def a():\n    def b():\n        def c(): return 1\n        return c\n    return b\nprint(a()()(), a()().__qualname__)",
    "classcell": "class A:\n    def f(self): return __class__.__name__\nprint(A().f())",
    "superm": "class A:\n    def f(self): return 1\nclass B(A):\n    def f(self): return super().f()+1\nprint(B().f())",
    "exceptgroup": "try:\n    raise ExceptionGroup('g',[ValueError(1)])\nexcept* ValueError as e:\n    print(e)",
    "chain": "try:\n    1/0\nexcept ZeroDivisionError:\n    raise ValueError('x')",
    "finalizer": "import weakref\nclass A: pass\na=A()\nweakref.finalize(a, print, 'fin')",
    "nondaemon": "import threading,time\nthreading.Thread(target=lambda:(time.sleep(.05),print('late'))).start()\nprint('end')",
    "executor": "from concurrent.futures import ThreadPoolExecutor\nwith ThreadPoolExecutor(2) as p: print(list(p.map(abs,[-1,2])))",
    "bom": "print('\\u00e9')",
    "getpid": "import os\nprint(os.getppid()>0)",
}
# fmt: on

_AT_TOP_LEVEL = ("from m import *", "__future__", "global d")


def _in_function(text: str) -> str:
    lines = "".join(f"    {line}\n" for line in text.splitlines())
    return f"def main():\n{lines}main()"


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_finds_the_same_of_itself(workshop: Workshop, name: str) -> None:
    text = PROGRAMS[name]
    forms = [text]
    if not any(word in text for word in _AT_TOP_LEVEL):
        forms.append(_in_function(text))
    workshop.write({"m.py": "def f():\n    return 4\n", "data": "hello\n"})
    for form in forms:
        workshop.write({"main.py": f"{SLOW}{form}\n"})
        workshop.run()
        workshop.write({"main.py": f"{SLOW}{form}\nq = 2\n"})
        workshop.run()
