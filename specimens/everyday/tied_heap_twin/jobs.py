"""Jobs that wait."""

import heapq


class Plan:
    def __init__(self):
        self._heap = []
        self._count = 0

    def __bool__(self):
        return bool(self._heap)

    def add(self, job):
        entry = self._entry(job)
        heapq.heappush(self._heap, entry)

    def next(self):
        return heapq.heappop(self._heap)[-1]

    def _entry(self, job):
        urgent = -int(job.get("urgent", 0))
        self._count += 1
        return (urgent, job["due"], self._count, job)
