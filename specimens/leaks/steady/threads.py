"""Each job starts a thread and joins it."""

import threading

stop = threading.Event()
stop.set()


def job(number):
    worker = threading.Thread(target=stop.wait, name="worker {}".format(number), daemon=True)
    worker.start()
    worker.join()
    return worker.name


def main():
    for number in range(60):
        job(number)


main()
