"""What the gateway's door adds to a call: the same provider asked directly and through the door, by turns.

Provider, door and client are processes of their own. The provider writes the time into every piece that it
sends, so what each piece took on its way is known; its clock is the client's, for both are this machine's.
"""

import asyncio
import json
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2

from bench.measuring import MODEL, Row, Table, asked_to_be_quick, median_ms

_PIECES = 20
_PAUSE_SECONDS = 0.005
_THINKING_SECONDS = 0.1
"""What a quick model takes before its first word."""
_AT_ONCE = 100


def main() -> int:
    quick = asked_to_be_quick(__doc__ or "")
    with (
        tempfile.TemporaryDirectory() as directory,
        _process("provider") as provider,
        _process("door", directory, provider[0]) as door,
    ):
        return asyncio.run(_measure(provider[0], door, repetitions=40 if quick else 200, quick=quick))


async def _measure(provider: str, door: list[str], *, repetitions: int, quick: bool) -> int:
    path, token, pid = door
    table = Table("Through the gateway's door, against the provider itself")
    headers = {"authorization": f"Bearer {token}"}
    transport = httpx2.AsyncHTTPTransport(uds=path, limits=httpx2.Limits(max_connections=None))
    direct = httpx2.AsyncClient(base_url=provider, timeout=120, limits=httpx2.Limits(max_connections=None))
    through = httpx2.AsyncClient(base_url="http://door", transport=transport, timeout=120, headers=headers)
    async with direct, through:
        plain = await _by_turns(direct, through, repetitions, pieces=1, pause=0.0, thinking=0.0)
        call = [median_ms(taken.whole for taken in side) for side in plain]
        table.add(Row("a call, whole", call[1], call[0], "directly", bar=call[0] + 3))
        real = await _by_turns(direct, through, repetitions // 4, pieces=_PIECES, thinking=_THINKING_SECONDS)
        first = [median_ms(taken.first for taken in side) for side in real]
        table.add(Row("first byte", first[1], first[0], "directly", bar=first[0] * 1.2))
        piece = [median_ms(late for taken in side for late in taken.pieces) for side in real]
        table.add(Row("a piece on its way", piece[1], piece[0], "directly"))
        crowd = [await _crowd(client) for client in (direct, through)]
        table.add(Row(f"{_AT_ONCE} streams at once", crowd[1] * 1000, crowd[0] * 1000, "directly"))
        before = _resident_mb(pid)
        for _ in range(2 if quick else 10):
            await _crowd(through)
        after = _resident_mb(pid)
        table.add(Row("the door's memory after more crowds", after, before, "after one", "MB", before * 1.1))
    table.notes.append(f"first byte and pieces: a model that thinks {_THINKING_SECONDS * 1000:.0f} ms first")
    return table.finish()


@dataclass
class _Taken:
    """Seconds of one call."""

    first: float = 0.0
    whole: float = 0.0
    pieces: list[float] = field(default_factory=list)


async def _by_turns(
    direct: httpx2.AsyncClient, through: httpx2.AsyncClient, repetitions: int, **wanted: Any
) -> tuple[list[_Taken], list[_Taken]]:
    taken: tuple[list[_Taken], list[_Taken]] = ([], [])
    for number in range(repetitions + 3):
        for side, client in zip(taken, (direct, through), strict=True):
            one = await _call(client, **wanted)
            if number >= 3:  # the first ones open connections and load code
                side.append(one)
    return taken


async def _crowd(client: httpx2.AsyncClient) -> float:
    started = time.monotonic()
    calls = [_call(client, pieces=_PIECES, pause=0.05, thinking=_THINKING_SECONDS) for _ in range(_AT_ONCE)]
    answers = await asyncio.gather(*calls)
    assert all(len(answer.pieces) == _PIECES for answer in answers)
    return time.monotonic() - started


async def _call(
    client: httpx2.AsyncClient, *, pieces: int, pause: float = _PAUSE_SECONDS, thinking: float
) -> _Taken:
    taken = _Taken()
    plan = {"pieces": pieces, "pause": pause, "thinking": thinking}
    body = {"model": "any", "stream": True, "messages": [{"role": "user", "content": json.dumps(plan)}]}
    started = time.monotonic()
    async with client.stream("POST", "/v1/chat/completions", json=body) as answer:
        assert answer.status_code == 200, await answer.aread()
        async for line in answer.aiter_lines():
            now = time.monotonic()
            taken.first = taken.first or now - started
            if '"sent"' in line:
                taken.pieces.append(now - json.loads(line.removeprefix("data: "))["sent"])
    taken.whole = time.monotonic() - started
    return taken


def _resident_mb(pid: str) -> float:
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * 4096 / 1_000_000


@contextmanager
def _process(*arguments: str) -> Iterator[list[str]]:
    """Another part of this file as a process; gives the words of its first line."""
    command = [sys.executable, "-m", "bench.gateway", *arguments]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield process.stdout.readline().split()
    finally:
        process.terminate()
        process.communicate()


async def _provide() -> None:
    """A provider of chat completions that does as the request says."""
    import uvicorn
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import StreamingResponse
    from starlette.routing import Route

    async def answer(request: Request) -> StreamingResponse:
        plan = json.loads((await request.json())["messages"][0]["content"])

        async def frames() -> AsyncIterator[str]:
            await asyncio.sleep(plan["thinking"])
            for _ in range(plan["pieces"]):
                chunk = {"choices": [{"index": 0, "delta": {"content": "word "}}], "sent": time.monotonic()}
                yield f"data: {json.dumps(chunk)}\n\n"
                if plan["pause"]:
                    await asyncio.sleep(plan["pause"])
            usage = {"prompt_tokens": 100, "completion_tokens": plan["pieces"]}
            ending = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}], "usage": usage}
            yield f"data: {json.dumps(ending)}\n\ndata: [DONE]\n\n"

        return StreamingResponse(frames(), media_type="text/event-stream")

    app = Starlette(routes=[Route("/v1/chat/completions", answer, methods=["POST"])])
    # The protocol is named because asyncio turns delays off only for sockets that say they are TCP.
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP) as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(1024)
        print(f"http://127.0.0.1:{listener.getsockname()[1]}", flush=True)
        config = uvicorn.Config(app, log_config=None, http="httptools")
        await uvicorn.Server(config).serve(sockets=[listener])


async def _keep_door(home: str, provider: str) -> None:
    """The door as the product has it, with a ledger in a database."""
    import os

    from journeyman import database
    from journeyman.database import Database
    from journeyman.gateway.accounts import Account
    from journeyman.gateway.door.door import Door
    from journeyman.gateway.ledger import Ledger
    from journeyman.gateway.prices import Prices
    from journeyman.gateway.store import ModelCalls
    from journeyman.migrations.upgrade import upgrade_tables
    from journeyman.settings import load_settings

    environment = {"JOURNEYMAN_HOME": home, "OPENAI_API_KEY": "none", "OPENAI_BASE_URL": f"{provider}/v1"}
    settings = load_settings(environment)
    url = database.database_url("", settings.home)
    upgrade_tables(url)
    door = Door(settings, Ledger(ModelCalls(Database(url)), settings, Prices({})))
    await door.open()
    account = Account(order_id="wo-bench001", round=1, step="build", role="build", agent="any", model=MODEL)
    print(door.path, door.admit(account), os.getpid(), flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    if sys.argv[1:2] == ["provider"]:
        asyncio.run(_provide())
    elif sys.argv[1:2] == ["door"]:
        asyncio.run(_keep_door(*sys.argv[2:4]))
    else:
        sys.exit(main())
