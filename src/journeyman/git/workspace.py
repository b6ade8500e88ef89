"""One order's working copy, and everything git does with it.

Objects go straight into the mirror and the branch is moved there, so a commit or a snapshot is safe the
moment its call returns, whatever happens to the workspace afterwards.
"""

import asyncio
import os
import shutil
import tempfile
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from journeyman.errors import WorkspaceUnreadable
from journeyman.failpoints import failpoint
from journeyman.forges.base import Person, Remote
from journeyman.git.commits import JOURNEYMAN, CommitMessage
from journeyman.git.faults import fault_of
from journeyman.git.lfs import LfsStore
from journeyman.git.lfs_files import fill_lfs
from journeyman.git.lfs_transfer import upload_lfs
from journeyman.git.locks import FileLock
from journeyman.git.loose_objects import move_branch, signatures_of, write_commit
from journeyman.git.mirror import Mirror
from journeyman.git.ownership import change_owner
from journeyman.git.policy import EVERYTHING, CommitPolicy
from journeyman.git.push import push
from journeyman.git.refs import SNAPSHOTS, checked_commit
from journeyman.git.run import git, run_git
from journeyman.git.secrets import PATCH, find_secrets
from journeyman.git.staging import Index
from journeyman.git.submodule_files import SubmoduleFiles
from journeyman.git.trees import LeftOut
from journeyman.sandboxes.identity import jail_uid


@dataclass(frozen=True)
class Snapshot:
    ref: str
    commit_sha: str


@dataclass(frozen=True, kw_only=True)
class Workspace:
    order_id: str
    tree: Path
    git_dir: Path
    mirror: Mirror
    branch: str
    base_commit_sha: str
    lock: FileLock

    @property
    def git_directories(self) -> tuple[Path, ...]:
        """What a sandbox has to show, read-only and at the same path, for git to work in it."""
        if self.git_dir.is_relative_to(self.mirror.path):
            return (self.mirror.path,)
        return (self.git_dir, self.mirror.path / "objects")

    @property
    def ready(self) -> Path:
        """A marker file: without it the files are incomplete, and are made again from branch and snapshot."""
        return self.tree.parent / "ready"

    @property
    def index(self) -> Index:
        return Index(
            order_id=self.order_id,
            path=self.git_dir / "index",
            git_dir=self.git_dir,
            tree=self.tree,
            mirror=self.mirror.path,
        )

    @property
    def submodules(self) -> SubmoduleFiles:
        return SubmoduleFiles(self.order_id, self.tree, self.git_dir, self.mirror.path)

    @property
    def base_file(self) -> Path:
        """Names the shared checkout that the files are an overlay on; missing for a full checkout."""
        return self.tree.parent / "base"

    @asynccontextmanager
    async def locked(self, *, is_opened: bool = True) -> AsyncIterator[None]:
        """Exclusive use of this workspace by git; a lock file of git that exists now is stale.

        Raises WorkspaceUnreadable where its overlay is not mounted: git would take every file for deleted.
        """
        async with self.lock.hold():
            if is_opened and self.base_file.exists() and not self.tree.is_mount():
                raise WorkspaceUnreadable(
                    "the files of the workspace are not mounted",
                    hint="They are mounted again when the order goes on.",
                )
            (self.git_dir / "index.lock").unlink(missing_ok=True)
            yield

    async def fill_lfs(self, commit: str) -> None:
        """Replace the pointers of a commit that was checked out by their contents."""
        await fill_lfs(self.order_id, self.tree, self.index.path, self.mirror.path, commit)

    async def head(self) -> str:
        return await self.mirror.resolve_own(self.branch)

    async def has_changes(self) -> bool:
        """Whether there is anything to commit; untracked files count, ignored ones do not."""
        async with self.locked():
            return bool(await self.index.changes())

    async def commit(
        self,
        message: CommitMessage,
        *,
        author: Person,
        records: Mapping[str, bytes] | None = None,
        policy: CommitPolicy = EVERYTHING,
        on_left_out: Callable[[Sequence[LeftOut]], None] = lambda _: None,
    ) -> str | None:
        """Commit every change, untracked files included; None when nothing changed.

        Records are files that the platform writes into the commit itself, past the agent's tree. What the
        policy, or git, does not let in stays in the workspace and is given to `on_left_out`.
        """
        async with self.locked():
            index = self.index
            changes = await index.changes()
            in_submodules = await self.submodules.changed(changes.hazards)
            if not changes and not records:
                on_left_out([*changes.hazards.files, *in_submodules])
                return None
            failpoint("commit_started")
            index = index.hiding(changes.hazards)
            left_out = [*await index.stage(changes, policy), *in_submodules]
            if records:
                await self._record(index, records)
            tree, before = await asyncio.gather(index.write_tree(), self.mirror.tree_of(changes.head))
            if policy.finds_secrets and (secrets := await self._secrets(before, tree, policy)):
                await index.unstage(changes.head, {one.path for one in secrets})
                tree = await index.write_tree()
                left_out += secrets
            on_left_out(left_out)
            if tree == before:
                return None
            commit_sha = self.write_commit(tree, changes.head, message.text, author)
            ref = f"refs/heads/{self.branch}"
            self.mirror.drop_stale_lock(ref)
            if not await asyncio.to_thread(move_branch, self.mirror.path, ref, commit_sha, changes.head):
                await git("update-ref", ref, commit_sha, changes.head, git_dir=self.mirror.path)
            self.mirror.cache.add(commit_sha, tree, changes.head)
            failpoint("commit_made")
            self.point_own_branch(commit_sha)
            return commit_sha

    async def _secrets(self, before: str, tree: str, policy: CommitPolicy) -> list[LeftOut]:
        """Files that would add a secret. The stored objects are searched: an agent cannot change those."""
        answer = await run_git("diff-tree", *PATCH, before, tree, "--", git_dir=self.mirror.path)
        if answer.exit_code != 0:
            raise fault_of(answer.error, "diff-tree")
        if answer.truncated:
            raise WorkspaceUnreadable(
                "the change is too large to be looked through for secrets",
                hint="Make it smaller, or set JOURNEYMAN_COMMIT_FINDS_SECRETS=false.",
            )
        found = await asyncio.to_thread(find_secrets, answer.output, policy.known_secrets)
        reasons = {one.path: f"line {one.line} looks like {one.kind}" for one in reversed(found)}
        return [
            LeftOut(path, await asyncio.to_thread(_size, self.tree, path), reason)
            for path, reason in sorted(reasons.items())
        ]

    async def find_commit(
        self, *, step: str, subtask: int | None = None, round: int | None = None, after: str | None = None
    ) -> str | None:
        """The newest commit that this order made in a step, for a repeated step to see that it is done."""
        since = after or self.base_commit_sha
        if await self.head() == since:
            return None
        wanted = (self.order_id, step, "" if subtask is None else str(subtask))
        for commit in reversed(await self.mirror.commits(since, self.branch)):
            is_it = (commit.order_id, commit.step, commit.subtask) == wanted
            if is_it and (round is None or commit.round == str(round)):
                return commit.sha
        return None

    async def annotate(self, commit: str, records: Mapping[str, bytes]) -> None:
        """Keep records in git's notes instead of the tree; see `Mirror.annotate`."""
        await self.mirror.annotate(commit, records)

    async def snapshot(
        self,
        *,
        within: float | None = None,
        room: int | None = None,
        on_left_out: Callable[[Sequence[LeftOut]], None] = lambda _: None,
    ) -> Snapshot | None:
        """Keep what is not committed as a commit outside the branch; index, head and files stay as they are.

        None when there is nothing that the head or the newest snapshot does not hold already. Files that
        `.gitignore` ignores are not kept. `within`: so many seconds, or WorkspaceUnreadable is raised.
        `room`: so many bytes of files, the smallest first; the others are given to `on_left_out`.
        """
        try:
            async with asyncio.timeout(within):
                return await self._snapshot(room, on_left_out)
        except TimeoutError:
            raise WorkspaceUnreadable(
                f"what is not committed could not be kept within {within:.0f} s",
                hint="The files stay in the workspace.",
            ) from None

    async def _snapshot(
        self, room: int | None, on_left_out: Callable[[Sequence[LeftOut]], None]
    ) -> Snapshot | None:
        async with self.locked():
            head, tree = await self.uncommitted_tree(room, on_left_out)
            if tree is None:
                return None
            failpoint("snapshot_started")
            number, newest = await self.newest_snapshot()
            if newest == f"{tree} {head}":
                return None
            return await self._write_snapshot(tree, head, number + 1)

    async def _write_snapshot(self, tree: str, head: str, number: int) -> Snapshot:
        commit_sha = self.write_commit(tree, head, f"Snapshot of {self.order_id}\n", JOURNEYMAN)
        ref = f"{SNAPSHOTS}{self.order_id}/{number}"
        self.mirror.drop_stale_lock(ref)
        await git("update-ref", ref, commit_sha, "", git_dir=self.mirror.path)
        failpoint("snapshot_taken")
        return Snapshot(ref, commit_sha)

    async def uncommitted_tree(
        self, room: int | None = None, on_left_out: Callable[[Sequence[LeftOut]], None] = lambda _: None
    ) -> tuple[str, str | None]:
        """The head, and the tree of all files where it differs from the head's; for the lock's holder."""
        changes = await self.index.changes()
        if not changes:
            return changes.head, None
        index = (await self._copied_index()).hiding(changes.hazards)
        on_left_out(await index.stage(changes, room=room))
        tree, before = await asyncio.gather(index.write_tree(), self.mirror.tree_of(changes.head))
        return changes.head, None if tree == before else tree

    async def restore(self, commit: str) -> None:
        """Throw away what is not committed: files and index as in the commit. Ignored files stay."""
        async with self.locked():
            await self._reset(commit)

    async def _reset(self, commit: str) -> None:
        index = await self._copied_index()
        await index.write_files("read-tree", "--reset", "-u", checked_commit(commit))
        await index.remove_untracked()
        await self._adopt(index, hash_bytes=len(commit) // 2)
        await self.fill_lfs(commit)
        await self.submodules.reset(commit)

    async def stash(self) -> Snapshot | None:
        """Snapshot what is not committed, then reset the files to the branch's head, as `git stash` does.

        None when there is nothing to keep. A second snapshot of the clean tree is taken, so that a workspace
        that is made again starts from the head as well.
        """
        async with self.locked():
            head, tree = await self.uncommitted_tree()
            if tree is None:
                return None
            number, _ = await self.newest_snapshot()
            kept = await self._write_snapshot(tree, head, number + 1)
            await self._reset(head)
            await self._write_snapshot(await self.mirror.tree_of(head), head, number + 2)
            return kept

    async def move_to(self, head: str, snapshot: str | None) -> None:
        """Bring the files to another head, or to a snapshot on top of it; for the holder of the lock."""
        self.point_own_branch(head)
        index = await self._copied_index()
        await index.write_files("read-tree", "--reset", "-u", checked_commit(snapshot or head))
        if snapshot:
            await index.write_files("read-tree", "-m", head)
        else:
            await index.remove_untracked()
        await self._adopt(index, hash_bytes=len(head) // 2)
        await self.fill_lfs(snapshot or head)
        await self.submodules.reset(head)

    async def _adopt(self, index: Index, *, hash_bytes: int) -> None:
        """Install a copied index after git wrote the files, which get the jail's user as their owner."""
        uid = jail_uid(self.order_id)
        if uid is not None:
            await asyncio.to_thread(change_owner, self.tree, index.path, uid, hash_bytes=hash_bytes)
        os.replace(index.path, self.index.path)

    async def push(self, remote: Remote, *, expected_sha: str | None, commit_sha: str | None = None) -> str:
        """Push the branch's head, or an earlier commit of it, its LFS contents first; see `push.push`."""
        commit_sha = checked_commit(commit_sha) if commit_sha else await self.head()
        await upload_lfs(LfsStore(self.mirror.path), remote, base=self.base_commit_sha, commit=commit_sha)
        pushed = await push(
            self.mirror.path,
            remote,
            branch=self.branch,
            commit_sha=commit_sha,
            expected_sha=expected_sha,
        )
        if self.mirror.cache.branches is not None:
            self.mirror.cache.branches[self.branch] = pushed
        return pushed

    def point_own_branch(self, commit_sha: str) -> None:
        """Bring the branch of a git directory with refs of its own in line with the mirror's."""
        if self.git_dir.is_relative_to(self.mirror.path):
            return
        ref = self.git_dir / "refs" / "heads" / self.branch
        fresh = ref.with_name(ref.name + ".fresh")
        fresh.write_text(f"{commit_sha}\n")
        os.chmod(fresh, 0o644)
        os.replace(fresh, ref)

    async def _copied_index(self) -> Index:
        """A copy in a directory of its own, with its time: it tells git which files may have changed."""
        index = replace(self.index, path=self.git_dir / "scratch" / "index")
        index.path.parent.mkdir(exist_ok=True)
        index.path.with_name("index.lock").unlink(missing_ok=True)
        await asyncio.to_thread(shutil.copy2, self.index.path, index.path)
        return index

    async def _record(self, index: Index, records: Mapping[str, bytes]) -> None:
        with tempfile.TemporaryDirectory(dir=self.git_dir) as directory:
            files = [Path(directory) / str(number) for number in range(len(records))]
            for file, content in zip(files, records.values(), strict=True):
                file.write_bytes(content)
            blobs = (await index.git("hash-object", "-w", "--no-filters", "--", *map(str, files))).split()
        entries = zip(blobs, records, strict=True)
        listed = "".join(f"100644 {blob.decode()}\t{path}\0" for blob, path in entries)
        await index.git("update-index", "--replace", "-z", "--index-info", stdin=listed.encode())
        # The files are in no tree; without this every status would call them deleted.
        await index.git("update-index", "--skip-worktree", "-z", "--stdin", stdin="\0".join(records).encode())

    def write_commit(self, tree: str, parent: str, text: str, author: Person) -> str:
        return write_commit(
            self.mirror.path,
            tree=tree,
            parents=[checked_commit(parent)],
            signatures=signatures_of(author),
            message=text.encode(errors="replace"),
        )

    async def newest_snapshot(self) -> tuple[int, str]:
        """Its number, and its tree and parent; 0 when there is none."""
        below = f"{SNAPSHOTS}{self.order_id}/"
        refs = await self.mirror.refs(below, field="%(tree) %(parent)")
        numbered = {int(name.removeprefix(below)): found for name, found in refs.items()}
        newest = max(numbered, default=0)
        return newest, numbered.get(newest, "")


def _size(tree: Path, path: bytes) -> int:
    try:
        return os.lstat(os.path.join(os.fsencode(tree), path)).st_size
    except OSError:
        return 0
