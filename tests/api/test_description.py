"""The OpenAPI document promises what the server does: no more, no less."""

import re
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest

from journeyman.api.application import described
from journeyman.errors import InvalidInput
from journeyman.work_orders.order import check_branch_name, check_prompt
from tests.api.parts import ORDERS, Api

PATH_VALUES = {
    "agent_work_order_id": "wo-00000000",
    "repository_id": "rp-00000000",
    "test_digest": "0" * 64,
    "job_id": "wo-00000000",
    "number": "1",
    "step": "build",
    "attempt": "7777",
    "check": "pytest",
}


@cache
def document() -> dict[str, Any]:
    return described().openapi()


def operations() -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, calls in document()["paths"].items():
        for method, operation in calls.items():
            yield method, path, operation


def resolved(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema itself, where it is a reference or may also be null."""
    if "$ref" in schema:
        return resolved(document()["components"]["schemas"][schema["$ref"].rpartition("/")[2]])
    kinds = [one for one in schema.get("anyOf", ()) if one != {"type": "null"}]
    return resolved(kinds[0]) if len(kinds) == 1 else schema


def violations(schema: dict[str, Any]) -> Iterator[Any]:
    """Values just outside of each bound."""
    if "maximum" in schema:
        yield int(schema["maximum"]) + 1
    if "minimum" in schema:
        yield int(schema["minimum"]) - 1
    if "maxLength" in schema:
        yield "x" * (schema["maxLength"] + 1)
    if "enum" in schema or "const" in schema:
        yield "neither of them"
    if "pattern" in schema:
        yield "\x07"
    if schema.get("type") in ("integer", "number"):
        yield "a word"
    if schema.get("type") == "array":
        yield from violations(schema["items"])


def address(path: str) -> str:
    return re.sub(r"{(\w+)}", lambda found: PATH_VALUES[found[1]], path)


def test_every_problem_is_described_as_what_it_is_sent_as() -> None:
    for method, path, operation in operations():
        problem = operation["responses"]["default"]["content"]
        assert list(problem) == ["application/problem+json"], (method, path)
        assert not [status for status in operation["responses"] if status.startswith(("4", "5"))]
    schema = document()["components"]["schemas"]["Problem"]
    assert set(schema["required"]) == {"type", "title", "status", "detail", "hint", "category"}


def test_streams_and_sockets_are_described_too() -> None:
    events = document()["paths"][f"{ORDERS}/{{agent_work_order_id}}/events"]["get"]["responses"]["200"]
    data = events["content"]["text/event-stream"]["itemSchema"]["properties"]["data"]
    assert data["contentSchema"] == {"$ref": "#/components/schemas/EventMessage"}
    assert (
        data["contentSchema"] in document()["x-websockets"]["/ws/{agent_work_order_id}"]["message"]["anyOf"]
    )
    assert "EventMessage" in document()["components"]["schemas"]


def test_every_post_takes_a_key() -> None:
    for method, path, operation in operations():
        names = [one["name"] for one in operation.get("parameters", ())]
        assert ("idempotency-key" in names) == (method == "post"), path


async def test_no_parameter_takes_what_its_description_excludes(api: Api) -> None:
    for method, path, operation in operations():
        for parameter in operation.get("parameters", ()):
            for wrong in violations(parameter["schema"]):
                given: dict[str, Any] = {}
                where = address(path)
                if parameter["in"] == "query":
                    given["params"] = {parameter["name"]: wrong}
                elif parameter["in"] == "header":
                    given["headers"] = {parameter["name"]: b"\xe9" if wrong == "\x07" else str(wrong)}
                else:
                    where = where.replace(PATH_VALUES[parameter["name"]], str(wrong).replace("\x07", "%07"))
                answer = await api.client.request(method, where, **given)
                assert 400 <= answer.status_code < 500, (method, path, parameter, wrong, answer.text)
                assert answer.headers["content-type"] == "application/problem+json"


async def test_no_body_takes_what_its_description_excludes(
    api: Api, order_path: str, repository_path: str
) -> None:
    for method, path, operation in operations():
        if "requestBody" not in operation:
            continue
        schema = resolved(operation["requestBody"]["content"]["application/json"]["schema"])
        assert schema["additionalProperties"] is False, path
        where = address(path).replace(f"{ORDERS}/wo-00000000", order_path)
        where = where.replace("/api/repositories/rp-00000000", repository_path)
        for name, field in schema["properties"].items():
            for wrong in violations(resolved(field)):
                answer = await api.client.request(method, where, json={name: wrong})
                assert answer.status_code == 422, (path, name, wrong, answer.text)


@pytest.fixture
async def order_path(api: Api, repository: Any) -> str:
    return f"{ORDERS}/{await api.submit(repository)}"


@pytest.fixture
async def repository_path(api: Api, order_path: str) -> str:
    [known] = (await api.client.get("/api/repositories")).json()["repositories"]
    return f"/api/repositories/{known['repository_id']}"


BRANCHES = (
    *("main", "a/b", "v1.0", "a-b_c", "a.b/c.d", "a/HEAD", "-x", "a..b", "a//b", "/a", "a/", "a.", "a.lock"),
    *("a/.b", "a.lock/b", "refs/heads/x", "HEAD", "`id`", "a b", "a./b", "refs", "x" * 201),
)


@pytest.mark.parametrize("name", BRANCHES)
def test_a_branch_name_is_described_as_it_is_checked(name: str) -> None:
    field = resolved(document()["components"]["schemas"]["NewWorkOrder"]["properties"]["git_branch_name"])
    described_as_good = bool(re.search(field["pattern"], name)) and len(name) <= field["maxLength"]
    assert described_as_good == is_accepted(check_branch_name, name)


@pytest.mark.parametrize("text", ["a\nb\tc\r\n", "a\x00", "a\x1b", "a\x7f", "a\x85", "\u202e", "x" * 200_001])
def test_a_prompt_is_described_as_it_is_checked(text: str) -> None:
    field = resolved(document()["components"]["schemas"]["PromptRequest"]["properties"]["prompt_text"])
    assert not re.search(field["pattern"], " \n\t")
    described_as_good = bool(re.search(field["pattern"], text)) and len(text) <= field["maxLength"]
    assert described_as_good == is_accepted(check_prompt, text)


def is_accepted(check: Any, value: str) -> bool:
    try:
        check(value)
    except InvalidInput:
        return False
    return True
