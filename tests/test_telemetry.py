"""The logs: they tell what happens, and never stand in its way."""

import io
import logging
import shutil
from pathlib import Path

from journeyman import telemetry


def test_an_orders_log_that_cannot_be_written_stops_nothing(home: Path) -> None:
    said = io.StringIO()
    telemetry.configure(home=home, log_format="json", stream=said)
    shutil.rmtree(home / "logs")
    telemetry.log_for_order("wo-1a2b3c4d", "step_started", step="build")
    assert '"event": "step_started"' in said.getvalue()
    assert "order_log_not_written" in said.getvalue()


def test_no_secret_gets_into_a_log_whoever_writes_it(home: Path) -> None:
    said = io.StringIO()
    telemetry.configure(
        home=home, log_format="json", stream=said, redact=lambda text: text.replace("hush-hush", "…")
    )
    telemetry.log_for_order("wo-1a2b3c4d", "step_completed", output={"summary": ["it is hush-hush"]})
    logging.getLogger("some.library").warning("cannot reach %s", "https://me:hush-hush@example.org")
    told = said.getvalue() + (home / "logs" / "wo-1a2b3c4d.jsonl").read_text()
    assert told.count("it is …") == 2
    assert "https://me:…@example.org" in told
    assert "hush-hush" not in told
