"""Count the words of many texts in processes of their own."""

import multiprocessing
from collections import Counter

TEXTS = 8
WORKERS = 2
WORDS = ["alpha", "beta", "gamma", "delta", "epsilon"]


def text_of(number):
    return [f"{WORDS[(number + step) % 5]}{step % 40}" for step in range(600)]


def count(numbers, results):
    while True:
        number = numbers.get()
        if number is None:
            break
        counted = Counter(text_of(number))
        results.put((number, dict(counted)))


def start(numbers, results):
    processes = []
    for _ in range(WORKERS):
        process = multiprocessing.Process(target=count, args=(numbers, results))
        process.start()
        processes.append(process)
    return processes


def gather(results):
    total = Counter()
    for _ in range(TEXTS):
        _, counted = results.get()
        total.update(counted)
    return total


def main():
    numbers, results = multiprocessing.Queue(), multiprocessing.Queue()
    processes = start(numbers, results)
    for number in range(TEXTS):
        numbers.put(number)
    numbers.put(None)
    total = gather(results)
    for process in processes:
        process.join()
    word, times = total.most_common(1)[0]
    print(f"{len(total)} words, {word} {times} times")


if __name__ == "__main__":
    main()
