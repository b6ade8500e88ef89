"""Whatever lies in a home when the server starts, it starts at once and clears up beside the work.

All traps lie there together; each is a case of its own, judged by what the disk shows afterwards.
"""

import json
import os
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from journeyman.files.removal import remove_tree
from tests.faults.waiting import wait_for
from tests.files import traps
from tests.hostile import ordinary
from tests.hostile.frame import AS_ORDINARY_USER, AS_ROOT, place_of, product_of
from tests.journeys.product import Product
from tests.pace import in_time

_NEEDS_ROOT = (pytest.mark.as_root, pytest.mark.lasting)
"""An ordinary user can delete less than root, so the harder case is the one that always runs."""
_START_SECONDS = 30.0
_CLEAR_SECONDS = 120.0


def _file(path: Path, mode: int = 0o644) -> Path:
    path.touch(mode)
    return path


def _link(path: Path, target: str) -> Path:
    path.symlink_to(target)
    return path


def _fifo(path: Path) -> Path:
    os.mkfifo(path)
    return path


def _half_made(path: Path) -> Path:
    (path / "tree").mkdir(parents=True)
    (path / "git").symlink_to("nowhere")
    return path


CLEARED: dict[str, Callable[[Path], Path]] = {
    "1,000 nested directories in the trash": lambda home: traps.deep(home / "workspaces/.trash/deep", 1_000),
    "20,000 nested directories in the trash": lambda home: traps.deep(
        home / "workspaces/.trash/deeper", 20_000
    ),
    "50,000 files in the trash": lambda home: traps.wide(home / "workspaces/.trash/wide", 50_000),
    "locked directories in the trash": lambda home: traps.locked(home / "workspaces/.trash/locked"),
    "special files and names in the trash": lambda home: traps.strange(home / "workspaces/.trash/strange"),
    "a file in the trash": lambda home: _file(home / "workspaces/.trash/file"),
    "an unreadable file in the trash": lambda home: _file(home / "workspaces/.trash/unreadable", 0o000),
    "a named pipe in the trash": lambda home: _fifo(home / "workspaces/.trash/pipe"),
    "a dangling link in the trash": lambda home: _link(home / "workspaces/.trash/dangling", "nowhere"),
    "a link to / in the trash": lambda home: _link(home / "workspaces/.trash/root", "/"),
    "a link to a directory outside in the trash": lambda home: _link(
        home / "workspaces/.trash/outside", str(home.parent / "outside")
    ),
    "nested directories in an agent's thrown away home": lambda home: traps.deep(
        home / "sessions/.trash/deep", 1_500
    ),
    "nested directories in a dead server's checkout": lambda home: traps.deep(
        home / "workspaces/.checkouts/dead/checkout/tree", 1_500
    ),
}
KEPT: dict[str, Callable[[Path], Path]] = {
    "a half-made workspace of nobody": lambda home: _half_made(home / "workspaces/wo-00halfmd"),
    "nested directories in a workspace of nobody": lambda home: traps.deep(
        home / "workspaces/wo-00deep00/tree", 1_500
    ),
    "a file named like an order": lambda home: _file(home / "workspaces/wo-00file00"),
    "a named pipe named like an order": lambda home: _fifo(home / "workspaces/wo-00pipe00"),
    "a dangling link named like an order": lambda home: _link(home / "workspaces/wo-00link00", "nowhere"),
    "a directory named like an order in the sessions": lambda home: traps.locked(
        home / "sessions/wo-00lock00"
    ),
}


@dataclass(frozen=True)
class Trapped:
    product: Product
    user: str
    paths: dict[str, Path]
    started_in_time: bool


@pytest.fixture(scope="module", params=[AS_ORDINARY_USER, pytest.param(AS_ROOT, marks=_NEEDS_ROOT)])
def trapped(request: pytest.FixtureRequest) -> Iterator[Trapped]:
    """A server that was started on a home with every trap in it."""
    user: str = request.param
    with place_of(user) as place:
        product = product_of(user, place, JOURNEYMAN_LOG_FORMAT="json")
        home = product.home
        for room in ("workspaces/.trash", "workspaces/.checkouts", "sessions/.trash"):
            (home / room).mkdir(parents=True)
        (place / "outside").mkdir()
        (place / "outside" / "treasure").touch()
        paths = {name: make(home) for name, make in (CLEARED | KEPT).items()}
        if user == AS_ORDINARY_USER and os.geteuid() == 0:
            owner = f"{ordinary.UID}:{ordinary.UID}"
            subprocess.run(["chown", "--recursive", "--no-dereference", owner, place], check=True)
            foreign = home / "workspaces/.trash/foreign"
            foreign.mkdir()
            (foreign / "file").touch()
        try:
            began = time.monotonic()
            with product:
                assert product.request("GET", "/ready").status_code == 200
                yield Trapped(product, user, paths, in_time(began, _START_SECONDS))
        finally:
            remove_tree(place)


def test_the_server_starts_in_time(trapped: Trapped) -> None:
    assert trapped.started_in_time


@pytest.mark.parametrize("trap", CLEARED)
def test_what_was_thrown_away_is_deleted_beside_the_work(trapped: Trapped, trap: str) -> None:
    wait_for(lambda: not os.path.lexists(trapped.paths[trap]), f"without {trap}", _CLEAR_SECONDS)
    assert Path("/usr").is_dir()
    assert (trapped.product.home.parent / "outside" / "treasure").exists()


@pytest.mark.parametrize("trap", KEPT)
def test_what_nobody_knows_is_kept(trapped: Trapped, trap: str) -> None:
    trapped.product.await_log("workspaces_of_nobody_kept")
    assert os.path.lexists(trapped.paths[trap])


def test_what_belongs_to_somebody_else_is_set_aside_and_told(trapped: Trapped) -> None:
    foreign = trapped.product.home / "workspaces/.trash/set-aside-foreign"
    if trapped.user == AS_ORDINARY_USER and os.geteuid() == 0:
        trapped.product.await_log("leftover_set_aside", str(foreign))
        assert foreign.is_dir()
    else:
        assert not foreign.exists()


def test_the_log_is_json_without_a_traceback(trapped: Trapped) -> None:
    lines = [json.loads(line) for line in trapped.product.said().splitlines()]
    assert [line for line in lines if "exception" in line] == []


def test_a_stop_and_a_second_start_take_no_longer(trapped: Trapped) -> None:
    began = time.monotonic()
    assert trapped.product.stop() == 0
    trapped.product.start()
    assert trapped.product.request("GET", "/ready").status_code == 200
    assert in_time(began, _START_SECONDS)
