"""Errors are collected for a report at the end: each keeps the frames that it went through."""


class Report:
    errors = []


def parse(number):
    buffer = bytearray(3000)
    if number >= 0:
        raise ValueError("bad record {}".format(number))
    return buffer


def attempt(number):
    try:
        return parse(number)
    except ValueError as error:
        Report.errors.append(error)
        return None


for number in range(220):
    attempt(number)
