"""One script, every wire format: what the agents' own clients would read."""

from typing import Any

import httpx2
import pytest

from journeyman.errors import RateLimited, Transient
from journeyman.gateway.accounts import CallRecord
from journeyman.gateway.door.door import Door
from journeyman.gateway.wires.base import Wire
from journeyman.settings import Settings
from tests.gateway.calls import write_script
from tests.gateway.door.agents import PATHS, SHELLS, WIRES, account, answered, ask, headers, request

both_ways = pytest.mark.parametrize("stream", [False, True])
every_wire = pytest.mark.parametrize("wire", WIRES)
FINISH = {"chat": "stop", "responses": "completed", "messages": "end_turn", "generate": "STOP"}


@every_wire
@both_ways
async def test_one_script_drives_every_kind_of_agent(
    settings: Settings, door: Door, client: httpx2.AsyncClient, wire: Wire, stream: bool
) -> None:
    shell = {"name": "shell", "arguments": {"command": "ls {{ prompt }}"}}
    model = write_script(
        settings,
        "work",
        {
            "when": {"role": "build"},
            "replies": [{"say": "I look.", "tools": [shell, shell]}, {"say": "There is {{ last_output }}."}],
        },
    )
    token = door.admit(account(model))
    first = request(wire, "here")
    heard = await ask(client, token, wire, first, stream=stream)
    assert heard.text == "I look."
    argument = "cmd" if wire == "responses" else "command"
    assert heard.calls == [(SHELLS[wire], {argument: "ls here"})] * 2
    last = await ask(client, token, wire, answered(wire, first, heard, "a.txt"), stream=stream)
    assert (last.text, last.calls, last.finish) == ("There is a.txt.", [], FINISH[wire])


@every_wire
async def test_a_later_prompt_of_a_session_begins_the_script_anew(
    settings: Settings, door: Door, client: httpx2.AsyncClient, wire: Wire
) -> None:
    model = write_script(
        settings,
        "session",
        {"when": {"contains": "second"}, "replies": [{"say": "two"}]},
        {"replies": [{"tools": [{"name": "shell", "arguments": {"command": "ls"}}]}, {"say": "one"}]},
    )
    token = door.admit(account(model))
    body = request(wire, "the first")
    body = answered(wire, body, await ask(client, token, wire, body), "x")
    assert (await ask(client, token, wire, body)).text == "one"
    more = request(wire, "the second")
    field = {"generate": "contents", "responses": "input"}.get(wire, "messages")
    body = {**body, field: body[field] + more[field][-1:]}
    assert (await ask(client, token, wire, body)).text == "two"


@every_wire
@both_ways
async def test_a_request_without_tools_gets_a_sentence_and_leaves_the_script_alone(
    settings: Settings, door: Door, client: httpx2.AsyncClient, wire: Wire, stream: bool
) -> None:
    model = write_script(settings, "titles", {"replies": [{"say": "the work"}]})
    token = door.admit(account(model))
    aside = await ask(client, token, wire, request(wire, "A title?", tools={}), stream=stream)
    assert aside.text
    assert aside.text != "the work"
    assert (await ask(client, token, wire, request(wire, "Go"), stream=stream)).text == "the work"


@every_wire
@both_ways
async def test_a_result_to_deliver_is_said_as_json(
    settings: Settings, door: Door, client: httpx2.AsyncClient, wire: Wire, stream: bool
) -> None:
    model = write_script(settings, "deliver", {"replies": [{"say": "Here.", "deliver": {"answer": 42}}]})
    heard = await ask(client, door.admit(account(model)), wire, request(wire, "Go"), stream=stream)
    assert heard.text.startswith("Here.")
    assert '```json\n{\n  "answer": 42\n}\n```' in heard.text
    assert (heard.calls, heard.finish) == ([], FINISH[wire])


@every_wire
@both_ways
@pytest.mark.parametrize(
    ("fault", "status", "kind"), [("http_429", 429, RateLimited), ("http_500", 502, Transient)]
)
async def test_a_fault_is_met_by_each_attempt_until_it_is_over(
    settings: Settings,
    door: Door,
    client: httpx2.AsyncClient,
    wire: Wire,
    stream: bool,
    fault: str,
    status: int,
    kind: type[Exception],
) -> None:
    model = write_script(settings, "faulty", {"replies": [{"fault": fault, "repeat": 2}, {"say": "well"}]})
    token = door.admit(account(model))
    body = request(wire, "Go", stream=stream)
    for _ in range(2):
        refused = await client.post(PATHS[wire], json=body, headers=headers(wire, token))
        assert refused.status_code == status
        assert "retry-after" in refused.headers or fault == "http_500"
        assert "scripted" in refused.json()["error"]["message"]
        assert isinstance(door.fault(token), kind)
    assert (await ask(client, token, wire, body, stream=stream)).text == "well"
    assert door.fault(token) is None


@every_wire
@pytest.mark.parametrize(("fault", "said"), [("cut_stream", "before"), ("stall", "silent")])
async def test_a_stream_that_breaks_off_is_never_ended_in_good_order(
    settings: Settings, door: Door, client: httpx2.AsyncClient, wire: Wire, fault: str, said: str
) -> None:
    replies = [{"say": "half an answer", "fault": fault}, {"say": "whole"}]
    token = door.admit(account(write_script(settings, "cut", {"replies": replies})))
    with pytest.raises(httpx2.RemoteProtocolError):
        await ask(client, token, wire, request(wire, "Go"), stream=True)
    assert isinstance(door.fault(token), Transient)
    assert (await ask(client, token, wire, request(wire, "Go"), stream=True)).text == "whole"


@every_wire
async def test_poor_answers_are_answers(
    settings: Settings, door: Door, client: httpx2.AsyncClient, wire: Wire
) -> None:
    replies: list[dict[str, Any]] = [{"fault": "unknown_tool"}, {"fault": "empty"}]
    token = door.admit(account(write_script(settings, "poor", {"replies": replies})))
    body = request(wire, "Go")
    heard = await ask(client, token, wire, body, stream=True)
    assert heard.calls == [("no_such_tool", {})]
    empty = await ask(client, token, wire, answered(wire, body, heard, "no"), stream=True)
    assert (empty.text, empty.calls) == ("", [])


@every_wire
@both_ways
async def test_each_answered_call_is_reported_with_its_tokens_before_it_ends(
    settings: Settings, door: Door, client: httpx2.AsyncClient, wire: Wire, stream: bool
) -> None:
    records: list[CallRecord] = []

    async def on_call(record: CallRecord) -> None:
        records.append(record)

    model = write_script(settings, "count", {"replies": [{"say": "x" * 36}]})
    token = door.admit(account(model, on_call=on_call))
    await ask(client, token, wire, request(wire, "y" * 72), stream=stream)
    (record,) = records
    assert (record.model, record.usage.tokens_in, record.usage.tokens_out) == (model, 20, 10)
    assert record.duration_seconds > 0


async def test_a_script_that_knows_no_answer_says_so_without_being_asked_again(
    settings: Settings, door: Door, client: httpx2.AsyncClient
) -> None:
    model = write_script(settings, "none", {"when": {"role": "plan"}, "replies": [{"say": "x"}]})
    token = door.admit(account(model))
    refused = await client.post(
        PATHS["messages"], json=request("messages", "Go"), headers=headers("messages", token)
    )
    assert refused.status_code == 400
    assert "no turn for role 'build'" in refused.json()["error"]["message"]
