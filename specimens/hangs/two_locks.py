"""Two threads that take the same two locks in opposite order, each when the other has its first."""

import threading

accounts, ledger = threading.Lock(), threading.Lock()
has_accounts, has_ledger = threading.Event(), threading.Event()


def transfer() -> None:
    with accounts:
        has_accounts.set()
        has_ledger.wait()
        with ledger:
            print("transferred")


def audit() -> None:
    with ledger:
        has_ledger.set()
        has_accounts.wait()
        with accounts:
            print("audited")


threads = [threading.Thread(target=each, name=each.__name__) for each in (transfer, audit)]
print("working", flush=True)
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
