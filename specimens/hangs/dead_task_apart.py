"""A task of asyncio that dies, and a main task that waits for something that it has nothing to do with."""

import asyncio


async def beat() -> None:
    names: list[str] = []
    print(names[0])


async def main() -> None:
    beating = asyncio.create_task(beat(), name="beating")
    opened = asyncio.Event()
    await opened.wait()
    await beating


asyncio.run(main())
