"""Homes of programs that keep sessions: kept for the order, and apart for those who may not write."""

import os
from pathlib import Path

from journeyman.sandboxes.homes import Homes


def test_what_a_read_only_role_leaves_in_its_home_is_not_there_for_a_writing_one(tmp_path: Path) -> None:
    homes = Homes(tmp_path)
    (homes.open("wo-1a2b3c4d", writable=False) / "hook").write_text("evil")
    assert list(homes.open("wo-1a2b3c4d", writable=True).iterdir()) == []


async def test_both_homes_of_an_order_go_with_it(tmp_path: Path) -> None:
    homes = Homes(tmp_path)
    for writable in (True, False):
        homes.open("wo-1a2b3c4d", writable=writable)
        assert homes.exists("wo-1a2b3c4d")
    homes.remove("wo-1a2b3c4d")
    assert not homes.exists("wo-1a2b3c4d")
    assert os.listdir(tmp_path) == [".trash"]
