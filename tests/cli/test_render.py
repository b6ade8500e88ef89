"""What a person who watches an order sees of its checks."""

import io
from typing import Any

from rich.console import Console

from journeyman.cli.render import EventRenderer


def shown(**event: Any) -> str:
    console = Console(file=io.StringIO(), width=400)
    EventRenderer(console).render(event)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_what_a_check_lacks_is_shown_with_what_helps() -> None:
    fault = {"what": "no freezegun", "remedy": "Declare it.", "who": "maintainer", "command": "pip install x"}
    said = shown(
        type="verification_attempt_completed",
        attempt=1,
        passed=None,
        summary="not verified: pytest: no freezegun",
        checks=[{"name": "pytest", "faults": [fault]}, {"name": "ruff", "status": "passed"}],
    )
    assert "○ checks, attempt 1: not verified: pytest: no freezegun" in said
    assert "! no freezegun. Declare it. pip install x" in said
