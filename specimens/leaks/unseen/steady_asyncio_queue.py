"""A producer and a consumer with a bounded queue."""

import asyncio


async def produce(queue):
    for number in range(400):
        await queue.put(bytes(2000))
    await queue.put(None)


async def consume(queue):
    total = 0
    while True:
        item = await queue.get()
        if item is None:
            return total
        total += len(item)


async def main():
    queue = asyncio.Queue(maxsize=16)
    _, total = await asyncio.gather(produce(queue), consume(queue))
    print(total)


asyncio.run(main())
