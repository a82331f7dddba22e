"""The client."""

import os

from parcelapi.cache import Cache


class Client:
    def __init__(self, token, language="en"):
        self.token = token
        self.language = language
        self.cache = Cache()

    @classmethod
    def from_environment(cls):
        client = cls.__new__(cls)
        client.token = os.environ["PARCEL_TOKEN"]
        client.language = os.environ.get("PARCEL_LANGUAGE", "en")
        return client

    def prefer(self, language):
        self.language = language

    def close(self):
        self.token = None

    def state(self, parcel):
        known = self.cache.get(parcel)
        if known is None:
            known = self._ask(parcel)
            self.cache.put(parcel, known)
        return known

    def _ask(self, parcel):
        words = {"en": "on its way", "de": "unterwegs"}
        return words[self.language] + " " + str(len(parcel) + len(self.token))
