"""Events as they happen: each once, in order, and from where the reader left off."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from tests.api.parts import ORDERS, Api, problem_of


@asynccontextmanager
async def stream(
    api: Api, order_id: str, headers: dict[str, str] | None = None, **query: Any
) -> AsyncIterator[AsyncIterator[dict[str, str]]]:
    async with api.client.stream(
        "GET", f"{ORDERS}/{order_id}/events", params=query, headers=headers
    ) as answer:
        assert answer.status_code == 200
        assert answer.headers["content-type"].startswith("text/event-stream")
        yield frames(answer)


async def frames(answer: httpx2.Response) -> AsyncIterator[dict[str, str]]:
    """Each server-sent event as its fields."""
    frame: dict[str, str] = {}
    async for line in answer.aiter_lines():
        name, _, value = line.partition(": ")
        if line:
            frame[name] = value
        elif frame:
            yield frame
            frame = {}


async def all_of(api: Api, order_id: str, headers: dict[str, str] | None = None, **query: Any) -> list[int]:
    async with stream(api, order_id, headers, until="finished", **query) as events:
        return [int(frame["id"]) async for frame in events]


async def test_an_event_carries_its_number_name_and_content(api: Api, repository: Path) -> None:
    order_id = await api.submit(repository)
    async with stream(api, order_id) as events:
        frame = await anext(events)
    assert (frame["id"], frame["event"]) == ("1", "agent_work_order_created")
    data = json.loads(frame["data"])
    assert (data["agent_work_order_id"], data["sequence"]) == (order_id, 1)
    assert (data["type"], data["title"]) == ("agent_work_order_created", "Fix the pager")
    assert data["timestamp"]


async def test_events_arrive_while_they_happen_and_the_stream_ends_with_the_order(
    api: Api, repository: Path
) -> None:
    order_id = await api.submit(repository)
    seen = []
    async with stream(api, order_id, until="finished") as events:
        async for frame in events:
            seen.append(frame["event"])
            if frame["event"] == "agent_work_order_created":
                await api.begin(order_id)
            elif frame["event"] == "agent_work_order_started":
                await api.say(order_id, "line\nline")
            elif frame["event"] == "agent_text":
                assert json.loads(frame["data"])["text"] == "line\nline"
                await api.complete(order_id)
    assert seen == [
        "agent_work_order_created",
        "agent_work_order_started",
        "agent_text",
        "agent_work_order_completed",
    ]


async def test_a_reader_that_comes_back_at_any_point_misses_nothing_and_sees_nothing_twice(
    api: Api, repository: Path
) -> None:
    order_id = await api.submit(repository)
    await api.begin(order_id)
    await api.say(order_id, *map(str, range(5)))
    await api.complete(order_id)
    total = 8
    for after in range(total + 1):
        rest = list(range(after + 1, total + 1))
        assert await all_of(api, order_id, {"Last-Event-ID": str(after)}) == rest
        assert await all_of(api, order_id, after=after) == rest
    assert await all_of(api, order_id, {"Last-Event-ID": "6"}, after=1) == [7, 8]


async def test_what_happens_after_the_end_does_not_keep_the_stream_open(api: Api, repository: Path) -> None:
    order_id = await api.submit(repository)
    await api.begin(order_id)
    await api.complete(order_id)
    await api.open_pull_request(order_id)
    assert await all_of(api, order_id) == [1, 2, 3, 4]
    assert await all_of(api, order_id, after=3) == [4]
    assert await all_of(api, order_id, after=4) == []


@pytest.mark.parametrize("after", [0, 4])
async def test_a_prompt_that_waits_for_its_round_keeps_the_stream_open(
    api: Api, repository: Path, after: int
) -> None:
    order_id = await api.submit(repository)
    await api.begin(order_id)
    await api.complete(order_id)
    prompt = {"agent_work_order_id": order_id, "prompt_text": "Add notes", "mode": "ask"}
    assert (await api.client.post(f"{ORDERS}/{order_id}/prompt", json=prompt)).status_code == 200
    seen = []
    async with stream(api, order_id, until="finished", after=after) as events:
        taken_back = asyncio.create_task(api.client.delete(f"{ORDERS}/{order_id}/prompts/1"))
        async for frame in events:
            seen.append(frame["event"])
    assert (await taken_back).status_code == 200
    assert seen[-1] == "prompt_cancelled"


@pytest.mark.parametrize("cursor", ["x", "-1", "1.5", "9" * 30])
async def test_a_cursor_that_is_no_number_is_a_problem(api: Api, repository: Path, cursor: str) -> None:
    path = f"{ORDERS}/{await api.submit(repository)}/events"
    problem_of(await api.client.get(path, params={"after": cursor}), 422)
    problem_of(await api.client.get(path, headers={"Last-Event-ID": cursor}), 422)
    problem_of(await api.client.get(path, params={"until": "later"}), 422)


async def test_a_server_that_stops_ends_its_streams(api: Api, repository: Path) -> None:
    order_id = await api.submit(repository)
    async with stream(api, order_id) as events:
        await anext(events)
        api.services.feed.close()
        assert [frame async for frame in events] == []


def websocket(api: Api, order_id: str) -> connect:
    return connect(api.url.replace("http", "ws") + f"/ws/{order_id}")


async def test_a_websocket_tells_the_state_first_and_then_changes_without_chatter(
    api: Api, repository: Path
) -> None:
    order_id = await api.submit(repository)
    async with websocket(api, order_id) as socket:
        state = json.loads(await socket.recv())
        assert state["type"] == "state"
        assert (state["agent_work_order"]["agent_work_order_id"], state["agent_work_order"]["status"]) == (
            order_id,
            "pending",
        )
        await api.begin(order_id)
        await api.say(order_id, "thinking")
        await api.complete(order_id)
        told = [json.loads(await socket.recv()) for _ in range(2)]
    assert [(one["type"], one["sequence"]) for one in told] == [
        ("agent_work_order_started", 2),
        ("agent_work_order_completed", 4),
    ]


async def test_a_websocket_for_an_unknown_order_is_closed_with_a_code_of_its_own(api: Api) -> None:
    for order_id in ("wo-00000000", "nonsense"):
        async with websocket(api, order_id) as socket:
            with pytest.raises(ConnectionClosed) as closed:
                await socket.recv()
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == 4404


async def test_a_websocket_is_closed_when_the_server_stops(api: Api, repository: Path) -> None:
    order_id = await api.submit(repository)
    async with websocket(api, order_id) as socket:
        await socket.recv()
        api.services.feed.close()
        with pytest.raises(ConnectionClosed) as closed:
            await socket.recv()
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 1001
