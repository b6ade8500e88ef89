"""What lies below a directory, whatever its neighbours are called."""

import pytest

from journeyman.environments.detect.listing import paths_below
from tests.environments.detect.small_projects import files

TREE = files(dict.fromkeys(("a.txt", "a/b.txt", "a/c/d.txt", "a/c.txt", "a-b/x", "a.d/y", "b/z", "a0/w"), ""))


@pytest.mark.parametrize(
    ("directory", "expected"),
    [
        ("a", {"a/b.txt", "a/c/d.txt", "a/c.txt"}),
        ("a/c", {"a/c/d.txt"}),
        ("missing", set()),
        ("a.txt", set()),
    ],
)
def test_paths_below_a_directory_are_only_its_own(directory: str, expected: set[str]) -> None:
    assert set(paths_below(TREE, directory)) == expected


def test_everything_is_below_the_root() -> None:
    assert paths_below(TREE, "") == TREE.paths
