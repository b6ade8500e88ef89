"""`jm doctor` looks at what the server would meet, and names what is wrong with what to do."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.damage import of_a_newer_version, overwritten_page, used_home
from tests.cli.jm import Terminal


async def findings(home: Path, **environment: str) -> dict[str, list[dict[str, Any]]]:
    done = await Terminal(home).run("doctor", "--json", environment=environment)
    assert done.err == ""
    found: dict[str, list[dict[str, Any]]] = {}
    for one in json.loads(done.out)["checks"]:
        found.setdefault(one["name"], []).append(one)
    return found


@pytest.fixture
def mounted(home: Path) -> Iterator[Path]:
    home.chmod(0o755)
    aside = home / "workspaces" / ".trash" / "set-aside-wo-1-2"
    aside.mkdir(parents=True)
    subprocess.run(["mount", "-t", "tmpfs", "none", aside], check=True)
    yield aside
    subprocess.run(["umount", aside], check=True)


@pytest.mark.as_root
async def test_what_is_wrong_with_home_database_and_sandbox_is_named(home: Path, mounted: Path) -> None:
    overwritten_page(used_home(home) / "journeyman.db")
    found = await findings(home, JOURNEYMAN_SANDBOX_PATHS="/usr:/nowhere/to/be/found")
    assert "/nowhere/to/be/found" in found["sandbox"][0]["hint"]
    assert (found["home"][0]["state"], "chmod 700" in found["home"][0]["hint"]) == ("optional", True)
    assert found["database"][0]["state"] == "missing"
    assert "backup" in found["database"][0]["hint"]
    assert str(mounted.parent) in found["leftovers"][0]["detail"]


async def test_agents_are_named_with_version_and_keys(home: Path) -> None:
    of_a_newer_version(used_home(home) / "journeyman.db")
    found = await findings(home, ANTHROPIC_API_KEY="sk-none")
    builtin, claude = found["agent"][:2]
    assert (builtin["state"], builtin["detail"]) == ("good", "builtin, with models of anthropic")
    assert claude["detail"].startswith("claude_code ")
    assert "jm agents install" in claude["hint"]
    assert "newer" in found["database"][0]["detail"]
    assert not (home / "workspaces").exists(), "looking changes nothing"
