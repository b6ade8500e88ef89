"""Settings: from the environment and the home's file, and nothing unknown."""

from pathlib import Path

import pytest

from journeyman.errors import InvalidSetting
from journeyman.settings import load_settings


def test_the_environment_wins_over_the_file_in_the_home(tmp_path: Path) -> None:
    (tmp_path / "journeyman.toml").write_text('JOURNEYMAN_PORT = 9001\nJOURNEYMAN_MODEL = "a/b"\n')
    settings = load_settings({"JOURNEYMAN_HOME": str(tmp_path), "JOURNEYMAN_PORT": "9002"})
    assert (settings.port, settings.model) == (9002, "a/b")


def test_a_file_in_the_working_directory_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "journeyman.toml").write_text("JOURNEYMAN_PORT = 9001\n")
    monkeypatch.chdir(tmp_path)
    assert load_settings({"JOURNEYMAN_HOME": str(tmp_path / "home")}).port == 8700


def test_an_unknown_setting_is_refused_with_the_nearest_name(tmp_path: Path) -> None:
    with pytest.raises(InvalidSetting) as refused:
        load_settings({"JOURNEYMAN_HOME": str(tmp_path), "JOURNEYMAN_PROT": "1"})
    assert "JOURNEYMAN_PORT" in refused.value.hint


def test_an_unknown_key_in_the_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "journeyman.toml").write_text("port = 1\n")
    with pytest.raises(InvalidSetting, match="no setting port"):
        load_settings({"JOURNEYMAN_HOME": str(tmp_path)})


def test_a_value_that_cannot_be_used_names_its_setting(tmp_path: Path) -> None:
    with pytest.raises(InvalidSetting, match="JOURNEYMAN_PORT"):
        load_settings({"JOURNEYMAN_HOME": str(tmp_path), "JOURNEYMAN_PORT": "many"})


def test_a_bad_secret_is_not_repeated(tmp_path: Path) -> None:
    (tmp_path / "journeyman.toml").write_text("GITHUB_TOKEN = 12345678901\n")
    with pytest.raises(InvalidSetting) as refused:
        load_settings({"JOURNEYMAN_HOME": str(tmp_path)})
    assert "12345678901" not in str(refused.value)


def test_secrets_do_not_show_when_settings_are_printed(tmp_path: Path) -> None:
    settings = load_settings({"JOURNEYMAN_HOME": str(tmp_path), "GITHUB_TOKEN": "ghp_hidden_value"})
    assert "ghp_hidden_value" not in repr(settings)
    assert settings.secrets() == ["ghp_hidden_value"]
