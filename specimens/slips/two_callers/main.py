"""Widths and heights of pictures against those of their frames."""

import json
import sys


def ratio(part: float, whole: float) -> float:
    return part / whole


def widths(picture: dict) -> float:
    return ratio(picture["width"], picture["frame"]["width"])


def heights(picture: dict) -> float:
    return ratio(picture["height"], picture["frame"]["height"])


for each in json.load(open(sys.argv[1])):
    print(widths(each), heights(each))
