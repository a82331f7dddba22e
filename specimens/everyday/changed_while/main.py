"""Let the sessions of a server expire."""

from sessions import Store

LOGINS = [("ada", 0), ("ben", 5), ("cleo", 31), ("dora", 40)]


def sweep(store, now):
    for name, session in store.all():
        if session["until"] < now:
            store.expired(name, session)
        else:
            store.touch(name, now)


def main():
    store = Store(minutes=30)
    for name, at in LOGINS:
        store.login(name, at)
    sweep(store, now=45)
    print("left:", ", ".join(sorted(store.names())))


if __name__ == "__main__":
    main()
