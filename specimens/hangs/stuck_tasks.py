"""Two tasks of asyncio that wait for each other's lock, and three that wait for what they make."""

import asyncio


async def move(first: asyncio.Lock, second: asyncio.Lock, met: asyncio.Barrier) -> None:
    async with first:
        await met.wait()
        async with second:
            print("moved")


async def fill(queue: "asyncio.Queue[int]") -> None:
    await queue.get()


async def watch(other: "asyncio.Task[None]") -> None:
    await other


async def main() -> None:
    left, right = asyncio.Lock(), asyncio.Lock()
    met = asyncio.Barrier(2)
    queue: asyncio.Queue[int] = asyncio.Queue()
    async with asyncio.TaskGroup() as group:
        there = group.create_task(move(left, right, met), name="there")
        group.create_task(move(right, left, met), name="back")
        for number in range(3):
            group.create_task(fill(queue), name=f"filler-{number}")
        group.create_task(watch(there), name="watcher")
        print("moving", flush=True)


asyncio.run(main())
