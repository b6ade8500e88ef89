"""The stand-in is evidence in other tests, so its own behaviour is held here."""

import subprocess
from pathlib import Path

import pytest

from journeyman.forges.base import Remote
from journeyman.forges.github import GitHubForge
from journeyman.work_orders.repositories import Repository
from tests.forges.repository import BRANCH, git
from tests.standins.github import GitHubStandIn


async def test_a_large_push_arrives(
    github: GitHubStandIn, forge: GitHubForge, repository: Repository, tmp_path: Path
) -> None:
    remote = await forge.remote(repository)
    git(tmp_path, "clone", "--quiet", remote.url, "copy", remote=remote)
    noise = "".join(str(place * 7919 % 99_991) for place in range(700_000))
    (tmp_path / "copy" / "big.txt").write_text(noise, encoding="utf-8")
    git(tmp_path / "copy", "add", "big.txt")
    git(tmp_path / "copy", "commit", "--quiet", "--message=Big")

    git(tmp_path / "copy", "push", "--quiet", remote.url, "HEAD:refs/heads/big", remote=remote)

    assert github.git.commit("acme/api", "big") == git(tmp_path / "copy", "rev-parse", "HEAD")


def test_a_push_without_the_token_changes_nothing(github: GitHubStandIn, tmp_path: Path) -> None:
    url = f"{github.url}/acme/api.git"
    git(tmp_path, "clone", "--quiet", url, "copy")

    with pytest.raises(subprocess.CalledProcessError):
        git(tmp_path / "copy", "push", "--quiet", url, "HEAD:refs/heads/new")

    assert not github.git.has_branch("acme/api", "new")
    assert github.requests[-1].status == 401


def test_a_private_repository_cannot_be_cloned_without_the_token(
    github: GitHubStandIn, tmp_path: Path
) -> None:
    url = github.add_repository("acme", "secret", tmp_path / "origin", private=True)

    with pytest.raises(subprocess.CalledProcessError):
        git(tmp_path, "ls-remote", f"{url}.git")


async def test_a_push_whose_answer_is_lost_has_happened(
    github: GitHubStandIn, forge: GitHubForge, repository: Repository, tmp_path: Path
) -> None:
    remote: Remote = await forge.remote(repository)
    github.fail("POST", "*/git-receive-pack", "reset_after_applying")

    with pytest.raises(subprocess.CalledProcessError):
        git(tmp_path / "origin", "push", "--quiet", remote.url, f"{BRANCH}:refs/heads/new", remote=remote)

    assert github.git.has_branch("acme/api", "new")
    # curl sends it a second time of its own accord, which is then refused.
    lost = github.made("POST", "*/git-receive-pack")[0]
    assert (lost.applied, lost.status, lost.fault) == (True, None, "reset_after_applying")
