"""The working copies of orders: opened, removed and opened again without losing what an agent wrote.

A workspace can always be made again from the mirror: the branch has what was committed, the newest snapshot
what was not. The tree belongs to the agent; the git directory beside it belongs to us.
"""

import asyncio
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from journeyman.errors import Conflict, InvalidInput
from journeyman.files.removal import remove_tree
from journeyman.files.trash import TRASH, Trash
from journeyman.git.bases import Base, Bases
from journeyman.git.checkouts import Checkouts
from journeyman.git.faults import fault_of
from journeyman.git.locks import FileLock
from journeyman.git.mirror import Mirror
from journeyman.git.mirrors import ATTRIBUTES, EXCLUDED
from journeyman.git.overlay import mount_workspace, unmount_below
from journeyman.git.ownership import change_owner
from journeyman.git.refs import ORDERS, REMOTE_BRANCHES, SNAPSHOTS, checked_commit
from journeyman.git.run import GitResult, run_git
from journeyman.git.workspace import Workspace
from journeyman.sandboxes.identity import jail_uid
from journeyman.work_orders.order import check_branch_name

__all__ = ["Workspace", "Workspaces"]

_ORDER_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
_REF_FIELDS = "%(objectname) %(parent)%00%(trailers:key=Agent-Work-Order,valueonly)"


@dataclass(frozen=True)
class _Start:
    head: str
    snapshot: str | None


class Workspaces:
    def __init__(self, directory: Path, *, bases: Bases | None = None) -> None:
        """`bases`: shared checkouts, on which workspaces are overlays where the server may mount."""
        self._directory = directory.absolute()
        self._bases = bases
        self.trash = Trash(self._directory / TRASH, release=unmount_below)  # that waits for the disk
        self._locks: dict[str, FileLock] = {}
        self.checkouts = Checkouts(self._directory / ".checkouts", discard=self.trash.put)

    def exists(self, order_id: str) -> bool:
        return (self._directory_of(order_id) / "ready").exists()

    def tree_of(self, order_id: str) -> Path:
        """Where the order's files lie, if there are any."""
        return self._directory_of(order_id) / "tree"

    async def open(
        self,
        mirror: Mirror,
        *,
        order_id: str,
        kind: Literal["git_branch", "git_worktree"],
        branch: str,
        base_commit_sha: str,
    ) -> Workspace:
        """The order's workspace as it is, or, when it is not whole, made from branch and newest snapshot.

        Raises Conflict when the branch belongs to somebody else.
        """
        directory = self._directory_of(order_id)
        is_worktree = kind == "git_worktree"
        workspace = Workspace(
            order_id=order_id,
            tree=directory / "tree",
            git_dir=mirror.path / "worktrees" / order_id if is_worktree else directory / "git",
            mirror=mirror,
            branch=check_branch_name(branch),
            base_commit_sha=checked_commit(base_commit_sha),
            lock=self._lock(order_id),
        )
        async with workspace.locked(is_opened=False):
            start = await _start(workspace)
            is_filled = self.exists(order_id) and await asyncio.to_thread(self._is_there, workspace)
            if is_filled and workspace.index.path.exists():
                workspace.point_own_branch(start.head)
                await workspace.submodules.fill(start.head)
                return workspace
            if not is_filled:
                await self._discard(order_id)
            _lay_out(directory, workspace, start.head)
            if is_filled:  # only our git directory was lost; the files are the agent's work
                await workspace.index.git("read-tree", start.head)
            else:
                await self._fill(workspace, start)
            await workspace.submodules.fill(start.head)
            workspace.ready.touch()
        return workspace

    async def remove(self, order_id: str) -> None:
        """Throw the workspace away; branch, snapshots and notes stay in the mirror. Safe to repeat."""
        lock = self._lock(order_id)
        async with lock.hold():
            await self._discard(order_id)
            lock.discard()
        self._locks.pop(order_id, None)

    def found(self) -> list[str]:
        """Whose workspaces there are."""
        if not self._directory.is_dir():
            return []
        return sorted(path.name for path in self._directory.iterdir() if _ORDER_ID.fullmatch(path.name))

    def discard_leftovers(self) -> None:
        """Throw away what processes that were killed left of their own."""
        for path in self.checkouts.leftovers():
            self.trash.put(path)
        for base in self.unused_bases():
            self.trash.put(base)

    def unmount(self) -> None:
        """Leave no mount behind, when nothing uses a workspace any more; `open` mounts again."""
        for directory in (self._directory, self._directory / TRASH):
            for path in directory.iterdir() if directory.is_dir() else ():
                unmount_below(path)

    def unused_bases(self) -> list[Path]:
        """Shared checkouts that no workspace lies on and that were not asked for lately."""
        if self._bases is None:
            return []
        return self._bases.unused({_base_of(self._directory_of(one)) for one in self.found()})

    def _directory_of(self, order_id: str) -> Path:
        if not _ORDER_ID.fullmatch(order_id):
            raise InvalidInput(f"{order_id!r} is not a work order's id", hint="It looks like wo-1a2b3c4d.")
        return self._directory / order_id

    def _lock(self, order_id: str) -> FileLock:
        self._directory.mkdir(parents=True, exist_ok=True)
        path = self._directory_of(order_id).with_name(f".{order_id}.lock")
        return self._locks.setdefault(order_id, FileLock(path))

    async def _discard(self, order_id: str) -> None:
        directory = self._directory_of(order_id)
        if (directory / "git").is_symlink():  # to the few files of a worktree, in the mirror
            await asyncio.to_thread(remove_tree, (directory / "git").readlink())
        self.trash.put(directory)

    def _is_there(self, workspace: Workspace) -> bool:
        """Whether the files are there; an overlay that a restart of the machine took is mounted again."""
        directory = workspace.tree.parent
        if not (name := _base_of(directory)) or os.path.ismount(workspace.tree):
            return workspace.tree.is_dir()
        base = self._bases.find(name) if self._bases is not None else None
        if base is None:
            return False
        _mount(workspace, base)
        return True

    async def _fill(self, workspace: Workspace, start: _Start) -> None:
        """Check out the snapshot, or the head. The index is the head's either way: nothing is committed."""
        index, uid = workspace.index, jail_uid(workspace.order_id)
        wanted, hash_bytes = start.snapshot or start.head, len(workspace.base_commit_sha) // 2
        is_filled = await self._lay_on_base(workspace) and wanted == workspace.base_commit_sha
        if not is_filled:  # on a base git writes only the files that differ
            await index.write_files("read-tree", "--reset", "-u", wanted)
        if start.snapshot:
            await index.write_files("read-tree", "-m", start.head)
        (workspace.tree / ".git").write_text(f"gitdir: {workspace.git_dir}\n")
        if uid is not None and not is_filled:
            await asyncio.to_thread(change_owner, workspace.tree, index.path, uid, hash_bytes=hash_bytes)
        elif uid is not None:
            os.chown(workspace.tree / ".git", uid, uid)
        await workspace.fill_lfs(wanted)

    async def _lay_on_base(self, workspace: Workspace) -> bool:
        """Mount the files of the order's base commit, with their index, where overlays work."""
        uid, commit = jail_uid(workspace.order_id), workspace.base_commit_sha
        base = await self._bases.get(workspace.mirror, commit) if self._bases and uid else None
        if base is None or uid is None:
            return False
        await asyncio.to_thread(_mount, workspace, base)
        index, hash_bytes = workspace.index.path, len(commit) // 2
        await asyncio.to_thread(base.copy_index, index, uid, hash_bytes=hash_bytes)
        return True


async def _start(workspace: Workspace) -> _Start:
    """Where the order's branch is, made when it is new, and the snapshot of what came after it."""
    order_id, mirror = workspace.order_id, workspace.mirror
    pushed, base = mirror.cache.branches, workspace.base_commit_sha
    may_be_new = pushed is not None and workspace.branch not in pushed
    if may_be_new and (await _make(workspace, base)).exit_code == 0:
        return _Start(base, None)
    own, recorded = f"refs/heads/{workspace.branch}", f"{ORDERS}{order_id}"
    theirs, snapshots = f"{REMOTE_BRANCHES}{workspace.branch}", f"{SNAPSHOTS}{order_id}/"
    refs = await mirror.refs(own, theirs, recorded, snapshots, field=_REF_FIELDS)
    commits = {name: value.partition("\0")[0].split() for name, value in refs.items()}
    if own in refs and recorded in refs:
        head = commits[own][0]
        numbered = {int(n.removeprefix(snapshots)): n for n in refs if n.startswith(snapshots)}
        newest = commits[numbered[max(numbered)]] if numbered else []
        return _Start(head, newest[0] if newest[1:] == [head] else None)
    if own in refs or (theirs in refs and refs[theirs].partition("\0")[2] != order_id):
        raise Conflict(
            f"branch {workspace.branch} exists already and belongs to somebody else",
            hint="Choose another branch name for this order.",
        )
    head = commits[theirs][0] if theirs in refs else base
    answer = await _make(workspace, head)
    if answer.exit_code != 0:
        raise fault_of(answer.error, "update-ref")
    return _Start(head, None)


async def _make(workspace: Workspace, head: str) -> GitResult:
    """Make the order's branch; where there is one already, git refuses and nothing has changed."""
    own, recorded, mirror = (
        f"refs/heads/{workspace.branch}",
        f"{ORDERS}{workspace.order_id}",
        workspace.mirror,
    )
    commands = f"create {own} {head}\nupdate {recorded} {workspace.base_commit_sha}\n"
    async with mirror.lock.hold():
        mirror.drop_stale_lock(own)
        mirror.drop_stale_lock(recorded)
        return await run_git("update-ref", "--stdin", git_dir=mirror.path, stdin=commands.encode())


def _lay_out(directory: Path, workspace: Workspace, head: str) -> None:
    """Write the git directory as `git worktree add` or `git clone --shared` would: faster than either."""
    workspace.tree.mkdir(parents=True, exist_ok=True)
    git_dir, mirror = workspace.git_dir, workspace.mirror.path
    files = {
        "HEAD": f"ref: refs/heads/{workspace.branch}\n",
        "info/attributes": ATTRIBUTES,
        "info/exclude": EXCLUDED,
    }
    if git_dir == directory / "git":
        config = (mirror / "config").read_text().replace("bare = true", "bare = false")
        files |= {"config": config, "objects/info/alternates": f"{mirror / 'objects'}\n"}
        files |= {f"refs/heads/{workspace.branch}": f"{head}\n"}
        if (mirror / "shallow").exists():
            files |= {"shallow": (mirror / "shallow").read_text()}
    else:
        if not (directory / "git").is_symlink():
            (directory / "git").symlink_to(git_dir)
        files |= {"commondir": "../..\n", "gitdir": f"{workspace.tree / '.git'}\n"}
    for name, content in files.items():
        path = git_dir / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    for below, _, names in os.walk(git_dir):
        os.chmod(below, 0o755)  # noqa: S103 - shown read-only in the sandbox, whose user is not ours
        for name in names:
            os.chmod(os.path.join(below, name), 0o644)


def _mount(workspace: Workspace, base: Base) -> None:
    directory, uid = workspace.tree.parent, jail_uid(workspace.order_id)
    assert uid is not None
    for name in ("upper", "work", "tree"):
        (directory / name).mkdir(exist_ok=True)
    os.chown(directory / "upper", uid, uid)
    workspace.base_file.write_text(base.name)
    mount_workspace(base.tree, directory / "upper", directory / "work", workspace.tree, uid=uid)


def _base_of(directory: Path) -> str:
    """The name of the base that a workspace is an overlay on; empty for a full checkout."""
    try:
        return (directory / "base").read_text()
    except (FileNotFoundError, NotADirectoryError):
        return ""
