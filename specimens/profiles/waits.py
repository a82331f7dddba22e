"""Computes in one function and waits in another, for as many seconds as it is told."""

import sys
import time


def compute(seconds):
    total, begun = 0, time.process_time()
    while time.process_time() - begun < seconds:
        for number in range(1000):
            total += number * number
    return total


def wait(seconds):
    time.sleep(seconds)


def main():
    compute(float(sys.argv[1]))
    wait(float(sys.argv[2]))


main()
sys.exit(3)
