"""Homes of a server that ran before, and ways to spoil their database."""

import os
import sqlite3
from contextlib import closing
from pathlib import Path

from journeyman.migrations.upgrade import upgrade_tables


def used_home(home: Path) -> Path:
    upgrade_tables(f"sqlite:///{home / 'journeyman.db'}")
    (home / "worker-id").write_text("worker-1\n")
    return home


def truncated(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def emptied(path: Path) -> None:
    os.truncate(path, 0)


def not_a_database(path: Path) -> None:
    path.write_bytes(b"hello, I am not a database\n" * 400)


def overwritten_page(path: Path) -> None:
    """The page of a table that no start reads: only a check finds it."""
    with closing(sqlite3.connect(path)) as file:
        [(page,)] = file.execute("SELECT rootpage FROM sqlite_master WHERE name = 'evidence'").fetchall()
        [(size,)] = file.execute("PRAGMA page_size").fetchall()
    with path.open("r+b") as file_of_bytes:
        file_of_bytes.seek((page - 1) * size)
        file_of_bytes.write(os.urandom(size))


def of_a_newer_version(path: Path) -> None:
    with closing(sqlite3.connect(path)) as file, file:
        file.execute("UPDATE alembic_version SET version_num = '9999'")
