"""Parts that some tests need and a fresh clone does not have yet.

Without its part a test is skipped and says how to get it, so that bare `pytest` works at once. In continuous
integration (`CI` is set) nothing is skipped: there a missing part fails the tests that need it.
"""

import shutil
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

import pytest

from tests.agents.installed import INSTALLED
from tests.house.source import ROOT

_PROGRAMS = ("claude_code", "opencode", "codex", "gemini")
"""Agents that others make, each in a directory of its name."""
_AS_PARAMETER = {name: name for name in _PROGRAMS} | {"acp": "opencode"}
_RUN_PROGRAMS = ("tests/agents/", "tests/contracts/", "tests/hostile/", "tests/journeys/")
_ALWAYS = {
    "tests/agents/test_acp.py": ("gemini",),
    "tests/hostile/test_agent_configuration.py": ("opencode",),
    "tests/journeys/test_agents.py": _PROGRAMS,
}
"""Files whose tests need programs that no parameter names."""


def parameters_of(item: pytest.Item) -> Mapping[str, object]:
    """What a test is parametrized with, by its own marks and by its fixtures."""
    return item.callspec.params if isinstance(item, pytest.Function) and hasattr(item, "callspec") else {}


def missing_parts(
    path: str, parameters: Collection[object], *, checkout: Path = ROOT, agents: Path = INSTALLED
) -> Iterator[str]:
    """Why a test cannot run here. `path` is that of its file, seen from the root of the checkout."""
    if (
        path.startswith(("tests/web/", "tests/packaging/"))
        and not (checkout / "web" / "node_modules").is_dir()
    ):
        yield "the packages of the web UI are not installed; run `make web`"
    if path.startswith("tests/web/") and not find_chromium():
        yield "there is no Chromium; run `make setup`"
    needed = set(_ALWAYS.get(path, ()))
    if path.startswith(_RUN_PROGRAMS):
        needed |= {_AS_PARAMETER[one] for one in parameters if isinstance(one, str) and one in _AS_PARAMETER}
    if absent := sorted(name for name in needed if not (agents / name).is_dir()):
        yield f"agents that others make are not installed ({', '.join(absent)}); run `make setup`"


def find_chromium() -> str | None:
    return shutil.which("chromium") or shutil.which("google-chrome")
