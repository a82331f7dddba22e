"""Asks Python itself for the text of an object."""

import ctypes

as_text = ctypes.pythonapi.PyUnicode_AsUTF8
as_text.restype = ctypes.c_char_p


def text_of(value):
    return as_text(ctypes.c_void_p(value))


def texts(values):
    return [text_of(value) for value in values]


print(texts([1, 2]))
