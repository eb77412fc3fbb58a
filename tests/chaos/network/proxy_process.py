"""The process of all proxies: `python -m tests.chaos.network.proxy_process`.

It is a process of its own so that neither clients nor the checks of a run slow the network down.
Commands are lines of JSON on standard input, each answered by a line; it ends with its input.
"""

from __future__ import annotations

import asyncio
import json
import sys
from fnmatch import fnmatchcase
from typing import Any

from tests.chaos.network.door import Door
from tests.chaos.network.rules import Direction, Passage, Rule, decode, passage


class Proxies:
    def __init__(self) -> None:
        self._doors: dict[str, Door] = {}
        self._rules: list[Rule] = []
        self._changed = asyncio.Condition()

    async def carry_out(self, command: dict[str, Any]) -> object:
        match command:
            case {"do": "add", "name": str(name), "port": int(port), "target": int(target)}:
                self._doors[name] = Door(name, port, target, self._judge, self._changed)
                await self._doors[name].open()
            case {"do": "open", "name": str(name)}:
                await self._doors[name].open()
            case {"do": "shut", "name": str(name)}:
                self._doors[name].shut()
            case {"do": "rules", "rules": list(rules)}:
                self._rules = decode(rules)
                async with self._changed:
                    self._changed.notify_all()
            case {"do": "reset", "source": str(source), "target": str(target)}:
                return self._reset(source, target)
            case {"do": "count dropped"}:
                return sum(door.dropped for door in self._doors.values())
            case {"do": "count flipped"}:
                return sum(door.flipped for door in self._doors.values())
            case _:
                raise ValueError(f"unknown command: {command}")
        return None

    def _judge(self, source: str, target: str, direction: Direction) -> Passage:
        return passage(self._rules, source, target, direction)

    def _reset(self, source: str, target: str) -> int:
        """How many connections were reset."""
        found = [
            connection
            for door in self._doors.values()
            for connection in door.connections
            if fnmatchcase(connection.source, source) and fnmatchcase(connection.target, target)
        ]
        for connection in found:
            connection.reset()
        return len(found)

    def close(self) -> None:
        for door in self._doors.values():
            door.close()


async def serve() -> None:
    proxies = Proxies()
    reader = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    while line := await reader.readline():
        answer = await proxies.carry_out(json.loads(line))
        print(json.dumps(answer), flush=True)
    proxies.close()


if __name__ == "__main__":
    asyncio.run(serve())
