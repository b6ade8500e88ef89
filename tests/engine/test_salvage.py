"""A workspace goes only when what lies in it is kept elsewhere."""

from dataclasses import replace
from pathlib import Path

import pytest

from journeyman.database import Database
from journeyman.engine.store import Bundle
from journeyman.engine.transitions import suspend
from journeyman.engine.workshop import Workshop
from journeyman.errors import Conflict, Superseded
from journeyman.events import log
from journeyman.work_orders.order import WorkOrder
from tests.git.places import make_repository
from tests.work_orders.orders import an_order


@pytest.fixture
async def order(workshop: Workshop, tmp_path: Path) -> WorkOrder:
    """An order that has ended, with something left in its workspace."""
    repository = make_repository(tmp_path / "source")
    order = an_order(repository_url=repository.as_uri(), status="running")
    await workshop.orders.create(order)
    _, workspace = await workshop.prepare(order)
    (workspace.tree / "left.txt").write_text("left\n")
    return await workshop.orders.change(order.agent_work_order_id, status="failed")


async def test_what_an_order_left_is_kept_before_its_workspace_goes(
    workshop: Workshop, order: WorkOrder
) -> None:
    await workshop.sweep()
    assert workshop.workspaces.found() == []
    mirror = workshop.mirrors.at(workshop.repository(order))
    [snapshot] = (await mirror.refs("refs/journeyman/snapshots/")).values()
    assert await mirror.file_at(snapshot, "left.txt") == b"left\n"


async def test_a_workspace_whose_work_cannot_be_kept_stays_and_the_order_says_so(
    workshop: Workshop, order: WorkOrder, database: Database
) -> None:
    mirror = workshop.mirrors.at(workshop.repository(order))
    (mirror.path / "objects").rename(mirror.path / "gone")
    assert not await workshop.tear_down(order)
    assert workshop.workspaces.found() == [order.agent_work_order_id]
    tree = workshop.settings.home / "workspaces" / order.agent_work_order_id / "tree"
    assert (tree / "left.txt").read_text() == "left\n"
    [told] = await log.read(database, order.agent_work_order_id, after=1)
    assert told.event.type == "sandbox_cleanup_failed"
    (mirror.path / "gone").rename(mirror.path / "objects")
    assert await workshop.tear_down(order)
    assert workshop.workspaces.found() == []


async def test_an_order_that_went_on_since_it_was_seen_keeps_what_it_works_with(
    workshop: Workshop, order: WorkOrder
) -> None:
    order_id = order.agent_work_order_id
    seen = await workshop.orders.change(order_id, status="pending")
    await workshop.orders.change(order_id, status="running", worker_id="worker-1")
    with pytest.raises(Superseded):
        await suspend(workshop, order_id, "cancelled", if_still=seen)
    assert workshop.workspaces.found() == [order_id]
    assert (await workshop.orders.get(order_id)).status == "running"


async def test_files_that_another_worker_has_gone_on_from_do_not_replace_its_work(
    workshop: Workshop, order: WorkOrder
) -> None:
    order_id = order.agent_work_order_id
    shared = replace(workshop, is_shared=True)
    theirs = Bundle("worker-2", {"refs/heads/x": "0" * 40}, b"newer")
    await shared.claims.save_bundle(shared.orders, order_id, theirs)
    seen = await shared.orders.change(order_id, status="pending", snapshot_ref="refs/journeyman/snapshots/n")
    await suspend(shared, order_id, "cancelled", if_still=seen)
    assert shared.workspaces.found() == []
    assert await shared.claims.bundle(order_id) == theirs
    assert (await shared.orders.get(order_id)).snapshot_ref == seen.snapshot_ref


async def test_a_workspace_of_an_order_that_nobody_knows_stays(workshop: Workshop) -> None:
    stray = workshop.settings.home / "workspaces" / "wo-stray000" / "tree"
    stray.mkdir(parents=True)
    await workshop.sweep()
    assert stray.is_dir()


async def test_an_order_that_goes_on_keeps_its_workspace_from_being_cleared_away(
    workshop: Workshop, order: WorkOrder
) -> None:
    await workshop.orders.change(order.agent_work_order_id, status="pending")
    with pytest.raises(Conflict):
        await workshop.clear_away(order)
    assert workshop.workspaces.found() == [order.agent_work_order_id]


async def test_one_workspace_that_resists_does_not_keep_the_sweep_from_the_others(
    workshop: Workshop, order: WorkOrder
) -> None:
    directory = workshop.settings.home / "workspaces"
    (directory / "wo-0afile0").write_text("named like an order")
    (directory / "wo-0dangle").symlink_to("nowhere")
    (directory / ".checkouts" / "of-a-killed-server").mkdir(parents=True)
    await workshop.sweep()
    assert order.agent_work_order_id not in workshop.workspaces.found()
    assert list((directory / ".checkouts").iterdir()) == []
    assert (directory / "wo-0afile0").exists()
