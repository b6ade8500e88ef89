"""Whatever lies in a tree, it can be removed, and nothing outside it is touched."""

import os
import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from journeyman.files.removal import remove_below, remove_tree
from tests.files import traps
from tests.files.remover import ORDINARY, Remover

TRAPS: dict[str, Callable[[Path], Path]] = {
    "nothing": lambda path: path,
    "a file": lambda path: traps.wide(path.with_name("files"), 1) / "0",
    "1,500 levels": lambda path: traps.deep(path, 1_500),
    "long names": lambda path: traps.deep(path, 300, "n" * 255),
    "locked directories": traps.locked,
    "special files and names": traps.strange,
    "2,000 files": lambda path: traps.wide(path, 2_000),
}


def give_to_ordinary_user(path: Path) -> None:
    subprocess.run(["chown", "--recursive", "--no-dereference", f"{ORDINARY}:{ORDINARY}", path], check=True)


@pytest.mark.parametrize("trap", TRAPS)
def test_every_trap_is_removed(trap: str, place: Path, remover: Remover) -> None:
    path = TRAPS[trap](place / "tree")
    if remover.user is not None and path.exists():
        give_to_ordinary_user(place)
    assert remover.remove(path) == "gone"
    assert not os.path.lexists(path)


def test_links_are_removed_and_not_followed(place: Path, remover: Remover) -> None:
    outside = place / "outside"
    outside.mkdir()
    (outside / "treasure").touch()
    (place / "tree" / "below").mkdir(parents=True)
    (place / "tree" / "below" / "link").symlink_to(outside)
    (place / "tree" / "link").symlink_to(outside)
    (place / "link").symlink_to(outside)
    give_to_ordinary_user(place)
    assert remover.remove(place / "tree") == "gone"
    assert remover.remove(place / "link") == "gone"
    assert os.listdir(place) == ["outside"]
    assert (outside / "treasure").exists()


def test_entries_of_a_tree_are_removed_and_no_link_leads_to_them(place: Path) -> None:
    outside, tree = place / "outside", place / "tree"
    outside.mkdir()
    (outside / "treasure").touch()
    traps.deep(tree / "kept" / "deep", 1_500)
    (tree / "kept" / "file").touch()
    (tree / "link").symlink_to(outside)
    (tree / "swapped").symlink_to(outside)
    remove_below(tree, [b"kept/deep/", b"link", b"swapped/treasure", b"kept/file/below", b"gone/file"])
    assert sorted(os.listdir(tree)) == ["kept", "swapped"]
    assert os.listdir(tree / "kept") == ["file"]
    assert (outside / "treasure").exists()


@pytest.fixture
def mounted(place: Path) -> Iterator[Path]:
    """A directory of the same disk, mounted far inside the tree."""
    outside, inside = place / "outside", place / "tree" / "a" / "b"
    outside.mkdir()
    inside.mkdir(parents=True)
    (outside / "treasure").touch()
    subprocess.run(["mount", "--bind", outside, inside], check=True)
    yield inside
    line = next(line for line in Path("/proc/self/mounts").read_text().splitlines() if str(place) in line)
    subprocess.run(["umount", line.split()[1]], check=True)


def test_what_is_mounted_inside_is_not_entered(place: Path, mounted: Path) -> None:
    (place / "tree" / "file").touch()
    with pytest.raises(OSError, match="busy"):
        remove_tree(place / "tree")
    assert (place / "outside" / "treasure").exists()
    assert not (place / "tree" / "file").exists()


def test_a_tree_that_is_itself_a_mount_is_not_entered(place: Path, mounted: Path) -> None:
    with pytest.raises(OSError, match="mounted"):
        remove_tree(mounted)
    assert (place / "outside" / "treasure").exists()


def test_what_belongs_to_somebody_else_is_told_after_all_else_is_gone(place: Path) -> None:
    own, foreign = place / "tree", place / "tree" / "foreign"
    traps.deep(own, 10)
    give_to_ordinary_user(own)
    foreign.mkdir()
    (foreign / "file").touch()
    assert Remover(ORDINARY).remove(own) == "PermissionError"
    [left] = own.iterdir()
    assert (left / "file").exists()


def test_a_removal_that_is_stopped_goes_on_later(place: Path) -> None:
    tree = traps.deep(place / "tree", 500)
    asked = iter(range(100))
    assert not remove_tree(tree, is_stopped=lambda: next(asked, None) is None)
    assert tree.exists()
    assert remove_tree(tree)
    assert not tree.exists()


def test_a_tree_that_is_still_written_to_is_removed_when_its_writer_ends(place: Path) -> None:
    tree = traps.deep(place / "tree", 200)
    is_removing, written = threading.Event(), 0

    def write() -> None:
        nonlocal written
        is_removing.wait()
        while written < 200:
            written += 1
            for path in (tree / f"new{written}", tree / f"new{written}" / "below"):
                try:
                    path.mkdir()
                except OSError:
                    break

    writer = threading.Thread(target=write)
    writer.start()
    is_removing.set()
    while not remove_tree(tree, is_stopped=lambda: False) or writer.is_alive():
        pass
    writer.join()
    remove_tree(tree)
    assert not tree.exists()
