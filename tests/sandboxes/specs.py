"""Workspaces to open sandboxes on, and a look at the machine's processes from outside."""

import contextlib
import os
import select
import subprocess
import sys
from pathlib import Path

from journeyman.sandboxes.base import SandboxLimits, SandboxSpec
from journeyman.sandboxes.identity import jail_uid
from journeyman.work_orders.order import new_order_id

PATIENCE_MS = 20_000


def spec_for(
    directory: Path, *, writable: bool = True, limits: SandboxLimits | None = None, network: str = "none"
) -> SandboxSpec:
    """A new order with a plain directory as its workspace."""
    order_id = new_order_id()
    tree = directory / order_id
    tree.mkdir(parents=True)
    give_away(tree, order_id)
    return SandboxSpec(
        order_id=order_id,
        tree=tree,
        writable=writable,
        limits=limits or SandboxLimits(),
        network="open" if network == "open" else "none",
    )


def git_spec(directory: Path, *, writable: bool = True) -> SandboxSpec:
    """A new order with a worktree of a real repository, whose git directory is elsewhere."""
    order_id = new_order_id()
    main, tree = directory / "main", directory / order_id
    git("init", "-q", "-b", "main", str(main))
    (main / "a.txt").write_text("one\n")
    git("-C", str(main), "add", ".")
    git("-C", str(main), "-c", "user.name=A", "-c", "user.email=a@b.c", "commit", "-qm", "First")
    git("-C", str(main), "worktree", "add", "-q", "-b", "work", str(tree))
    give_away(tree, order_id)
    return SandboxSpec(order_id=order_id, tree=tree, git_directories=(main / ".git",), writable=writable)


def git(*arguments: str) -> None:
    subprocess.run(["git", *arguments], check=True, capture_output=True)


def give_away(tree: Path, order_id: str) -> None:
    uid = jail_uid(order_id)
    if uid is not None:
        for path in (tree, *tree.rglob("*")):
            os.chown(path, uid, uid, follow_symlinks=False)


def processes_of(order_id: str) -> list[int]:
    """Every process on this machine that a sandbox of the order started, the supervisor included."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                environment = (entry / "environ").read_bytes()
            except OSError:
                continue
            if f":{order_id}:".encode() in environment:
                found.append(int(entry.name))
    return found


def wait_until_gone(pids: list[int]) -> None:
    """Returns when all of them have ended; fails when one does not."""
    for pid in pids:
        try:
            descriptor = os.pidfd_open(pid)
        except ProcessLookupError:
            continue
        try:
            poller = select.poll()
            poller.register(descriptor, select.POLLIN)
            assert poller.poll(PATIENCE_MS), f"process {pid} is still there"
        finally:
            os.close(descriptor)


def control_groups_of(order_id: str) -> list[Path]:
    found = []
    for hierarchy in (".", "memory", "pids"):
        for parent in Path("/sys/fs/cgroup", hierarchy).glob("journeyman-*"):
            with contextlib.suppress(FileNotFoundError):  # other tests come and go beside this one
                found += [parent / name for name in os.listdir(parent) if name.startswith(f"{order_id}.")]
    return found


def hold(home: Path, spec: SandboxSpec, *, path: str | None = None) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-m", "tests.sandboxes.hold_sandbox", str(home), str(spec.tree), spec.order_id],
        cwd=Path(__file__).parents[2],
        env={**os.environ, **({"PATH": path} if path else {})},
        stdout=subprocess.PIPE,
        text=True,
    )
