"""Convert the day's payments to euros, a few at a time."""

import asyncio
import json
from pathlib import Path

RATES = {"EUR": 1.0, "USD": 0.92, "GBP": 1.17, "SEK": 0.088}
WORKERS = 2


def in_euros(payment):
    rate = RATES[payment["currency"]]
    return round(payment["amount"] * rate, 2)


async def fetch_fee(payment):
    await asyncio.sleep(0.001)
    return 0.25 if payment["amount"] > 100 else 0.1


async def worker(queue, booked):
    while True:
        payment = await queue.get()
        fee = await fetch_fee(payment)
        booked[payment["id"]] = in_euros(payment) - fee
        queue.task_done()


async def book(payments):
    queue = asyncio.Queue(maxsize=4)
    booked = {}
    workers = [asyncio.create_task(worker(queue, booked)) for _ in range(WORKERS)]
    for payment in payments:
        await queue.put(payment)
    await queue.join()
    for each in workers:
        each.cancel()
    return booked


def main():
    payments = json.loads(Path("payments.json").read_text())
    booked = asyncio.run(book(payments))
    print(f"{len(booked)} payments, {sum(booked.values()):.2f} EUR")


if __name__ == "__main__":
    main()
