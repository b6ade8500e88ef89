"""A commit that is another one with some of its files replaced, for runs that nothing is pushed from.

It is made of git's own objects, so no file is written where a link of the repository could lead elsewhere. No
ref holds it: it lasts for as long as a run takes, and the same files give the same commit again.
"""

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from journeyman.git.commits import JOURNEYMAN
from journeyman.git.loose_objects import write_commit
from journeyman.git.mirror import Mirror
from journeyman.git.refs import checked_commit
from journeyman.git.run import git

_SIGNATURES = "\n".join(
    f"{kind} {JOURNEYMAN.name} <{JOURNEYMAN.email}> 0 +0000" for kind in ("author", "committer")
).encode()
_FILE = b"100644"


async def commit_with(
    mirror: Mirror,
    commit: str,
    *,
    taken: Mapping[str, Sequence[str]] | None = None,
    written: Mapping[str, bytes] | None = None,
    removed: Sequence[str] = (),
) -> str:
    """`commit` with files written anew, or taken from other commits; a file that those lack is removed."""
    entries = [b"0 %b\t%b" % (b"0" * len(commit), _encoded(path)) for path in removed]
    for source, paths in (taken or {}).items():
        entries += await _entries(mirror, source, paths)
    for path, content in (written or {}).items():
        blob = await git("hash-object", "-w", "--stdin", git_dir=mirror.path, stdin=content)
        entries.append(b"%b %b\t%b" % (_FILE, blob.strip(), _encoded(path)))
    if not entries:
        return commit
    with tempfile.TemporaryDirectory(prefix="journeyman-index-") as place:
        env = {"GIT_INDEX_FILE": str(Path(place) / "index")}
        await git("read-tree", checked_commit(commit), git_dir=mirror.path, env=env)
        listed = b"".join(entry + b"\0" for entry in entries)
        await git(
            "update-index", "--replace", "-z", "--index-info", git_dir=mirror.path, env=env, stdin=listed
        )
        tree = (await git("write-tree", git_dir=mirror.path, env=env)).decode().strip()
    message = f"Files of {commit} beside others\n".encode()
    return write_commit(mirror.path, tree=tree, parents=[commit], signatures=_SIGNATURES, message=message)


async def _entries(mirror: Mirror, commit: str, paths: Sequence[str]) -> list[bytes]:
    """The index entries that make these paths what they are in a commit."""
    listing = await git("ls-tree", "-r", "-z", "--full-tree", checked_commit(commit), git_dir=mirror.path)
    there = {entry.partition(b"\t")[2]: entry for entry in listing.split(b"\0") if entry}
    gone = b"0 %b\t" % (b"0" * len(commit))
    return [there.get(_encoded(path), gone + _encoded(path)) for path in paths]


def _encoded(path: str) -> bytes:
    return path.encode(errors="surrogateescape")
