"""Lets whet's agent into a Python process; written so that any Python can read it."""

import os
import sys

_folder = os.path.dirname(os.path.abspath(__file__))
_here = sys.modules[__name__]
_had_collector = "gc" in sys.modules
_collector = __import__("gc")
if not _had_collector:
    del sys.modules["gc"]  # the program has not imported it
_collecting = (_collector.isenabled(), _collector.get_count()[0])
try:
    if sys.version_info >= (3, 8):
        _collector.disable()  # the agent may be compiled: that doesn't count either
        __import__("whet_agent").install(_collecting)
except Exception:  # noqa: BLE001, S110 - the program is what matters, whatever this Python is
    pass
finally:
    if _collecting[0]:
        _collector.enable()
    # Nobody else is to find this folder, and the next `sitecustomize` is to be found.
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or ".") != _folder]
    sys.path_importer_cache.pop(_folder, None)
    sys.modules.pop("whet_agent", None)

del sys.modules[__name__]
try:
    __import__("sitecustomize")
except ImportError as error:
    if getattr(error, "name", "sitecustomize") != "sitecustomize":
        raise
finally:
    # The import system looks for this module once more when it has been run.
    sys.modules.setdefault(__name__, _here)
