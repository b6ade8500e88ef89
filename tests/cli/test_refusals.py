"""What keeps a command from working is said in one line and what to do, and never as a traceback."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from journeyman.errors import StoreDamaged
from journeyman.files.databases import check_database
from tests.cli.damage import (
    emptied,
    not_a_database,
    of_a_newer_version,
    overwritten_page,
    truncated,
    used_home,
)
from tests.cli.jm import Ended, Terminal

NOWHERE = "postgresql://nobody@127.0.0.1:1/nothing?connect_timeout=1"
SERVE = ("serve", "--port", "0")


def check_said(said: Ended, *words: str) -> None:
    assert said.code == 1, (said.out, said.err)
    assert "Traceback" not in said.err + said.out
    assert len(said.err.strip().splitlines()) == 2, said.err
    assert all(word in said.err for word in words), said.err


@pytest.mark.parametrize(
    ("damage", "word", "command"),
    [
        (truncated, "cannot be used", SERVE),
        (emptied, "empty", ("migrate",)),
        (not_a_database, "not a database", ("migrate",)),
        (overwritten_page, "cannot be used", ("migrate",)),
        (of_a_newer_version, "newer", SERVE),
    ],
)
async def test_a_database_that_cannot_be_used_is_named(
    home: Path, damage: Callable[[Path], None], word: str, command: tuple[str, ...]
) -> None:
    damage(used_home(home) / "journeyman.db")
    check_said(await Terminal(home).run(*command), "database", word)


async def test_a_damaged_database_of_the_engine_is_named(home: Path) -> None:
    not_a_database(used_home(home) / "engine.db")
    check_said(await Terminal(home).run(*SERVE), "engine.db", "move it away")


async def test_a_postgresql_that_does_not_answer_is_waited_for_and_named(home: Path) -> None:
    said = await Terminal(home).run("worker", environment={"DATABASE_URL": NOWHERE})
    check_said(said, "PostgreSQL", "refused")


async def test_a_home_that_is_a_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "home").touch()
    check_said(await Terminal(tmp_path / "home").run(*SERVE), str(tmp_path / "home"))


def test_a_file_too_large_for_the_time_is_not_called_damaged(tmp_path: Path) -> None:
    path = tmp_path / "large.db"
    with closing(sqlite3.connect(path)) as file, file:
        file.execute("CREATE TABLE t (x)")
        file.execute(
            "WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n WHERE i < 30000)"
            " INSERT INTO t SELECT randomblob(1000) FROM n"
        )
    assert not check_database(path, seconds=0.0, was_used=True)
    assert check_database(path, seconds=60.0, was_used=True)


def test_a_whole_database_is_believed_and_a_damaged_one_is_not(home: Path) -> None:
    path = used_home(home) / "journeyman.db"
    assert check_database(path, seconds=60.0, was_used=True)
    overwritten_page(path)
    with pytest.raises(StoreDamaged):
        check_database(path, seconds=60.0, was_used=True)
