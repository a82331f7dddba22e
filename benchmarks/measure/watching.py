"""What watching costs: the processor time of `whet watch`, compared with htop and watch.

    python -m benchmarks.measure.watching [--seconds N]

Each runs alone in a terminal of 100 by 30 (tmux), draws once a second, and has a project with one
program that sleeps. The processor time is that of the whole process tree from the fifth second on.
"""

import argparse
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.table import print_table
from whet.host.process.process_tree import cpu_ticks_of, descendants_of, resident_bytes

WARM_UP_SECONDS = 5.0
_TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")
_WHET = shlex.join([sys.executable, "-m", "whet", "watch"])
_COMMANDS = {
    "whet watch (processes, memory, disk)": _WHET,
    "whet watch, all the machine's processes": f"{_WHET} processes:. memory:. cpu:.",
    "whet watch 'free -m'": f"{_WHET} 'free -m'",
    "whet watch -- sleep (memory, cpu, processes)": f"{_WHET} -- sleep 600",
    "whet watch, lines": f"{_WHET} --lines --interval 1",
    "htop": "htop -d 10",
    "watch -n 1 'free -m'": "watch -n 1 'free -m'",
    "nvitop": "nvitop",
}


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=20.0, help="how long each is measured")
    options = parser.parse_args()
    rows: list[tuple[str, ...]] = []
    for title, command in _COMMANDS.items():
        program = shlex.split(command)[0]
        if shutil.which(program) is None:
            rows.append((title, "not installed", "", ""))
            continue
        percent, megabytes, processes = _measured(command, options.seconds)
        rows.append((title, f"{percent:.1f} %", f"{megabytes:.0f} MB", str(processes)))
    load = f"{os.getloadavg()[0]:.1f}"
    print_table(f"Watching, once a second; load {load} on {os.cpu_count()} processors",
                ("command", "of one processor", "memory", "processes"), rows)  # fmt: skip


def _measured(command: str, seconds: float) -> tuple[float, float, int]:
    """Return the share of a processor, the memory in MB and the number of processes."""
    with tempfile.TemporaryDirectory(prefix="whet-watching-") as folder:
        environment = os.environ | {"XDG_STATE_HOME": f"{folder}/state", "TERM": "xterm-256color"}
        environment.pop("TMUX", None)
        tmux = ["tmux", "-S", f"{folder}/tmux"]
        start = ["-f", os.devnull, "new-session", "-d", "-x", "100", "-y", "30", f"exec {command}"]
        with subprocess.Popen(["sleep", "600"], cwd=folder) as program:
            subprocess.run([*tmux, *start], cwd=folder, env=environment, check=True)
            try:
                shown = subprocess.run(
                    [*tmux, "display-message", "-p", "#{pane_pid}"], capture_output=True, check=True
                )
                root = int(shown.stdout)
                time.sleep(WARM_UP_SECONDS)
                before, began = _ticks(root), time.monotonic()
                time.sleep(seconds)
                spent = (_ticks(root) - before) / _TICKS_PER_SECOND
                share = 100 * spent / (time.monotonic() - began)
                tree = [root, *descendants_of(root)]
                return share, sum(map(resident_bytes, tree)) / 1e6, len(tree)
            finally:
                subprocess.run([*tmux, "kill-server"], check=False)
                program.kill()


def _ticks(root: int) -> int:
    return sum(map(cpu_ticks_of, [root, *descendants_of(root)]))


if __name__ == "__main__":
    assert Path("/proc").exists(), "the processor time is read there"
    main()
