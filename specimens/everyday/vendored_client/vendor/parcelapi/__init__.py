"""A client of the parcel service, which works offline."""

from parcelapi.client import Client

__all__ = ["Client"]
