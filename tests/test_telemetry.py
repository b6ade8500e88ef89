"""The logs: they tell what happens, and never stand in its way."""

import io
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
