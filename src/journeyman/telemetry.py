"""Structured logs: pretty on a terminal, JSON lines elsewhere, and a file per order under the home.

Log lines have the names of the events, so that the two can be matched. Secrets are redacted from whole lines,
those of libraries included.
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
    # Libraries and asyncio log in the same format, so that a log of JSON lines has no other lines.
    logging.basicConfig(level=logging.WARNING, stream=out, force=True)
    logging.captureWarnings(True)
    remove_meta = structlog.stdlib.ProcessorFormatter.remove_processors_meta
    formatter = structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=[structlog.stdlib.add_logger_name, *shared], processors=[remove_meta, render]
    )
    for handler in logging.root.handlers:
        handler.setFormatter(formatter)


def log_through_root(name: str) -> None:
    """Remove a library's own handlers, so that it logs in the same format."""
    found = logging.getLogger(name)
    found.handlers.clear()
    found.propagate = True


class _BestEffort:
    """A stream that may be on a full disk: a failure to log must not stop the work."""

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
        # Plain descriptors: Python's file objects take three times as long for a single line.
        file = os.open(f"{_log_directory}/{order_id}.jsonl", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
        try:
            os.write(file, line.encode())
        finally:
            os.close(file)
    except OSError as error:
        # The file is only a copy of the events; a full disk must not stop the work.
        logger().warning("order_log_not_written", agent_work_order_id=order_id, error=str(error))
