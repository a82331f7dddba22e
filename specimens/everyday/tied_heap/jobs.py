"""Jobs that wait."""

import heapq


class Plan:
    def __init__(self):
        self._heap = []

    def __bool__(self):
        return bool(self._heap)

    def add(self, job):
        entry = self._entry(job)
        heapq.heappush(self._heap, entry)

    def next(self):
        return heapq.heappop(self._heap)[-1]

    def _entry(self, job):
        urgent = -int(job.get("urgent", 0))
        return (urgent, job["due"], job)
