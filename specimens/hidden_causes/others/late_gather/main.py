"""Asks three services, and shows what they say."""

import asyncio


async def ask(name):
    await asyncio.sleep(0)
    return {"a": 1, "b": 2}[name]


async def main():
    answers = await asyncio.gather(*map(ask, "abc"), return_exceptions=True)
    print(sum(answers))


asyncio.run(main())
