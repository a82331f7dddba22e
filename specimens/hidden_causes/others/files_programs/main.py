"""Has a program do a little sum for each row."""

import resource
import subprocess
import sys

resource.setrlimit(resource.RLIMIT_NOFILE, (48, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))


def start(row):
    return subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def run(rows):
    started = [start(row) for row in rows]
    for each, row in zip(started, rows, strict=True):
        each.stdin.write(str(row).encode())
    return started


started = run(range(20))
try:
    rows = [open(sys.argv[0]) for _ in range(12)]
finally:
    for each in started:
        each.kill()
