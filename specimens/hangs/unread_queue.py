"""A process that has put more into a queue than a pipe holds, joined before the queue is read."""

import multiprocessing


def fill(queue: "multiprocessing.Queue[bytes]") -> None:
    queue.put(bytes(1 << 20))


if __name__ == "__main__":
    queue: "multiprocessing.Queue[bytes]" = multiprocessing.Queue()
    filler = multiprocessing.Process(target=fill, args=(queue,), name="filler")
    filler.start()
    filler.join()
    print(len(queue.get()))
