"""The home is its user's alone, however it was made."""

import os
import stat
from pathlib import Path

import pytest

from journeyman.errors import Conflict
from journeyman.files.home import exposed_paths, prepare_home
from tests.files.remover import ORDINARY, Remover


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_new_home_and_its_databases_are_its_users_alone(tmp_path: Path) -> None:
    home = tmp_path / "home"
    prepare_home(home, has_databases=True)
    assert {path.name: mode(path) for path in (home, *home.iterdir())} == {
        "home": 0o700,
        "journeyman.db": 0o600,
        "engine.db": 0o600,
    }


def test_a_home_that_others_could_read_is_closed_to_them(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    for name in ("journeyman.db", "journeyman.db-wal", "engine.db", "journeyman.toml"):
        (tmp_path / name).touch()
        (tmp_path / name).chmod(0o644)
    assert len(exposed_paths(tmp_path)) == 5
    prepare_home(tmp_path, has_databases=True)
    assert exposed_paths(tmp_path) == []
    assert mode(tmp_path) == 0o700


def test_a_home_whose_modes_cannot_be_set_is_refused_with_the_command_to_run(place: Path) -> None:
    home = place / "home"
    home.mkdir(mode=0o755)  # of whoever runs the tests

    def refused() -> str:
        with pytest.raises(Conflict) as told:
            prepare_home(home, has_databases=True)
        return told.value.hint

    if os.geteuid() == 0:
        assert f"chown -R {ORDINARY} {home}" in Remover(ORDINARY).run(refused)


def test_a_home_that_may_not_be_read_is_refused(place: Path) -> None:
    home = place / "home"
    home.mkdir(mode=0o700)

    def refused() -> str:
        with pytest.raises(Conflict) as told:
            prepare_home(home, has_databases=True)
        return told.value.message

    if os.geteuid() == 0:
        assert "Permission denied" in Remover(ORDINARY).run(refused)
