"""Native code takes memory from `malloc` and never gives it back: Python sees no object of it."""

import ctypes

libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
libc.malloc.argtypes = [ctypes.c_size_t]
libc.memset.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t]


def encode(size):
    buffer = libc.malloc(size)
    libc.memset(buffer, 1, size)
    return size


def main():
    for _ in range(300):
        encode(5000)


if __name__ == "__main__":
    main()
