"""Sessions, kept in memory."""


class Store:
    def __init__(self, minutes):
        self._minutes = minutes
        self._open = {}
        self._old = {}

    def login(self, name, at):
        self._open[name] = {"since": at, "until": at + self._minutes}

    def touch(self, name, now):
        self._open[name]["until"] = now + self._minutes
        self._open["last"] = self._open[name]

    def expired(self, name, session):
        self._old[name] = session
        session["ended"] = session["until"]

    def names(self):
        return set(self._open) - set(self._old)

    def all(self):
        return self._open.items()
