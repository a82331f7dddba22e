"""A server starts a task for each message, which waits for an event that is never set."""

import asyncio


class Server:
    def __init__(self):
        self.tasks = set()
        self.shutdown = asyncio.Event()

    async def watch(self, message):
        payload = message * 50
        await self.shutdown.wait()
        return payload

    async def on_message(self, message):
        self.tasks.add(asyncio.create_task(self.watch(message)))
        await asyncio.sleep(0)


async def main():
    server = Server()
    for number in range(200):
        await server.on_message("message {} ".format(number))
    for task in server.tasks:
        task.cancel()


asyncio.run(main())
