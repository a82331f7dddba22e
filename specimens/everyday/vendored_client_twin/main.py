"""Ask for the state of some parcels."""

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "vendor"))

from parcelapi import Client

os.environ.setdefault("PARCEL_TOKEN", "t-123")
PARCELS = ["A1", "B2", "C3"]


def states(client, parcels):
    return {parcel: client.state(parcel) for parcel in parcels}


def main():
    client = Client.from_environment()
    client.prefer("de")
    for parcel, state in states(client, PARCELS).items():
        print(parcel, state)
    client.close()


if __name__ == "__main__":
    main()
