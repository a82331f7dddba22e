"""Count the words of many texts in processes of their own."""

import multiprocessing
from collections import Counter

TEXTS = 8
WORDS = ["alpha", "beta", "gamma", "delta", "epsilon"]


def text_of(number):
    return [f"{WORDS[(number + step) % 5]}{step % 4000}" for step in range(6000)]


def count(numbers, results):
    for number in numbers:
        counted = Counter(text_of(number))
        results.put((number, dict(counted)))
    results.put(None)


def start(parts, results):
    processes = []
    for part in parts:
        process = multiprocessing.Process(target=count, args=(part, results))
        process.start()
        processes.append(process)
    return processes


def gather(results, workers):
    total = Counter()
    while workers:
        found = results.get()
        if found is None:
            workers -= 1
            continue
        _, counted = found
        total.update(counted)
    return total


def main():
    results = multiprocessing.Queue()
    parts = [range(0, TEXTS, 2), range(1, TEXTS, 2)]
    processes = start(parts, results)
    for process in processes:
        process.join()
    total = gather(results, len(processes))
    word, times = total.most_common(1)[0]
    print(f"{len(total)} words, {word} {times} times")


if __name__ == "__main__":
    main()
