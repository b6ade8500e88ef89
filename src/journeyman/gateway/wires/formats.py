"""Every wire format by its name."""

from typing import Any

from journeyman.gateway.wires import generate, messages, responses
from journeyman.gateway.wires.base import Wire, WireFormat
from journeyman.gateway.wires.chat import format as chat

FORMATS: dict[Wire, WireFormat] = {
    "chat": chat.FORMAT,
    "responses": responses.FORMAT,
    "messages": messages.FORMAT,
    "generate": generate.FORMAT,
}


def error_body(wire: Wire, status: int, message: str, *, code: str = "") -> dict[str, Any]:
    """An error in the shape of the format's own provider: any other a client takes for a broken connection,
    and tries again."""
    return FORMATS[wire].error_body(status, message, code)
