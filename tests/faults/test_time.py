"""Time that jumps, and time that passes while the server stands still."""

import struct
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from journeyman.failpoints import Moment
from tests.faults.halting import halted, let_go_on
from tests.faults.oracle import told_of, violations
from tests.faults.stage import Customer, Stage
from tests.faults.waiting import wait_for
from tests.pace import slowdown

_HOUR = 3600


class Clock:
    """The wall clock of a process that is started with `environment`."""

    def __init__(self, directory: Path) -> None:
        self._offset, library = directory / "clock", directory / "clock.so"
        self.jump(0)
        source = Path(__file__).with_name("clock.c")
        subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source], check=True)
        self.environment = {"LD_PRELOAD": str(library), "FAULTS_CLOCK": str(self._offset)}

    def jump(self, seconds: int) -> None:
        """Be so many seconds ahead of the machine's clock."""
        self._offset.touch()
        with self._offset.open("r+b") as file:
            file.write(struct.pack("q", seconds))


def test_a_clock_that_jumps_an_hour_forth_and_back_changes_nothing(stage: Stage, tmp_path: Path) -> None:
    clock = Clock(tmp_path)
    customer = Customer(stage)
    with halted(customer, "tool_call_ended", 1, **clock.environment) as seen_through:
        before = len(events_of(customer))
        clock.jump(_HOUR)
        let_go_on(stage)
        wait_for(lambda: len(events_of(customer)) > before + 2, "something that happens in an hour")
        clock.jump(-_HOUR)
        order = seen_through.result()
    assert (order["status"], customer.retries) == ("completed", 0), order
    assert violations(customer) == []
    took = [one["duration_seconds"] for one in events_of(customer) if one["type"] == "step_completed"]
    assert max(took) < _HOUR / 2
    assert order["execution_completed_at"] < order["created_at"], "the clock did not jump at all"


def events_of(customer: Customer) -> list[dict[str, Any]]:
    return told_of(customer.stage, customer.order_id, customer.site.url).events


@pytest.mark.parametrize(
    ("moment", "seconds"),
    [
        ("tool_call_started", 3.0),
        pytest.param("push_sent", 3.0, marks=pytest.mark.lasting),
        pytest.param("tool_call_started", 45.0, marks=pytest.mark.lasting),
        pytest.param("push_sent", 45.0, marks=pytest.mark.lasting),
    ],
)
def test_a_server_that_was_frozen_for_longer_than_its_timeouts_goes_on(
    stage: Stage, moment: Moment, seconds: float
) -> None:
    longer = slowdown()
    short = {
        "JOURNEYMAN_SANDBOX_COMMAND_TIMEOUT_SECONDS": str(2 * longer),
        "JOURNEYMAN_MODEL_IDLE_TIMEOUT_SECONDS": str(longer),
        "JOURNEYMAN_VERIFICATION_TIMEOUT_SECONDS": str(2 * longer),
    }
    customer = Customer(stage)
    with halted(customer, moment, 1, **short) as seen_through:
        time.sleep(seconds * longer)  # this is the fault
        let_go_on(stage)
        order = seen_through.result()
    assert (order["status"], customer.retries) == ("completed", 0), order
    assert violations(customer) == []
