"""Talk to the server: its problems become the errors they were made from.

The event stream is taken up again after the last number seen whenever the connection drops, so a
server that restarts interrupts no command.
"""

import json
import time
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote
from uuid import uuid4

import httpx2

from journeyman import errors
from journeyman.cli.terminal import note
from journeyman.errors import JourneymanError
from journeyman.settings import Settings

_BY_STATUS: dict[int, type[JourneymanError]] = {
    401: errors.Unauthenticated,
    402: errors.BudgetExceeded,
    403: errors.NotAllowed,
    404: errors.NotFound,
    409: errors.Conflict,
    413: errors.InvalidInput,
    422: errors.InvalidInput,
    429: errors.RateLimited,
    503: errors.Transient,
}
_ORDERS = "/api/agent-work-orders"
_ATTEMPTS = 12
_LONGEST_WAIT_SECONDS = 10.0
_TIMEOUT = httpx2.Timeout(30.0, connect=5.0)
_STREAM_TIMEOUT = httpx2.Timeout(45.0, connect=5.0)
"""The server sends a sign of life every 15 s: silence of three times that is a dead connection."""


def order_path(order_id: str) -> str:
    return f"{_ORDERS}/{quote(order_id, safe='')}"


class Client:
    def __init__(self, settings: Settings) -> None:
        self.url = settings.server_url
        key = settings.api_key
        headers = {"Authorization": f"Bearer {key.get_secret_value()}"} if key else {}
        # Proxies of the environment are for the world outside; the server is usually on this machine.
        self._http = httpx2.Client(base_url=self.url, headers=headers, timeout=_TIMEOUT, trust_env=False)

    def get(self, path: str, **query: Any) -> dict[str, Any]:
        given = {name: value for name, value in query.items() if value is not None}
        headers = {"Accept": "application/json"}
        answer: dict[str, Any] = self._ask("GET", path, params=given, headers=headers).json()
        return answer

    def submit(self, order: dict[str, Any]) -> dict[str, Any]:
        return self._post(_ORDERS, json=order)

    def _post(self, path: str, **request: Any) -> dict[str, Any]:
        """A lost answer is asked for again under the same key, so nothing takes effect twice."""
        headers = {"Idempotency-Key": uuid4().hex}
        try:
            answer = self._http.post(path, headers=headers, **request)
        except httpx2.ConnectError:
            raise self._nobody_there() from None
        except httpx2.TransportError:
            return dict(self._ask("POST", path, headers=headers, **request).json())
        return dict(_checked(answer).json())

    def add_repository(self, repository_url: str) -> dict[str, Any]:
        return self._post("/api/repositories", json={"repository_url": repository_url})

    def check_environment(self, repository_id: str) -> dict[str, Any]:
        return self._post(f"/api/repositories/{quote(repository_id, safe='')}/environment/check", json={})

    def control(self, order_id: str, action: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        return self._post(f"{order_path(order_id)}/{action}", json=body)

    def prompt(self, order_id: str, text: str, mode: str | None) -> dict[str, Any]:
        body = {"agent_work_order_id": order_id, "prompt_text": text, "mode": mode}
        return self._post(f"{order_path(order_id)}/prompt", json=body)

    def cleanup(self, *, dry_run: bool) -> dict[str, Any]:
        return self._post("/api/cleanup", json={"dry_run": dry_run}, timeout=None)

    def approvals(self, order_id: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.get(f"{order_path(order_id)}/approvals")["approvals"]
        return found

    def decide(
        self, order_id: str, step: str, decision: str, comment: str, *, rework: bool
    ) -> dict[str, Any]:
        path = f"{order_path(order_id)}/approvals/{quote(step, safe='')}"
        body = {"decision": decision, "comment": comment, "rework": rework}
        return self._post(path, json=body)

    def answers(self) -> bool:
        """Whether a server is there and ready."""
        try:
            return self._http.get("/ready", timeout=2.0).status_code == 200
        except httpx2.TransportError:
            return False

    def order(self, order_id: str) -> dict[str, Any]:
        order: dict[str, Any] = self.get(order_path(order_id))["agent_work_order"]
        return order

    def events(self, order_id: str) -> Iterator[dict[str, Any]]:
        """Every event of the order, each once and in order, until the order is idle."""
        last = 0
        attempt = 0
        while True:
            try:
                for event in self._stream(order_id, last):
                    attempt, last = 0, event["sequence"]
                    yield event
                order = self.order(order_id)
                if order["status"] not in ("pending", "running"):
                    return
                reason = "the server ended the stream"
            except (httpx2.TransportError, errors.Transient) as error:
                reason = str(error) or type(error).__name__
            attempt += 1
            if attempt > _ATTEMPTS:
                raise errors.Transient(
                    f"the server at {self.url} does not answer any more: {reason}",
                    hint=f"The order goes on without you. Start the server, then `jm watch {order_id}`.",
                )
            note(f"Connection lost ({reason}); trying again ({attempt} of {_ATTEMPTS}).")
            time.sleep(min(_LONGEST_WAIT_SECONDS, 0.25 * 2**attempt))

    def _stream(self, order_id: str, last: int) -> Iterator[dict[str, Any]]:
        path = order_path(order_id) + "/events"
        headers = {"Last-Event-ID": str(last), "Accept": "text/event-stream"}
        with self._http.stream(
            "GET", path, params={"until": "finished"}, headers=headers, timeout=_STREAM_TIMEOUT
        ) as answer:
            if answer.status_code != 200:
                answer.read()
                _checked(answer)
            for line in answer.iter_lines():
                if line.startswith("data:"):
                    yield json.loads(line[5:])

    def _ask(self, method: str, path: str, **request: Any) -> httpx2.Response:
        try:
            return _checked(self._http.request(method, path, **request))
        except httpx2.TransportError as error:
            if isinstance(error, httpx2.ConnectError):
                raise self._nobody_there() from None
            raise errors.Transient(
                f"the server at {self.url} did not answer: {error}", hint="Try again."
            ) from None

    def _nobody_there(self) -> errors.Transient:
        return errors.Transient(
            f"no server answers at {self.url}",
            hint="Start one with `jm serve`, or set JOURNEYMAN_URL to the one you mean.",
        )


def _checked(answer: httpx2.Response) -> httpx2.Response:
    if answer.is_success:
        return answer
    try:
        problem = answer.json()
    except ValueError:
        problem = {}
    if not isinstance(problem, dict):
        problem = {}
    kind = _BY_STATUS.get(answer.status_code, errors.Internal)
    detail = problem.get("detail") or f"the server answered {answer.status_code} to {answer.request.url.path}"
    raise kind(str(detail), hint=str(problem.get("hint", "")))
