"""Whose turn in the workspace it is, and what it begins with."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest
from pydantic import BaseModel

from journeyman.engine.resources import WorkerResources
from journeyman.steps.write_access import WriteAccess
from journeyman.workflows.schema import StepSpec
from tests.git.repositories import make_repository
from tests.work_orders.orders import an_order


@pytest.fixture
async def access(resources: WorkerResources, tmp_path: Path) -> WriteAccess:
    """Of a shell step with a time limit."""
    order = an_order(repository_url=make_repository(tmp_path / "source").as_uri(), status="running")
    await resources.orders.create(order)
    await resources.checkout.prepare(order)
    order = await resources.orders.get(order.agent_work_order_id)
    spec = StepSpec(name="gen", kind="shell", command="ls", timeout=60)

    async def save(_: BaseModel) -> None:
        raise AssertionError("nothing ends here")

    context = await resources.step_contexts.build(order, spec, {}, asyncio.timeout(None), save)
    return context.write_access


def step(access: WriteAccess, name: str, kind: str) -> WriteAccess:
    spec = access.spec.model_copy(update={"name": name, "kind": kind})
    return replace(access, spec=spec)


async def test_waiting_for_the_turn_does_not_count_towards_the_time_limit(access: WriteAccess) -> None:
    waited = asyncio.Event()

    async def take_turn() -> float | None:
        async with asyncio.timeout(60) as limit:
            waited.set()
            async with replace(access, time_limit=limit).exclusive():
                return limit.when()

    async with access.lock:
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
    access: WriteAccess, name: str, kind: str, stays: bool
) -> None:
    async with asyncio.timeout(None) as limit:
        building = step(replace(access, time_limit=limit), "build", "build")
        async with building.exclusive():
            (access.workspace.tree / "half.txt").write_text("half\n")
        async with step(building, name, kind).exclusive():
            assert (access.workspace.tree / "half.txt").exists() is stays
    order = await access.orders.get(access.order_id)
    assert order.last_writer == f"1/{name}"
    assert (order.snapshot_ref is None) is stays


async def test_a_command_begins_again_from_the_tree_it_began_with(access: WriteAccess) -> None:
    async with asyncio.timeout(None) as limit:
        shell = replace(access, time_limit=limit)
        for _ in range(2):
            async with shell.exclusive():
                assert not (access.workspace.tree / "half.txt").exists()
                (access.workspace.tree / "half.txt").write_text("half\n")


async def test_what_nobody_of_the_order_wrote_is_left_to_the_first_who_writes(access: WriteAccess) -> None:
    """As where a person changes files while the order is paused."""
    (access.workspace.tree / "mine.txt").write_text("mine\n")
    async with asyncio.timeout(None) as limit, replace(access, time_limit=limit).exclusive():
        assert (access.workspace.tree / "mine.txt").exists()
