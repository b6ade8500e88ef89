"""Repository addresses: accepted as parts, refused as tricks."""

import subprocess
from pathlib import Path

import pytest

from journeyman.errors import InvalidRepository
from journeyman.work_orders.repositories import Repository, parse_repository

GITHUB = "https://github.com"


def parse(text: str, allow_local: bool = True) -> Repository:
    return parse_repository(text, github_url=GITHUB, allow_local=allow_local)


@pytest.mark.parametrize(
    "text",
    [
        "https://github.com/acme/thing",
        "https://github.com/acme/thing.git",
        "https://github.com/acme/thing/",
        "https://GitHub.com/acme/thing",
        "git@github.com:acme/thing.git",
        "git@github.com:acme/thing",
        "git@GitHub.com:/acme/thing.git",
        "ssh://git@github.com/acme/thing.git",
        "ssh://git@github.com:22/acme/thing",
    ],
)
def test_every_spelling_of_a_github_address_is_the_same_repository(text: str) -> None:
    repository = parse(text)
    assert repository.url == "https://github.com/acme/thing"
    assert (repository.forge, repository.owner, repository.name) == ("github", "acme", "thing")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "--upload-pack=touch /tmp/x",
        "-u",
        "ext::sh -c id",
        "https://user:secret@github.com/acme/thing",
        "https://token@github.com/acme/thing",
        "git@gitlab.com:acme/thing.git",
        "git@github.com.evil.example:acme/thing",
        "git@github.com:acme",
        "git@github.com:acme/thing.git/..",
        "git@github.com:acme/thing@x",
        "git@-oProxyCommand=id:acme/thing",
        "alice@github.com:acme/thing.git",
        "ssh://alice@github.com/acme/thing",
        "ssh://git:secret@github.com/acme/thing",
        "ssh://github.com/acme/thing",
        "ssh://git@localhost/acme/thing",
        "http://github.com/acme/thing",
        "https://127.0.0.1/acme/thing",
        "https://localhost/acme/thing",
        "https://169.254.169.254/latest/meta-data",
        "https://[::1]/acme/thing",
        "https://github.com.evil.example/acme/thing",
        "https://github.com:8443/acme/thing",
        "https://github.com/acme",
        "https://github.com/acme/thing/tree/main",
        "https://github.com/acme/..",
        "https://github.com/-x/thing",
        "https://github.com/acme/-x",
        "https://github.com/acme/th%69ng",
        "https://github.com/acme/thing?x=1",
        "https://github.com/acme/thing#x",
        "https://github.com/acme/th ing",
        "https://github.com/acme/thing\n",
        "https://github.com/acme/\0",
        "../relative",
        "~/thing",
        "x" * 3000,
    ],
)
def test_anything_else_is_refused_with_a_hint(text: str) -> None:
    with pytest.raises(InvalidRepository) as refused:
        parse(text)
    assert refused.value.hint


def test_a_secret_in_an_address_is_not_repeated_in_the_error() -> None:
    with pytest.raises(InvalidRepository) as refused:
        parse("https://user:hunter2secret@github.com/acme/thing")
    assert "hunter2secret" not in refused.value.message + refused.value.hint


def test_a_local_repository_is_known_by_its_real_path(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", tmp_path / "thing"], check=True)
    (tmp_path / "link").symlink_to(tmp_path / "thing")
    assert parse(str(tmp_path / "link")) == parse((tmp_path / "thing").as_uri())


def test_a_bare_repository_is_a_repository(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", "--bare", tmp_path / "thing.git"], check=True)
    assert parse(str(tmp_path / "thing.git")).name == "thing"


def test_a_directory_without_git_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidRepository, match="not a git repository"):
        parse(str(tmp_path))


def test_a_missing_directory_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidRepository, match="no directory"):
        parse(str(tmp_path / "nowhere"))


def test_the_repository_of_an_accepted_order_is_known_when_its_directory_is_gone(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    repository = parse_repository(gone.as_uri(), github_url=GITHUB, allow_local=True, must_exist=False)
    assert repository.path == gone


@pytest.mark.parametrize("text", ["/etc", "file:///etc"])
def test_local_repositories_can_be_forbidden(text: str) -> None:
    with pytest.raises(InvalidRepository, match="cannot be named"):
        parse(text, allow_local=False)


def test_a_file_address_of_another_host_is_refused() -> None:
    with pytest.raises(InvalidRepository):
        parse("file://elsewhere/thing")
