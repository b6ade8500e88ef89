"""Ask a remote for its branches, and fetch them into a mirror."""

import asyncio
import os
from contextlib import suppress
from pathlib import Path

from journeyman.forges.base import Remote
from journeyman.git.refs import REMOTE_BRANCHES, drop_stale_lock
from journeyman.git.run import UPLOAD_PACK, git


async def list_branches(remote: Remote) -> tuple[dict[str, str], str | None]:
    """The remote's branches with their commits, and the branch that is its HEAD."""
    output = await git(
        "ls-remote", "--symref", UPLOAD_PACK, "--", remote.url, "HEAD", "refs/heads/*",
        remote=remote,
    )  # fmt: skip
    branches: dict[str, str] = {}
    head = None
    for line in output.decode(errors="surrogateescape").split("\n"):
        value, _, name = line.partition("\t")
        if name == "HEAD" and value.startswith("ref: refs/heads/"):
            head = value.removeprefix("ref: refs/heads/")
        elif name.startswith("refs/heads/"):
            branches[name.removeprefix("refs/heads/")] = value
    return branches, head


async def fetch(git_dir: Path, remote: Remote, branch: str = "*") -> None:
    """Bring one branch, or all with the tags, to where the remote has them; for the holder of the lock."""
    drop_stale_lock(git_dir, "packed-refs")
    drop_stale_lock(git_dir, "shallow")
    await asyncio.to_thread(_drop_stale_locks, git_dir / REMOTE_BRANCHES)
    tags = ["+refs/tags/*:refs/tags/*"] if branch == "*" else []  # builds derive their version from tags
    # A clone of this machine may be shallow, and be deepened later: the mirror has the history that it has.
    depth = "--unshallow" if (git_dir / "shallow").exists() else "--update-shallow"
    await git(
        "fetch", "--quiet", "--prune", "--no-tags", "--no-write-fetch-head", "--no-auto-maintenance",
        depth, UPLOAD_PACK, "--", remote.url, f"+refs/heads/{branch}:{REMOTE_BRANCHES}{branch}", *tags,
        git_dir=git_dir, remote=remote,
    )  # fmt: skip


def _drop_stale_locks(directory: Path) -> None:
    pending = [directory]  # branch names can be nested deeper than recursion allows
    while pending:
        with suppress(FileNotFoundError), os.scandir(pending.pop()) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    pending.append(Path(entry.path))
                elif entry.name.endswith(".lock"):
                    os.unlink(entry.path)
