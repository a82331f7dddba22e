import multiprocessing


def work(number):
    if number == 3:
        raise ValueError(f"cannot do {number}")
    return number


if __name__ == "__main__":
    with multiprocessing.Pool(2) as pool:
        pool.map(work, range(5))
