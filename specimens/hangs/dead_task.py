"""A worker task of asyncio that dies of one item, and a main task that waits until all are done."""

import asyncio


async def work(queue: "asyncio.Queue[int]") -> None:
    while True:
        item = await queue.get()
        print(1 / item)
        queue.task_done()


async def main() -> None:
    queue: "asyncio.Queue[int]" = asyncio.Queue()
    worker = asyncio.create_task(work(queue), name="worker")
    for item in (1, 0, 2):
        queue.put_nowait(item)
    await queue.join()
    worker.cancel()


asyncio.run(main())
