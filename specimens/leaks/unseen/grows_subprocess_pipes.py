"""Helpers are started and finish, but their pipes stay open."""

import subprocess
import sys

helpers = []


def convert(number):
    helper = subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    helper.stdin.write(b"x")
    helper.stdin.flush()
    helpers.append(helper)
    return number


for number in range(40):
    convert(number)
for helper in helpers:
    helper.kill()
sys.exit(0)
