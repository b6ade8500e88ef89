"""People who hand orders to the running product over HTTP."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2

_PATIENCE_SECONDS = 300.0
_ORDERS = "/api/agent-work-orders"


class Customer:
    def __init__(self, client: httpx2.AsyncClient) -> None:
        self._client = client

    async def offer(
        self, repository: Path, model: str, workflow: str = "agent_workflow_build"
    ) -> httpx2.Response:
        """Hand an order in; the answer may be a refusal."""
        body = {
            "repository_url": str(repository),
            "sandbox_type": "git_worktree",
            "workflow_type": workflow,
            "initial_prompt": "Write it down.",
            "model": model,
        }
        return await self._client.post(_ORDERS, json=body)

    async def submit(self, repository: Path, model: str, workflow: str = "agent_workflow_build") -> str:
        answer = await self.offer(repository, model, workflow)
        assert answer.status_code == 201, answer.text
        order_id: str = answer.json()["agent_work_order"]["agent_work_order_id"]
        return order_id

    async def read(self, order_id: str) -> dict[str, Any]:
        answer = await self._client.get(f"{_ORDERS}/{order_id}")
        assert answer.status_code == 200, answer.text
        order: dict[str, Any] = answer.json()["agent_work_order"]
        return order

    async def until(self, order_id: str, event_type: str) -> None:
        """Wait until the order tells this event."""
        async with self._client.stream("GET", f"{_ORDERS}/{order_id}/events?until=finished") as stream:
            async for line in stream.aiter_lines():
                if line.startswith("data:"):
                    event = json.loads(line.removeprefix("data:"))
                    if event["type"] == event_type:
                        return
                    if event["type"] == "agent_work_order_failed":
                        raise AssertionError(f"the order failed: {event}")

    async def finish(self, order_id: str) -> None:
        await self.until(order_id, "agent_work_order_completed")

    async def until_completed(self, count: int) -> None:
        """Wait until so many orders are completed. Asks seldom: following each is work for the server."""
        while (completed := await self.count("completed")) < count:
            ended = completed + await self.count("failed") if completed else 0
            assert ended < count, "an order failed"
            await asyncio.sleep(0.3)

    async def read_list(self) -> None:
        answer = await self._client.get(_ORDERS)
        assert answer.status_code == 200, answer.text

    async def count(self, status: str) -> int:
        answer = await self._client.get(_ORDERS, params={"status": status, "limit": 1})
        total: int = answer.json()["total_count"]
        return total


@asynccontextmanager
async def customer(url: str) -> AsyncIterator[Customer]:
    limits = httpx2.Limits(max_connections=None, max_keepalive_connections=None)
    async with httpx2.AsyncClient(base_url=url, timeout=_PATIENCE_SECONDS, limits=limits) as client:
        yield Customer(client)
