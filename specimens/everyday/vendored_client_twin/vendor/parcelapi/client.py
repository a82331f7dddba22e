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
        language = os.environ.get("PARCEL_LANGUAGE", "en")
        return cls(os.environ["PARCEL_TOKEN"], language)

    def prefer(self, language):
        if language != self.language:
            self.language = language
            self._forget()

    def _forget(self):
        del self.cache

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
