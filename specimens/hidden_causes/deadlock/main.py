"""A shop on a busy day: some order, some cancel."""

from concurrent.futures import ThreadPoolExecutor

from orders import Orders
from stock import Stock

ROUNDS = 400_000


def customer(orders: Orders) -> None:
    for number in range(ROUNDS):
        orders.place("lamp" if number % 2 else "chair", 1 + number % 3)


def service(orders: Orders) -> None:
    for _ in range(ROUNDS):
        orders.cancel_oldest()


def main() -> None:
    orders = Orders(Stock())
    print("open", flush=True)
    with ThreadPoolExecutor(thread_name_prefix="desk") as desks:
        for each in [desks.submit(job, orders) for job in (customer, service)]:
            each.result()
    print("closed")


main()
