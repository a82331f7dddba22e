"""Two processes that talk over a pipe."""

import multiprocessing


def hello(pipe):
    answer = pipe.recv()
    pipe.send(f"re: {answer}")


def ask(pipe):
    greeting = pipe.recv()
    pipe.send(greeting.title())
    return greeting


if __name__ == "__main__":
    ours, theirs = multiprocessing.Pipe()
    other = multiprocessing.Process(target=hello, args=(theirs,))
    other.start()
    print(ask(ours))
    other.join()
