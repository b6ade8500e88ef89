"""A test whose part is not installed says which, and how to get it."""

from pathlib import Path

import pytest

from tests.parts import missing_parts


@pytest.mark.parametrize(
    ("path", "parameters", "said"),
    [
        ("tests/web/test_quality.py", [], "make web"),
        ("tests/packaging/test_wheel.py", [], "make web"),
        ("tests/contracts/test_agents.py", ["codex"], "(codex)"),
        ("tests/contracts/test_agents.py", ["acp"], "(opencode)"),
        ("tests/agents/test_acp.py", [], "(gemini)"),
        ("tests/journeys/test_agents.py", ["codex"], "(claude_code, codex, gemini, opencode)"),
    ],
)
def test_a_missing_part_is_named(tmp_path: Path, path: str, parameters: list[str], said: str) -> None:
    [reason] = [
        one
        for one in missing_parts(path, parameters, checkout=tmp_path, agents=tmp_path)
        if "Chromium" not in one
    ]
    assert said in reason
    assert "run `make" in reason


@pytest.mark.parametrize(
    ("path", "parameters"),
    [
        ("tests/contracts/test_agents.py", ["builtin"]),
        ("tests/gateway/test_wire.py", ["gemini"]),
        ("tests/house/test_words.py", []),
    ],
)
def test_other_tests_need_nothing(tmp_path: Path, path: str, parameters: list[str]) -> None:
    assert list(missing_parts(path, parameters, checkout=tmp_path, agents=tmp_path)) == []
