"""A pool gets a new connection for each job, and gives none away."""

import os
import sqlite3
import tempfile


class Pool:
    def __init__(self, path):
        self.path = path
        self.idle = []

    def job(self, number):
        connection = sqlite3.connect(self.path)
        connection.execute("create table if not exists jobs (id integer)")
        connection.execute("insert into jobs values (?)", (number,))
        connection.commit()
        self.idle.append(connection)


def main():
    with tempfile.TemporaryDirectory() as folder:
        pool = Pool(os.path.join(folder, "jobs.db"))
        for number in range(60):
            pool.job(number)


main()
