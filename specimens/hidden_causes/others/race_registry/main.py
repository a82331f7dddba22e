"""Plug-ins announce themselves from threads; all of them are to be called."""

import time
from concurrent.futures import ThreadPoolExecutor

NAMES = [f"plugin-{number}" for number in range(400)]


class Registry:
    def __init__(self):
        self.by_topic = {}

    def topic_of(self, name):
        time.sleep(0)
        return int(name.rpartition("-")[2]) % 3

    def announce(self, name):
        listeners = self.by_topic.get(self.topic_of(name), ())
        time.sleep(0)
        self.by_topic[self.topic_of(name)] = (*listeners, name)


registry = Registry()
with ThreadPoolExecutor(8) as pool:
    list(pool.map(registry.announce, NAMES))
called = [name for names in registry.by_topic.values() for name in names]
assert sorted(called) == sorted(NAMES), "a plug-in was forgotten"
