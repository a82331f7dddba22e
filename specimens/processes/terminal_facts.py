"""Says what it sees of its terminal."""

import os
import sys

size = os.get_terminal_size(1) if os.isatty(1) else None
print("tty", *(os.isatty(descriptor) for descriptor in (0, 1, 2)))
print("size", None if size is None else f"{size.columns}x{size.lines}")
try:
    os.close(os.open("/dev/tty", os.O_RDWR))
    print("controlling terminal: yes")
except OSError:
    print("controlling terminal: no")
sys.stderr.write("to stderr\n")
