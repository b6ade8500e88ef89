"""Put the web UI into what is packaged, so that whoever installs it needs no Node.js.

An editable install is a checkout: there `make run` builds it.
"""

import subprocess
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class WebUi(BuildHookInterface):
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version != "editable":
            subprocess.run([Path(self.root) / "scripts" / "web.sh"], check=True)
