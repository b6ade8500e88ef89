"""Model calls kept per order, when the operator wants them, and played again as a script.

A recording is JSON lines in the home, one for each answered call, without secrets. `scripted/<order id>`
plays it: the same role with the same prompt gets the same answers, whatever it costs to get new ones.
"""

import asyncio
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

from journeyman.access.redaction import Redactor
from journeyman.errors import InvalidInput
from journeyman.gateway.accounts import Account
from journeyman.gateway.messages import AssistantMessage, Message, UserMessage
from journeyman.gateway.scripts import Reply, Script, ScriptedCall, ScriptedTurn, When, load_script
from journeyman.settings import Settings

_ORDER_ID = re.compile(r"wo-[0-9a-z]{8}")


def recordings_in(home: Path) -> Path:
    return home / "model-calls"


class Recorder:
    """Keeps nothing unless the settings say so."""

    def __init__(self, settings: Settings, redactor: Redactor) -> None:
        self.is_on = settings.keep_model_calls
        self._directory = recordings_in(settings.home)
        self._redactor = redactor
        self._writing = asyncio.Lock()

    async def keep(
        self,
        account: Account,
        messages: Sequence[Message],
        request: Mapping[str, Any],
        answer: AssistantMessage,
    ) -> None:
        """`messages` are those since the last prompt; `request` is whatever else was asked."""
        if not self.is_on:
            return
        prompt = next((message.text for message in messages if isinstance(message, UserMessage)), "")
        record = {
            "at": datetime.now(UTC).isoformat(),
            "round": account.round,
            "step": account.step,
            "role": account.role,
            "agent": account.agent,
            "model": account.model,
            "prompt": prompt,
            "answers": sum(isinstance(message, AssistantMessage) for message in messages),
            "request": request,
            "say": answer.text,
            "tools": [{"name": call.tool, "arguments": call.arguments} for call in answer.calls],
        }
        line = self._redactor.redact(json.dumps(record, ensure_ascii=False, default=str))
        async with self._writing:
            await asyncio.to_thread(self._append, account.order_id, line)

    def _append(self, order_id: str, line: str) -> None:
        self._directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        with (self._directory / f"{order_id}.jsonl").open("a", encoding="utf-8") as file:
            file.write(line + "\n")


def script_named(name: str, settings: Settings) -> Script:
    """A script of the operator's, a bundled one, or the recording of the order with this id."""
    path = recordings_in(settings.home) / f"{name}.jsonl"
    if _ORDER_ID.fullmatch(name) and path.is_file():
        return recorded_script(path)
    return load_script(name, settings.scripts)


def recorded_script(path: Path) -> Script:
    """The script that plays a recording. A changed file is read anew."""
    status = path.stat()
    return _read(path, status.st_mtime_ns, status.st_size)


@lru_cache(maxsize=16)
def _read(path: Path, changed: int, size: int) -> Script:
    try:
        records = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        return script_of(records)
    except (ValueError, KeyError, TypeError) as error:
        raise InvalidInput(
            f"the recording {path} cannot be read: {error}", hint="Remove the line that is broken."
        ) from None


def script_of(records: Iterable[Mapping[str, Any]]) -> Script:
    """One turn for each role and prompt, its answers in their order. A call made twice counts as its last."""
    turns: dict[tuple[str, str], dict[int, Reply]] = {}
    for record in records:
        replies = turns.setdefault((record["role"], record["prompt"]), {})
        replies[record["answers"]] = _reply(record)
    return Script(
        turns=[
            ScriptedTurn(
                when=When(role=role, contains=rf"\A{re.escape(prompt)}\Z"),
                replies=[replies[place] for place in sorted(replies)],
            )
            for (role, prompt), replies in turns.items()
        ]
    )


def _reply(record: Mapping[str, Any]) -> Reply:
    try:
        calls = {call["name"]: json.loads(call["arguments"]) for call in record["tools"]}
    except ValueError:
        return Reply(say=_literal(record["say"]), fault="malformed_tool_call")
    tools = [
        ScriptedCall(name=call["name"], arguments=_literal(json.loads(call["arguments"])))
        for call in record["tools"]
        if call["name"] != "deliver"
    ]
    said, delivered = _literal(record["say"]), _literal(calls.get("deliver"))
    if not (said or tools or delivered):
        return Reply(fault="empty")
    return Reply(say=said, tools=tools, deliver=delivered)


def _literal(value: Any) -> Any:
    """What was said, as a script says it: what looks like a template is none."""
    if isinstance(value, dict):
        return {key: _literal(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_literal(inner) for inner in value]
    if isinstance(value, str) and ("{{" in value or "{%" in value):
        return "{% raw %}" + value + "{% endraw %}"
    return value
