"""The logs: they tell what happens, and never stand in its way."""

import contextlib
import io
import json
import logging
import shutil
from pathlib import Path

from journeyman import telemetry


def test_an_orders_log_that_cannot_be_written_stops_nothing(home: Path) -> None:
    said = io.StringIO()
    telemetry.configure_logging(home=home, log_format="json", stream=said)
    shutil.rmtree(home / "logs")
    telemetry.log_for_order("wo-1a2b3c4d", "step_started", step="build")
    assert '"event": "step_started"' in said.getvalue()
    assert "order_log_not_written" in said.getvalue()


def test_no_secret_gets_into_a_log_whoever_writes_it(home: Path) -> None:
    said = io.StringIO()
    telemetry.configure_logging(
        home=home, log_format="json", stream=said, redact=lambda text: text.replace("hush-hush", "…")
    )
    telemetry.log_for_order("wo-1a2b3c4d", "step_completed", output={"summary": ["it is hush-hush"]})
    logging.getLogger("some.library").warning("cannot reach %s", "https://me:hush-hush@example.org")
    told = said.getvalue() + (home / "logs" / "wo-1a2b3c4d.jsonl").read_text()
    assert told.count("it is …") == 2
    assert "https://me:…@example.org" in told
    assert "hush-hush" not in told


def test_what_libraries_log_is_json_too_and_without_secrets(home: Path) -> None:
    out = io.StringIO()
    telemetry.configure_logging(
        home=home, log_format="json", stream=out, redact=lambda text: text.replace("hunter2", "…")
    )
    try:
        raise KeyError("hunter2")
    except KeyError:
        logging.getLogger("asyncio").exception("Exception in callback %s", "watch()")
    [first] = [json.loads(line) for line in out.getvalue().splitlines()]
    assert (first["event"], first["level"], first["logger"]) == (
        "Exception in callback watch()",
        "error",
        "asyncio",
    )
    assert "KeyError" in first["exception"]
    assert "hunter2" not in out.getvalue()


def test_a_log_on_a_full_disk_stops_nothing(home: Path) -> None:
    full = open("/dev/full", "w", encoding="utf-8", buffering=1)  # noqa: SIM115 - it cannot be closed well
    telemetry.configure_logging(home=home, log_format="json", stream=full)
    telemetry.log_for_order("wo-1a2b3c4d", "step_started", step="build")
    with contextlib.suppress(OSError):
        full.close()
    assert "step_started" in (home / "logs" / "wo-1a2b3c4d.jsonl").read_text()


def test_a_library_with_a_handler_of_its_own_logs_in_the_same_form(home: Path) -> None:
    out, its_own = io.StringIO(), io.StringIO()
    library = logging.getLogger("library.with.a.handler")
    library.addHandler(logging.StreamHandler(its_own))
    library.propagate = False
    telemetry.configure_logging(home=home, log_format="json", stream=out)
    telemetry.log_through_root(library.name)
    library.warning("cancelled")
    assert json.loads(out.getvalue())["event"] == "cancelled"
    assert its_own.getvalue() == ""
