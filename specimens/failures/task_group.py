"""The task's own stack tells where it failed. Needs 3.11."""

import asyncio


async def fetch(number):
    await asyncio.sleep(0)
    if number == 2:
        raise ValueError(f"no page {number}")


async def main():
    async with asyncio.TaskGroup() as tasks:
        for number in range(4):
            tasks.create_task(fetch(number))


asyncio.run(main())
