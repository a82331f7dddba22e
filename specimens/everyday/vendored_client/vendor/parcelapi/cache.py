"""What is known of parcels already."""


class Cache:
    def __init__(self, most=100):
        self._known = {}
        self._most = most

    def get(self, parcel):
        return self._known.get(parcel)

    def put(self, parcel, state):
        if len(self._known) >= self._most:
            self._known.clear()
        self._known[parcel] = state
