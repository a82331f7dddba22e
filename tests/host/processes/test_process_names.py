"""What a process is called."""

import subprocess

from whet.host.process.process_tree import name_of

NAMES_ITSELF = r"printf '\033[2Jgrow' > /proc/self/comm && echo named && read -r line"


def test_a_process_that_names_itself_cannot_steer_a_terminal() -> None:
    command = ["bash", "-c", NAMES_ITSELF]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as named:
        assert named.stdout is not None
        assert named.stdout.readline() == b"named\n"
        name = name_of(named.pid)
        named.communicate(b"\n")

    assert name == "?[2Jgrow"
