"""Chat completions as one of the wire formats."""

from journeyman.gateway.wires.base import WireFormat
from journeyman.gateway.wires.chat.answers import ChatWriter, pieces, read_frame
from journeyman.gateway.wires.chat.requests import REQUEST_RULES, output_limit, read_messages, read_tools
from journeyman.gateway.wires.openai import openai_error_body

FORMAT = WireFormat(
    title="OpenAI's chat completions",
    request_rules=REQUEST_RULES,
    output_limit=output_limit,
    read_messages=read_messages,
    read_tools=read_tools,
    read_frame=read_frame,
    pieces=pieces,
    writer=ChatWriter,
    error_body=openai_error_body,
)
