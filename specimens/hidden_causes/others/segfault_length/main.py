"""How long is a text in memory of our own?"""

import ctypes

libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
libc.malloc.argtypes = [ctypes.c_size_t]


def kept(text):
    place = libc.malloc(1 << 20)
    ctypes.memmove(place, text + b"\0", len(text) + 1)
    return place


def length(place):
    return libc.strlen(place)


print(length(kept(b"a text")))
