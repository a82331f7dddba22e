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

    def expired(self, name, session):
        self._old[name] = session
        session["ended"] = session["until"]
        self._open.pop(name)

    def names(self):
        return set(self._open)

    def all(self):
        return self._open.items()
