"""Each job starts a thread that waits for an event which never comes."""

import threading

stop = threading.Event()


def job(number):
    worker = threading.Thread(target=stop.wait, name="worker {}".format(number), daemon=True)
    worker.start()
    return worker.name


def main():
    for number in range(60):
        job(number)


main()
