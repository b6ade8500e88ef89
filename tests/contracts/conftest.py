"""Which contract tests wait for `--full`: those that start a slow program for a promise held elsewhere."""

import pytest

_AGENTS = "contracts/test_agents.py"
_ELSEWHERE = (
    # A superset of it is tests/hostile/test_agent_configuration.py.
    "test_configuration_that_the_repository_brings_is_ignored[",
    # The same way as for status 500, with another number.
    "test_a_fault_that_stays_is_raised_as_what_it_is[claude_code-reply1",
    "test_a_fault_that_stays_is_raised_as_what_it_is[opencode-reply1",
    "test_a_fault_that_stays_is_raised_as_what_it_is[codex-reply1",
    "test_a_fault_that_stays_is_raised_as_what_it_is[gemini-reply1",
)
_AGAIN = "[acp"
"""OpenCode once more, through a protocol that tests/agents/test_acp.py always speaks with another program."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    agents = [item for item in items if item.path.as_posix().endswith(_AGENTS)]
    for item in agents:
        if _AGAIN in item.name or item.name.startswith(_ELSEWHERE):
            item.add_marker(pytest.mark.lasting)
