"""What every agent promises, whichever backend it is: one suite, in the real jail.

A backend joins by adding itself to `AGENTS`; the model behind it is scripted, the tools are real.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from journeyman.agents.base import (
    Agent,
    Assignment,
    Happening,
    ModelCalled,
    Outcome,
    RoleName,
    Said,
    ToolFinished,
    ToolStarted,
)
from journeyman.agents.builtin.agent import BuiltinAgent
from journeyman.agents.plan import Plan
from journeyman.agents.roles import ROLES
from journeyman.errors import AgentFailed, InvalidInput, Transient
from journeyman.gateway.gateway import Gateway
from journeyman.sandboxes.base import SandboxSpec
from journeyman.sandboxes.local import LocalSandboxes
from journeyman.settings import Settings
from tests.gateway.calls import settings_with, write_script
from tests.sandboxes.workshop import give_away

AGENTS: dict[str, Callable[[Settings], Agent]] = {
    "builtin": lambda settings: BuiltinAgent(Gateway(settings), settings, retry_base_seconds=0.01),
}


@dataclass
class Bench:
    agent: Agent
    settings: Settings
    sandboxes: LocalSandboxes
    tree: Path
    told: list[Happening] = field(default_factory=list)
    busy: asyncio.Event = field(default_factory=asyncio.Event)

    async def tell(self, *happenings: Happening) -> None:
        self.told += happenings
        if any(isinstance(happening, ToolStarted) for happening in happenings):
            self.busy.set()

    async def work(self, *replies: dict[str, Any], role: RoleName = "build", **more: Any) -> Outcome:
        give_away(self.tree, "wo-contract")
        model = write_script(self.settings, "contract", {"replies": list(replies)})
        spec = SandboxSpec(order_id="wo-contract", tree=self.tree, writable=ROLES[role].may_write)
        sandbox = await self.sandboxes.setup(spec)
        assignment = Assignment(**{"role": ROLES[role], "prompt": "Do it.", "model": model, **more})
        return await self.agent.work(assignment, sandbox, self.tell)


@pytest.fixture(params=AGENTS)
async def bench(request: pytest.FixtureRequest, home: Path, tmp_path: Path) -> AsyncIterator[Bench]:
    settings = settings_with(home)
    tree = tmp_path / "tree"
    tree.mkdir()
    sandboxes = LocalSandboxes(settings)
    agent = AGENTS[request.param](settings)
    assert agent.name == request.param
    yield Bench(agent, settings, sandboxes, tree)
    await sandboxes.close()


def shell(command: str) -> dict[str, Any]:
    return {"tools": [{"name": "shell", "arguments": {"command": command}}]}


async def test_an_agent_says_whether_it_is_ready(bench: Bench) -> None:
    readiness = await bench.agent.readiness()
    assert readiness.ready or readiness.needs


async def test_work_changes_files_and_ends_with_the_agents_last_words(bench: Bench) -> None:
    outcome = await bench.work(shell("echo made > made.txt"), {"say": "It is made."})
    assert (bench.tree / "made.txt").read_text() == "made\n"
    assert (outcome.stop_reason, outcome.text) == ("finished", "It is made.")


async def test_everything_that_happens_is_told(bench: Bench) -> None:
    outcome = await bench.work({"say": "I look.", **shell("exit 3")}, {"say": "Done."})
    started = next(each for each in bench.told if isinstance(each, ToolStarted))
    finished = next(each for each in bench.told if isinstance(each, ToolFinished))
    assert started.call_id == finished.call_id
    assert (finished.ok, finished.exit_code) == (False, 3)
    said = "".join(each.text for each in bench.told if isinstance(each, Said))
    assert said == "I look.Done."
    called = [each.usage for each in bench.told if isinstance(each, ModelCalled)]
    assert sum(usage.tokens_in for usage in called) == outcome.usage.tokens_in > 0


async def test_a_deliverable_comes_back_as_a_value(bench: Bench) -> None:
    plan = {"reasoning": "x", "subtasks": [{"title": "a", "instructions": "b"}]}
    outcome = await bench.work({"deliver": plan}, role="plan", deliverable=Plan)
    assert outcome.deliverable == Plan.model_validate(plan)


async def test_a_read_only_role_cannot_write_whatever_it_tries(bench: Bench) -> None:
    (bench.tree / "kept.txt").write_text("kept")
    write = {"tools": [{"name": "write_file", "arguments": {"path": "made.txt", "content": "x"}}]}
    await bench.work(shell("echo x > made.txt; rm -f kept.txt; true"), write, {"say": "Tried."}, role="plan")
    assert {path.name: path.read_text() for path in bench.tree.iterdir()} == {"kept.txt": "kept"}


async def test_an_endless_turn_is_ended_by_each_limit(bench: Bench) -> None:
    endless = {**shell("true"), "repeat": 1000}
    assert (await bench.work(endless, max_turns=2)).stop_reason == "turn_limit"
    assert (await bench.work(shell("sleep 600"), timeout_seconds=0.5)).stop_reason == "time_limit"


async def test_a_cancelled_turn_leaves_no_process_in_the_sandbox(bench: Bench) -> None:
    working = asyncio.create_task(bench.work(shell("sleep 600")))
    async with asyncio.timeout(30):
        await bench.busy.wait()
    working.cancel()
    with pytest.raises(asyncio.CancelledError):
        await working
    sandbox = await bench.sandboxes.setup(SandboxSpec(order_id="wo-contract", tree=bench.tree))
    done = await sandbox.execute_command("pgrep -x sleep", timeout=10)
    assert done.output == ""


async def test_a_refusal_is_not_taken_for_work(bench: Bench) -> None:
    assert (await bench.work({"say": "No.", "fault": "refusal"})).stop_reason == "refused"


async def test_a_fault_that_stays_is_raised_as_what_it_is(bench: Bench) -> None:
    with pytest.raises(Transient):
        await bench.work({"fault": "http_500", "repeat": 1000})
    with pytest.raises(AgentFailed):
        await bench.work({"say": "{{ broken"})
    with pytest.raises(InvalidInput):
        await bench.work({"say": "never asked"}, model="acme/none")
