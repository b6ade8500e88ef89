"""An agent that speaks the Agent Client Protocol and floods whoever listens. It is run in the jail.

python3 flooding_agent.py line|words|tools MEGABYTES
"""

import json
import sys
from typing import Any

KILOBYTE = "word " * 200


def send(message: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")


def update(kind: str, **fields: Any) -> None:
    told = {"sessionId": "flood", "update": {"sessionUpdate": kind, **fields}}
    send({"method": "session/update", "params": told})


def flood(kind: str, megabytes: int) -> None:
    if kind == "line":
        for _ in range(megabytes):
            sys.stdout.write("x" * 1_000_000)
        return
    for number in range(megabytes * 1000):
        if kind == "words":
            update("agent_message_chunk", content={"type": "text", "text": KILOBYTE})
        else:
            update("tool_call", toolCallId=f"t{number}", title=KILOBYTE, status="in_progress")


def main() -> None:
    kind, megabytes = sys.argv[1], int(sys.argv[2])
    for line in sys.stdin:
        request = json.loads(line)
        result: dict[str, Any] = {}
        if request["method"] == "initialize":
            result = {"protocolVersion": 1, "agentCapabilities": {}}
        elif request["method"] == "session/new":
            result = {"sessionId": "flood"}
        elif request["method"] == "session/prompt":
            flood(kind, megabytes)
            result = {"stopReason": "end_turn"}
        send({"id": request["id"], "result": result})
        sys.stdout.flush()


if __name__ == "__main__":
    main()
