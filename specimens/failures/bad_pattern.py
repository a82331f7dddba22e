"""The exception has another name in 3.13, and the module that raises it in 3.11."""

import re


def compile_filter(text):
    return re.compile(text)


compile_filter("(abc")
