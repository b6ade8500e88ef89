"""A workspace goes only when what lies in it is kept elsewhere."""

from dataclasses import replace
from pathlib import Path

import pytest

from journeyman.database import Database
from journeyman.engine.resources import WorkerResources
from journeyman.engine.store import Bundle
from journeyman.engine.transitions import suspend
from journeyman.errors import Conflict, Superseded
from journeyman.events import log
from journeyman.work_orders.order import WorkOrder
from tests.git.repositories import make_repository
from tests.work_orders.orders import an_order


@pytest.fixture
async def order(resources: WorkerResources, tmp_path: Path) -> WorkOrder:
    """An order that has ended, with something left in its workspace."""
    repository = make_repository(tmp_path / "source")
    order = an_order(repository_url=repository.as_uri(), status="running")
    await resources.orders.create(order)
    _, workspace = await resources.checkout.prepare(order)
    (workspace.tree / "left.txt").write_text("left\n")
    return await resources.orders.change(order.agent_work_order_id, status="failed")


async def test_what_an_order_left_is_kept_before_its_workspace_goes(
    resources: WorkerResources, order: WorkOrder
) -> None:
    await resources.teardown.sweep()
    assert resources.workspaces.on_disk.found() == []
    mirror = resources.repositories.mirror(order)
    [snapshot] = (await mirror.refs("refs/journeyman/snapshots/")).values()
    assert await mirror.file_at(snapshot, "left.txt") == b"left\n"


async def test_a_workspace_whose_work_cannot_be_kept_stays_and_the_order_says_so(
    resources: WorkerResources, order: WorkOrder, database: Database
) -> None:
    mirror = resources.repositories.mirror(order)
    (mirror.path / "objects").rename(mirror.path / "gone")
    assert not await resources.teardown.tear_down(order)
    assert resources.workspaces.on_disk.found() == [order.agent_work_order_id]
    tree = resources.settings.home / "workspaces" / order.agent_work_order_id / "tree"
    assert (tree / "left.txt").read_text() == "left\n"
    [told] = await log.read(database, order.agent_work_order_id, after=1)
    assert told.event.type == "sandbox_cleanup_failed"
    (mirror.path / "gone").rename(mirror.path / "objects")
    assert await resources.teardown.tear_down(order)
    assert resources.workspaces.on_disk.found() == []


async def test_an_order_that_went_on_since_it_was_seen_keeps_what_it_works_with(
    resources: WorkerResources, order: WorkOrder
) -> None:
    order_id = order.agent_work_order_id
    seen = await resources.orders.change(order_id, status="pending")
    await resources.orders.change(order_id, status="running", worker_id="worker-1")
    with pytest.raises(Superseded):
        await suspend(resources.orders, resources.teardown, order_id, "cancelled", if_still=seen)
    assert resources.workspaces.on_disk.found() == [order_id]
    assert (await resources.orders.get(order_id)).status == "running"


async def test_files_that_another_worker_has_gone_on_from_do_not_replace_its_work(
    resources: WorkerResources, order: WorkOrder
) -> None:
    order_id = order.agent_work_order_id
    shared = replace(resources, handover=replace(resources.handover, is_shared=True))
    theirs = Bundle("worker-2", {"refs/heads/x": "0" * 40}, b"newer")
    await shared.claims.save_bundle(shared.orders, order_id, theirs)
    seen = await shared.orders.change(order_id, status="pending", snapshot_ref="refs/journeyman/snapshots/n")
    await suspend(shared.orders, shared.teardown, order_id, "cancelled", if_still=seen)
    assert shared.workspaces.on_disk.found() == []
    assert await shared.claims.bundle(order_id) == theirs
    assert (await shared.orders.get(order_id)).snapshot_ref == seen.snapshot_ref


async def test_a_workspace_of_an_order_that_nobody_knows_stays(resources: WorkerResources) -> None:
    stray = resources.settings.home / "workspaces" / "wo-stray000" / "tree"
    stray.mkdir(parents=True)
    await resources.teardown.sweep()
    assert stray.is_dir()


async def test_an_order_that_goes_on_keeps_its_workspace_from_being_cleared_away(
    resources: WorkerResources, order: WorkOrder
) -> None:
    await resources.orders.change(order.agent_work_order_id, status="pending")
    with pytest.raises(Conflict):
        await resources.teardown.clear_away(order)
    assert resources.workspaces.on_disk.found() == [order.agent_work_order_id]


async def test_one_workspace_that_resists_does_not_keep_the_sweep_from_the_others(
    resources: WorkerResources, order: WorkOrder
) -> None:
    directory = resources.settings.home / "workspaces"
    (directory / "wo-0afile0").write_text("named like an order")
    (directory / "wo-0dangle").symlink_to("nowhere")
    (directory / ".checkouts" / "of-a-killed-server").mkdir(parents=True)
    await resources.teardown.sweep()
    assert order.agent_work_order_id not in resources.workspaces.on_disk.found()
    assert list((directory / ".checkouts").iterdir()) == []
    assert (directory / "wo-0afile0").exists()
