"""An order's work as a git bundle: what its branch and newest snapshot hold beyond its base.

A worker on another machine restores the order's refs from it. The base commit is not included: every machine
fetches that from the repository.
"""

import asyncio
import tempfile
from collections.abc import Mapping
from pathlib import Path

from journeyman.errors import Conflict, InvalidInput
from journeyman.git.faults import fault_of
from journeyman.git.mirror import Mirror
from journeyman.git.refs import ORDERS, SNAPSHOTS, STASHES, checked_commit
from journeyman.git.run import git, run_git
from journeyman.git.workspace import Workspace

LARGEST_BYTES = 100_000_000


async def create_bundle(workspace: Workspace) -> tuple[dict[str, str], bytes] | None:
    """The order's refs, and a bundle of their commits; None when there is nothing beyond the base."""
    branch, recorded = f"refs/heads/{workspace.branch}", f"{ORDERS}{workspace.order_id}"
    snapshots = f"{SNAPSHOTS}{workspace.order_id}/"
    stashes = f"{STASHES}{workspace.order_id}/"
    refs = await workspace.mirror.refs(branch, recorded, snapshots, stashes)
    numbered = {int(name.removeprefix(snapshots)): name for name in refs if name.startswith(snapshots)}
    names = [branch, recorded, *([numbered[max(numbered)]] if numbered else [])]
    names += [name for name in refs if name.startswith(stashes)]
    wanted = {name: refs[name] for name in names if name in refs}
    ahead = [name for name, commit in wanted.items() if commit != workspace.base_commit_sha]
    if not ahead:
        return None
    answer = await run_git(
        "bundle", "create", "--quiet", "-", *ahead, f"^{checked_commit(workspace.base_commit_sha)}",
        git_dir=workspace.mirror.path, limit=LARGEST_BYTES,
    )  # fmt: skip
    if answer.truncated:
        raise InvalidInput(
            f"the order's work is larger than {LARGEST_BYTES:,} bytes, so another machine cannot be given it",
            hint="It stays safe on this worker's disk; keep large generated files out of the repository.",
        )
    if answer.exit_code != 0:
        raise fault_of(answer.error, "bundle")
    return wanted, answer.output


async def apply_bundle(mirror: Mirror, refs: Mapping[str, str], content: bytes) -> None:
    """Restore the refs in the mirror. Safe to repeat because refs that are there already stay as they are."""
    known = await mirror.refs(*refs)
    if all(known.get(name) == commit for name, commit in refs.items()):
        return
    with tempfile.TemporaryDirectory(dir=mirror.path) as directory:
        file = Path(directory) / "work.bundle"
        await asyncio.to_thread(file.write_bytes, content)
        answer = await run_git("bundle", "unbundle", str(file), git_dir=mirror.path)
    if answer.exit_code != 0:
        raise Conflict(
            f"the work of another machine cannot be taken over: {answer.error.strip()[-300:]}",
            hint="Most often the base commit is gone from the repository; push it there again, then retry.",
        )
    commands = "".join(f"update {name} {checked_commit(commit)}\n" for name, commit in refs.items())
    async with mirror.lock.hold():
        for name in refs:
            mirror.drop_stale_lock(name)
        await git("update-ref", "--stdin", git_dir=mirror.path, stdin=commands.encode())
