"""Asks many little servers for their state."""

import resource
import socket

resource.setrlimit(resource.RLIMIT_NOFILE, (80, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))


class Probe:
    def __init__(self, name):
        self.name = name
        self.ours, self.theirs = socket.socketpair()

    def ask(self):
        self.ours.sendall(b"?")
        return self.theirs.recv(1)


probes = []
for number in range(35):
    probe = Probe(number)
    probe.ask()
    probes.append(probe)
with open(__file__) as file, open(__file__) as other, open(__file__) as third, open(__file__):
    files = [open(__file__) for _ in range(4)]
print(len(probes))
