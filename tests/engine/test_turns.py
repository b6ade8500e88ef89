"""Whose turn in the workspace it is, and what it begins with."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest
from pydantic import BaseModel

from journeyman.engine.resources import WorkerResources
from journeyman.steps.context import StepContext
from journeyman.workflows.schema import StepSpec
from tests.git.repositories import make_repository
from tests.work_orders.orders import an_order


@pytest.fixture
async def context(resources: WorkerResources, tmp_path: Path) -> StepContext:
    """What a shell step with a time limit is given."""
    order = an_order(repository_url=make_repository(tmp_path / "source").as_uri(), status="running")
    await resources.orders.create(order)
    await resources.checkout.prepare(order)
    order = await resources.orders.get(order.agent_work_order_id)
    spec = StepSpec(name="gen", kind="shell", command="ls", timeout=60)

    async def save(_: BaseModel) -> None:
        raise AssertionError("nothing ends here")

    return await resources.step_contexts.build(order, spec, {}, asyncio.timeout(None), save)


def step(context: StepContext, name: str, kind: str) -> StepContext:
    spec = context.spec.model_copy(update={"name": name, "kind": kind})
    return replace(context, spec=spec)


async def test_waiting_for_the_turn_does_not_count_towards_the_time_limit(context: StepContext) -> None:
    waited = asyncio.Event()

    async def take_turn() -> float | None:
        async with asyncio.timeout(60) as limit:
            waited.set()
            async with replace(context, time_limit=limit).writing():
                return limit.when()

    async with context.workspace_lock:
        turn = asyncio.create_task(take_turn())
        await waited.wait()
        await asyncio.sleep(0)
        freed = asyncio.get_running_loop().time()
    ends = await turn
    assert ends is not None
    assert ends >= freed + 60


@pytest.mark.parametrize(
    ("name", "kind", "stays"),
    [
        ("build", "build", True),
        ("verify", "verify", False),
        ("other", "build", False),
        ("gen", "shell", False),
    ],
)
async def test_only_the_agent_that_was_cut_off_goes_on_with_its_files(
    context: StepContext, name: str, kind: str, stays: bool
) -> None:
    async with asyncio.timeout(None) as limit:
        building = step(replace(context, time_limit=limit), "build", "build")
        async with building.writing():
            (context.workspace.tree / "half.txt").write_text("half\n")
        async with step(building, name, kind).writing():
            assert (context.workspace.tree / "half.txt").exists() is stays
    order = await context.orders.get(context.order_id)
    assert order.last_writer == f"1/{name}"
    assert (order.snapshot_ref is None) is stays


async def test_a_command_begins_again_from_the_tree_it_began_with(context: StepContext) -> None:
    async with asyncio.timeout(None) as limit:
        shell = replace(context, time_limit=limit)
        for _ in range(2):
            async with shell.writing():
                assert not (context.workspace.tree / "half.txt").exists()
                (context.workspace.tree / "half.txt").write_text("half\n")


async def test_what_nobody_of_the_order_wrote_is_left_to_the_first_who_writes(context: StepContext) -> None:
    """As where a person changes files while the order is paused."""
    (context.workspace.tree / "mine.txt").write_text("mine\n")
    async with asyncio.timeout(None) as limit, replace(context, time_limit=limit).writing():
        assert (context.workspace.tree / "mine.txt").exists()
