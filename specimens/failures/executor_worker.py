import concurrent.futures


def work(number):
    if number == 3:
        raise ValueError(f"cannot do {number}")
    return number


if __name__ == "__main__":
    with concurrent.futures.ProcessPoolExecutor(2) as executor:
        list(executor.map(work, range(5)))
