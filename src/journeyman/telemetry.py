"""Structured logs: pretty on a terminal, JSON lines elsewhere, and a file per order under the home.

Event names are those of the events, so that a log line and an event can be matched by eye. Secrets are taken
out of whole lines, whoever wrote them: what a library warns of comes through here too.
"""

import json
import logging
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, TextIO, cast

import structlog

Level = Literal["debug", "info", "warning", "error"]

_log_directory: Path | None = None
_redact: Callable[[str], str] = str


def configure_logging(
    *,
    home: Path | None,
    log_format: Literal["auto", "console", "json"] = "auto",
    redact: Callable[[str], str] = str,
    stream: TextIO | None = None,
) -> None:
    """Set up logging for this process; the last call wins."""
    global _log_directory, _redact
    _redact = redact
    _log_directory = home / "logs" if home else None
    if _log_directory:
        _log_directory.mkdir(parents=True, exist_ok=True)
    out = cast(TextIO, _BestEffort(stream or sys.stderr))
    pretty = log_format == "console" or (log_format == "auto" and out.isatty())
    renderer: structlog.typing.Processor = (
        structlog.dev.ConsoleRenderer(colors=out.isatty()) if pretty else structlog.processors.JSONRenderer()
    )

    shared: list[structlog.typing.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
    ]

    def render(log: Any, name: str, entry: structlog.typing.EventDict) -> str:
        return redact(str(renderer(log, name, entry)))

    structlog.configure(
        processors=[*shared, render],
        logger_factory=structlog.PrintLoggerFactory(out),
        cache_logger_on_first_use=False,
    )
    # What libraries and asyncio log has the same form: who reads the log as JSON can read all of it.
    logging.basicConfig(level=logging.WARNING, stream=out, force=True)
    logging.captureWarnings(True)
    remove_meta = structlog.stdlib.ProcessorFormatter.remove_processors_meta
    formatter = structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=[structlog.stdlib.add_logger_name, *shared], processors=[remove_meta, render]
    )
    for handler in logging.root.handlers:
        handler.setFormatter(formatter)


def log_through_root(name: str) -> None:
    """Let a library that brings a handler of its own write in the form of all others."""
    found = logging.getLogger(name)
    found.handlers.clear()
    found.propagate = True


class _BestEffort:
    """A stream that may lie on a full disk: what cannot be logged must not stop what it is about."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        with suppress(OSError):
            self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        with suppress(OSError):
            self._stream.flush()

    def isatty(self) -> bool:
        return self._stream.isatty()


def logger() -> Any:
    return structlog.get_logger()


def log_for_order(order_id: str, event: str, *, level: Level = "info", **fields: Any) -> None:
    """A line in the server's log and in the order's own file."""
    getattr(logger(), level)(event, agent_work_order_id=order_id, **fields)
    if _log_directory is None:
        return
    entry = {
        "timestamp": datetime.now(UTC).isoformat(),
        "level": level,
        "event": event,
        "agent_work_order_id": order_id,
        **fields,
    }
    line = _redact(json.dumps(entry, ensure_ascii=False, default=str)) + "\n"
    try:
        # Without Python's file objects, which take three times as long for a single line.
        file = os.open(f"{_log_directory}/{order_id}.jsonl", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
        try:
            os.write(file, line.encode())
        finally:
            os.close(file)
    except OSError as error:
        # The file repeats what the events tell; a full disk must not stop what it is only a copy of.
        logger().warning("order_log_not_written", agent_work_order_id=order_id, error=str(error))
