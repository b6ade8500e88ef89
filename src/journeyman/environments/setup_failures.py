"""Set-ups that failed a moment ago, so that ten orders of a repository do not wait for ten failures.

On disk, because several processes serve a home. It is forgotten soon: a registry comes back, and a person
allows a host, which is asked anew at once.
"""

import json
import time
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path

from journeyman.environments.setup_problems import SetupProblem

_SECONDS = 120.0


class RecentFailures:
    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def remember(self, key: str, problem: SetupProblem, hosts: tuple[str, ...]) -> None:
        with suppress(OSError):  # a full disk may be why it failed
            self._directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            about = {"problem": asdict(problem), "hosts": sorted(hosts), "at": time.time()}
            (self._directory / key).write_text(json.dumps(about))

    def recent(self, key: str, hosts: tuple[str, ...]) -> SetupProblem | None:
        """Why the same set-up failed with the same network, if that was just now."""
        try:
            about = json.loads((self._directory / key).read_text())
            if about["hosts"] != sorted(hosts) or time.time() - about["at"] > _SECONDS:
                return None
            return SetupProblem(**about["problem"])
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def forget(self, key: str) -> None:
        with suppress(OSError):
            (self._directory / key).unlink(missing_ok=True)
