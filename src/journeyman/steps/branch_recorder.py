"""Record what a step does to the order's branch: commits and snapshots, each with its event.

A snapshot is taken at least every 30 s while an agent writes, so that no crash costs more than that.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from pydantic import BaseModel

from journeyman import telemetry
from journeyman.errors import DiskQuotaExceeded, JourneymanError
from journeyman.events import log
from journeyman.events.types import (
    FileLeftOut,
    GitCommitCreated,
    GitCommitStarted,
    GitFilesLeftOut,
    GitSnapshotCreated,
    Phase,
)
from journeyman.forges.base import Person
from journeyman.git.commits import CommitMessage
from journeyman.git.policy import CommitPolicy
from journeyman.git.trees import LeftOut
from journeyman.git.workspace import Workspace
from journeyman.settings import Settings
from journeyman.work_orders.lifecycle import outdated
from journeyman.work_orders.order import WorkOrder
from journeyman.work_orders.store import DecidedChange, OrderChanges, WorkOrders
from journeyman.workflows.schema import StepSpec

_MOST_LEFT_OUT = 50
"""Files that are named; of any more only the number is given."""
_SNAPSHOT_EVERY_SECONDS = 25.0
"""Below the promise of at most 30 s of lost work, by the time that a snapshot takes."""
_CUT_OFF_SECONDS = 1.5
"""Time for the snapshot of a turn that is cut off: a person waits for the answer, and the files stay."""


@dataclass(frozen=True, kw_only=True)
class BranchRecorder:
    settings: Settings
    orders: WorkOrders
    order: WorkOrder
    spec: StepSpec
    workspace: Workspace
    author: Person
    keep: Callable[[], Awaitable[None]]
    """Saves what is committed or snapshotted by now where another machine finds it."""
    save_output: Callable[[BaseModel], Awaitable[None]]
    """Saves the step's result before its last effect, for a repeat that finds the effect done."""

    @property
    def order_id(self) -> str:
        return self.order.agent_work_order_id

    async def commit(
        self,
        phase: Phase,
        subject: str,
        *,
        body: str = "",
        subtask: int | None = None,
        records: Mapping[str, bytes] | None = None,
    ) -> str | None:
        """Commit what changed, with what the platform itself has to record. None when nothing changed."""
        records = {
            f".journeyman/{self.order_id}/{name}": content for name, content in (records or {}).items()
        }
        in_tree = records if self.settings.records == "tree" else {}
        message = CommitMessage(
            subject=subject,
            body=body,
            order_id=self.order_id,
            phase=phase,
            step=self.spec.name,
            subtask=subtask,
            round=self.order.round,
        )
        await self.orders.emit(self.order_id, GitCommitStarted(phase=phase, step=self.spec.name))
        left_out: list[LeftOut] = []
        commit_sha = await self.workspace.commit(
            message,
            author=self.author,
            records=in_tree,
            policy=CommitPolicy.of(self.settings),
            on_left_out=left_out.extend,
        )
        await self._emit_left_out(left_out)
        if records and not in_tree:
            await self.workspace.annotate(commit_sha or await self.workspace.head(), records)
        if commit_sha is None:
            return None
        await self.keep()
        progress = await self.workspace.mirror.progress(
            self.order_id, self.order.git_branch_name, self.workspace.base_commit_sha
        )
        created = GitCommitCreated(
            commit_sha=commit_sha,
            message=subject,
            phase=phase,
            step=self.spec.name,
            git_commit_count=progress.git_commit_count,
            git_files_changed=progress.git_files_changed,
            git_lines_added=progress.git_lines_added,
            git_lines_removed=progress.git_lines_removed,
        )

        def decide(now: WorkOrder) -> DecidedChange:
            verification = now.verification if records else outdated(now.verification)
            changes: OrderChanges = {"snapshot_ref": None, "verification": verification}
            changes.update(progress.counts)
            return [created], changes

        await self.orders.change_with(self.order_id, decide)
        return commit_sha

    async def files_left_out(self) -> GitFilesLeftOut | None:
        """What the newest commit did not take in."""
        last = await log.last_of(self.orders.database, self.order_id, "git_files_left_out")
        return last.event if last is not None and isinstance(last.event, GitFilesLeftOut) else None

    async def _emit_left_out(self, left_out: Sequence[LeftOut]) -> None:
        files = [FileLeftOut(path=one.shown_path, size=one.size, reason=one.reason) for one in left_out]
        known = await self.files_left_out()
        found = GitFilesLeftOut(step=self.spec.name, count=len(files), files=files[:_MOST_LEFT_OUT])
        if (known.count, known.files) != (found.count, found.files) if known else files:
            await self.orders.emit(self.order_id, found)

    @asynccontextmanager
    async def snapshots(self, may_write: bool) -> AsyncIterator[None]:
        """Take snapshots while an agent writes, and a last one where its turn breaks off."""
        if not may_write:
            yield
            return
        ticking = asyncio.create_task(self._keep_taking_snapshots())
        try:
            yield
        except asyncio.CancelledError:
            ticking.cancel()  # one that is being taken holds the workspace's lock
            await asyncio.gather(ticking, return_exceptions=True)
            await self._try_snapshot(within=_CUT_OFF_SECONDS)
            raise
        except DiskQuotaExceeded:
            raise  # too much for a snapshot of everything; what fits is kept when the order is torn down
        except BaseException:
            await self._try_snapshot()
            raise
        finally:
            ticking.cancel()
            await asyncio.gather(ticking, return_exceptions=True)

    async def _keep_taking_snapshots(self) -> None:
        while True:
            await asyncio.sleep(_SNAPSHOT_EVERY_SECONDS)
            await self._try_snapshot()

    async def _try_snapshot(self, *, within: float | None = None) -> None:
        """A fault must neither end the snapshots to come nor hide why a turn broke off: the files stay."""
        try:
            await self._take_snapshot(within)
        except (JourneymanError, OSError) as error:
            telemetry.log_for_order(
                self.order_id, "git_snapshot_failed", level="warning", error_message=str(error)
            )

    async def _take_snapshot(self, within: float | None) -> None:
        snapshot = await self.workspace.snapshot(within=within)
        if snapshot is not None:
            await self.keep()
            taken = GitSnapshotCreated(ref=snapshot.ref, commit_sha=snapshot.commit_sha)
            await self.orders.change(self.order_id, taken, snapshot_ref=snapshot.ref)
