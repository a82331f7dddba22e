"""Control groups of version 2, and those that systemd gives to users, on a kernel and a systemd for them.

In a virtual machine: the machine that runs the tests may have version 1 alone, or no systemd.
"""

import json
import sys
from pathlib import Path

import pytest
from virtual_machine import Machine, part

pytestmark = [
    pytest.mark.long,
    pytest.mark.needs("qemu-system-x86_64", "apt-get", "dpkg-deb", "cpio"),
]

_CHECKOUT = Path(__file__).resolve().parents[3]
_SCRIPT = """
cd {checkout}
export PATH={bin}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root
mkdir -p /mnt && mke2fs -q -t ext4 /dev/vda && mount /dev/vda /mnt && mkdir -m 1777 /mnt/tmp
echo "<root>"
export WHET_TEST_PATIENCE_SECONDS=300 COLUMNS=300
TMPDIR=/mnt/tmp {python} -m pytest -q -p no:cacheprovider -n 0 -k 'v2' -rA \\
    tests/execution/limits/test_starved_trials.py tests/execution/limits/test_slow_disks.py \\
    tests/execution/limits/test_limited_shells.py 2>&1 | grep -E '^[A-Z]+ |passed|failed'
echo "</root>"

chmod o+rx /root
useradd -m ada
number=$(id -u ada)
systemctl start user@$number
cd /home/ada
cat > grow.py <<X
held = []
while True:
    held.append(b"1" * 1_000_000)
X
ada() {{
    setpriv --reuid ada --regid ada --init-groups \\
        env HOME=/home/ada XDG_RUNTIME_DIR=/run/user/$number PYTHONPATH={checkout}/src "$@"
}}
whet() {{ ada {python} -m whet "$@"; }}
echo "<user>"
whet starve --memory 64M --memory-high 64M --swap 1M --processes 50 --json -- {python} grow.py 2> /dev/null
echo "</user>"
echo "<two>"
whet repeat --runs 4 --jobs 2 --memory 64M -- true 2>&1
echo "</two>"
echo "<alone>"
ada env -u XDG_RUNTIME_DIR {python} -m whet starve --memory 64M --processes 50 -- true 2>&1
echo "</alone>"
mkfifo up; chown ada up
whet run --memory 64M -- sh -c 'echo up > up; exec sleep 1000' > /dev/null 2>&1 &
read word < up
echo "<killed>"
echo "groups before: $(find /sys/fs/cgroup -name 'whet-*' | wc -l)"
pkill -KILL -u ada -f 'm whet run'
whet run --memory 64M -- true > last 2>&1
echo "last: $(tail -1 last)"
echo "groups after: $(find /sys/fs/cgroup -name 'whet-*' | wc -l)"
echo "programs after: $(pgrep -u ada -x sleep | wc -l)"
echo "</killed>"
"""


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> str:
    """Return what was said in the machine; it is started once for all tests."""
    folder = tmp_path_factory.mktemp("machine")
    machine = Machine.ready(folder, Path(request.config.cache.mkdir("debian")))
    bin_folder = str(Path(sys.executable).parent)
    words = {"checkout": _CHECKOUT, "python": sys.executable, "bin": bin_folder}
    return machine.run(_SCRIPT.format(**words))


def test_every_law_of_limits_holds_for_version_2(said: str) -> None:
    lines = part(said, "root").splitlines()
    outcomes = [line.split()[0] for line in lines if "::" in line]
    assert outcomes.count("PASSED") >= 6
    assert {"FAILED", "ERROR"}.isdisjoint(outcomes), lines


def test_a_disk_of_its_own_is_slowed_by_version_2(said: str) -> None:
    lines = part(said, "root").splitlines()
    slowed = [line for line in lines if "test_a_program_waits_for_a_slow_disk" in line]
    assert [line.split()[0] for line in slowed] == ["PASSED"], lines


def test_a_user_is_given_groups_by_their_systemd(said: str) -> None:
    outcome = json.loads(part(said, "user"))["outcome"]
    assert outcome["limited_by"] == [
        "memory 64 MiB, memory slowed from 64 MiB on, processes 50 by cgroup v2 (systemd scope)"
    ]
    (met,) = outcome["limits_met"]
    assert (met["name"], met["was_killed"]) == ("memory", True)
    assert 0.98 * met["limit"] <= met["reached"] <= met["limit"]
    assert outcome["failure"]["limit"] == "memory"


def test_trials_side_by_side_are_each_given_groups(said: str) -> None:
    assert "failed in 0 of 4 runs" in part(said, "two"), part(said, "two")


def test_without_a_systemd_of_their_own_it_is_said_what_was_tried(said: str) -> None:
    words = part(said, "alone")
    assert "can't enforce `--processes` here (cgroup v2: " in words
    assert "`systemd-run --user --scope`: `XDG_RUNTIME_DIR` isn't set" in words


def test_what_a_killed_whet_had_been_given_is_gone_at_its_next_start(said: str) -> None:
    lines = [line.partition(": ") for line in part(said, "killed").splitlines()]
    told = {name: value for name, _, value in lines}
    assert int(told["groups before"]) > 0
    assert "GOOD" in told["last"]
    assert (told["groups after"], told["programs after"]) == ("0", "0")
