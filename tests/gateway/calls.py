"""Asking a gateway in tests: scripts written as values, and a call's pieces gathered."""

from contextlib import aclosing
from pathlib import Path
from typing import Any

import yaml

from journeyman.gateway.gateway import Completion, Gateway, ModelCall
from journeyman.gateway.messages import Message, UserMessage
from journeyman.settings import Settings, load_settings


def write_script(settings: Settings, name: str, *turns: dict[str, Any]) -> str:
    """Write a script where the settings look for one; returns the model's name."""
    assert settings.scripts is not None
    path = settings.scripts / f"{name}.yaml"
    path.write_text(yaml.safe_dump({"turns": list(turns)}))
    return f"scripted/{name}"


def settings_with(home: Path, **environment: str) -> Settings:
    scripts = home / "scripts"
    scripts.mkdir(exist_ok=True)
    return load_settings({"JOURNEYMAN_HOME": str(home), "JOURNEYMAN_SCRIPTS": str(scripts), **environment})


def prompted(text: str) -> list[Message]:
    return [UserMessage(text)]


async def ask(
    gateway: Gateway, call: ModelCall, said: list[str] | None = None
) -> tuple[list[str], Completion]:
    """What was said and the answer; pass a list to keep what is said before a call fails."""
    said = [] if said is None else said
    async with aclosing(gateway.stream(call)) as pieces:
        async for piece in pieces:
            if isinstance(piece, Completion):
                return said, piece
            said.append(piece)
    raise AssertionError("the stream ended without an answer")
