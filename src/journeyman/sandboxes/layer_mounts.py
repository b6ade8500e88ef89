"""How the layers of an environment are shown in a jail.

Where the kernel lets us, as overlays: a command can write everywhere in them, and what it writes is the
sandbox's own and gone with it. All mounts of one layer share one overlay, so that a repository of some
hundred packages starts as quickly as a small one. Elsewhere as read-only mounts.
"""

import contextlib
import fcntl
import os
import posixpath
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from journeyman.errors import Internal, SandboxUnavailable
from journeyman.sandboxes.base import LayerMount, SandboxSpec
from journeyman.sandboxes.identity import jail_uid
from journeyman.sandboxes.jail import HOME, WORKSPACE
from journeyman.sandboxes.overlay_launcher import DIRECTORY, PROBE, open_mount_point
from journeyman.sandboxes.scratch import Scratch

_ROOTS = {WORKSPACE: "workspace", HOME: "home"}


@dataclass(frozen=True)
class OverlayGroup:
    """Directories of one layer that lie there as they lie in the sandbox."""

    lower: Path
    root: str
    """Which directory of the sandbox they are shown in: `workspace` or `home`."""
    targets: tuple[str, ...]
    """Below the root and below `lower` alike; empty for the whole home."""


def grouped(layers: Sequence[LayerMount]) -> list[OverlayGroup]:
    found: dict[tuple[Path, str], list[str]] = {}
    for mount in layers:
        root, target = _split(mount.target)
        lower = mount.source
        if target and mount.source.as_posix().endswith(f"/{target}"):
            lower = Path(mount.source.as_posix().removesuffix(f"/{target}"))
        elif target:
            raise Internal(
                f"layer directory {mount.source} does not end with {target}",
                hint="A layer holds its directories at the place where the sandbox shows them.",
            )
        found.setdefault((lower, root), []).append(target)
    return [OverlayGroup(lower, root, tuple(targets)) for (lower, root), targets in found.items()]


def _split(target: str) -> tuple[str, str]:
    if target == HOME:
        return "home", ""
    for prefix, root in _ROOTS.items():
        if target.startswith(f"{prefix}/") and posixpath.normpath(target) == target:
            return root, target.removeprefix(f"{prefix}/")
    raise Internal(
        f"a layer cannot be mounted at {target!r}", hint="It has to be below the workspace, or the home."
    )


@contextlib.contextmanager
def in_use(spec: SandboxSpec) -> Iterator[None]:
    """Hold a shared lock on every layer of a sandbox, so that it is not removed meanwhile."""
    with contextlib.ExitStack() as stack:
        for group in grouped(spec.layers):
            try:
                descriptor = os.open(group.lower, DIRECTORY)
                stack.callback(os.close, descriptor)
                fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
                if not group.lower.is_dir():
                    raise FileNotFoundError
            except (FileNotFoundError, BlockingIOError):
                raise SandboxUnavailable(
                    "the installed environment was removed meanwhile",
                    hint="It is installed again when the step is retried.",
                ) from None
        yield


def launch_plan(spec: SandboxSpec, scratch: Scratch, uid: int | None) -> bytes:
    """What `overlay_launcher.py` reads: fields that end with a zero byte."""
    scratch.workspace.mkdir()
    fields: list[str | Path] = [str(uid or 0), spec.tree, "1" if spec.writable else "0", scratch.directory]
    for number, group in enumerate(grouped(spec.layers)):
        fields += [group.lower, f"layer-{number}", group.root, str(len(group.targets)), *group.targets]
    return b"\0".join(map(os.fsencode, fields))


def probe_plan(scratch: Scratch) -> bytes:
    return b"\0".join((b"0", PROBE, b"1", os.fsencode(scratch.directory)))


def read_only_arguments(spec: SandboxSpec) -> list[str]:
    """Options of bubblewrap that show the layers where no overlay can be mounted.

    The home itself stays writable and empty but for the directories of the layer.
    """
    result: list[str] = []
    if not spec.layers:
        return result
    uid = jail_uid(spec.order_id) or 0
    tree = os.open(spec.tree, DIRECTORY)
    try:
        for group in grouped(spec.layers):
            if group.root == "home":
                result += _home_arguments(group)
                continue
            for target in group.targets:
                place = open_mount_point(tree, os.fsencode(target), uid)
                if place is not None:
                    os.close(place)
                    result += ["--ro-bind", str(group.lower / target), f"{WORKSPACE}/{target}"]
    finally:
        os.close(tree)
    return result


def _home_arguments(group: OverlayGroup) -> list[str]:
    shown = [target for target in group.targets if target]
    if "" in group.targets:
        with os.scandir(group.lower) as entries:
            shown += sorted(entry.name for entry in entries if not entry.is_symlink())
    return [word for name in shown for word in ("--ro-bind", str(group.lower / name), f"{HOME}/{name}")]
