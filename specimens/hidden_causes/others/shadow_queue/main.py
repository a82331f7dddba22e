"""Serves all that wait, two at a time."""

from concurrent.futures import ThreadPoolExecutor

from queue import WAITING

with ThreadPoolExecutor(2) as pool:
    print(list(pool.map(str.upper, WAITING)))
