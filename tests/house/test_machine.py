"""What the tests need from the machine, and what they are given. A missing part is named with its remedy."""

import shutil
import subprocess
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import text

from journeyman.database import Database
from journeyman.settings import Settings
from tests.postgres import find_programs


@pytest.mark.parametrize("program", ["git", "rg", "bwrap", "setpriv", "bash", "cc"])
def test_the_machine_has(program: str) -> None:
    assert shutil.which(program), f"{program} is not installed; run `make setup`"


def test_the_machine_has_postgresql() -> None:
    assert find_programs(), "PostgreSQL's server is not installed; run `make setup`"


def test_a_jail_can_be_made() -> None:
    jail = ["bwrap", "--unshare-all", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "true"]
    made = subprocess.run(jail, capture_output=True, text=True)
    assert made.returncode == 0, f"bubblewrap cannot make a jail here: {made.stderr}"


def test_each_test_gets_a_postgresql_database_of_its_own(postgres_url: str) -> None:
    with psycopg.connect(postgres_url) as connection:
        tables = connection.execute("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'").fetchone()
        durable = connection.execute("SHOW fsync").fetchone()
    assert tables == (0,)
    assert durable == ("off",), "this is not the private server of the tests"


async def test_each_store_begins_with_every_table_and_no_row(database: Database) -> None:
    async with database.reading() as connection:
        counted = [
            (await connection.execute(text(f"SELECT count(*) FROM {table}"))).scalar()
            for table in ("work_orders", "steps", "evidence", "events", "local_pull_requests")
        ]
    assert counted == [0, 0, 0, 0, 0]


def test_settings_of_a_test_come_from_nowhere_else(settings: Settings, tmp_path: Path) -> None:
    assert settings.model_dump(exclude={"home"}) == Settings().model_dump(exclude={"home"})
    assert settings.home.is_relative_to(tmp_path)
